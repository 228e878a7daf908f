// Tests of the shell and of every page. They share a process, because each needs 3 seconds of CPU
// before its first page.
import './shell.ts';
import './drafts.ts';
import './first-figures.ts';
import './tables.ts';
import './every-page.ts';

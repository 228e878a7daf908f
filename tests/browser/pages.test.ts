// What holds for all pages. Subjects share a process, as one takes 3 seconds of CPU until it shows its first page.
import './shell.ts';
import './every-page.ts';

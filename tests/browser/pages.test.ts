// What `npm test` shows in the browser: every page, and how little the first one asks for. They share a
// process, because each needs 3 seconds of CPU before its first page.
import './first-figures.ts';
import './every-page.ts';

// What starts with a test file and ends with it, started by the same functions as for a single test.
import { after } from 'node:test';

/** A test's context, or a file's own. */
export type Hooks = { readonly after: (end: () => void | Promise<void>) => void };

/** To be called at the top of a file: `after` inside a `before` would run at once. The last that was started ends first. */
export function hooksOfFile(): Hooks {
  const ends: (() => void | Promise<void>)[] = [];
  after(async () => {
    for (const end of ends.toReversed()) await end();
  });
  return { after: (end) => ends.push(end) };
}

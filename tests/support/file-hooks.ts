// Lets functions that start something for one test start it for a whole test file.
import { after } from 'node:test';

/** A test's context, or a file's hooks. */
export type Hooks = { readonly after: (end: () => void | Promise<void>) => void };

/**
 * Call at the top of a file: `after` inside a `before` would run at once. Things end in reverse
 * order.
 */
export function hooksOfFile(): Hooks {
  const ends: (() => void | Promise<void>)[] = [];
  after(async () => {
    for (const end of ends.toReversed()) await end();
  });
  return { after: (end) => ends.push(end) };
}

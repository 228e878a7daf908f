// Stands in for `node:test` while batch.ts loads several test files in one process: each file's tests
// and hooks become a suite of that name. Tests within a running test go straight to `node:test`.
import * as runner from 'node:test';

type Registration = (...given: never[]) => unknown;

/** The registrations of the file that is being loaded; null when none is. */
let steps: (() => void)[] | null = null;

export function collect(): void {
  steps = [];
}

/** Makes a suite of what the file has registered since `collect`. */
export function makeSuite(file: string): void {
  const own = steps!;
  steps = null;
  void runner.describe(file, () => {
    for (const step of own) step();
  });
}

function deferred<Original extends Registration>(original: Original): Original {
  return ((...given: never[]) => {
    if (steps === null) return original(...given);
    steps.push(() => void original(...given));
    return undefined;
  }) as Original;
}

export const test = deferred(runner.test);
export const describe = deferred(runner.describe);
export const before = deferred(runner.before);
export const after = deferred(runner.after);
export const beforeEach = deferred(runner.beforeEach);
export const afterEach = deferred(runner.afterEach);
export { mock } from 'node:test';
export default test;

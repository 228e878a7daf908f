// Stands in for `node:test` while batch.ts loads several test files in one process: each file's tests
// and hooks become a suite of that name. Tests within a running test go straight to `node:test`.
import * as runner from 'node:test';

type Registration = (...given: never[]) => unknown;

type Hook = (...given: never[]) => unknown;

/** What the file that is being loaded has registered; null when none is. */
let loading: { readonly steps: (() => void)[]; readonly afterHooks: Hook[] } | null = null;

export function collect(): void {
  loading = { steps: [], afterHooks: [] };
}

/** Runs what the file has registered since `collect`, as a suite. Returns when its last hook is over. */
export function runSuite(file: string): Promise<void> {
  const { steps, afterHooks } = loading!;
  loading = null;
  const over = Promise.withResolvers<void>();
  void runner.describe(file, () => {
    for (const step of steps) step();
    // A hook that fails does not keep the others from closing what would keep the process alive.
    runner.after(async () => {
      const results = [];
      for (const hook of afterHooks)
        results.push(...(await Promise.allSettled([Promise.try(hook)])));
      over.resolve();
      const failed = results.find((result) => result.status === 'rejected');
      if (failed) throw failed.reason;
    });
  });
  return over.promise;
}

function deferred<Original extends Registration>(original: Original): Original {
  return ((...given: never[]) => {
    if (loading === null) return original(...given);
    loading.steps.push(() => void original(...given));
    return undefined;
  }) as Original;
}

export const test = deferred(runner.test);
export const describe = deferred(runner.describe);
export const before = deferred(runner.before);
export const after = ((hook: Hook) => {
  if (loading === null) runner.after(hook as never);
  else loading.afterHooks.push(hook);
}) as typeof runner.after;
export const beforeEach = deferred(runner.beforeEach);
export const afterEach = deferred(runner.afterEach);
export { mock } from 'node:test';
export default test;

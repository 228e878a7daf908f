import assert from 'node:assert/strict';
import { test } from 'node:test';
import { oneAtATime } from './one-at-a-time.ts';

test('at most one run waits for a run that hangs, and a failure stops nothing', async () => {
  const runs: PromiseWithResolvers<void>[] = [];
  const flush = oneAtATime(() => {
    runs.push(Promise.withResolvers<void>());
    return runs.at(-1)!.promise;
  });
  const first = flush();
  const waiting = Array.from({ length: 100 }, () => flush());
  assert.equal(runs.length, 1);
  runs[0]!.reject(new Error('away'));
  await assert.rejects(first, /away/);
  assert.equal(new Set(waiting).size, 1);
  // A call during the second run is not part of it.
  await Promise.resolve();
  const last = flush();
  assert.notEqual(last, waiting[0]);
  runs[1]!.resolve();
  await waiting[0];
  runs[2]!.resolve();
  await last;
  assert.equal(runs.length, 3);
});

test('who calls again as soon as a run has ended joins the run that waits', async () => {
  let [running, most] = [0, 0];
  const flush = oneAtATime(async () => {
    most = Math.max(most, ++running);
    await Promise.resolve();
    running -= 1;
  });
  const again = flush().then(flush);
  await Promise.all([again, flush()]);
  assert.equal(most, 1);
});

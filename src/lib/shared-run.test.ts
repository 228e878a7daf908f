import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SharedRun } from './shared-run.ts';

const never = new AbortController().signal;

test('all waiting callers get the result, and so do later ones', async () => {
  const run = new SharedRun<string>();
  const waiting = [run.wait(never), run.wait(never)];
  assert.equal(run.waiters, 2);
  run.end('done');
  run.end('twice');
  assert.equal(run.waiters, 0);
  assert.deepEqual(await Promise.all([...waiting, run.wait(never)]), ['done', 'done', 'done']);
});

test('an aborted caller stops waiting; only the last abort, not the end, calls back', async () => {
  const run = new SharedRun<string>();
  let gone = 0;
  run.onWaitersGone(() => gone++);
  const [one, other] = [new AbortController(), new AbortController()];
  const waiting = [run.wait(one.signal), run.wait(other.signal)];
  one.abort();
  assert.deepEqual([run.waiters, gone], [1, 0]);
  other.abort();
  assert.deepEqual([run.waiters, gone], [0, 1]);
  assert.deepEqual(await Promise.all(waiting), [null, null]);
  assert.equal(await run.wait(one.signal), null);
  const later = new AbortController();
  const last = run.wait(later.signal);
  run.end('done');
  later.abort();
  assert.equal(await last, 'done');
  assert.equal(gone, 1);
});

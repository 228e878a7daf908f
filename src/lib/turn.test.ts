import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Turn } from './turn.ts';

const never = new AbortController().signal;

test('all that wait get the result, also those that come after the end', async () => {
  const turn = new Turn<string>();
  const waiting = [turn.wait(never), turn.wait(never)];
  assert.equal(turn.waiters, 2);
  turn.end('done');
  turn.end('twice');
  assert.equal(turn.waiters, 0);
  assert.deepEqual(await Promise.all([...waiting, turn.wait(never)]), ['done', 'done', 'done']);
});

test('whoever gives up waits no longer, and the last to do so is told of; the end is not', async () => {
  const turn = new Turn<string>();
  let gone = 0;
  turn.onWaitersGone(() => gone++);
  const [one, other] = [new AbortController(), new AbortController()];
  const waiting = [turn.wait(one.signal), turn.wait(other.signal)];
  one.abort();
  assert.deepEqual([turn.waiters, gone], [1, 0]);
  other.abort();
  assert.deepEqual([turn.waiters, gone], [0, 1]);
  assert.deepEqual(await Promise.all(waiting), [null, null]);
  assert.equal(await turn.wait(one.signal), null);
  const later = new AbortController();
  const last = turn.wait(later.signal);
  turn.end('done');
  later.abort();
  assert.equal(await last, 'done');
  assert.equal(gone, 1);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TestClock } from '../../tests/support/test-clock.ts';
import { RecentReads } from './recent-reads.ts';

function started() {
  const clock = new TestClock();
  const state = { value: 100, reads: 0, gate: Promise.resolve() };
  const recent = new RecentReads<string, number>({
    read: async () => {
      state.reads += 1;
      const { value } = state;
      await state.gate;
      return value;
    },
    keptForMs: 1_000,
    clock,
  });
  return { state, clock, recent, read: async (key = 'one') => recent.read(key) };
}

test('a value is read again when it is too old, and when it is forgotten', async () => {
  const { state, clock, recent, read } = started();
  assert.equal(await read(), 100);
  state.value = 90;
  await clock.advance(999);
  assert.equal(await read(), 100);
  await clock.advance(1);
  assert.equal(await read(), 90);
  await read('two');
  state.value = 80;
  recent.forget('one');
  assert.deepEqual([await read(), await read('two')], [80, 90]);
  recent.forgetAll();
  assert.equal(await read('two'), 80);
  assert.equal(state.reads, 5);
});

test('concurrent callers share one read, and what was forgotten meanwhile is not kept', async () => {
  const { state, recent, read } = started();
  const gate = Promise.withResolvers<void>();
  state.gate = gate.promise;
  const early = Array.from({ length: 1_000 }, () => read());
  state.value = 90;
  recent.forget('two');
  early.push(read());
  recent.forget('one');
  const late = Array.from({ length: 1_000 }, () => read());
  gate.resolve();
  assert.deepEqual([...new Set(await Promise.all(early))], [100]);
  assert.deepEqual([...new Set(await Promise.all(late))], [90]);
  assert.equal(await read(), 90);
  assert.equal(state.reads, 2);
});

test('a failed read fails all callers that wait for it, and the next caller reads again', async () => {
  const { state, read } = started();
  state.gate = Promise.reject(new Error('no database'));
  const failed = await Promise.allSettled([read(), read()]);
  assert.deepEqual(
    failed.map(({ status }) => status),
    ['rejected', 'rejected'],
  );
  state.gate = Promise.resolve();
  assert.equal(await read(), 100);
});

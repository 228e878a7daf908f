import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Command, LedgerId } from '../domain/ledger/commands.ts';
import type { Balance } from '../domain/ledger/reports/queries.ts';
import { micros } from '../lib/money.ts';
import { TestClock } from '../../tests/support/test-clock.ts';
import { RecentBalances } from './recent-balances.ts';

const balanceOf = (available: number): Balance => ({
  postedMicros: micros(available),
  heldMicros: micros(0),
  availableMicros: micros(available),
  inputTokens: 0,
  outputTokens: 0,
});

function started() {
  const clock = new TestClock();
  const state = { available: 100, reads: 0, gate: Promise.resolve() };
  const balances = new RecentBalances({
    read: async () => {
      state.reads += 1;
      const balance = balanceOf(state.available);
      await state.gate;
      return balance;
    },
    clock,
  });
  const read = async (id: LedgerId = 'one:live') => (await balances.read(id))?.availableMicros;
  const settle = (ledgerId: LedgerId) => balances.noteEnd({ type: 'settle', ledgerId } as Command);
  return { state, clock, balances, read, settle };
}

test('a balance is read at most once a second', async () => {
  const { state, clock, read } = started();
  assert.equal(await read(), 100);
  state.available = 90;
  await clock.advance(999);
  assert.equal(await read(), 100);
  await clock.advance(1);
  assert.equal(await read(), 90);
  assert.equal(state.reads, 2);
});

test('a balance is read again after a command on its ledger', async () => {
  const { state, read, settle, balances } = started();
  await read();
  await read('two:live');
  state.available = 90;
  settle('one:live');
  assert.deepEqual([await read(), await read('two:live')], [90, 100]);
  balances.noteEnd({ type: 'release', holdId: 'req_1', lossMicros: micros(0) });
  assert.equal(await read('two:live'), 90);
});

test('a balance that was read while a command ran is not cached', async () => {
  const { state, read, settle } = started();
  const gate = Promise.withResolvers<void>();
  state.gate = gate.promise;
  const early = read();
  state.available = 90;
  settle('one:live');
  gate.resolve();
  assert.equal(await early, 100);
  assert.equal(await read(), 90);
});

test('concurrent callers share one read, and callers after a command share a new one', async () => {
  const { state, read, settle } = started();
  const gate = Promise.withResolvers<void>();
  state.gate = gate.promise;
  const early = Array.from({ length: 1_000 }, () => read());
  state.available = 90;
  settle('two:live');
  early.push(read());
  settle('one:live');
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

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Command, LedgerId, Outcome } from '../ledger/commands.ts';
import type { Balance } from '../ledger/queries.ts';
import { micros } from '../lib/money.ts';
import { RecentBalances } from './recent-balances.ts';

const balanceOf = (available: number): Balance => ({
  postedMicros: micros(available),
  heldMicros: micros(0),
  availableMicros: micros(available),
  inputTokens: 0,
  outputTokens: 0,
});

function started() {
  const state = { now: 0, available: 100, reads: 0, gate: Promise.resolve() };
  const balances = new RecentBalances({
    ledger: { submit: () => Promise.resolve({} as Outcome), close: () => Promise.resolve() },
    read: async () => {
      state.reads += 1;
      const balance = balanceOf(state.available);
      await state.gate;
      return balance;
    },
    nowMs: () => state.now,
  });
  const read = async (id: LedgerId = 'one:live') => (await balances.read(id))?.availableMicros;
  const settle = (ledgerId: LedgerId) => balances.ledger.submit({ type: 'settle', ledgerId } as Command);
  return { state, balances, read, settle };
}

test('a balance is read once in a second', async () => {
  const { state, read } = started();
  assert.equal(await read(), 100);
  state.available = 90;
  state.now = 999;
  assert.equal(await read(), 100);
  state.now = 1_000;
  assert.equal(await read(), 90);
  assert.equal(state.reads, 2);
});

test('a command of this process shows at once, in its own ledger', async () => {
  const { state, read, settle, balances } = started();
  await read();
  await read('two:live');
  state.available = 90;
  await settle('one:live');
  assert.deepEqual([await read(), await read('two:live')], [90, 100]);
  await balances.ledger.submit({ type: 'release', holdId: 'req_1', lossMicros: micros(0) });
  assert.equal(await read('two:live'), 90);
});

test('what was read while a command ran is not kept', async () => {
  const { state, read, settle } = started();
  const gate = Promise.withResolvers<void>();
  state.gate = gate.promise;
  const early = read();
  state.available = 90;
  await settle('one:live');
  gate.resolve();
  assert.equal(await early, 100);
  assert.equal(await read(), 90);
});

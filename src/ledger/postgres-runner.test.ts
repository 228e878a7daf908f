import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { createBatcher, LedgerUnavailable } from './batcher.ts';
import type { Command, Ledger } from './commands.ts';
import { creditOf, reserveOf, settleOf } from '../../tests/support/ledger/test-ledger.ts';
import { createRetryingRunner, type RetriedStore } from './postgres-runner.ts';
import type { Reply } from './sqlite-store.ts';
import { HastyClock } from '../../tests/support/test-clock.ts';

const ledgerId = 'acc:live';
const patienceMs = 100;

test('a batch that failed is sent again as it was, until it is answered', async () => {
  const { ledger, sent, fail, troubles } = open();
  fail(2);
  const answers = await Promise.all([ledger.submit(creditOf(ledgerId, 1)), ledger.submit(settleOf(hold('a'), 1))]);
  assert.deepEqual(answers, [credited, charged]);
  assert.equal(sent.length, 3);
  for (const batch of sent) assert.deepEqual(batch, sent[0]);
  assert.equal(troubles(), 2);
  await ledger.close();
});

test('new work is refused after a while, in words that leave open what became of it; the end of a request is not given up', async () => {
  const { ledger, fail, heal, tries } = open();
  fail(Infinity);
  const results = Promise.allSettled([
    ledger.submit(reserveOf(hold('a'), 5)),
    ledger.submit(creditOf(ledgerId, 1)),
    ledger.submit({ ...creditOf(ledgerId, 1), type: 'debit' }),
  ]);
  const settled = ledger.submit(settleOf(hold('b'), 1));
  const released = ledger.submit({ type: 'release', holdId: 'c', lossMicros: 0 as never });
  for (const result of await results) {
    assert.ok(result.status === 'rejected' && result.reason instanceof LedgerUnavailable);
    assert.match(result.reason.message, /whether the \w+ was booked is unknown/);
  }
  await tries(20);
  assert.equal(await Promise.race([settled, released, setImmediate('still waiting')]), 'still waiting');
  heal();
  assert.deepEqual(await Promise.all([settled, released]), [charged, { type: 'released' }]);
  await ledger.close();
});

test('a reservation that was refused, and may have been booked all the same, is given back, on its own ledger', async () => {
  const { ledger, sent, fail, heal } = open();
  fail(Infinity);
  await assert.rejects(ledger.submit(reserveOf(hold('a'), 5)), LedgerUnavailable);
  heal();
  while (!sent.at(-1)?.some(({ type }) => type === 'release')) await setImmediate();
  assert.deepEqual(sent.at(-1), [{ type: 'release', holdId: 'a', ledgerId, lossMicros: 0 }]);
  await ledger.close();
});

test('while the database is away every further batch has one try, and the first that works ends that', async () => {
  const { ledger, sent, fail, heal, clock } = open();
  fail(Infinity);
  await assert.rejects(ledger.submit(creditOf(ledgerId, 1)), LedgerUnavailable);
  await clock.advance(patienceMs);
  const [tries, beganMs] = [sent.length, clock.elapsedMs()];
  await assert.rejects(ledger.submit(creditOf(ledgerId, 2)), LedgerUnavailable);
  assert.deepEqual([sent.length, clock.elapsedMs()], [tries + 1, beganMs], 'one try, and no wait');
  heal();
  assert.deepEqual(await ledger.submit(creditOf(ledgerId, 3)), credited);
  fail(2);
  assert.deepEqual(await ledger.submit(creditOf(ledgerId, 4)), credited, 'patient again');
  await ledger.close();
});

test('batches go on while an older settlement still waits for its turn', async () => {
  const { ledger, fail, heal } = open();
  fail(Infinity);
  const settlements = Array.from({ length: 3 }, (_, index) => ledger.submit(settleOf(hold(`h${index}`), 1)));
  await assert.rejects(ledger.submit(creditOf(ledgerId, 1)), LedgerUnavailable);
  heal();
  assert.deepEqual(await ledger.submit(creditOf(ledgerId, 2)), credited);
  assert.deepEqual(await Promise.all(settlements), [charged, charged, charged]);
  await ledger.close();
});

test('closing waits for settlements for a while, and then says that they were not written', async () => {
  const { ledger, fail, isClosed, tries } = open();
  fail(Infinity);
  const settlement = ledger.submit(settleOf(hold('a'), 1));
  settlement.catch(() => {});
  await tries(20);
  await ledger.close();
  await assert.rejects(settlement, /whether the settle was booked is unknown/);
  assert.ok(isClosed());
});

const credited: Reply = { type: 'credited', availableMicros: 1 as never };
const charged: Reply = { type: 'charged', chargedMicros: 1 as never, lossMicros: 0 as never, availableMicros: 1 as never };

function open() {
  const sent: (readonly Command[])[] = [];
  let failures = 0;
  let troubles = 0;
  let isClosed = false;
  const clock = new HastyClock();
  const store: RetriedStore = {
    run: async (commands) => {
      sent.push(commands);
      await setImmediate();
      if (failures-- > 0) throw new Error('the server is gone');
      return commands.map(replyTo);
    },
    close: async () => {
      isClosed = true;
    },
  };
  const ledger: Ledger = createBatcher(
    createRetryingRunner(store, { onTrouble: () => (troubles += 1), patienceMs, closeMs: 100, clock }),
  );
  return {
    ledger,
    sent,
    fail: (times: number) => (failures = times),
    heal: () => (failures = 0),
    troubles: () => troubles,
    isClosed: () => isClosed,
    clock,
    /** Resolves when the store has been asked so often once more. */
    tries: async (count: number) => {
      for (const target = sent.length + count; sent.length < target;) await setImmediate();
    },
  };
}

function replyTo({ type }: Command): Reply {
  if (type === 'settle') return charged;
  return type === 'release' ? { type: 'released' } : credited;
}

function hold(holdId: string) {
  return { holdId, ledgerId, keyId: 'k' } as const;
}

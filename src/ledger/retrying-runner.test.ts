import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { micros } from '../lib/money.ts';
import { createBatcher, LedgerLost, LedgerUnavailable } from './batcher.ts';
import type { Command, Ledger } from './commands.ts';
import { creditOf, reserveOf, settleOf } from '../../tests/support/ledger/test-ledger.ts';
import { createRetryingRunner, type RetriedStore } from './retrying-runner.ts';
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

test('new work is refused after a while, in words that leave open what became of it; a charge is not given up, nor a release', async () => {
  const { ledger, fail, heal, tries, sent } = open();
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
  assert.deepEqual(await released, { type: 'released' }, 'the error of a failed request waits for no database');
  assert.equal(await Promise.race([settled, setImmediate('still waiting')]), 'still waiting');
  assert.equal(ledger.isFailing(), true);
  heal();
  assert.deepEqual(await settled, charged);
  assert.equal(ledger.isFailing(), false);
  assert.ok(sent.at(-1)!.some(({ type }) => type === 'release'));
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

test('a whole stream that cannot be charged in time is given back where the store undoes what failed, and waits where it may not have', async () => {
  for (const undoesFailed of [true, false]) {
    const { ledger, sent, fail, heal, tries } = open({ undoesFailed });
    fail(Infinity);
    const { record, ...settle } = settleOf(hold('a'), 9);
    const [stream, cutOff] = (['complete', 'cut-off'] as const).map((ending, index) =>
      ledger.submit({
        ...settle,
        holdId: 'ab'[index]!,
        record: { ...record, streamed: true, ending, upstreamCostMicros: micros(7) },
      }),
    );
    if (undoesFailed) await assert.rejects(stream!, LedgerUnavailable);
    else await tries(20);
    heal();
    assert.deepEqual(await cutOff, charged, 'nobody waits for the end of a stream that was cut off');
    if (!undoesFailed) assert.deepEqual(await stream, charged);
    const releases = new Set(sent.flat().filter(({ type }) => type === 'release'));
    assert.deepEqual([...releases], undoesFailed ? [{ type: 'release', holdId: 'a', lossMicros: 7 }] : []);
    await ledger.close();
  }
});

test('a store that is lost for good is not asked again, whoever waits', async () => {
  const { ledger, lose, fail, tries } = open();
  fail(Infinity);
  const settlement = ledger.submit(settleOf(hold('a'), 1));
  await tries(20);
  lose();
  await assert.rejects(settlement, LedgerLost);
  await assert.rejects(ledger.submit(creditOf(ledgerId, 1)), LedgerUnavailable);
  await ledger.close();
});

test('what failed beside the batches counts as trouble until the store can be written', async () => {
  const { runner, ledger, sent, fail, heal, tries } = open();
  fail(Infinity);
  runner.noteFailure(new Error('no sweep'));
  await tries(5);
  assert.deepEqual(sent.at(-1), []);
  assert.equal(ledger.isFailing(), true);
  heal();
  while (ledger.isFailing()) await setImmediate();
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

function open({ undoesFailed = false } = {}) {
  const sent: (readonly Command[])[] = [];
  let failures = 0;
  let troubles = 0;
  let isClosed = false;
  let isLost = false;
  const clock = new HastyClock();
  const store: RetriedStore = {
    undoesFailed,
    run: async (commands) => {
      sent.push(commands);
      await setImmediate();
      if (isLost) throw new LedgerLost('the thread is gone');
      if (failures-- > 0) throw new Error('the server is gone');
      return commands.map(replyTo);
    },
    close: async () => {
      isClosed = true;
    },
  };
  const runner = createRetryingRunner(store, { onTrouble: () => (troubles += 1), patienceMs, closeMs: 100, clock });
  const ledger: Ledger = createBatcher(runner);
  return {
    runner,
    ledger,
    lose: () => (isLost = true),
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

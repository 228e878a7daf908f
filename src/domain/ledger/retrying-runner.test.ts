import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { micros } from '../../lib/money.ts';
import { createBatcher, LedgerLost, LedgerUnavailable } from './batcher.ts';
import type { Command, Ledger, Reply } from './commands.ts';
import { creditOf, reserveOf, settleOf } from '../../../tests/support/ledger/test-ledger.ts';
import { createRetryingRunner, type RetriedStore } from './retrying-runner.ts';
import { SleeplessClock } from '../../../tests/support/test-clock.ts';

const ledgerId = 'acc:live';
const newWorkTimeoutMs = 100;

test('a failed batch is sent again unchanged until it succeeds', async () => {
  const { ledger, sent, fail, troubles } = open();
  fail(2);
  const answers = await Promise.all([
    ledger.submit(creditOf(ledgerId, 1)),
    ledger.submit(settleOf(hold('a'), 1)),
  ]);
  assert.deepEqual(answers, [credited, charged]);
  assert.equal(sent.length, 3);
  for (const batch of sent) assert.deepEqual(batch, sent[0]);
  assert.equal(troubles(), 2);
  await ledger.close();
});

test('new work is refused after a timeout, with an unknown outcome; charges and releases are retried', async () => {
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
  // The error of a failed request waits for no database.
  assert.deepEqual(await released, { type: 'released' });
  assert.equal(await Promise.race([settled, setImmediate('still waiting')]), 'still waiting');
  assert.equal(ledger.isFailing(), true);
  heal();
  assert.deepEqual(await settled, charged);
  assert.equal(ledger.isFailing(), false);
  assert.ok(sent.at(-1)!.some(({ type }) => type === 'release'));
  await ledger.close();
});

test('a refused reservation that may have been booked is released on its own ledger', async () => {
  const { ledger, sent, fail, heal } = open();
  fail(Infinity);
  await assert.rejects(ledger.submit(reserveOf(hold('a'), 5)), LedgerUnavailable);
  heal();
  while (!sent.at(-1)?.some(({ type }) => type === 'release')) await setImmediate();
  assert.deepEqual(sent.at(-1), [{ type: 'release', holdId: 'a', ledgerId, lossMicros: 0 }]);
  await ledger.close();
});

test('a complete answer that cannot be charged in time is released if the store has rolled back, else it waits', async () => {
  for (const [rollsBackFailures, streamed] of [
    [true, true],
    [true, false],
    [false, true],
    [false, false],
  ]) {
    const { ledger, sent, fail, heal, tries } = open({ rollsBackFailures });
    fail(Infinity);
    const { record, ...settle } = settleOf(hold('a'), 9);
    const [whole, cutOff] = (['complete', 'cut-off'] as const).map((ending, index) =>
      ledger.submit({
        ...settle,
        holdId: 'ab'[index]!,
        record: { ...record, streamed: streamed!, ending, upstreamCostMicros: micros(7) },
      }),
    );
    if (rollsBackFailures) await assert.rejects(whole!, LedgerUnavailable);
    else await tries(20);
    heal();
    // Nobody waits for the end of an answer that was cut off.
    assert.deepEqual(await cutOff, charged);
    if (!rollsBackFailures) assert.deepEqual(await whole, charged);
    const releases = new Set(sent.flat().filter(({ type }) => type === 'release'));
    const released = { type: 'release', holdId: 'a', lossMicros: 7 };
    assert.deepEqual([...releases], rollsBackFailures ? [released] : []);
    await ledger.close();
  }
});

test('a stream whose charge may have been written gets no error, even if later writes fail', async () => {
  const { ledger, fail, heal, leaveUnknown, stop, tries } = open({ rollsBackFailures: true });
  fail(Infinity);
  leaveUnknown();
  const { record, ...settle } = settleOf(hold('a'), 9);
  const stream = ledger.submit({ ...settle, record: { ...record, streamed: true } });
  await tries(20);
  stop();
  await tries(20);
  heal();
  assert.deepEqual(await stream, charged);
  await ledger.close();
});

test('a refused reservation that was certainly not booked needs no release', async () => {
  const { runner, ledger, sent, fail, heal } = open({ rollsBackFailures: true });
  fail(Infinity);
  await assert.rejects(ledger.submit(reserveOf(hold('a'), 5)), LedgerUnavailable);
  heal();
  assert.deepEqual(await ledger.submit(creditOf(ledgerId, 1)), credited);
  assert.equal(runner.isFailing(), false);
  await ledger.close();
  assert.ok(sent.flat().every(({ type }) => type !== 'release'));
});

test('a permanently lost store is not retried', async () => {
  const { ledger, lose, fail, tries } = open();
  fail(Infinity);
  const settlement = ledger.submit(settleOf(hold('a'), 1));
  await tries(20);
  lose();
  await assert.rejects(settlement, LedgerLost);
  await assert.rejects(ledger.submit(creditOf(ledgerId, 1)), LedgerUnavailable);
  await ledger.close();
});

test('a failure outside of batches counts as failing until the store can be written', async () => {
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

test('an outage ends without new work, also when nothing waits to be written', async () => {
  const { ledger, fail, heal, clock } = open({ rollsBackFailures: true });
  fail(Infinity);
  await assert.rejects(ledger.submit(reserveOf(hold('a'), 5)), LedgerUnavailable);
  assert.equal(ledger.isFailing(), true);
  heal();
  for (let turn = 0; turn < 100 && ledger.isFailing(); turn++) await clock.advance(1_000);
  assert.equal(ledger.isFailing(), false);
  await ledger.close();
});

test('during an outage every further batch gets one try, and the first success ends the outage', async () => {
  const { ledger, sent, fail, heal, clock } = open();
  fail(Infinity);
  await assert.rejects(ledger.submit(creditOf(ledgerId, 1)), LedgerUnavailable);
  await clock.advance(newWorkTimeoutMs);
  await assert.rejects(ledger.submit(creditOf(ledgerId, 2)), LedgerUnavailable);
  const isSecond = (command: Command) => command.type === 'credit' && command.amountMicros === 2;
  assert.equal(sent.flat().filter(isSecond).length, 1);
  heal();
  assert.deepEqual(await ledger.submit(creditOf(ledgerId, 3)), credited);
  fail(2);
  assert.deepEqual(await ledger.submit(creditOf(ledgerId, 4)), credited, 'patient again');
  await ledger.close();
});

test('when only some batches fail, those still time out, and settlements and releases are retried', async () => {
  const { runner, refuse, clock } = open();
  refuse((commands) => commands.length > 0);
  const state = { isOver: false };
  const another = () => runner.run([]).then(() => undefined);
  const given = runner
    .run([creditOf(ledgerId, 1), settleOf(hold('a'), 1)])
    .then(([credit, settlement]) => {
      state.isOver = true;
      return { refusal: assert.rejects(credit as Promise<Reply>, LedgerUnavailable), settlement };
    });
  for (let turn = 0; turn < 1_000 && !state.isOver; turn++) await another();
  assert.ok(state.isOver, `still waiting after ${clock.elapsedMs()} ms`);
  const { refusal, settlement } = await given;
  await refusal;
  await another();
  assert.equal(runner.isFailing(), true, 'a charge waits to be written');
  refuse(() => false);
  assert.deepEqual(await settlement, charged);
  assert.equal(runner.isFailing(), false);
  await runner.close();
});

test('batches continue while an older settlement still waits', async () => {
  const { ledger, fail, heal } = open();
  fail(Infinity);
  const settlements = Array.from({ length: 3 }, (_, index) =>
    ledger.submit(settleOf(hold(`h${index}`), 1)),
  );
  await assert.rejects(ledger.submit(creditOf(ledgerId, 1)), LedgerUnavailable);
  heal();
  assert.deepEqual(await ledger.submit(creditOf(ledgerId, 2)), credited);
  assert.deepEqual(await Promise.all(settlements), [charged, charged, charged]);
  await ledger.close();
});

test('at the end of a shutdown even the charge of a client that left is given up, if the store has rolled it back', async () => {
  for (const rollsBackFailures of [true, false]) {
    const { ledger, sent, fail, heal, stop, tries } = open({ rollsBackFailures });
    fail(Infinity);
    const { record, ...settle } = settleOf(hold('a'), 9);
    const cutOff = { ...record, upstreamCostMicros: micros(7), ending: 'cut-off' } as const;
    const whole = ledger.submit({ ...settle, record: cutOff });
    await tries(20);
    stop();
    if (rollsBackFailures) await assert.rejects(whole, LedgerUnavailable);
    else await tries(20);
    heal();
    if (!rollsBackFailures) assert.deepEqual(await whole, charged);
    await ledger.close();
    const [last, ...others] = sent.at(-1)!;
    assert.deepEqual([last!.type, others], [rollsBackFailures ? 'release' : 'settle', []]);
  }
});

test('closing waits for settlements until a timeout, and then rejects them', async () => {
  const { ledger, fail, isClosed, tries } = open();
  fail(Infinity);
  const settlement = ledger.submit(settleOf(hold('a'), 1));
  settlement.catch(() => {});
  await tries(20);
  await ledger.close();
  await assert.rejects(settlement, /whether the settle was booked is unknown/);
  assert.ok(isClosed());
});

const credited: Reply = { type: 'credited', availableMicros: micros(1) };
const amounts = { chargedMicros: micros(1), lossMicros: micros(0), availableMicros: micros(1) };
const charged: Reply = { type: 'charged', ...amounts };

function open({ rollsBackFailures = false } = {}) {
  const sent: (readonly Command[])[] = [];
  let failures = 0;
  let troubles = 0;
  let isClosed = false;
  let isLost = false;
  let isStopping = false;
  let unknowns = 0;
  let isUnknown = false;
  let isRefused: (commands: readonly Command[]) => boolean = () => false;
  const clock = new SleeplessClock();
  const store: RetriedStore = {
    hasRolledBack: () => rollsBackFailures && !isUnknown,
    run: async (commands) => {
      sent.push(commands);
      await setImmediate();
      if (isLost) throw new LedgerLost('the thread is gone');
      isUnknown = failures > 0 && unknowns-- > 0;
      if (failures-- > 0) throw new Error('the server is gone');
      if (isRefused(commands)) throw new Error('no room');
      return commands.map(replyTo);
    },
    close: async () => {
      isClosed = true;
    },
  };
  const runner = createRetryingRunner(store, {
    onTrouble: () => (troubles += 1),
    newWorkTimeoutMs,
    isStopping: () => isStopping,
    closeMs: 100,
    clock,
  });
  const ledger: Ledger = createBatcher(runner);
  return {
    runner,
    ledger,
    lose: () => (isLost = true),
    /** The effect of the next failure on its batch. */
    leaveUnknown: () => (unknowns = 1),
    stop: () => (isStopping = true),
    sent,
    fail: (times: number) => (failures = times),
    heal: () => (failures = 0),
    refuse: (which: typeof isRefused) => (isRefused = which),
    troubles: () => troubles,
    isClosed: () => isClosed,
    clock,
    /** Resolves after that many further calls of the store. */
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

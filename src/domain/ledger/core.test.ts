import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Micros } from '../../lib/money.ts';
import type { Command } from './commands.ts';
import { runCommands } from './core.ts';
import {
  creditOf,
  emptyBook,
  extendOf,
  reserveOf,
  settleOf,
  startMs,
} from '../../../tests/support/ledger/test-ledger.ts';

const ledgerId = 'acc:live';
const hold = { holdId: 'h', ledgerId, keyId: 'k' } as const;

test('a negative or fractional amount is a bug: nothing of its batch is decided', () => {
  const { book } = runCommands(
    emptyBook([ledgerId]),
    [creditOf(ledgerId, 100), reserveOf(hold, 10)],
    startMs,
  );
  const other = { ...hold, holdId: 'other' };
  for (const amount of [-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY] as Micros[]) {
    const bad: readonly Command[] = [
      { ...reserveOf(other, 1), amountMicros: amount },
      { ...extendOf(hold, 1, 1), amountMicros: amount },
      { ...settleOf(hold, 1), costMicros: amount },
      { type: 'release', holdId: 'h', lossMicros: amount },
      { ...creditOf(ledgerId, 1, 'c2'), amountMicros: amount },
      { ...creditOf(ledgerId, 1, 'd2'), type: 'debit', amountMicros: amount },
    ];
    for (const command of bad) {
      assert.throws(
        () => runCommands(book, [command], startMs),
        Error,
        `${command.type} of ${amount}`,
      );
    }
  }
});

test('a frozen account takes the loss of a failed call, and nothing else', () => {
  const { book } = runCommands(emptyBook([ledgerId]), [creditOf(ledgerId, 100)], startMs);
  const ledgers = new Map(
    [...book.ledgers].map(([id, state]) => [id, { ...state, isFrozen: true }] as const),
  );
  const reserve = reserveOf(hold, 0);
  const run = (...commands: readonly Command[]) =>
    runCommands({ ...book, ledgers }, commands, startMs).outcomes.map(({ type }) => type);
  assert.deepEqual(run(reserve), ['account-frozen']);
  assert.deepEqual(
    run({ ...reserve, isForLoss: true }, { type: 'release', holdId: 'h', lossMicros: 7 as Micros }),
    ['held', 'released'],
  );
  assert.throws(() => run({ ...reserveOf(hold, 1), isForLoss: true }), /reserves nothing/);
});

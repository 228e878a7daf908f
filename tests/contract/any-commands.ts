// Random commands for books of two accounts, `a0` with two keys and `a1` with one.
import type { Command } from '../../src/domain/ledger/commands.ts';
import { micros } from '../../src/lib/money.ts';
import {
  addAccount,
  creditOf,
  extendOf,
  reserveOf,
  settleOf,
} from '../support/ledger/test-ledger.ts';
import type { Hooks } from '../support/file-hooks.ts';
import fc from '../support/property.ts';
import type { StoreKind } from './stores.ts';

/** A hold of each key. */
export const holds = [
  { holdId: 'h0', ledgerId: 'a0:live', keyId: 'k0' },
  { holdId: 'h1', ledgerId: 'a0:live', keyId: 'k1' },
  { holdId: 'h2', ledgerId: 'a1:live', keyId: 'k2' },
] as const;

export async function openTwoAccounts(t: Hooks, store: StoreKind, startMs: number) {
  const database = await store.openDatabase(t);
  await addAccount(database, 'a0', ['k0', 'k1']);
  await addAccount(database, 'a1', ['k2']);
  const clock = { nowMs: startMs };
  return { database, clock, books: store.openStore(t, database, { clock }) };
}

export const anyAmount = fc.integer({ min: 1, max: 60 });
export const anyHold = (numbers: number) =>
  fc
    .tuple(fc.nat({ max: 2 }), fc.nat({ max: numbers }))
    .map(([of, number]) => ({ ...holds[of]!, holdId: `h${of}-${number}` }));

/** `numbers`: how many holds of a key there may be. `tags`: the tags of its settlement. */
export function anyCommand(
  numbers: number,
  tags: fc.Arbitrary<readonly string[]> = fc.constant([]),
): fc.Arbitrary<Command> {
  const hold = anyHold(numbers);
  const pair = fc.tuple(hold, anyAmount);
  const ledgerId = fc.constantFrom('a0:live' as const, 'a1:live' as const);
  return fc.oneof(
    { weight: 5, arbitrary: pair.map(([of, held]) => reserveOf(of, held)) },
    {
      weight: 5,
      arbitrary: fc
        .tuple(hold, anyAmount, tags)
        .map(([of, cost, named]) => withTags(settleOf(of, cost), named)),
    },
    { weight: 1, arbitrary: pair.map(([of, more]) => extendOf(of, 1, more)) },
    {
      weight: 1,
      arbitrary: pair.map(([{ holdId }, loss]) => ({
        type: 'release' as const,
        holdId,
        lossMicros: micros(loss),
        isCausedByAccount: true,
      })),
    },
    {
      weight: 1,
      arbitrary: fc.tuple(ledgerId, fc.nat({ max: 900 })).map(([id, sum]) => creditOf(id, sum)),
    },
  );
}

export function withTags(settle: Command, named: readonly string[]): Command {
  return named.length === 0 ? settle : ({ ...settle, tags: named } as Command);
}

// Creates the two ledgers of a new account in the transaction that creates the account, so that
// neither exists alone.
import type { Db } from '../../db/schema.ts';
import { modes } from '../../terms/mode.ts';
import { microsFromUsd, zeroMicros } from '../../lib/money.ts';
import { entriesTable } from './columns.ts';
import { ledgerIdOf } from './commands.ts';
import { runCommands } from './core.ts';
import { holdClosedUntil } from './seals/sealing-turn.ts';

const playMoney = { amountMicros: microsFromUsd(1_000), note: 'play money' };

/**
 * Adds the empty live ledger, and the test ledger with its play money. `transaction` must have
 * inserted the account. Example: `db.write.transaction().execute(async (transaction) => { …insert…;
 * await createLedgers(transaction, { accountId, nowMs }); })`.
 */
export async function createLedgers(
  transaction: Db,
  { accountId, nowMs }: { readonly accountId: string; readonly nowMs: number },
): Promise<void> {
  const rows = modes.map((mode) => ({
    id: ledgerIdOf(accountId, mode),
    account_id: accountId,
    mode,
  }));
  await transaction.insertInto('ledgers').values(rows).execute();
  // Nothing is dated into a sealed day, even if this gateway's clock is behind.
  const dateMs = Math.max(nowMs, await holdClosedUntil(transaction));
  await creditPlayMoney(transaction, accountId, dateMs);
}

/**
 * Credits the test ledger's play money. The core decides on it like on any other credit; only the
 * saving happens here, inside the caller's transaction.
 */
async function creditPlayMoney(transaction: Db, accountId: string, nowMs: number): Promise<void> {
  const ledgerId = ledgerIdOf(accountId, 'test');
  const empty = {
    postedMicros: zeroMicros,
    heldMicros: zeroMicros,
    inputTokens: 0,
    outputTokens: 0,
    isFrozen: false,
    lastEntryAtMs: 0,
  };
  const book = {
    ledgers: new Map([[ledgerId, empty]]),
    windows: new Map(),
    holds: new Map(),
    entries: new Map(),
    claims: new Map(),
    members: new Map(),
  };
  const { book: after, entries } = runCommands(
    book,
    [{ type: 'credit', entryId: `play-${accountId}`, ledgerId, ...playMoney }],
    nowMs,
  );
  await transaction
    .updateTable('ledgers')
    .set({ posted_micros: after.ledgers.get(ledgerId)!.postedMicros, last_entry_at_ms: nowMs })
    .where('id', '=', ledgerId)
    .execute();
  await transaction.insertInto('entries').values(entries.map(entriesTable.rowOf)).execute();
}

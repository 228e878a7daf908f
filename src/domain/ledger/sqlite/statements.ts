// The statements of a transaction, and those that load, hand-written and prepared once per
// connection. save.ts has those that save.
import type { DatabaseSync } from 'node:sqlite';
import type { Entry, Hold, LedgerState, Window, WindowKind } from '../book.ts';
import type { LedgerId } from '../commands.ts';
import {
  entriesTable,
  type EntryRow,
  holdsTable,
  type HoldRow,
  ledgerOfRow,
  type LedgerRow,
  windowsTable,
  type WindowRow,
} from '../columns.ts';

export type LoadStatements = ReturnType<typeof prepareStatements>;

export function prepareStatements(connection: DatabaseSync) {
  return {
    begin: prepareAction(connection, 'begin immediate'),
    commit: prepareAction(connection, 'commit'),
    rollback: prepareAction(connection, 'rollback'),
    /**
     * Sets whether later commits wait for the disk. Not prepared, because SQLite runs this pragma
     * only when it is compiled.
     */
    waitForDisk: () => connection.exec('pragma synchronous = full'),
    skipDisk: () => connection.exec('pragma synchronous = normal'),
    ...prepareLoads(connection),
  };
}

function prepareLoads(connection: DatabaseSync) {
  const ledger = connection.prepare(
    `select posted_micros, held_micros, input_tokens, output_tokens, last_entry_at_ms, frozen
     from ledgers join accounts on accounts.id = ledgers.account_id where ledgers.id = ?`,
  );
  const window = connection.prepare(
    'select * from key_windows where key_id = ? and kind = ? and starts_on = ?',
  );
  const hold = connection.prepare('select * from holds where id = ?');
  const entries = connection.prepare('select * from entries where id = ?');
  const claim = connection.prepare(
    'select request_id from idempotent_responses where key_id = ? and key_digest = ?',
  );
  const owned = connection.prepare(
    'select key_id from key_owners where ledger_id = ? and user_id = ?',
  );
  const closed = connection.prepare('select closed_until_ms from sealing');
  return {
    /** The end of the closed days, in Unix milliseconds; 0 without one. */
    loadClosedUntil: (): number => (closed.get() as { closed_until_ms: number }).closed_until_ms,
    loadLedger: (id: LedgerId): LedgerState | null => {
      const row = ledger.get(id) as LedgerRow | undefined;
      return row ? ledgerOfRow(row) : null;
    },
    loadWindow: (keyId: string, kind: WindowKind, startsOn: string): Window | null => {
      const row = window.get(keyId, kind, startsOn) as WindowRow | undefined;
      return row ? windowsTable.recordOf(row) : null;
    },
    loadOwnedKeys: (ledgerId: LedgerId, memberId: string): readonly string[] =>
      (owned.all(ledgerId, memberId) as { key_id: string }[]).map((row) => row.key_id),
    loadHold: (id: string): Hold | null => {
      const row = hold.get(id) as HoldRow | undefined;
      return row ? holdsTable.recordOf(row) : null;
    },
    loadClaim: (keyId: string, keyDigest: string): string | null => {
      const row = claim.get(keyId, keyDigest) as { request_id: string } | undefined;
      return row?.request_id ?? null;
    },
    loadEntries: (id: string): readonly Entry[] =>
      (entries.all(id) as unknown as EntryRow[]).map(entriesTable.recordOf),
  };
}

function prepareAction(connection: DatabaseSync, sql: string): () => void {
  const statement = connection.prepare(sql);
  return () => {
    statement.run();
  };
}

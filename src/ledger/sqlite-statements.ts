// The ledger's hot statements on SQLite, written by hand and kept prepared for the life of the connection.
import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import type { KeptPrice } from '../canonical/price-terms.ts';
import type { Micros } from '../lib/money.ts';
import type { Entry, Hold, LedgerState, Window, WindowKind } from './book.ts';
import { addedToDay, type ChargeDayRow } from './charge-days.ts';
import type { AuditRow, LedgerId } from './commands.ts';
import { addedToLossDay, type LossDayRow } from './loss-days.ts';
import {
  bodyIfKept,
  entryOfRow,
  type EntryRow,
  holdOfRow,
  type HoldRow,
  ofKeepingAccount,
  onOlderAnswer,
  onOwnClaim,
  rowOfCached,
  rowOfCharge,
  rowOfEntry,
  rowOfHold,
  rowOfResponse,
} from './rows.ts';

export type LedgerStatements = ReturnType<typeof prepareStatements>;

export function prepareStatements(connection: DatabaseSync) {
  return {
    begin: prepareAction(connection, 'begin immediate'),
    commit: prepareAction(connection, 'commit'),
    rollback: prepareAction(connection, 'rollback'),
    /** Whether the commits from now on wait for the disk. Not prepared: SQLite runs this pragma when it is compiled, and never again. */
    waitForDisk: () => connection.exec('pragma synchronous = full'),
    skipDisk: () => connection.exec('pragma synchronous = normal'),
    ...prepareLoads(connection),
    ...prepareSaves(connection),
    insertEntry: prepareInsert(connection, 'entries', rowOfEntry),
    insertCharge: prepareInsert(connection, 'charges', rowOfCharge),
    addToDay: prepareInsert(connection, 'charge_days', (row: ChargeDayRow) => row, addedToDay),
    addToLossDay: prepareInsert(connection, 'loss_days', (row: LossDayRow) => row, addedToLossDay),
    insertHold: prepareInsert(connection, 'holds', rowOfHold),
    insertAuditRow: prepareInsert(connection, 'audit_log', (row: AuditRow) => row),
    storeResponse: prepareKeeping(connection, {
      table: 'idempotent_responses',
      toRow: rowOfResponse,
      body: bodyIfKept,
      // Without the condition, SQLite would read the conflict as one of a join.
      rest: `where true ${onOwnClaim}`,
    }),
    cacheResponse: prepareKeeping(connection, {
      table: 'cached_responses',
      toRow: rowOfCached,
      rest: `join accounts on ${ofKeepingAccount} where true ${onOlderAnswer}`,
    }),
  };
}

type LedgerRow = {
  posted_micros: Micros;
  held_micros: Micros;
  input_tokens: number;
  output_tokens: number;
  last_entry_at_ms: number;
  frozen: 0 | 1;
};
type WindowRow = { settled_micros: Micros; held_micros: Micros };

function prepareLoads(connection: DatabaseSync) {
  const ledger = connection.prepare(
    `select posted_micros, held_micros, input_tokens, output_tokens, last_entry_at_ms, frozen
     from ledgers join accounts on accounts.id = ledgers.account_id where ledgers.id = ?`,
  );
  const window = connection.prepare(
    'select settled_micros, held_micros from key_windows where key_id = ? and kind = ? and starts_on = ?',
  );
  const hold = connection.prepare('select * from holds where id = ?');
  const entries = connection.prepare('select * from entries where id = ?');
  const claim = connection.prepare('select request_id from idempotent_responses where key_id = ? and key_digest = ?');
  return {
    loadLedger: (id: LedgerId): LedgerState | null => {
      const row = ledger.get(id) as LedgerRow | undefined;
      if (!row) return null;
      const { posted_micros: postedMicros, held_micros: heldMicros } = row;
      return {
        postedMicros,
        heldMicros,
        inputTokens: row.input_tokens,
        outputTokens: row.output_tokens,
        isFrozen: row.frozen === 1,
        lastEntryAtMs: row.last_entry_at_ms,
      };
    },
    loadWindow: (keyId: string, kind: WindowKind, startsOn: string): Window | null => {
      const row = window.get(keyId, kind, startsOn) as WindowRow | undefined;
      return row ? { keyId, kind, startsOn, settledMicros: row.settled_micros, heldMicros: row.held_micros } : null;
    },
    loadHold: (id: string): Hold | null => {
      const row = hold.get(id) as HoldRow | undefined;
      return row ? holdOfRow(row) : null;
    },
    loadClaim: (keyId: string, keyDigest: string): string | null => {
      const row = claim.get(keyId, keyDigest) as { request_id: string } | undefined;
      return row?.request_id ?? null;
    },
    loadEntries: (id: string): readonly Entry[] => (entries.all(id) as unknown as EntryRow[]).map(entryOfRow),
  };
}

function prepareSaves(connection: DatabaseSync) {
  const ledger = connection.prepare(
    `update ledgers set posted_micros = ?, held_micros = ?, input_tokens = ?, output_tokens = ?, last_entry_at_ms = ?
     where id = ?`,
  );
  const window = connection.prepare(
    `insert into key_windows (key_id, kind, starts_on, settled_micros, held_micros) values (?, ?, ?, ?, ?)
     on conflict do update set settled_micros = excluded.settled_micros, held_micros = excluded.held_micros`,
  );
  const price = connection.prepare('insert into prices (id, terms) values (?, ?) on conflict do nothing');
  const enlarge = connection.prepare('update holds set amount_micros = ? where id = ?');
  const hold = connection.prepare('delete from holds where id = ?');
  return {
    saveLedger: (id: LedgerId, state: LedgerState): void => {
      const { postedMicros, heldMicros, inputTokens, outputTokens, lastEntryAtMs } = state;
      ledger.run(postedMicros, heldMicros, inputTokens, outputTokens, lastEntryAtMs, id);
    },
    saveWindow: ({ keyId, kind, startsOn, settledMicros, heldMicros }: Window): void => {
      window.run(keyId, kind, startsOn, settledMicros, heldMicros);
    },
    keepPrice: ({ id, terms }: KeptPrice): void => {
      price.run(id, terms);
    },
    enlargeHold: ({ id, amountMicros }: Hold): void => {
      enlarge.run(amountMicros, id);
    },
    deleteHold: (id: string): void => {
      hold.run(id);
    },
  };
}

function prepareAction(connection: DatabaseSync, sql: string): () => void {
  const statement = connection.prepare(sql);
  return () => {
    statement.run();
  };
}

/** The columns are those that `toRow` writes, in the order in which it writes them. */
function prepareInsert<Value>(
  connection: DatabaseSync,
  table: string,
  toRow: (value: Value) => object,
  rest = '',
): (value: Value) => void {
  let insert: ((row: object) => void) | null = null;
  return (value) => {
    const row = toRow(value);
    insert ??= prepareRowInsert(connection, { table, columns: Object.keys(row), rest });
    insert(row);
  };
}

type Keeping<Value> = {
  readonly table: string;
  readonly toRow: (value: Value) => { readonly body: string | null };
  /** Of the new `row`. */
  readonly body?: string;
  /** What follows `from row`. */
  readonly rest: string;
};

/** An insert of an answer that depends on its account as it is now. */
function prepareKeeping<Value>(connection: DatabaseSync, { table, toRow, body = 'row.body', rest }: Keeping<Value>) {
  let insert: StatementSync | null = null;
  return (value: Value): void => {
    const row = toRow(value);
    const names = Object.keys(row);
    insert ??= connection.prepare(
      `insert into ${table} (${names.join(', ')})
      select ${names.map((name) => (name === 'body' ? body : `row.${name}`)).join(', ')}
      from (select ${names.map((name) => `@${name} as ${name}`).join(', ')}) as row ${rest}`,
    );
    insert.run({ ...row, body: row.body === null ? null : Buffer.from(row.body, 'base64') });
  };
}

type RowInsert = { readonly table: string; readonly columns: readonly string[]; readonly rest: string };

function prepareRowInsert(connection: DatabaseSync, { table, columns, rest }: RowInsert): (row: object) => void {
  const places = columns.map(() => '?').join(', ');
  const statement = connection.prepare(`insert into ${table} (${columns.join(', ')}) values (${places}) ${rest}`);
  return (row) => {
    statement.run(...(Object.values(row) as SQLInputValue[]));
  };
}

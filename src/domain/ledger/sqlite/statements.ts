// The ledger's hot statements on SQLite, hand-written and prepared once per connection.
import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import type { KeptPrice } from '../../../canonical/price-terms.ts';
import type { Micros } from '../../../lib/money.ts';
import type { Entry, Hold, LedgerState, Window, WindowKind } from '../book.ts';
import { addToDaySql, type ChargeDayRow } from '../charge-days.ts';
import { addToTagDaySql, type ChargeTagRow, type TagDayRow } from '../charge-tags.ts';
import type { AuditRow, LedgerId } from '../commands.ts';
import { addToLossDaySql, type LossDayRow } from '../loss-days.ts';
import {
  bodyIfRetained,
  entryOfRow,
  type EntryRow,
  holdOfRow,
  type HoldRow,
  accountStoresAnswer,
  replaceOlderAnswer,
  replaceOwnClaim,
  rowOfCached,
  rowOfCharge,
  rowOfEntry,
  rowOfHold,
  rowOfResponse,
} from '../rows.ts';

export type LedgerStatements = ReturnType<typeof prepareStatements>;

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
    ...prepareSaves(connection),
    insertEntry: prepareInsert(connection, 'entries', rowOfEntry),
    insertCharge: prepareInsert(connection, 'charges', rowOfCharge),
    addToDay: prepareInsert(connection, 'charge_days', (row: ChargeDayRow) => row, addToDaySql),
    insertChargeTag: prepareInsert(connection, 'charge_tags', (row: ChargeTagRow) => row),
    addToTagDay: prepareInsert(connection, 'tag_days', (row: TagDayRow) => row, addToTagDaySql),
    addToLossDay: prepareInsert(connection, 'loss_days', (row: LossDayRow) => row, addToLossDaySql),
    insertHold: prepareInsert(connection, 'holds', rowOfHold),
    insertAuditRow: prepareInsert(connection, 'audit_log', (row: AuditRow) => row),
    storeResponse: prepareAnswerInsert(connection, {
      table: 'idempotent_responses',
      toRow: rowOfResponse,
      body: bodyIfRetained,
      // Without a where clause, SQLite would parse the conflict clause as a join condition.
      rest: `where true ${replaceOwnClaim}`,
    }),
    cacheResponse: prepareAnswerInsert(connection, {
      table: 'cached_responses',
      toRow: rowOfCached,
      rest: `join accounts on ${accountStoresAnswer} where true ${replaceOlderAnswer}`,
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
      return row
        ? { keyId, kind, startsOn, settledMicros: row.settled_micros, heldMicros: row.held_micros }
        : null;
    },
    loadOwnedKeys: (ledgerId: LedgerId, memberId: string): readonly string[] =>
      (owned.all(ledgerId, memberId) as { key_id: string }[]).map((row) => row.key_id),
    loadHold: (id: string): Hold | null => {
      const row = hold.get(id) as HoldRow | undefined;
      return row ? holdOfRow(row) : null;
    },
    loadClaim: (keyId: string, keyDigest: string): string | null => {
      const row = claim.get(keyId, keyDigest) as { request_id: string } | undefined;
      return row?.request_id ?? null;
    },
    loadEntries: (id: string): readonly Entry[] =>
      (entries.all(id) as unknown as EntryRow[]).map(entryOfRow),
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
  const price = connection.prepare(
    'insert into prices (id, terms) values (?, ?) on conflict do nothing',
  );
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

/** The columns and their order are those of `toRow`. */
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

type AnswerInsert<Value> = {
  readonly table: string;
  readonly toRow: (value: Value) => { readonly body: string | null };
  /** An SQL expression over the new `row`. */
  readonly body?: string;
  /** The SQL after `from row`. */
  readonly rest: string;
};

/** Prepares the insert of an answer, which depends on the current state of its account. */
function prepareAnswerInsert<Value>(
  connection: DatabaseSync,
  { table, toRow, body = 'row.body', rest }: AnswerInsert<Value>,
) {
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

type RowInsert = {
  readonly table: string;
  readonly columns: readonly string[];
  readonly rest: string;
};

function prepareRowInsert(
  connection: DatabaseSync,
  { table, columns, rest }: RowInsert,
): (row: object) => void {
  const places = columns.map(() => '?').join(', ');
  const statement = connection.prepare(
    `insert into ${table} (${columns.join(', ')}) values (${places}) ${rest}`,
  );
  return (row) => {
    statement.run(...(Object.values(row) as SQLInputValue[]));
  };
}

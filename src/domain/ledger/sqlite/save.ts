// Saves a decision on SQLite, by statements that are hand-written and prepared once per connection.
import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import type { KeptPrice } from '../../../canonical/price-terms.ts';
import type { Hold, LedgerState, Window } from '../book.ts';
import { changesOf } from '../changes.ts';
import { addToDaySql, type ChargeDayRow } from '../charge-days.ts';
import { addToTagDaySql, type ChargeTagRow, type TagDayRow } from '../charge-tags.ts';
import type { AuditRow, LedgerId } from '../commands.ts';
import type { Decision } from '../core.ts';
import { addToLossDaySql, type LossDayRow } from '../loss-days.ts';
import {
  bodyIfRetained,
  accountStoresAnswer,
  replaceOlderAnswer,
  replaceOwnClaim,
  rowOfCached,
  rowOfCharge,
  rowOfEntry,
  rowOfHold,
  rowOfResponse,
} from '../rows.ts';

export type SaveStatements = ReturnType<typeof prepareSaves>;

export function saveDecision(statements: SaveStatements, decision: Decision): void {
  const changes = changesOf(decision);
  for (const { id, state } of changes.ledgers) statements.saveLedger(id, state);
  changes.windows.forEach(statements.saveWindow);
  changes.openedHolds.forEach(statements.insertHold);
  changes.enlargedHolds.forEach(statements.enlargeHold);
  changes.endedHoldIds.forEach(statements.deleteHold);
  changes.entries.forEach(statements.insertEntry);
  changes.prices.forEach(statements.keepPrice);
  changes.charges.forEach(statements.insertCharge);
  changes.chargeDays.forEach(statements.addToDay);
  changes.chargeTags.forEach(statements.insertChargeTag);
  changes.tagDays.forEach(statements.addToTagDay);
  changes.lossDays.forEach(statements.addToLossDay);
  changes.responses.forEach(statements.storeResponse);
  changes.cached.forEach(statements.cacheResponse);
  changes.auditRows.forEach(statements.insertAuditRow);
}

export function prepareSaves(connection: DatabaseSync) {
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

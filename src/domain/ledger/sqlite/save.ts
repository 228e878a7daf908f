// Saves a decision on SQLite, by statements that are prepared once per connection.
import type { DatabaseSync } from 'node:sqlite';
import type { Hold, LedgerState } from '../book.ts';
import { changesOf } from '../changes.ts';
import { chargeDaysTable } from '../charge-days.ts';
import { tagDaysTable } from '../charge-tags.ts';
import * as tables from '../columns.ts';
import type { LedgerId } from '../commands.ts';
import type { Decision } from '../core.ts';
import { lossDaysTable } from '../loss-days.ts';
import type { Table } from '../table.ts';

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
  const { columns, valuesOf } = tables.ledgersTable;
  const set = columns.map((column) => `${column} = ?`).join(', ');
  const ledger = connection.prepare(`update ledgers set ${set} where id = ?`);
  const enlarge = connection.prepare('update holds set amount_micros = ? where id = ?');
  const hold = connection.prepare('delete from holds where id = ?');
  const insert = <Row, Fields>(table: Table<Row, Fields>) => prepareInsert(connection, table);
  return {
    saveLedger: (id: LedgerId, state: LedgerState): void => {
      ledger.run(...valuesOf(state), id);
    },
    saveWindow: insert(tables.windowsTable),
    insertHold: insert(tables.holdsTable),
    enlargeHold: ({ id, amountMicros }: Hold): void => {
      enlarge.run(amountMicros, id);
    },
    deleteHold: (id: string): void => {
      hold.run(id);
    },
    insertEntry: insert(tables.entriesTable),
    keepPrice: insert(tables.pricesTable),
    insertCharge: insert(tables.chargesTable),
    addToDay: insert(chargeDaysTable),
    insertChargeTag: insert(tables.chargeTagsTable),
    addToTagDay: insert(tagDaysTable),
    addToLossDay: insert(lossDaysTable),
    storeResponse: prepareAnswerInsert(connection, tables.responsesTable, {
      body: tables.bodyIfRetained,
    }),
    cacheResponse: prepareAnswerInsert(connection, tables.cachedTable, {
      join: `join accounts on ${tables.accountStoresAnswer}`,
    }),
    insertAuditRow: insert(tables.auditLogTable),
  };
}

function prepareInsert<Row, Fields>(
  connection: DatabaseSync,
  { name, columns, conflict, valuesOf }: Table<Row, Fields>,
): (record: Fields) => void {
  const places = columns.map(() => '?').join(', ');
  const statement = connection.prepare(
    `insert into ${name} (${columns.join(', ')}) values (${places}) ${conflict}`,
  );
  return (record) => {
    statement.run(...valuesOf(record));
  };
}

/** Prepares the insert of an answer, which depends on the current state of its account. */
function prepareAnswerInsert<Row, Fields>(
  connection: DatabaseSync,
  { name, columns, types, conflict, valuesOf }: Table<Row, Fields>,
  { body = 'row.body', join = '' },
): (record: Fields) => void {
  // Without a where clause, SQLite would parse the conflict clause as a join condition.
  const statement = connection.prepare(
    `insert into ${name} (${columns.join(', ')})
    select ${columns.map((column) => (column === 'body' ? body : `row.${column}`)).join(', ')}
    from (select ${columns.map((column) => `? as ${column}`).join(', ')}) as row ${join}
    where true ${conflict}`,
  );
  return (record) => {
    const values = valuesOf(record).map((value, index) =>
      types[index] === 'bytes' && value !== null ? Buffer.from(String(value), 'base64') : value,
    );
    statement.run(...values);
  };
}

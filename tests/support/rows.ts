// Rows of a gateway's database, found by the values of their columns.
import assert from 'node:assert/strict';
import type { Selectable, Updateable } from 'kysely';
import type { Database } from '../../src/db/database.ts';
import type { Tables } from '../../src/db/schema.ts';

type Row<Name extends keyof Tables> = Selectable<Tables[Name]>;

export async function rowsOf<Name extends keyof Tables>(
  { read }: Database,
  table: Name,
  values: Partial<Row<Name>> = {},
): Promise<Row<Name>[]> {
  // The types of all tables at once are beyond the compiler.
  let query = read.selectFrom(table as 'accounts').selectAll();
  for (const [column, value] of Object.entries(values))
    query = query.where(column as 'id', '=', value as string);
  return (await query.execute()) as unknown as Row<Name>[];
}

/** The only row that has these values. */
export async function rowOf<Name extends keyof Tables>(
  database: Database,
  table: Name,
  values: Partial<Row<Name>> = {},
): Promise<Row<Name>> {
  const [row, ...others] = await rowsOf(database, table, values);
  assert.ok(row && others.length === 0, `${others.length + (row ? 1 : 0)} rows of ${table}`);
  return row;
}

export async function setRows<Name extends keyof Tables>(
  { write }: Database,
  table: Name,
  values: Partial<Row<Name>>,
  changes: Updateable<Tables[Name]>,
): Promise<void> {
  let query = write.updateTable(table as 'accounts').set(changes as unknown as { name: string });
  for (const [column, value] of Object.entries(values))
    query = query.where(column as 'id', '=', value as string);
  await query.execute();
}

/** The actions in the audit log of these rows, sorted. */
export async function actionsOf(
  database: Database,
  values: Partial<Row<'audit_log'>>,
): Promise<string[]> {
  return (await rowsOf(database, 'audit_log', values)).map(({ action }) => action).toSorted();
}

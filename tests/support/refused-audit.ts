// Makes the audit log refuse rows, as on a full disk: changes without their row must be rolled
// back.
import { sql } from 'kysely';
import { isPostgresUrl, type Database } from '../../src/db/database.ts';

/** Refuses audit rows while `work` runs. */
export async function whileRefusingAuditRows<Result>(
  database: Database,
  work: () => Promise<Result>,
): Promise<Result> {
  const allow = await refuseAuditRows(database);
  try {
    return await work();
  } finally {
    await allow();
  }
}

async function refuseAuditRows({ url, write }: Database): Promise<() => Promise<void>> {
  const run = async (...statements: readonly string[]) => {
    for (const statement of statements) await sql.raw(statement).execute(write);
  };
  if (!isPostgresUrl(url)) {
    await run(
      `create trigger refuse_audit before insert on audit_log begin select raise(abort, 'no audit row'); end`,
    );
    return () => run('drop trigger refuse_audit');
  }
  await run(
    `create or replace function refuse_audit_row() returns trigger language plpgsql as
      $$ begin raise exception 'no audit row' using errcode = '23514'; end $$`,
    'create trigger refuse_audit before insert on audit_log for each row execute function refuse_audit_row()',
  );
  return () => run('drop trigger refuse_audit on audit_log');
}

/**
 * Rate limit counters and used codes, which stay counted, and the gateways' own bookkeeping. Locking
 * an account raises a revision, after which gateways only read again what has not changed.
 */
const notCompared = (
  'revisions attempts used_codes activity_days request_log latency_sums ' +
  'activity_hours activity_tag_days key_uses provider_hours hold_owners sealing'
).split(' ');

/** One statement for all tables: a statement for each takes longer than most changes. */
const statements = new WeakMap<Database, Promise<string>>();

/** Returns a statement that gives each table's name and its rows as one text. */
async function writeStatement({ read, url }: Database): Promise<string> {
  const tables = await read.introspection.getTables();
  const selects = tables
    .filter(({ name }) => !notCompared.includes(name))
    .map(({ name, columns }) => {
      const values = columns.map((column) => `quote("${column.name}")`).join(` || ',' || `);
      const row = isPostgresUrl(url) ? `"${name}"::text` : values;
      return `select '${name}' as name, string_agg(${row}, ';' order by ${row}) as text from "${name}"`;
    });
  return selects.join(' union all ');
}

type Rows = ReadonlyMap<string, string | null>;

/** Returns the rows of every table that a change could affect, by table name. */
export async function allRows(database: Database): Promise<Rows> {
  if (!statements.has(database)) statements.set(database, writeStatement(database));
  const statement = sql.raw<{ name: string; text: string | null }>(await statements.get(database)!);
  const { rows } = await statement.execute(database.read);
  return new Map(rows.map(({ name, text }) => [name, text]));
}

/** Returns the names of the tables that differ. */
export function changedTables(before: Rows, now: Rows): string[] {
  return [...before.keys()].filter((name) => now.get(name) !== before.get(name));
}

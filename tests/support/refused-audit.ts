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

/** Looked up once, which takes longer than to read the rows. */
const comparedTables = new WeakMap<Database, Promise<string[]>>();

async function findComparedTables({ read }: Database): Promise<string[]> {
  const names = (await read.introspection.getTables()).map(({ name }) => name);
  return names.filter((name) => !notCompared.includes(name)).toSorted();
}

/** Returns the rows of every table that a change could affect, by table name. */
export async function allRows(database: Database): Promise<ReadonlyMap<string, string>> {
  if (!comparedTables.has(database)) comparedTables.set(database, findComparedTables(database));
  const rows = new Map<string, string>();
  for (const name of await comparedTables.get(database)!) {
    const { rows: found } = await sql<object>`select * from ${sql.table(name)}`.execute(
      database.read,
    );
    const texts = found.map((row) => JSON.stringify(row));
    rows.set(name, texts.toSorted().join('\n'));
  }
  return rows;
}

/** Returns the names of the tables that differ. */
export function changedTables(
  before: ReadonlyMap<string, string>,
  now: ReadonlyMap<string, string>,
): string[] {
  return [...now.keys()].filter((name) => now.get(name) !== before.get(name));
}

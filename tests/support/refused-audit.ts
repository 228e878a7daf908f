// An audit log that takes no row, as on a full disk: what is changed meanwhile must not be changed.
import { sql } from 'kysely';
import { isPostgresUrl, type Database } from '../../src/db/database.ts';

/** While `work` runs. */
export async function whileRefusingAuditRows<Result>(database: Database, work: () => Promise<Result>): Promise<Result> {
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
    await run(`create trigger refuse_audit before insert on audit_log begin select raise(abort, 'no audit row'); end`);
    return () => run('drop trigger refuse_audit');
  }
  await run(
    `create or replace function refuse_audit_row() returns trigger language plpgsql as
      $$ begin raise exception 'no audit row' using errcode = '23514'; end $$`,
    'create trigger refuse_audit before insert on audit_log for each row execute function refuse_audit_row()',
  );
  return () => run('drop trigger refuse_audit on audit_log');
}

/** Counts of tries and of codes, which stay counted, and what gateways note of themselves. */
const notCompared = ['attempts', 'used_codes', 'activity_days', 'recent_errors', 'key_uses', 'provider_hours', 'hold_owners'];

/** All rows of all tables that a change could be made in, by the table's name. */
export async function allRows({ read }: Database): Promise<ReadonlyMap<string, string>> {
  const tables = await read.introspection.getTables();
  const names = tables.map(({ name }) => name).filter((name) => !notCompared.includes(name));
  const rows = new Map<string, string>();
  for (const name of names.toSorted()) {
    const { rows: found } = await sql<object>`select * from ${sql.table(name)}`.execute(read);
    const texts = found.map((row) => JSON.stringify(row));
    rows.set(name, texts.toSorted().join('\n'));
  }
  return rows;
}

/** The names of the tables that differ. */
export function changedTables(before: ReadonlyMap<string, string>, now: ReadonlyMap<string, string>): string[] {
  return [...now.keys()].filter((name) => now.get(name) !== before.get(name));
}

// The databases of old versions, which tests/databases/README.md describes.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { sql } from 'kysely';
import { type Database, isPostgresUrl } from '../../src/db/database.ts';
import type { Manifest } from '../databases/manifest.ts';
import type { Hooks } from './file-hooks.ts';
import { createEmptyDatabase, databaseNameOf, postgresServer } from './postgres.ts';
import type { StoreName } from './test-store.ts';

const folder = join(import.meta.dirname, '..', 'databases');

export function manifestOf(version: string, store: StoreName): Manifest {
  const text = readFileSync(join(folder, version, 'manifest.json'), 'utf8');
  return (JSON.parse(text) as Readonly<Record<StoreName, Manifest>>)[store];
}

/** Returns the URL of a copy of an old version's database. */
export async function copyOldDatabase(t: Hooks, version: string, store: StoreName) {
  const read = (file: string) => gunzipSync(readFileSync(join(folder, version, file)));
  if (store === 'sqlite') {
    const target = mkdtempSync(join(tmpdir(), 'tollgate-old-'));
    t.after(() => rmSync(target, { recursive: true, force: true }));
    const file = join(target, 'tollgate.db');
    writeFileSync(file, read('sqlite.db.gz'), { mode: 0o600 });
    return `sqlite:${file}`;
  }
  const url = await createEmptyDatabase();
  await (await postgresServer()).query(read('postgres.sql.gz').toString(), databaseNameOf(url));
  return url;
}

/** Returns a line for each column, constraint, index, trigger and function of a database. */
export async function schemaOf({ url, read }: Database): Promise<ReadonlySet<string>> {
  const { rows } = await sql
    .raw<{ name: string; definition: string }>(isPostgresUrl(url) ? partsOnPostgres : partsOnSqlite)
    .execute(read);
  const lines = rows.map(({ name, definition }) => `${name}: ${definition}`);
  return new Set(lines.map((line) => line.replaceAll(/\s+/g, ' ')));
}

const partsOnSqlite = `select type || ' ' || name as name, coalesce(sql, '') as definition from sqlite_master
  where name not like 'sqlite_%' order by 1`;

/** Partitions of days are made while the gateway runs. */
const kept = `relname !~ '^charges_[0-9]'`;

const partsOnPostgres = `
  select 'column ' || relname || '.' || attname as name,
    concat_ws(' ', format_type(atttypid, atttypmod), collname, case when attnotnull then 'not null' end,
      pg_get_expr(adbin, adrelid)) as definition
  from pg_attribute join pg_class on pg_class.oid = attrelid
    left join pg_attrdef on adrelid = attrelid and adnum = attnum
    left join pg_collation on pg_collation.oid = attcollation
  where relnamespace = 'public'::regnamespace and relkind in ('r', 'p', 'v') and attnum > 0 and not attisdropped and ${kept}
  union all select 'constraint ' || relname || '.' || conname,
    case when relname = 'charges_history' and conname = 'charges_history_end' then '' else pg_get_constraintdef(pg_constraint.oid) end
  from pg_constraint join pg_class on pg_class.oid = conrelid
  where relnamespace = 'public'::regnamespace and contype <> 'n' and ${kept}
  union all select 'index ' || relname, indexdef from pg_indexes join pg_class on relname = indexname
  where schemaname = 'public' and ${kept.replace('relname', 'tablename')}
  union all select 'trigger ' || relname || '.' || tgname, pg_get_triggerdef(pg_trigger.oid)
  from pg_trigger join pg_class on pg_class.oid = tgrelid
  where relnamespace = 'public'::regnamespace and not tgisinternal and ${kept}
  union all select 'function ' || proname, prosrc from pg_proc where pronamespace = 'public'::regnamespace
  order by 1`;

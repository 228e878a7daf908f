// Tells the stores apart where one of them needs other SQL.
import { type Kysely, SqliteAdapter } from 'kysely';
import type { Tables } from './schema.ts';

export function isSqlite(db: Kysely<Tables>): boolean {
  return db.getExecutor().adapter instanceof SqliteAdapter;
}

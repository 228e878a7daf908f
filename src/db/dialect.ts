// Tells the stores apart where one of them needs other SQL.
import { SqliteAdapter } from 'kysely';
import type { Db } from './schema.ts';

export function isSqlite(db: Db): boolean {
  return db.getExecutor().adapter instanceof SqliteAdapter;
}

// Groups of a report, and which of them a query returns. Clients choose tags and make keys, so a query
// that groups by one of them never returns all groups.
import { sql } from 'kysely';
import { isSqlite } from './dialect.ts';
import type { Db } from './schema.ts';

export type WhichGroups =
  /** The groups with the highest sums. */
  | { readonly top: number }
  /** These, of which there must be one. */
  | { readonly ids: readonly string[] }
  /** A page in the order of their ids, after one; null: the first page. */
  | { readonly after: string | null; readonly limit: number };

/** Returns SQL for a request of a program in the history: of one version, or of all without one. */
export function isOfClient(client: string) {
  const any = `${client}/`;
  return sql<boolean>`(request_log.client = ${client} or substr(request_log.client, 1, ${sql.lit(any.length)}) = ${any})`;
}

/**
 * Returns SQL for the member in whose figures a key counts: its owner, else the member who made it, as
 * keys from before owners have none; '' for nobody. So all that a key has done moves with it to a
 * new owner, as in budgets. `keyId`: the column with its table.
 */
export function memberOfKey(db: Db, keyId: `${string}.${string}`) {
  const key = sql.ref(keyId);
  // The audit log has the database's own order of text, and PostgreSQL asks which one is meant.
  const subject = isSqlite(db) ? key : sql`${key} collate "default"`;
  return sql<string>`coalesce(
    (select user_id from key_owners where key_owners.key_id = ${key}),
    (select actor_id from audit_log where audit_log.subject = ${subject}
      and audit_log.action = 'key.create' and audit_log.actor_kind = 'user' limit 1),
    '')`;
}

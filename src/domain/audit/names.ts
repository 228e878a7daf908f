// What the ids in entries are called now: an entry has only what has changed.
import { sql } from 'kysely';
import type { Db } from '../../db/schema.ts';
import type { AuditEntry } from './audit-log.ts';

/** The table and the column of names of what entries of a kind are about. */
const places: Readonly<Record<string, readonly [string, string]>> = {
  account: ['accounts', 'name'],
  key: ['api_keys', 'name'],
  member: ['users', 'email'],
  user: ['users', 'email'],
  alert: ['alert_endpoints', 'shown_address'],
  'admin-key': ['admin_keys', 'name'],
};

export type NamedEntry = AuditEntry & { readonly names: Readonly<Record<string, string>> };

export async function withNames(
  db: Db,
  entries: readonly AuditEntry[],
): Promise<readonly NamedEntry[]> {
  const asked = new Map<string, Set<string>>();
  const idsOf = (entry: AuditEntry) => {
    const owners = [entry.before, entry.after].flatMap((fields) => {
      const { owner } = (fields ?? {}) as { readonly owner?: unknown };
      return typeof owner === 'string' ? [['user', owner] as const] : [];
    });
    const account = entry.account_id === null ? [] : [['account', entry.account_id] as const];
    return [[entry.action.split('.')[0]!, entry.subject] as const, ...account, ...owners];
  };
  for (const [kind, id] of entries.flatMap(idsOf)) {
    const place = places[kind]?.join(' ');
    if (place !== undefined) asked.set(place, (asked.get(place) ?? new Set()).add(id));
  }
  const names = new Map<string, string>();
  for (const [place, ids] of asked) {
    const [table, column] = place.split(' ') as [string, string];
    const { rows } = await sql<{ id: string; name: string }>`
      select id, ${sql.ref(column)} as name from ${sql.table(table)}
      where id in (${sql.join([...ids])})`.execute(db);
    for (const { id, name } of rows) names.set(id, name);
  }
  return entries.map((entry) => {
    const own = idsOf(entry).flatMap(([, id]) => (names.has(id) ? [[id, names.get(id)!]] : []));
    return { ...entry, names: Object.fromEntries(own) as Record<string, string> };
  });
}

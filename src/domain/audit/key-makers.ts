// Finds who created the keys of an account, from the audit log.
import type { Kysely } from 'kysely';
import type { Tables } from '../../db/schema.ts';

/** A member, by the name that they had then. */
export type KeyMaker = { readonly id: string; readonly name: string };

/** Returns the makers by key id. Keys made by a command or another program are missing. */
export async function readKeyMakers(
  db: Kysely<Tables>,
  accountId: string,
): Promise<ReadonlyMap<string, KeyMaker>> {
  const rows = await db
    .selectFrom('audit_log')
    .select(['subject', 'actor_id', 'actor_name'])
    .where('account_id', '=', accountId)
    .where('action', '=', 'key.create')
    .where('actor_kind', '=', 'user')
    .execute();
  return new Map(
    rows.map(({ subject, actor_id: id, actor_name: name }) => [subject, { id, name }]),
  );
}

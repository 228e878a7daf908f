// The names of the members in whose figures keys count (db/which-groups.ts).
import type { Db } from '../../db/schema.ts';

/** Returns names by user id: of a member the address, else the name when a key was made. */
export async function readMemberNames(
  read: Db,
  accountId: string,
  userIds: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (userIds.length === 0) return new Map();
  const makers = await read
    .selectFrom('audit_log')
    .select(({ fn }) => ['actor_id as id', fn.max('actor_name').as('name')])
    .where('account_id', '=', accountId)
    .where('action', '=', 'key.create')
    .where('actor_kind', '=', 'user')
    .where('actor_id', 'in', userIds)
    .groupBy('actor_id')
    .execute();
  const users = await read
    .selectFrom('users')
    .leftJoin('account_members', (join) =>
      join.onRef('user_id', '=', 'users.id').on('account_id', '=', accountId),
    )
    .select(['users.id', 'name', 'email', 'user_id'])
    .where('users.id', 'in', userIds)
    .execute();
  const owners = users.map(
    ({ id, name, email, user_id: member }) => [id, member ? email : name] as const,
  );
  return new Map([...makers.map(({ id, name }) => [id, name] as const), ...owners]);
}

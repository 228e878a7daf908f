// The names of the members in whose figures keys count (db/which-groups.ts).
import type { Db } from '../../db/schema.ts';

/** Returns names by user id: of a member the address, of who has left the name. */
export async function readMemberNames(
  read: Db,
  accountId: string,
  userIds: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (userIds.length === 0) return new Map();
  const users = await read
    .selectFrom('users')
    .leftJoin('account_members', (join) =>
      join.onRef('user_id', '=', 'users.id').on('account_id', '=', accountId),
    )
    .select(['users.id', 'name', 'email', 'user_id'])
    .where('users.id', 'in', userIds)
    .execute();
  return new Map(users.map(({ id, name, email, user_id: member }) => [id, member ? email : name]));
}

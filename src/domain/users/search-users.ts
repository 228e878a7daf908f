// An operator's search for users, page by page.
import { sql, type SqlBool } from 'kysely';
import { contains } from '../../db/contains.ts';
import type { Db } from '../../db/schema.ts';

type UserSearch = {
  /** Matches a part of the name or e-mail address, or the whole id. */
  readonly text?: string;
  readonly limit: number;
  /** The `next` of the previous page. */
  readonly cursor: string | null;
};

/** Returns a page as the API does, newest first; its `next` is null on the last page. */
export async function searchUsers(read: Db, { text, limit, cursor }: UserSearch) {
  // Ids begin with their creation time.
  let query = read.selectFrom('users').selectAll().orderBy('id', 'desc');
  if (text !== undefined) query = query.where(isNamed(text));
  if (cursor !== null) query = query.where('id', '<', cursor);
  const rows = await query.limit(limit + 1).execute();
  const page = rows.slice(0, limit);
  const accounts = await readMemberships(
    read,
    page.map(({ id }) => id),
  );
  const users = page.map((row) => ({
    id: row.id,
    name: row.name,
    email: row.email,
    email_verified: Boolean(row.email_verified),
    is_operator: row.is_operator === 1,
    second_factor: Boolean(row.two_factor_enabled),
    created_at: new Date(row.created_at).toISOString(),
    accounts: accounts
      .filter(({ userId }) => userId === row.id)
      .map(({ id, name, role }) => ({ id, name, role })),
  }));
  return { users, next: rows.length > limit ? page.at(-1)!.id : null };
}

function isNamed(text: string) {
  return sql<SqlBool>`(${contains('name', text)} or ${contains('email', text)} or id = ${text})`;
}

async function readMemberships(read: Db, userIds: readonly string[]) {
  if (userIds.length === 0) return [];
  return read
    .selectFrom('account_members')
    .innerJoin('accounts', 'accounts.id', 'account_members.account_id')
    .select([
      'account_members.user_id as userId',
      'accounts.id',
      'accounts.name',
      'account_members.role',
    ])
    .where('account_members.user_id', 'in', userIds)
    .orderBy('accounts.name')
    .execute();
}

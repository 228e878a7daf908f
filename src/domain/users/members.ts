// The members of accounts and their roles. An account always has an owner: of several concurrent
// changes, the one that would remove the last owner is refused.
import { sql } from 'kysely';
import type { Db, Role } from '../../db/schema.ts';

export type MemberChange =
  | { readonly kind: 'changed'; readonly before: Role }
  | { readonly kind: 'no-such-member' }
  | { readonly kind: 'last-owner' };

const ranks: Readonly<Record<Role, number>> = { owner: 0, admin: 1, member: 2, viewer: 3 };

/** Lists members: owners first, then admins, members and viewers; each by join time. */
export async function listMembers(read: Db, accountId: string) {
  const rows = await read
    .selectFrom('account_members')
    .innerJoin('users', 'users.id', 'account_members.user_id')
    .select(['users.id as userId', 'users.name', 'users.email', 'users.two_factor_enabled'])
    .select(['role', 'created_at_ms as joinedAtMs'])
    .where('account_id', '=', accountId)
    .orderBy('created_at_ms')
    .orderBy('users.id')
    .execute();
  return rows
    .toSorted((one, other) => ranks[one.role] - ranks[other.role])
    .map((row) => ({ ...row, hasSecondFactor: Boolean(row.two_factor_enabled) }));
}

/** Returns, by account, who became an owner first. */
export async function readFirstOwners(
  read: Db,
  accountIds: readonly string[],
): Promise<ReadonlyMap<string, { readonly name: string; readonly email: string }>> {
  if (accountIds.length === 0) return new Map();
  const rows = await read
    .selectFrom('account_members')
    .innerJoin('users', 'users.id', 'account_members.user_id')
    .select(['account_id', 'users.name', 'users.email'])
    .where('account_id', 'in', accountIds)
    .where('role', '=', 'owner')
    .orderBy('created_at_ms', 'desc')
    .orderBy('users.id', 'desc')
    .execute();
  return new Map(rows.map(({ account_id: id, ...owner }) => [id, owner]));
}

/** Adds a member. An existing member keeps their role. */
export async function addMember(
  transaction: Db,
  member: { readonly accountId: string; readonly userId: string; readonly role: Role },
  nowMs: number,
): Promise<void> {
  await transaction
    .insertInto('account_members')
    .values({
      account_id: member.accountId,
      user_id: member.userId,
      role: member.role,
      created_at_ms: nowMs,
    })
    .onConflict((conflict) => conflict.columns(['account_id', 'user_id']).doNothing())
    .execute();
}

/**
 * Changes or removes a member. `role`: the new role, or null to remove the member. When members
 * lose rights, the invitations that they made end. When they are removed, those to their address
 * end too.
 */
export async function changeMember(
  transaction: Db,
  {
    accountId,
    userId,
    role,
  }: { readonly accountId: string; readonly userId: string; readonly role: Role | null },
): Promise<MemberChange> {
  const members = await lockMembers(transaction, accountId);
  const before = members.find((member) => member.user_id === userId)?.role;
  if (before === undefined) return { kind: 'no-such-member' };
  const isLastOwner = !members.some(
    (member) => member.role === 'owner' && member.user_id !== userId,
  );
  if (role !== 'owner' && isLastOwner) return { kind: 'last-owner' };
  const row = { account_id: accountId, user_id: userId };
  if (role === null)
    await transaction
      .deleteFrom('account_members')
      .where((eb) => eb.and(row))
      .execute();
  else
    await transaction
      .updateTable('account_members')
      .set({ role })
      .where((eb) => eb.and(row))
      .execute();
  if (role === null || ranks[role] > ranks[before])
    await endInvitations(transaction, { accountId, userId, isRemoved: role === null });
  return { kind: 'changed', before };
}

/** Ends the open invitations that a member made and, with `isRemoved`, those to their address. */
export async function endInvitations(
  transaction: Db,
  {
    accountId,
    userId,
    isRemoved,
  }: { readonly accountId: string; readonly userId: string; readonly isRemoved: boolean },
): Promise<void> {
  const address = transaction.selectFrom('users').select('email').where('id', '=', userId);
  await transaction
    .deleteFrom('invitations')
    .where('account_id', '=', accountId)
    .where('accepted_at_ms', 'is', null)
    .where((eb) =>
      eb.or([eb('invited_by', '=', userId), ...(isRemoved ? [eb('email', '=', address)] : [])]),
    )
    .execute();
}

/** SQL that is true for a row of `users` with a password. */
export const hasPassword = sql<boolean | number>`exists (select 1 from user_credentials
  where user_credentials.user_id = users.id and user_credentials.password is not null)`;

/** True also without a password: a sign-in provider asks for what it wants. */
export function isSecondFactorSet(user: {
  readonly two_factor_enabled: boolean | number | null;
  readonly has_password: boolean | number;
}): boolean {
  return Boolean(user.two_factor_enabled) || !user.has_password;
}

/** Returns true when the account is closed to this user for want of a second factor. */
export async function lacksSecondFactor(
  db: Db,
  { accountId, userId }: { readonly accountId: string; readonly userId: string },
): Promise<boolean> {
  const user = await db
    .selectFrom('users')
    .innerJoin('accounts', (join) => join.on('accounts.id', '=', accountId))
    .select(['users.two_factor_enabled', hasPassword.as('has_password')])
    .where('users.id', '=', userId)
    .where('accounts.requires_second_factor', '=', 1)
    .executeTakeFirst();
  return user !== undefined && !isSecondFactorSet(user);
}

/**
 * Returns the members and locks them until the transaction ends. Uses an update that changes
 * nothing, because that locks on both databases.
 */
export async function lockMembers(transaction: Db, accountId: string) {
  return transaction
    .updateTable('account_members')
    .set((eb) => ({ role: eb.ref('role') }))
    .where('account_id', '=', accountId)
    .returning(['user_id', 'role'])
    .execute();
}

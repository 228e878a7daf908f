// Creates, finds and changes the rows of users. The sign-in library shares the tables and writes
// its times as timestamps.
import type { Database } from '../../db/database.ts';
import { endDeviceLogins } from './device-logins.ts';
import { codeOf } from '../../db/postgres/error.ts';
import type { Db } from '../../db/schema.ts';
import { newIdWithPrefix } from '../../lib/ids.ts';

type NewUser = {
  readonly name: string;
  readonly email: string;
  /** null: the user signs in through a provider, or has no password yet. */
  readonly passwordHash: string | null;
  readonly isEmailVerified: boolean;
  readonly isOperator?: boolean;
};

/** Returns the id, or null when another user has the e-mail address. */
export async function insertUser(
  transaction: Db,
  { name, email, passwordHash, isEmailVerified, isOperator = false }: NewUser,
  nowMs: number,
): Promise<string | null> {
  const now = new Date(nowMs).toISOString();
  const inserted = await transaction
    .insertInto('users')
    .values({
      id: newIdWithPrefix('usr'),
      name,
      email: normalizeEmail(email),
      email_verified: isEmailVerified ? 1 : 0,
      two_factor_enabled: 0,
      created_at: now,
      updated_at: now,
      is_operator: isOperator ? 1 : 0,
    })
    .onConflict((conflict) => conflict.column('email').doNothing())
    .returning('id')
    .executeTakeFirst();
  if (!inserted) return null;
  if (passwordHash !== null) await insertPassword(transaction, inserted.id, passwordHash, now);
  return inserted.id;
}

async function insertPassword(
  transaction: Db,
  userId: string,
  password: string,
  now: string,
): Promise<void> {
  await transaction
    .insertInto('user_credentials')
    .values({
      id: newIdWithPrefix('crd'),
      user_id: userId,
      provider_id: passwordProvider,
      account_id: userId,
      password,
      created_at: now,
      updated_at: now,
    })
    .execute();
}

/** The sign-in library's name for a password. */
const passwordProvider = 'credential';

/**
 * Sets or replaces the password and ends all of the user's sessions, so that anyone who knew the
 * old password is signed out.
 */
export async function replacePassword(
  transaction: Db,
  { userId, passwordHash }: { readonly userId: string; readonly passwordHash: string },
  nowMs: number,
): Promise<void> {
  const now = new Date(nowMs).toISOString();
  const [result] = await transaction
    .updateTable('user_credentials')
    .set({ password: passwordHash, updated_at: now })
    .where('user_id', '=', userId)
    .where('provider_id', '=', passwordProvider)
    .execute();
  if (result!.numUpdatedRows === 0n) await insertPassword(transaction, userId, passwordHash, now);
  await transaction.deleteFrom('user_sessions').where('user_id', '=', userId).execute();
  await endDeviceLogins(transaction, userId);
  // Links sent before the change may set neither a password nor an address.
  await transaction
    .updateTable('sign_in_links')
    .set({ used_at_ms: nowMs })
    .where('kind', 'in', ['password-reset', 'verify-email'])
    .where('user_id', '=', userId)
    .where('used_at_ms', 'is', null)
    .execute();
  // Also ends half-finished sign-ins with the old password.
  await transaction.deleteFrom('user_verifications').where('value', '=', userId).execute();
}

/** Returns null when the user has no password. */
export async function passwordHashOf(read: Db, userId: string): Promise<string | null> {
  const row = await read
    .selectFrom('user_credentials')
    .select('password')
    .where('user_id', '=', userId)
    .where('provider_id', '=', passwordProvider)
    .executeTakeFirst();
  return row?.password ?? null;
}

export async function markProved(transaction: Db, userId: string): Promise<void> {
  await transaction
    .updateTable('users')
    .set({ email_verified: 1 })
    .where('id', '=', userId)
    .execute();
}

export async function removeSecondFactor(transaction: Db, userId: string): Promise<void> {
  await transaction.deleteFrom('user_two_factors').where('user_id', '=', userId).execute();
  await transaction
    .updateTable('users')
    .set({ two_factor_enabled: 0 })
    .where('id', '=', userId)
    .execute();
}

export type UserRecord = NonNullable<Awaited<ReturnType<typeof findUser>>>;

export async function findUser(
  database: Pick<Database, 'read'>,
  by: { readonly id: string } | { readonly email: string },
) {
  const row = await database.read
    .selectFrom('users')
    .select(['id', 'name', 'email', 'email_verified', 'two_factor_enabled', 'is_operator'])
    .where('id' in by ? 'id' : 'email', '=', 'id' in by ? by.id : normalizeEmail(by.email))
    .executeTakeFirst();
  if (!row) return null;
  return {
    id: row.id,
    name: row.name,
    email: row.email,
    isEmailVerified: Boolean(row.email_verified),
    hasSecondFactor: Boolean(row.two_factor_enabled),
    isOperator: row.is_operator === 1,
  };
}

/** Returns which of these users are operators who do not belong to the account. */
export async function findOutsideOperators(
  db: Db,
  { userIds, accountId }: { readonly userIds: readonly string[]; readonly accountId: string },
): Promise<ReadonlySet<string>> {
  if (userIds.length === 0) return new Set();
  const rows = await db
    .selectFrom('users')
    .leftJoin('account_members as member', (join) =>
      join.onRef('member.user_id', '=', 'users.id').on('member.account_id', '=', accountId),
    )
    .select('users.id')
    .where('users.id', 'in', userIds)
    .where('is_operator', '=', 1)
    .where('member.user_id', 'is', null)
    .execute();
  return new Set(rows.map(({ id }) => id));
}

export async function hasUsers(read: Db): Promise<boolean> {
  return (await read.selectFrom('users').select('id').limit(1).executeTakeFirst()) !== undefined;
}

/** Lists all users, oldest first. */
export async function listUsers(read: Db) {
  const users = await read.selectFrom('users').selectAll().orderBy('id').execute();
  const memberships = await read
    .selectFrom('account_members')
    .select(['account_id', 'user_id', 'role'])
    .orderBy('account_id')
    .execute();
  return users.map((user) => ({
    id: user.id,
    email: user.email,
    name: user.name,
    operator: user.is_operator === 1,
    email_verified: Boolean(user.email_verified),
    second_factor: Boolean(user.two_factor_enabled),
    created_at: new Date(user.created_at).toISOString(),
    accounts: memberships
      .filter((membership) => membership.user_id === user.id)
      .map(({ account_id: id, role }) => ({ id, role })),
  }));
}

export async function renameUser(write: Db, userId: string, name: string): Promise<void> {
  await write.updateTable('users').set({ name }).where('id', '=', userId).execute();
}

/**
 * Returns false when another user has the address. When another user takes it at the same moment,
 * PostgreSQL has ended the transaction, so the caller undoes it.
 */
export async function changeEmail(
  transaction: Db,
  {
    userId,
    email,
    isVerified,
  }: { readonly userId: string; readonly email: string; readonly isVerified: boolean },
): Promise<boolean> {
  // Asked first: two users who swap their addresses would wait for each other.
  const other = await transaction
    .selectFrom('users')
    .select('id')
    .where('email', '=', normalizeEmail(email))
    .where('id', '!=', userId)
    .executeTakeFirst();
  if (other) return false;
  try {
    await transaction
      .updateTable('users')
      .set({ email: normalizeEmail(email), email_verified: isVerified ? 1 : 0 })
      .where('id', '=', userId)
      .execute();
    return true;
  } catch (error) {
    if (codeOf(error) === '23505') return false;
    throw error;
  }
}

/** The form in which addresses are stored and compared. */
export function normalizeEmail(email: string): string {
  return email.trim().toLowerCase();
}

/** The sign-in library's rule: a user with an address that it refuses could never sign in. */
const emailPattern =
  /^(?!\.)(?!.*\.\.)[a-z0-9_'+.-]*[a-z0-9_+-]@(?:[a-z0-9][a-z0-9-]*\.)+[a-z]{2,}$/;

/** Returns the stored form of an address, or null when the text is not an address. */
export function readEmail(text: string): string | null {
  const email = normalizeEmail(text);
  return emailPattern.test(email) ? email : null;
}

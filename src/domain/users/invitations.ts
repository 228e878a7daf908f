// Invitations into an account, by links that work once. Anyone with a link may accept for the
// invited e-mail address. Each invitation has two links. One is shown to the inviter and proves
// nothing. The other is sent only to the address, and following it proves the address.
import type { ExpressionBuilder } from 'kysely';
import type { Db, Role, Tables } from '../../db/schema.ts';
import { newIdWithPrefix } from '../../lib/ids.ts';
import { addMember, lockMembers } from './members.ts';
import { digestOf, newToken } from './one-time-link.ts';
import { insertUser, markProved, normalizeEmail } from './user-records.ts';

const lifetimeMs = 7 * 24 * 60 * 60_000;

export type NewInvitation = {
  readonly accountId: string;
  readonly email: string;
  readonly role: Role;
  /** null: an operator, on the command line. */
  readonly invitedBy: string | null;
  /**
   * The inviter's role in the account. When it has changed, the invitation is refused. Left out for
   * an operator, who needs no role.
   */
  readonly inviterRole?: Role;
  /** True when a link will be sent to the address. */
  readonly mailed: boolean;
};

export type InvitationLinks = {
  readonly id: string;
  /** For the inviter. */
  readonly token: string;
  /** Sent only to the address; null when nothing is sent. */
  readonly mailedToken: string | null;
};

/**
 * Returns the id and the links' tokens, of which only digests are stored. Replaces an open
 * invitation of the same address into the account. null: the inviter no longer has `inviterRole`.
 */
export async function invite(
  transaction: Db,
  { accountId, email, role, invitedBy, inviterRole, mailed }: NewInvitation,
  nowMs: number,
): Promise<InvitationLinks | null> {
  if (inviterRole !== undefined) {
    const members = await lockMembers(transaction, accountId);
    if (members.find((member) => member.user_id === invitedBy)?.role !== inviterRole) return null;
  }
  const links = {
    id: newIdWithPrefix('inv'),
    token: newToken(),
    mailedToken: mailed ? newToken() : null,
  };
  const address = { account_id: accountId, email: normalizeEmail(email) };
  await transaction
    .deleteFrom('invitations')
    .where((eb) => eb.and(address))
    .where('accepted_at_ms', 'is', null)
    .execute();
  await transaction
    .insertInto('invitations')
    .values({
      ...address,
      id: links.id,
      role,
      token_digest: digestOf(links.token),
      mailed_token_digest: links.mailedToken && digestOf(links.mailedToken),
      invited_by: invitedBy,
      created_at_ms: nowMs,
      expires_at_ms: nowMs + lifetimeMs,
    })
    .execute();
  return links;
}

/** `userId`: the user who has the address. Returns null when the invitation is unknown or not open. */
export async function findInvitation(read: Db, token: string, nowMs: number) {
  const invitation = await selectOpen(read, nowMs)
    .innerJoin('accounts', 'accounts.id', 'invitations.account_id')
    .leftJoin('users as inviter', 'inviter.id', 'invitations.invited_by')
    .leftJoin('users as invited', 'invited.email', 'invitations.email')
    .select([
      'accounts.name as accountName',
      'invitations.email',
      'invitations.role',
      'invitations.expires_at_ms as expiresAtMs',
      'inviter.name as invitedBy',
      'invited.id as userId',
    ])
    .where(hasToken(token))
    .executeTakeFirst();
  return invitation ?? null;
}

/** Returns true when an open invitation is addressed to this e-mail address. */
export async function isInvited(read: Db, email: string, nowMs: number): Promise<boolean> {
  const row = await selectOpen(read, nowMs)
    .select('invitations.id')
    .where('invitations.email', '=', normalizeEmail(email))
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

/** Lists the open invitations, newest first. */
export async function listInvitations(read: Db, accountId: string, nowMs: number) {
  return selectOpen(read, nowMs)
    .leftJoin('users as inviter', 'inviter.id', 'invitations.invited_by')
    .select([
      'invitations.id',
      'invitations.email',
      'invitations.role',
      'inviter.name as invited_by',
      'invitations.created_at_ms',
      'invitations.expires_at_ms',
    ])
    .where('account_id', '=', accountId)
    .orderBy('invitations.created_at_ms', 'desc')
    .orderBy('invitations.id', 'desc')
    .execute();
}

/** Returns the withdrawn invitation, or null when there is none with this id. */
export async function withdrawInvitation(
  write: Db,
  { accountId, id }: { readonly accountId: string; readonly id: string },
): Promise<{ readonly email: string; readonly role: Role } | null> {
  const row = await write
    .deleteFrom('invitations')
    .where((eb) => eb.and({ id, account_id: accountId }))
    .where('accepted_at_ms', 'is', null)
    .returning(['email', 'role'])
    .executeTakeFirst();
  return row ?? null;
}

/** An existing user, or one to create. */
type Acceptor =
  | { readonly userId: string; readonly email: string }
  | { readonly name: string; readonly passwordHash: string };

export type Acceptance =
  | {
      readonly kind: 'accepted';
      readonly accountId: string;
      readonly userId: string;
      readonly role: Role;
    }
  /** Unknown, or not open. */
  | { readonly kind: 'gone' }
  /** The invitation is for another address than the user's. */
  | { readonly kind: 'other-email' }
  /** Nobody was signed in, and a user has the address already. */
  | { readonly kind: 'is-user' };

/**
 * Accepts an invitation. When several accept at once, one succeeds. The caller undoes the
 * transaction unless the result is `accepted`, so that the invitation stays open.
 */
export async function acceptInvitation(
  transaction: Db,
  token: string,
  by: Acceptor,
  nowMs: number,
): Promise<Acceptance> {
  const found = await transaction
    .selectFrom('invitations')
    .select('account_id')
    .where(hasToken(token))
    .executeTakeFirst();
  // A change of the inviter's rights happens before this, or after it.
  if (found) await lockMembers(transaction, found.account_id);
  const invitation = await transaction
    .updateTable('invitations')
    .set({ accepted_at_ms: nowMs })
    .where(hasToken(token))
    .where(isOpen(nowMs))
    .returning(['account_id', 'email', 'role', 'mailed_token_digest'])
    .executeTakeFirst();
  if (!invitation) return { kind: 'gone' };
  const { account_id: accountId, email, role } = invitation;
  const isProved = invitation.mailed_token_digest === digestOf(token);
  if ('userId' in by && normalizeEmail(by.email) !== email) return { kind: 'other-email' };
  const userId =
    'userId' in by
      ? by.userId
      : await insertUser(transaction, { ...by, email, isEmailVerified: false }, nowMs);
  if (userId === null) return { kind: 'is-user' };
  if (isProved) await markProved(transaction, userId);
  await addMember(transaction, { accountId, userId, role }, nowMs);
  return { kind: 'accepted', accountId, userId, role };
}

function hasToken(token: string) {
  const digest = digestOf(token);
  return (eb: ExpressionBuilder<Tables, 'invitations'>) =>
    eb.or({ token_digest: digest, mailed_token_digest: digest });
}

function selectOpen(db: Db, nowMs: number) {
  return db.selectFrom('invitations').where(isOpen(nowMs));
}

/**
 * True when an invitation was neither accepted nor has expired, and whoever made it may still make
 * it: a user with a budget must not gain by a member who was invited before it.
 */
function isOpen(nowMs: number) {
  return (eb: ExpressionBuilder<Tables, 'invitations'>) =>
    eb.and([
      eb('invitations.accepted_at_ms', 'is', null),
      eb('invitations.expires_at_ms', '>', nowMs),
      eb.or([eb('invitations.invited_by', 'is', null), eb.exists(inviterWhoMay(eb))]),
    ]);
}

/** An operator, an owner, or an admin without a budget, who invites no owners. */
function inviterWhoMay(eb: ExpressionBuilder<Tables, 'invitations'>) {
  return eb
    .selectFrom('users')
    .leftJoin('account_members as member', (join) =>
      join
        .onRef('member.user_id', '=', 'users.id')
        .onRef('member.account_id', '=', 'invitations.account_id'),
    )
    .leftJoin('member_budgets as budget', (join) =>
      join
        .onRef('budget.user_id', '=', 'member.user_id')
        .onRef('budget.account_id', '=', 'member.account_id'),
    )
    .select('users.id')
    .whereRef('users.id', '=', 'invitations.invited_by')
    .where((inviter) => {
      const isAdmin = inviter('member.role', '=', 'admin');
      const invitesNoOwner = inviter('invitations.role', '!=', 'owner');
      return inviter.or([
        inviter('users.is_operator', '=', 1),
        inviter('member.role', '=', 'owner'),
        inviter.and([isAdmin, invitesNoOwner, inviter('budget.user_id', 'is', null)]),
      ]);
    });
}

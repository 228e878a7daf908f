// Checks who calls the dashboard's API and what they may do. Another user's account looks like one
// that does not exist.
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ApiError } from '../canonical/errors.ts';
import type { Access } from './contract/endpoint.ts';
import type { Role } from '../db/schema.ts';
import { readKeyOwners } from '../domain/keys/key-owners.ts';
import { readBudgets } from '../domain/users/budgets.ts';
import type { Membership, Session } from '../domain/users/session.ts';
import type { ManagementContext } from './context.ts';
import { clientOf, setCookies } from './sign-in/client.ts';

export type Caller = {
  readonly session: Session | null;
  /** The caller's membership in the path's account; null: the path names no account. */
  readonly account: Membership | null;
};

declare module 'fastify' {
  interface FastifyRequest {
    /** Set for requests to the dashboard's API. */
    caller: Caller | null;
  }
}

/** Runs before the body is read: a stranger cannot make the gateway read one. */
export function admitCaller(context: ManagementContext, access: Access) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    request.caller = await callerOf(context, { request, reply, access });
  };
}

/**
 * Throws ApiError: 401 without a required session, 404 for another user's account, 403 when the
 * caller lacks the role.
 */
async function callerOf(
  context: ManagementContext,
  {
    request,
    reply,
    access,
  }: { readonly request: FastifyRequest; readonly reply: FastifyReply; readonly access: Access },
): Promise<Caller> {
  const { result: session, cookies } = await context.users.authentication.findSession(
    clientOf(request),
  );
  setCookies(reply, cookies);
  if (access === 'public') return { session, account: null };
  if (!session)
    throw new ApiError(
      'not_signed_in',
      'You are not signed in, or your session has ended. Sign in.',
    );
  if (access === 'user') return { session, account: null };
  if (access === 'operator') {
    // A 404 does not reveal which operator endpoints exist.
    if (!session.isOperator) throw new ApiError('not_found', 'There is no such page for you.');
    return { session, account: null };
  }
  return { session, account: membershipOf(session, request, access) };
}

const ranks: Readonly<Record<Role, number>> = { viewer: 0, member: 1, admin: 2, owner: 3 };

const allowed: Readonly<Record<Role, string>> = {
  viewer: 'a user',
  member: 'a member, admin or owner',
  admin: 'an admin or owner',
  owner: 'an owner',
};

export function isAtLeast(role: Role, least: Role): boolean {
  return ranks[role] >= ranks[least];
}

function membershipOf(session: Session, request: FastifyRequest, least: Role): Membership {
  const { account: accountId } = request.params as { readonly account?: string };
  const membership = session.memberships.find((candidate) => candidate.accountId === accountId);
  if (!membership) throw new ApiError('not_found', 'There is no such account, or it is not yours.');
  if (membership.requiresSecondFactor && !session.hasSecondFactor)
    throw new ApiError(
      'not_permitted',
      'This account requires a second factor of its members. Add an authenticator app in your profile, then come back.',
    );
  if (isAtLeast(membership.role, least)) return membership;
  throw new ApiError('not_permitted', `Only ${allowed[least]} of the account may do this.`);
}

/**
 * Refuses until the account's owner has confirmed the e-mail address. Someone may sign up with an
 * address that is not theirs. If its real owner takes over the account later and pays into it, a
 * key or member created before would spend that money. Throws ApiError 403.
 */
export async function requireProof(
  { database, users }: ManagementContext,
  { userId, accountId }: { readonly userId: string; readonly accountId: string },
): Promise<void> {
  if (!users.mailer) return;
  const owner = await database.read
    .selectFrom('users')
    .select('email_verified')
    .where('id', '=', userId)
    .where('own_account_id', '=', accountId)
    .executeTakeFirst();
  if (!owner || owner.email_verified) return;
  throw new ApiError(
    'not_permitted',
    'Confirm your e-mail address first: open the link that was sent to it.',
  );
}

/**
 * Refuses what would let a user with a budget spend outside of it: another's key (`keyId`), or
 * another user (`keyId` null). Owners may lift their own budget, so they are not refused. Throws
 * ApiError 403.
 */
export async function requireWithinBudget(
  { database }: Pick<ManagementContext, 'database'>,
  { accountId, role }: Membership,
  { userId, keyId }: { readonly userId: string; readonly keyId: string | null },
): Promise<void> {
  if (role === 'owner') return;
  if (!(await readBudgets(database.read, accountId)).has(userId)) return;
  if (keyId === null)
    throw new ApiError(
      'not_permitted',
      'You have a budget, so you may not invite anybody. Ask an owner of the account.',
    );
  if ((await readKeyOwners(database.read, [keyId])).get(keyId)?.user_id === userId) return;
  throw new ApiError(
    'not_permitted',
    'You have a budget, so you may use only your own keys here. Ask an owner of the account to give you this one.',
  );
}

/**
 * A Fastify onRequest hook for endpoints that change something. Browsers state which site a request
 * comes from. A request without that is not from a browser, so it has our cookie only if someone
 * gave it one. Throws ApiError 403.
 */
export function checkOrigin({ gateway }: ManagementContext) {
  const publicUrl = gateway.config.server.public_url;
  const publicOrigin = publicUrl === null ? null : new URL(publicUrl).origin;
  return (request: FastifyRequest, _reply: unknown, next: () => void): void => {
    const { origin } = request.headers;
    const site = request.headers['sec-fetch-site'];
    const isForeign =
      origin === undefined
        ? site === 'cross-site' || site === 'same-site'
        : !isOurs(origin, request, publicOrigin);
    if (isForeign)
      throw new ApiError(
        'not_permitted',
        'This request came from the page of another site. If this page is the dashboard, behind a proxy for example, set `server.public_url` to its address.',
      );
    next();
  };
}

function isOurs(origin: string, request: FastifyRequest, publicOrigin: string | null): boolean {
  return origin === publicOrigin || origin === `${request.protocol}://${request.host}`;
}

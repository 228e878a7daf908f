// Links that work once and expire: for the first user, a forgotten password, and proof of an e-mail
// address. A link carries a random token, of which only a digest is stored.
import { createHash, randomBytes } from 'node:crypto';
import type { Db } from '../../db/schema.ts';
import { hourMs } from '../../lib/utc-time.ts';

type LinkKind = 'first-run' | 'password-reset' | 'verify-email';

export type Link = {
  readonly kind: LinkKind;
  readonly userId: string | null;
  readonly email: string | null;
};

const lifetimesMs: Readonly<Record<LinkKind, number>> = {
  'first-run': 24 * hourMs,
  'password-reset': hourMs,
  'verify-email': 24 * hourMs,
};
/** A longer lifetime for a link that an operator passes on by hand. */
export const handedOverLifetimeMs = 24 * hourMs;

/** 256 random bits, safe in a URL. */
export function newToken(): string {
  return randomBytes(32).toString('base64url');
}

export function digestOf(token: string): string {
  return createHash('sha256').update(token).digest('base64url');
}

/** Creates a link and returns its token. `lifetimeMs` overrides the lifetime of its kind. */
export async function createLink(
  write: Db,
  { kind, userId, email, lifetimeMs = lifetimesMs[kind] }: Link & { readonly lifetimeMs?: number },
  nowMs: number,
): Promise<string> {
  const token = newToken();
  await write
    .insertInto('sign_in_links')
    .values({
      token_digest: digestOf(token),
      kind,
      user_id: userId,
      email,
      expires_at_ms: nowMs + lifetimeMs,
    })
    .execute();
  return token;
}

/** Returns the link of a token, or null when it is unknown, used or expired. */
export async function findLink(read: Db, token: string, nowMs: number): Promise<Link | null> {
  const row = await read
    .selectFrom('sign_in_links')
    .leftJoin('users', 'users.id', 'sign_in_links.user_id')
    .select([
      'sign_in_links.kind',
      'sign_in_links.user_id',
      'sign_in_links.email',
      'users.email as user_email',
    ])
    .where('token_digest', '=', digestOf(token))
    .where('used_at_ms', 'is', null)
    .where('expires_at_ms', '>', nowMs)
    .executeTakeFirst();
  return row ? { kind: row.kind, userId: row.user_id, email: row.email ?? row.user_email } : null;
}

/**
 * Uses up a link and all others of its kind and user, in the transaction of the change that it
 * permits. Of several concurrent callers one gets the link. null: the link is unknown, used or
 * expired.
 */
export async function useLink(
  transaction: Db,
  { kind, token }: { readonly kind: LinkKind; readonly token: string },
  nowMs: number,
): Promise<{ readonly userId: string | null; readonly email: string | null } | null> {
  const digest = digestOf(token);
  const link = await transaction
    .selectFrom('sign_in_links')
    .select(['user_id', 'email'])
    .where('token_digest', '=', digest)
    .where('kind', '=', kind)
    .executeTakeFirst();
  if (!link) return null;
  const used = await transaction
    .updateTable('sign_in_links')
    .set({ used_at_ms: nowMs })
    .where('kind', '=', kind)
    .where('user_id', link.user_id === null ? 'is' : '=', link.user_id)
    .where('used_at_ms', 'is', null)
    .returning(['token_digest', 'expires_at_ms'])
    .execute();
  const isOurs = used.some((row) => row.token_digest === digest && row.expires_at_ms > nowMs);
  return isOurs ? { userId: link.user_id, email: link.email } : null;
}

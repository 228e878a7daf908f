// Connects Fastify requests with sessions: reads the client, sets the cookies.
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Client } from '../../domain/users/authentication.ts';
import type { ManagementContext } from '../context.ts';

export function clientOf(request: FastifyRequest): Client {
  return {
    cookie: request.headers.cookie ?? '',
    userAgent: request.headers['user-agent'] ?? '',
    address: request.ip,
    isSecure: request.protocol === 'https',
  };
}

/** Adds to cookies that were set before: a session may be renewed and then ended by one request. */
export function setCookies(reply: FastifyReply, cookies: readonly string[]): void {
  for (const cookie of cookies) reply.header('set-cookie', cookie);
}

export type RequestAndReply = { readonly request: FastifyRequest; readonly reply: FastifyReply };

/** Called after the user has signed in with this browser, or chosen a password in it. */
export async function rememberDevice(
  { users }: ManagementContext,
  userId: string,
  { request, reply }: RequestAndReply,
): Promise<void> {
  const isSecure = users.authentication.isSecure(clientOf(request));
  setCookies(reply, [await users.knownDevices.cookieFor(userId, { isSecure })]);
}

/** Returns the name that this browser's challenges of passkeys are bound to; null: it has none. */
export function passkeyBrowserOf(request: FastifyRequest): string | null {
  return cookieOf(request, 'passkey');
}

type CookieName = 'passkey' | 'confirming' | 'confirmed';

/** Returns one of our own cookies, or null. Their values have no characters that need quoting. */
export function cookieOf(request: FastifyRequest, name: CookieName): string | null {
  const pattern = new RegExp(String.raw`(?:^|;\s*)(?:__Host-)?tollgate\.${name}=([\w-]+)(?:;|$)`);
  return pattern.exec(request.headers.cookie ?? '')?.[1] ?? null;
}

/** Returns a `Set-Cookie` line. The cookie stays until the browser is closed; '' removes it. */
export function cookieLine(
  { users }: ManagementContext,
  { name, value }: { readonly name: CookieName; readonly value: string },
  request: FastifyRequest,
): string {
  const isSecure = users.authentication.isSecure(clientOf(request));
  const end = value === '' ? '; Max-Age=0' : '';
  return `${isSecure ? '__Host-' : ''}tollgate.${name}=${value}; Path=/; HttpOnly;${isSecure ? ' Secure;' : ''} SameSite=Lax${end}`;
}

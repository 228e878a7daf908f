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
  context: ManagementContext,
  userId: string,
  { request, reply }: RequestAndReply,
): Promise<void> {
  const value = await context.users.knownDevices.nameDevice(userId);
  setCookies(reply, [cookieLine(context, { name: 'device', value }, request)]);
}

/** Returns the name that this browser's challenges of passkeys are bound to; null: it has none. */
export function passkeyBrowserOf(request: FastifyRequest): string | null {
  return cookieOf(request, 'passkey');
}

type CookieName = 'device' | 'passkey' | 'confirming' | 'confirmed';

/** Returns one of our own cookies, or null. Their values have no characters that need quoting. */
export function cookieOf(request: FastifyRequest, name: CookieName): string | null {
  const pattern = new RegExp(String.raw`(?:^|;\s*)(?:__Host-)?tollgate\.${name}=([\w.-]+)(?:;|$)`);
  return pattern.exec(request.headers.cookie ?? '')?.[1] ?? null;
}

/**
 * The longest lifetime that browsers allow.
 * https://datatracker.ietf.org/doc/html/draft-ietf-httpbis-rfc6265bis#section-5.5
 */
const deviceAgeSeconds = 400 * 24 * 60 * 60;

/** Returns a `Set-Cookie` line. Only a device's outlives the browser's session; '' removes a cookie. */
export function cookieLine(
  { users }: ManagementContext,
  { name, value }: { readonly name: CookieName; readonly value: string },
  request: FastifyRequest,
): string {
  const isSecure = users.authentication.isSecure(clientOf(request));
  const [prefix, secure] = isSecure ? ['__Host-', ' Secure;'] : ['', ''];
  const age = name === 'device' ? `Max-Age=${deviceAgeSeconds}; ` : '';
  const end = value === '' ? '; Max-Age=0' : '';
  return `${prefix}tollgate.${name}=${value}; ${age}Path=/; HttpOnly;${secure} SameSite=Lax${end}`;
}

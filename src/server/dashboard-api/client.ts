// Between Fastify and what knows of sessions: who asks, and the cookies that answer.
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Client } from '../../users/authentication.ts';
import type { ServerContext } from '../context.ts';

export function clientOf(request: FastifyRequest): Client {
  return {
    cookie: request.headers.cookie ?? '',
    userAgent: request.headers['user-agent'] ?? '',
    address: request.ip,
    isSecure: request.protocol === 'https',
  };
}

/** Beside those that were set before: a session that was renewed, then ended, is ended. */
export function setCookies(reply: FastifyReply, cookies: readonly string[]): void {
  for (const cookie of cookies) reply.header('set-cookie', cookie);
}

export type Exchange = { readonly request: FastifyRequest; readonly reply: FastifyReply };

/** The user has proved himself in this browser, or chosen the password in it. */
export async function rememberDevice({ users }: ServerContext, userId: string, { request, reply }: Exchange): Promise<void> {
  const isSecure = users.authentication.isSecure(clientOf(request));
  setCookies(reply, [await users.knownDevices.cookieFor(userId, { isSecure })]);
}

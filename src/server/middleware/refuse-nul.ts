// A NUL in a text is refused where it comes in, since no database takes it. In bodies of the public API it may be what is said to a model.
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type ApiError, invalidRequest } from '../../canonical/errors.ts';

/** A Fastify onRequest hook, for addresses; Node refuses headers with a NUL itself. Throws ApiError `invalid_request`. */
export function refuseNul({ raw }: FastifyRequest, _reply: FastifyReply, next: () => void): void {
  if (raw.url!.includes('%00')) throw nulRefused();
  next();
}

/** `field`: where it stands, when that is known. */
export function nulRefused(field: string | null = null): ApiError {
  return invalidRequest(
    field,
    `${field === null ? 'The request' : `\`${field}\``} holds a NUL character. Send the text without it.`,
  );
}

// Refuses a NUL character in URLs, because no database stores it. Bodies of the public API may hold
// one in text for a model.
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type ApiError, invalidRequest } from '../../canonical/errors.ts';

/**
 * A Fastify onRequest hook. Node itself refuses headers with a NUL. Throws ApiError
 * `invalid_request`.
 */
export function refuseNul({ raw }: FastifyRequest, _reply: FastifyReply, next: () => void): void {
  if (raw.url!.includes('%00')) throw nulRefused();
  next();
}

/** `field`: the field that holds it, when known. */
export function nulRefused(field: string | null = null): ApiError {
  return invalidRequest(
    field,
    `${field === null ? 'The request' : `\`${field}\``} holds a NUL character. Send the text without it.`,
  );
}

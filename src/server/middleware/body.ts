// Bodies come in as bytes, bounded, and are parsed once, by our own reader that refuses absurd nesting.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ApiError, invalidRequest } from '../../canonical/errors.ts';
import { parseJson } from '../../lib/json.ts';

/**
 * Takes every content type as bytes: what is accepted is decided by `checkContentType`, with our own error. JSON is named beside the
 * catch-all because Fastify remembers the parser of a named type and looks for the other's anew at each request.
 */
export function acceptBytes(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(['application/json', '*'], { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
}

/** A Fastify onRequest hook for endpoints with a body. Throws ApiError 415. */
export function checkContentType(request: FastifyRequest, _reply: FastifyReply, next: () => void): void {
  const contentType = request.headers['content-type'];
  if (contentType !== undefined && !/^\s*application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i.test(contentType)) {
    throw new ApiError(
      'unsupported_media_type',
      `The body must be JSON. Send \`Content-Type: application/json\` instead of \`${contentType.slice(0, 80)}\`.`,
    );
  }
  const encoding = request.headers['content-encoding'];
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    throw new ApiError(
      'unsupported_media_type',
      `The body must not be compressed. Send it without \`Content-Encoding: ${encoding.slice(0, 40)}\`.`,
    );
  }
  next();
}

/** The parsed body. Throws ApiError `invalid_request`. */
export function readJsonBody(request: FastifyRequest): unknown {
  const bytes = request.body;
  const parsed = parseJson(bytes instanceof Uint8Array ? bytes : Buffer.alloc(0));
  if (!parsed.ok) throw invalidRequest(null, `The request cannot be read: ${parsed.message}.`);
  return parsed.value;
}

// Compresses answers of the dashboard's API.
//
// Compression can reveal a secret to somebody who sees the length of encrypted answers and can make
// a browser ask for his own text beside it (BREACH). Three rules prevent that:
// - Only successful answers to GET are compressed. Secrets (new keys, invitation links, set-up of
//   the second factor) are only in answers to changes, which other sites cannot send.
// - Errors are not: they repeat what was asked for.
// - A request that another site or a typed address caused is not, as far as the browser says so.
//   The session's cookie is `SameSite=Lax`, so other sites cannot ask without a visible navigation.
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { acceptedEncoding } from '../server/built-files.ts';

/** Smaller answers fit into one packet. */
const compressedFromBytes = 1_400;

const compressors = { br: promisify(brotliCompress), gzip: promisify(gzip) };
/** Good for answers that are sent once: higher levels cost more time than they save. */
const options = { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } };

/** Fastify hook `onSend` for endpoints that answer in JSON. */
export async function compressJson(
  request: FastifyRequest,
  reply: FastifyReply,
  payload: unknown,
): Promise<unknown> {
  if (request.method !== 'GET') return payload;
  reply.header('vary', 'accept-encoding, sec-fetch-site');
  if (typeof payload !== 'string' || payload.length < compressedFromBytes) return payload;
  if (reply.statusCode !== 200 || !isAskedByApp(request)) return payload;
  const encoding = acceptedEncoding(request.headers['accept-encoding']);
  if (encoding === null) return payload;
  const body = await compressors[encoding](payload, encoding === 'br' ? options : {});
  reply.header('content-encoding', encoding);
  reply.header('content-length', body.length);
  return body;
}

/** Browsers without the header rely on the cookie's `SameSite`. */
function isAskedByApp({ headers }: FastifyRequest): boolean {
  return (headers['sec-fetch-site'] ?? 'same-origin') === 'same-origin';
}

// Serves generated images by signed link. Without the right signature the answer is a 404 that says
// nothing about why.
import { Readable } from 'node:stream';
import type { FastifyRequest } from 'fastify';
import { ApiError } from '../canonical/errors.ts';
import type { Gateway } from '../gateway/gateway.ts';
import { parseRange, type RangeAsked } from './byte-range.ts';
import type { Handler, ServerContext } from './context.ts';
import { isKnown } from './etag.ts';

export function getImageFile({ gateway }: ServerContext): Handler {
  return async (request, reply) => {
    const { id, secondsLeft } = verifiedLink(gateway, request);
    const found = await gateway.images.store.find(id);
    if (!found) throw noSuchImage();
    const headers = headersOf(id, secondsLeft);
    // An image never changes, so every conditional request matches.
    if (isKnown(request.headers['if-none-match'], headers.etag))
      return reply.code(304).headers(headers).send();
    const range = rangeAsked(request, headers.etag, found.sizeBytes);
    if (range.kind === 'unsatisfiable')
      return reply.code(416).header('content-range', `bytes */${found.sizeBytes}`).send();
    // Read before any header is set: the image may be gone, and then the answer is an error.
    const stream =
      request.method === 'HEAD'
        ? Readable.from([])
        : await gateway.images.store.read(id, rangeOf(range));
    if (!stream) throw noSuchImage();
    const { start, end } = rangeOf(range) ?? { start: 0, end: found.sizeBytes - 1 };
    reply.headers({
      ...headers,
      'content-type': found.mediaType,
      'content-length': end - start + 1,
    });
    if (range.kind === 'part')
      reply.code(206).header('content-range', `bytes ${start}-${end}/${found.sizeBytes}`);
    return reply.send(stream);
  };
}

function headersOf(id: string, secondsLeft: number) {
  return {
    'content-disposition': `inline; filename="${id}"`,
    'cache-control': `private, max-age=${secondsLeft}, immutable`,
    'accept-ranges': 'bytes',
    etag: `"${id}"`,
    // A browser shows the bytes as an image or not at all; every answer has `nosniff`.
    'content-security-policy': "default-src 'none'; sandbox",
  };
}

function noSuchImage(): ApiError {
  return new ApiError(
    'not_found',
    'There is no such image, or its link has expired. Generate it anew.',
  );
}

function verifiedLink(
  { images, clock }: Gateway,
  { params, query }: FastifyRequest,
): { id: string; secondsLeft: number } {
  const id = (params as Record<'*', string>)['*'];
  const { expires, signature } = query as Record<string, unknown>;
  const nowSeconds = Math.floor(clock.nowMs() / 1_000);
  const isSigned =
    typeof expires === 'string' &&
    typeof signature === 'string' &&
    images.links.verify({ id, expires, signature }, nowSeconds);
  if (!isSigned) throw noSuchImage();
  return { id, secondsLeft: Number(expires) - nowSeconds };
}

function rangeAsked(
  { method, headers }: FastifyRequest,
  etag: string,
  sizeBytes: number,
): RangeAsked {
  const ifRange = headers['if-range'];
  const counts = method === 'GET' && (ifRange === undefined || ifRange === etag);
  return parseRange(counts ? headers.range : undefined, sizeBytes);
}

function rangeOf(range: RangeAsked): { readonly start: number; readonly end: number } | null {
  return range.kind === 'part' ? { start: range.start, end: range.end } : null;
}

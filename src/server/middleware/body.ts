// Bodies come in as bytes, bounded, and are parsed once, by our own reader that refuses absurd nesting.
import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ApiError, invalidRequest } from '../../canonical/errors.ts';
import { parseJson } from '../../lib/json.ts';
import type { ArrivingBodies } from '../arriving-bodies.ts';
import type { KnownLane } from '../known/known-lane.ts';
import { lingerUntilSent } from '../lingering-close.ts';
import { overloaded } from '../overload.ts';

export type BodyLimits = {
  /** Of one body. */
  readonly bytesMax: number;
  /** Of all bodies that arrive at the same time. */
  readonly arriving: ArrivingBodies;
};

/**
 * Takes every content type as bytes: what is accepted is decided by `checkContentType`, with our own error. JSON is named beside the
 * catch-all because Fastify remembers the parser of a named type and looks for the other's anew at each request.
 */
export function acceptBytes(app: FastifyInstance, limits: BodyLimits, lane: KnownLane): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(['application/json', '*'], (request, payload, done) => {
    const arrived = lane.takeBody(request.raw);
    if (arrived) return done(arrived.error, arrived.bytes);
    // What is sent to no endpoint is dropped by Node, unread.
    if (request.is404) return done(null);
    const { bodyBytesMax = limits.bytesMax } = request.routeOptions.config;
    readBytes(payload, { ...limits, bytesMax: bodyBytesMax }, done);
  });
}

type Done = (error: ApiError | null, body?: Buffer) => void;

/** In place of Fastify's own reader, which knows of one body only. Whoever breaks off is answered too: a half-closed socket can read it. */
export function readBytes(payload: IncomingMessage, { bytesMax, arriving }: BodyLimits, done: Done): void {
  const announcedBytes = Number(payload.headers['content-length'] ?? 0);
  const refuse = (error: ApiError) => {
    lingerUntilSent(payload);
    done(error);
  };
  if (announcedBytes > bytesMax) return refuse(tooLarge());
  if (!arriving.hasRoomFor(announcedBytes)) return refuse(overloaded());
  const body = arriving.open();
  let pieces: Buffer[] = [];
  let loose = 0;
  let bytes = 0;
  let isOver = false;
  const end = (error: ApiError | null) => {
    if (isOver) return;
    isOver = true;
    const taken = pieces;
    // A request lives as long as its answer, and with it this listener: it must not keep the bytes.
    pieces = [];
    body.close();
    if (error) (payload.destroyed ? done : refuse)(error);
    // A copy also of a single piece, which is a view of the socket's buffer.
    else done(null, Buffer.concat(taken, bytes));
  };
  const take = (piece: Buffer) => {
    if (isOver) return;
    bytes += piece.length;
    if (bytes > bytesMax) return end(tooLarge());
    if (!body.take(piece.length)) return end(overloaded());
    pieces.push(piece);
    if (++loose < loosePiecesMax) return;
    pieces.push(Buffer.concat(pieces.splice(-loosePiecesMax)));
    loose = 0;
  };
  const breakOff = (cause: Error) => end(new ApiError('invalid_request', 'The body broke off before its end.', { cause }));
  payload
    .on('data', take)
    .on('end', () => end(null))
    .on('error', breakOff);
}

/** A piece costs some two hundred bytes beside its own, and chunks of one byte each are allowed: many are made one. */
const loosePiecesMax = 256;

function tooLarge(): ApiError {
  return new ApiError(
    'request_too_large',
    'The body is larger than this gateway accepts here (as a rule `server.body_limit_bytes`). Send less.',
  );
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
  // A request lives as long as its answer, which may be a stream of half an hour: it must not keep its bytes for so long.
  request.body = undefined;
  const parsed = parseJson(bytes instanceof Uint8Array ? bytes : Buffer.alloc(0));
  if (!parsed.ok) throw invalidRequest(null, `The request cannot be read: ${parsed.message}.`);
  return parsed.value;
}

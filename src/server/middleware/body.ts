// Reads bodies as bytes, with a limit, and parses them once, with a parser that limits nesting.
import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ApiError, invalidRequest, quoted } from '../../canonical/errors.ts';
import { parseJson, requestValuesMax, withoutBom } from '../../lib/json.ts';
import { Pieces } from '../../lib/pieces.ts';
import { type BodyRoom, ownersOf, type Place } from '../body-room.ts';
import { overloaded } from '../overload.ts';

type BodyLimits = {
  /** Limit of one body. */
  readonly bytesMax: number;
  /** Limit of all bodies that arrive at the same time. */
  readonly arriving: BodyRoom;
  /** Takes the body of an upload. Throws ApiError. */
  readonly spool: (
    request: FastifyRequest,
    payload: IncomingMessage,
    bytesMax: number,
  ) => Promise<unknown>;
};

/**
 * Accepts every content type as bytes; `checkContentType` decides what is allowed, with our own
 * error. JSON is named beside the catch-all because Fastify caches the parser of a named type and
 * searches for the other at each request.
 */
export function acceptBytes(app: FastifyInstance, limits: BodyLimits): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(['application/json', '*'], (request, payload, done) => {
    // A body that is sent to no endpoint is dropped, unread.
    if (request.is404) return done(null);
    const { bodyBytesMax = limits.bytesMax, isUpload } = request.routeOptions.config;
    if (isUpload) {
      return void takeUpload(limits.spool(request, payload, bodyBytesMax), done);
    }
    const { place: kept } = request;
    const enter = () => arrivingPlace(request, limits);
    readBytes(payload, { bytesMax: bodyBytesMax, kept, enter }, done);
  });
}

async function takeUpload(
  body: Promise<unknown>,
  done: (error: Error | null, body?: unknown) => void,
): Promise<void> {
  try {
    done(null, await body);
  } catch (error) {
    done(error as Error);
  }
}

/** A place that is free when the body has arrived. */
function arrivingPlace(request: FastifyRequest, { arriving }: BodyLimits): Place {
  const place = arriving.enter(ownersOf(request));
  return { ...place, keep: place.leave };
}

type Reading = {
  readonly bytesMax: number;
  /** The place of a body that is kept while it runs; null: it is not. */
  readonly kept: Place | null;
  /** Enters a body that is not complete with its first bytes. Most are, and nobody can stall them. */
  readonly enter: () => Place;
};
type Done = (error: ApiError | null, body?: Buffer) => void;

/**
 * Replaces Fastify's reader, which limits each body alone. A client that breaks off gets an answer
 * too: a half-closed socket can read it.
 */
function readBytes(payload: IncomingMessage, { bytesMax, kept, enter }: Reading, done: Done): void {
  const pieces = new Pieces();
  let place = kept;
  let isOver = false;
  const end = (error: ApiError | null) => {
    if (isOver) return;
    isOver = true;
    // The request and this listener live as long as the answer, so they must not keep the bytes.
    const taken = pieces.take();
    if (error) {
      place?.leave();
      done(error);
    } else {
      place?.keep(pieces.bytes);
      // Copies a single piece, too: it is a view of the socket's buffer.
      done(null, Buffer.concat(taken));
    }
  };
  const refuse = () => end(overloaded());
  place?.onRefused(refuse);
  const announced = Number(payload.headers['content-length'] ?? 0);
  if (announced > bytesMax) return end(tooLarge(bytesMax));
  const take = (piece: Buffer) => {
    if (isOver) return;
    pieces.add(piece);
    if (pieces.bytes > bytesMax) return end(tooLarge(bytesMax));
    if (!place) {
      if (pieces.bytes === announced) return;
      place = enter();
      place.onRefused(refuse);
    }
    place.take(piece.length);
  };
  const breakOff = (cause: Error) =>
    end(new ApiError('invalid_request', 'The body broke off before its end.', { cause }));
  payload
    .on('data', take)
    .on('end', () => end(null))
    .on('error', breakOff);
}

export function tooLarge(bytesMax: number): ApiError {
  return new ApiError(
    'request_too_large',
    `The body is larger than the ${bytesMax} bytes that this gateway accepts here (as a rule \`server.body_limit_bytes\`). Send less.`,
  );
}

/** A Fastify onRequest hook for endpoints with a body. Throws ApiError 415. */
export function checkContentType(
  request: FastifyRequest,
  _reply: FastifyReply,
  next: () => void,
): void {
  const contentType = request.headers['content-type'];
  if (
    contentType !== undefined &&
    !/^\s*application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i.test(contentType)
  ) {
    throw new ApiError(
      'unsupported_media_type',
      `The body must be JSON. Send \`Content-Type: application/json\` instead of ${quoted(contentType)}.`,
    );
  }
  const encoding = request.headers['content-encoding'];
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    throw new ApiError(
      'unsupported_media_type',
      `The body must not be compressed. Send it without \`Content-Encoding\`; got ${quoted(encoding)}.`,
    );
  }
  next();
}

/** Returns the parsed body. Throws ApiError `invalid_request`. */
export function readJsonBody(request: FastifyRequest, valuesMax = requestValuesMax): unknown {
  const bytes = request.body;
  // The request lives as long as its answer, perhaps half an hour, so it must not keep its bytes.
  request.body = undefined;
  if (Buffer.isBuffer(bytes)) request.bodies?.noteRequest(bytes);
  const json = Buffer.isBuffer(bytes) ? withoutBom(bytes) : Buffer.alloc(0);
  // Otherwise each wrong byte would reach the model as U+FFFD.
  if (!isUtf8(json))
    throw invalidRequest(null, 'The request cannot be read: the body is not UTF-8.');
  const parsed = parseJson(json, { valuesMax });
  if (!parsed.ok) throw invalidRequest(null, `The request cannot be read: ${parsed.message}.`);
  return parsed.value;
}

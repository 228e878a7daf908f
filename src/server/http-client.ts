// The HTTP client of a charged request: whole answers through Fastify, streams straight to the
// socket with back-pressure.
import type { ServerResponse } from 'node:http';
import type { FastifyReply } from 'fastify';
import type { Client, ClientStream } from '../gateway/client.ts';
import type { Clock } from '../lib/clock.ts';
import { countUnread } from './lingering-close.ts';

/** `stallMs`: a client that reads nothing for this long counts as gone. */
type Stall = { readonly stallMs: number; readonly clock: Clock };

/**
 * Node joins the head and a text into one write, which is cheaper than a head and bytes, until the
 * text takes longer to encode.
 */
const joinedLengthMax = 16 * 1024;

const jsonHeaders = { 'content-type': 'application/json; charset=utf-8' };
const streamHeaders = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store, no-transform',
  // Stops reverse proxies from buffering the stream.
  'x-accel-buffering': 'no',
};

export function httpClient(reply: FastifyReply, stall: Stall): Client {
  const { raw } = reply;
  const callbacks: (() => void)[] = [];
  let isGone = raw.destroyed;
  raw.once('close', () => {
    if (raw.writableFinished) return;
    isGone = true;
    for (const callback of callbacks) callback();
  });
  return {
    isGone: () => isGone,
    onGone(callback) {
      if (isGone) callback();
      else callbacks.push(callback);
    },
    sendAnswer(body, headers) {
      if (isGone) return;
      const isText = !('content-type' in headers) && body.length < joinedLengthMax;
      const payload = isText ? body.toString() : body;
      void reply.code(200).headers(jsonHeaders).headers(headers).send(payload);
    },
    startStream(headers, trailerNames) {
      raw.writeHead(200, {
        ...(reply.getHeaders() as Record<string, string>),
        ...streamHeaders,
        ...headers,
        // HTTP/1.0 has no chunks, and so no trailers.
        ...(raw.req.httpVersion === '1.0' || trailerNames.length === 0
          ? null
          : { trailer: trailerNames.join(', ') }),
      });
      reply.hijack();
      return streamTo(reply, () => isGone, stall);
    },
  };
}

function streamTo(reply: FastifyReply, isGone: () => boolean, stall: Stall): ClientStream {
  const { raw } = reply;
  let isInPieces = false;
  return {
    write(frames) {
      if (isGone()) return undefined;
      if (frames.length <= pieceBytes) return raw.write(frames) ? undefined : untilRoom(raw, stall);
      isInPieces = true;
      const bytes = typeof frames === 'string' ? Buffer.from(frames) : frames;
      const leave = countUnread(reply, bytes.length);
      return writeInPieces(raw, bytes, { isGone, stall }).finally(() => {
        isInPieces = false;
        leave();
      });
    },
    keepAlive(frame) {
      if (!isGone() && !isInPieces && !raw.writableNeedDrain) raw.write(frame);
    },
    end(frames, trailers) {
      if (isGone()) return;
      // Responses ends with the whole answer once more.
      if (frames.length > pieceBytes)
        raw.once('close', countUnread(reply, Buffer.byteLength(frames)));
      raw.addTrailers(trailers);
      raw.end(frames);
    },
    cut: () => raw.destroy(),
  };
}

const pieceBytes = 64 * 1024;

/**
 * Writes in pieces, because a socket reports only that a whole write was taken, never how much of
 * it. An event with an image is megabytes. A slow reader that takes them steadily must not look
 * like one that takes nothing.
 */
async function writeInPieces(
  raw: ServerResponse,
  bytes: Buffer,
  { isGone, stall }: { readonly isGone: () => boolean; readonly stall: Stall },
): Promise<void> {
  for (let start = 0; start < bytes.length && !isGone(); start += pieceBytes) {
    if (!raw.write(bytes.subarray(start, start + pieceBytes))) await untilRoom(raw, stall);
  }
}

function untilRoom(raw: ServerResponse, { stallMs, clock }: Stall): Promise<void> {
  return new Promise((resolve) => {
    const cancel = clock.after(stallMs, () => raw.destroy());
    const done = () => {
      cancel();
      raw.off('drain', done);
      raw.off('close', done);
      resolve();
    };
    raw.once('drain', done);
    raw.once('close', done);
  });
}

// Ends connections whose client does not do its part: it goes on sending a body after the answer,
// does not read the answer, or sends many requests without waiting for answers.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ownersOf } from './body-room.ts';

/** A shorter body is dropped, and its connection stays open. */
const shortBytes = 64 * 1024;
/**
 * The most that is still read of a refused body, so that clients which read only when they have sent
 * all find the answer. `server.arrival_timeout_ms` limits the time, as for any body.
 */
const droppedBytesMax = 128 * 1024 * 1024;
/** The same for requests without a key. */
const strangerBytesMax = 1024 * 1024;

/** Node reads more than a thousand requests at once; all of their answers would be in memory. */
const pipelinedMax = 32;
const unanswered = new WeakMap<Socket, number>();

/** A Fastify onRequest hook, before all others. */
export function limitPipelining(
  { raw: { socket } }: FastifyRequest,
  reply: FastifyReply,
  next: () => void,
): void {
  const count = (unanswered.get(socket) ?? 0) + 1;
  unanswered.set(socket, count);
  reply.raw.once('close', () => unanswered.set(socket, unanswered.get(socket)! - 1));
  if (count <= pipelinedMax) return next();
  reply.hijack();
  socket.destroy();
}

/**
 * Call before an answer is sent: closes the connection if it comes before the end of a long body.
 * Closing it while its client still sends resets it, and the client may then lose the answer. So
 * our end is closed first, and a bounded rest is read and dropped.
 * https://www.rfc-editor.org/rfc/rfc9112#section-9.6
 */
export function closeUnread({ raw, apiKey }: FastifyRequest, reply: FastifyReply): void {
  const bytes = unreadBytes(raw);
  if (bytes > shortBytes) reply.header('connection', 'close');
  if (bytes > 0 && reply.getHeader('connection') === 'close')
    lingerUntilSent(raw, apiKey ? droppedBytesMax : strangerBytesMax);
}

function unreadBytes({ complete, destroyed, headers }: IncomingMessage): number {
  if (complete || destroyed) return 0;
  return headers['transfer-encoding'] ? Infinity : Number(headers['content-length'] ?? 0);
}

function lingerUntilSent(payload: IncomingMessage, bytesMax: number): void {
  const { socket } = payload;
  const readBytesMax = socket.bytesRead + bytesMax;
  const close = socket.destroySoon.bind(socket);
  let hasEnded = false;
  // Node calls it after the last answer of a connection.
  socket.destroySoon = () => {
    if (hasEnded) close();
    else socket.end();
  };
  payload
    .on('data', () => {
      if (socket.bytesRead > readBytesMax) socket.destroy();
    })
    .once('end', () => {
      hasEnded = true;
      if (socket.writableEnded) close();
    });
}

/**
 * A shorter answer that is alone on its connection is not counted: systems take it at once, whether it is
 * read or not.
 */
const countedBytes = 64 * 1024;

/** A Fastify onSend hook: counts a whole answer until its client has taken it. */
export function countWhole(
  { method, raw: { socket } }: FastifyRequest,
  reply: FastifyReply,
  payload: unknown,
  next: () => void,
): void {
  const isWhole = typeof payload === 'string' || Buffer.isBuffer(payload);
  const leastBytes = unanswered.get(socket)! > 1 ? 1 : countedBytes;
  // Nothing would end the count of one whose client has left.
  if (isWhole && payload.length >= leastBytes && method !== 'HEAD' && !reply.raw.destroyed)
    reply.raw.once('close', countUnread(reply, Buffer.byteLength(payload)));
  next();
}

/**
 * Counts bytes of an answer that are in memory until its client takes them; then call what this returns.
 * When too many wait for slow clients, the connections of whoever holds most are closed.
 */
export function countUnread({ request }: FastifyReply, bytes: number): () => void {
  const place = request.server.unread.enter(ownersOf(request));
  // An answer that waits behind others has no socket of its own.
  place.onRefused(() => request.raw.socket.destroy());
  place.take(bytes);
  return place.leave;
}

/** Closes the connection when its client has read nothing of a waiting answer for `stallMs`. */
export function dropUnread(response: ServerResponse, stallMs: number): void {
  response.setTimeout(stallMs, () => {
    const { socket } = response;
    if (socket && socket.writableLength > 0) socket.destroy();
  });
}

// Makes large bodies wait for memory, on routes that keep their bodies, before they are read.
// Clients get no error: their sockets are not read, so the data stays with the client and the
// system. The arrival timeout starts when the wait ends. An upload that is slow in its turn gives way
// to a client that holds less.
import type { Socket } from 'node:net';
import type { FastifyReply, FastifyRequest, RequestPayload } from 'fastify';
import { invalidRequest } from '../../canonical/errors.ts';
import { shuttingDown } from '../../gateway/unavailable.ts';
import type { Handler, ServerContext } from '../context.ts';
import { largeBytes } from '../large-bodies.ts';
import { answerLate } from '../malformed.ts';
import { ownersOf, type Place, roomOf, type RoomsByMode } from '../body-room.ts';

export type MemoryWait = ReturnType<typeof waitForMemory>;

/**
 * Two Fastify hooks, before and after a body is read, and a check whether a socket's timeout is
 * ours instead of Node's. The room is kept until the handler has ended, because a provider may
 * still work after its client left.
 */
export function waitForMemory(
  { gateway: { config, runs, clock } }: Pick<ServerContext, 'gateway'>,
  rooms: RoomsByMode,
) {
  const { body_limit_bytes: bytesMax, arrival_timeout_ms: arrivalTimeoutMs } = config.server;
  const arriving = new WeakMap<FastifyRequest, () => void>();
  const timedHere = new WeakSet<Socket>();
  const running = new WeakSet<FastifyRequest>();

  /** Throws ApiError `upstream_unavailable` when the program stops first. */
  const preParsing = async (
    request: FastifyRequest,
    reply: FastifyReply,
    payload: RequestPayload,
  ): Promise<RequestPayload> => {
    const bytes = bytesToExpect(request, bytesMax);
    // A body that is too large is refused by its length, before any wait.
    if (bytes < largeBytes || bytes > bytesMax) return payload;
    const { socket } = request.raw;
    timedHere.add(socket);
    const place = roomOf(request, rooms).enter(ownersOf(request), bytes);
    request.place = place;
    reply.raw.once('close', () => {
      arriving.get(request)?.();
      timedHere.delete(socket);
      if (!running.has(request)) place.leave();
    });
    await turnOf(place, reply);
    const cancel = clock.after(arrivalTimeoutMs, () => {
      place.leave();
      answerLate(socket, config.server.public_url);
    });
    arriving.set(request, () => {
      cancel();
      timedHere.delete(socket);
    });
    return payload;
  };

  /** Throws when the request ended before its turn. */
  const turnOf = async (place: Place, { raw }: FastifyReply): Promise<void> => {
    const waiting = runs.open();
    waiting.running.addEventListener('abort', place.leave);
    if (waiting.running.aborted) place.leave();
    const isAdmitted = await place.admitted;
    waiting.close();
    if (isAdmitted && !raw.destroyed && !runs.isEnding) return;
    throw runs.isEnding ? shuttingDown() : invalidRequest(null, 'The client has left.');
  };

  const preValidation = (request: FastifyRequest, _reply: FastifyReply, next: () => void): void => {
    arriving.get(request)?.();
    next();
  };

  const around = (handler: Handler) => ({
    preParsing,
    preValidation,
    handler: async (request: FastifyRequest, reply: FastifyReply) => {
      running.add(request);
      try {
        return await handler(request, reply);
      } finally {
        running.delete(request);
        request.place?.leave();
      }
    },
  });
  return { around, isTimedHere: (socket: Socket) => timedHere.has(socket) };
}

/** Returns the announced length, or `bytesMax` for a chunked body, which announces none. */
function bytesToExpect({ headers }: FastifyRequest, bytesMax: number): number {
  return headers['transfer-encoding'] === undefined
    ? Number(headers['content-length'] ?? 0)
    : bytesMax;
}

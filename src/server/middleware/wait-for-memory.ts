// Large bodies of routes that hold much memory wait here before they are read. Their clients are not told to come back: their sockets
// are simply not read, so that what they send stays with them and in the system. The time to arrive begins when the waiting has ended.
import type { Socket } from 'node:net';
import type { FastifyReply, FastifyRequest, RequestPayload } from 'fastify';
import { invalidRequest } from '../../canonical/errors.ts';
import { shuttingDown } from '../../gateway/failed.ts';
import type { ServerContext } from '../context.ts';
import { largeBytes } from '../large-bodies.ts';
import { answerLate } from '../malformed.ts';
import type { Place, WaitingRoom } from '../waiting-room.ts';

export type MemoryWait = ReturnType<typeof waitForMemory>;

/** Two Fastify hooks, before and after a body is read, and whether a socket's lateness is our affair instead of Node's. */
export function waitForMemory({ gateway: { config, runs, clock } }: Pick<ServerContext, 'gateway'>, room: WaitingRoom) {
  const { body_limit_bytes: bytesMax, arrival_timeout_ms: arrivalTimeoutMs } = config.server;
  const arriving = new WeakMap<FastifyRequest, () => void>();
  const timedHere = new WeakSet<Socket>();

  /** Throws ApiError `upstream_unavailable` when the program ends first. */
  const preParsing = async (request: FastifyRequest, reply: FastifyReply, payload: RequestPayload): Promise<RequestPayload> => {
    const bytes = bytesToExpect(request, bytesMax);
    // What is too large is refused by its length, which costs nothing.
    if (bytes < largeBytes || bytes > bytesMax) return payload;
    const { socket } = request.raw;
    timedHere.add(socket);
    const place = room.enter(bytes);
    reply.raw.once('close', () => {
      arriving.get(request)?.();
      timedHere.delete(socket);
      place.leave();
    });
    await turnOf(place, reply);
    const cancel = clock.after(arrivalTimeoutMs, () => {
      place.leave();
      answerLate(socket);
    });
    arriving.set(request, () => {
      cancel();
      timedHere.delete(socket);
      if (request.body instanceof Uint8Array) place.shrinkTo(request.body.length);
    });
    return payload;
  };

  /** Throws where it has ended before its turn. */
  const turnOf = async (place: Place, { raw }: FastifyReply): Promise<void> => {
    const waiting = runs.open();
    waiting.signal.addEventListener('abort', place.leave);
    if (waiting.signal.aborted) place.leave();
    const isAdmitted = await place.admitted;
    runs.close(waiting);
    if (isAdmitted && !raw.destroyed && !runs.isEnding) return;
    throw runs.isEnding ? shuttingDown() : invalidRequest(null, 'The client has left.');
  };

  const preValidation = (request: FastifyRequest, _reply: FastifyReply, next: () => void): void => {
    arriving.get(request)?.();
    next();
  };

  return { hooks: { preParsing, preValidation }, isTimedHere: (socket: Socket) => timedHere.has(socket) };
}

/** As announced. Chunks announce nothing: they may become as large as any. */
function bytesToExpect({ headers }: FastifyRequest, bytesMax: number): number {
  return headers['transfer-encoding'] === undefined ? Number(headers['content-length'] ?? 0) : bytesMax;
}

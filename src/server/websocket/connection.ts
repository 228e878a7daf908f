// One WebSocket of a client. Each frame runs as a request of its own, one after the other; the
// events of its stream become frames.
import { once } from 'node:events';
import type { ClientRequest, IncomingMessage } from 'node:http';
import type { FastifyRequest } from 'fastify';
import type { LRUCache } from 'lru-cache';
import type { WebSocket } from 'ws';
import { ApiError, invalidRequest } from '../../canonical/errors.ts';
import { pieceOverheadBytes } from '../../lib/pieces.ts';
import { SseParser } from '../../lib/sse.ts';
import { type BodyRoom, ownersOf, type Place } from '../body-room.ts';
import type { ServerContext } from '../context.ts';
import { largeBytes } from '../large-bodies.ts';
import { fromFastify } from '../middleware/errors.ts';
import { overloaded } from '../overload.ts';
import {
  bodyOf,
  type CreateFrame,
  errorFrame,
  eventFrame,
  readCreateFrame,
  refusalOf,
  steerRefusal,
  type Turn,
  turnAfter,
} from './frames.ts';
import { postInMemory } from './request-in-memory.ts';

/** https://www.rfc-editor.org/rfc/rfc6455#section-7.4.1 */
export const closeCodes = {
  normal: 1000,
  goingAway: 1001,
  policy: 1008,
  tooBig: 1009,
  later: 1013,
};

/** As OpenAI's connections. */
const lifetimeMs = 60 * 60_000;
/** A connection without a request. */
const idleMs = 10 * 60_000;
/** A client's frame has a mask and no more than this around its payload, if that is short. */
const controlFrameBytes = 6;
/** The envelope around a body. */
const envelopeBytes = 64 * 1024;
/** What a client may leave unread and still be refused a frame with an error. */
const unreadBytesMax = 1024 * 1024;
/** A frame of this size gets as long again as a client that reads nothing. */
const slowReaderBytes = 4 * 1024 * 1024;

type Accepted = {
  readonly socket: WebSocket;
  /** The request that was upgraded. */
  readonly request: FastifyRequest;
  readonly arriving: BodyRoom;
  /** The last response, which may be forgotten at any time. */
  readonly kept: LRUCache<WebSocket, Turn>;
};

type Ending = {
  readonly error: ApiError;
  /** The client gets the error even if it has not sent a frame. */
  readonly isTold?: boolean;
  readonly code: number;
};

export class Connection {
  readonly #context: ServerContext;
  readonly #its: Accepted;
  readonly #openedAtMs: number;
  #idleSinceMs: number;
  #hasHeard = true;
  /** The bytes that the client has taken, and since when it has taken no more. */
  #taken = { bytes: 0, sinceMs: 0 };
  /** The place of the frame that arrives. */
  #place: Place | null = null;
  #arrived = 0;
  #arrivingSinceMs = 0;
  /** The next frame. */
  #waiting: { readonly data: Buffer; readonly place: Place | null } | null = null;
  #isRunning = false;
  /** The lane of the response that runs, or ran last. */
  #lane: string | null = null;
  #posted: ClientRequest | null = null;
  #ending: Ending | null = null;

  constructor(context: ServerContext, its: Accepted) {
    const { socket, request } = its;
    this.#context = context;
    this.#its = its;
    this.#openedAtMs = context.gateway.clock.elapsedMs();
    this.#idleSinceMs = this.#openedAtMs;
    // Before the protocol reads the bytes, so that a message ends their count.
    request.raw.socket.prependListener('data', ({ length }: Buffer) => this.#noteBytes(length));
    socket.on('message', (data: Buffer, isBinary) => this.#receive(data, isBinary));
    socket.on('ping', ({ length }) => this.#noteControl(length));
    socket.on('pong', ({ length }) => this.#noteControl(length));
    // It has closed the connection already, with a code that says why.
    socket.on('error', () => {});
    socket.once('close', () => this.#leave());
  }

  /** Ends when nothing runs any more; at once when nothing does. Frames are refused from now on. */
  end(ending: Ending): void {
    this.#ending ??= ending;
    if (!this.#isRunning) this.#endNow(this.#ending);
  }

  /** Call every half minute. Ends connections that are old, idle, stalled or dead. */
  sweep(): void {
    const { clock, config } = this.#context.gateway;
    const nowMs = clock.elapsedMs();
    const isOld = nowMs - this.#openedAtMs >= lifetimeMs;
    const isIdle = !this.#isRunning && nowMs - this.#idleSinceMs >= idleMs;
    const { socket, request } = this.#its;
    const unread = socket.bufferedAmount;
    const bytes = request.raw.socket.bytesWritten - unread;
    if (unread === 0 || bytes > this.#taken.bytes) this.#taken = { bytes, sinceMs: nowMs };
    const patienceMs = config.tuning.stallMs * (1 + unread / slowReaderBytes);
    const isStalled = nowMs - this.#taken.sinceMs >= patienceMs;
    if (!this.#hasHeard || isStalled) return socket.terminate();
    if (this.#place && nowMs - this.#arrivingSinceMs > config.server.arrival_timeout_ms)
      return this.#refuse(frameTooLate, closeCodes.policy);
    if (isOld || isIdle) return this.end({ error: tooOld, isTold: isOld, code: closeCodes.normal });
    this.#hasHeard = false;
    this.#its.socket.ping();
  }

  #noteBytes(bytes: number): void {
    const { clock, config } = this.#context.gateway;
    this.#hasHeard = true;
    if (!this.#place) {
      const { arriving, request } = this.#its;
      this.#arrived = 0;
      this.#arrivingSinceMs = clock.elapsedMs();
      this.#place = arriving.enter(ownersOf(request));
      this.#place.onRefused(() => this.#refuse(overloaded(), closeCodes.later));
    }
    this.#arrived += bytes;
    // The protocol keeps the pieces of a frame apart until its end.
    this.#place.take(bytes + pieceOverheadBytes);
    if (this.#arrived > config.server.body_limit_bytes + envelopeBytes)
      this.#refuse(frameTooLarge, closeCodes.tooBig);
  }

  #noteControl(payloadBytes: number): void {
    this.#arrived -= controlFrameBytes + payloadBytes;
    if (this.#arrived > 0) return;
    this.#place?.leave();
    this.#place = null;
  }

  #receive(data: Buffer, isBinary: boolean): void {
    const place = this.#place;
    this.#place = null;
    const steered = isBinary ? null : steerRefusal(data);
    const refusal = isBinary ? binaryRefused : this.#waiting ? oneAtATime : this.#ending?.error;
    if (steered !== null || refusal) {
      place?.leave();
      if (this.#its.socket.bufferedAmount > unreadBytesMax) return this.#its.socket.terminate();
      return void (steered === null
        ? this.#sendError(refusal!)
        : this.#send(eventFrame(steered, this.#lane)));
    }
    place?.onRefused(() => {
      this.#waiting = null;
      void this.#sendError(overloaded());
    });
    this.#waiting = { data, place };
    if (!this.#isRunning) void this.#runAll();
  }

  async #runAll(): Promise<void> {
    this.#isRunning = true;
    while (this.#waiting && !this.#ending && this.#isOpen) {
      const { data, place } = this.#waiting;
      this.#waiting = null;
      place?.leave();
      await this.#run(data);
    }
    this.#isRunning = false;
    this.#idleSinceMs = this.#context.gateway.clock.elapsedMs();
    if (this.#ending) this.#endNow(this.#ending);
  }

  async #run(data: Buffer): Promise<void> {
    const { kept, socket } = this.#its;
    let frame: CreateFrame | null = null;
    try {
      await this.#context.largeBodies.turnsOf(data)?.();
      if (!this.#isOpen) return;
      frame = readCreateFrame(data);
      this.#lane = frame.streamId;
      await this.#answer(frame, bodyOf(frame, kept.get(socket) ?? null));
    } catch (error) {
      if (!this.#isOpen) return;
      const known = error instanceof ApiError ? error : fromFastify(error as Error);
      if (known.code === 'internal_error')
        this.#context.gateway.log.error(
          { err: error, request_id: this.#its.request.requestId },
          'a frame failed by our own fault',
        );
      await this.#sendError(known, frame?.streamId);
    }
  }

  async #answer(
    { streamId, previousId }: CreateFrame,
    { body, items }: ReturnType<typeof bodyOf>,
  ): Promise<void> {
    const { socket, request, kept } = this.#its;
    const { raw, server } = request;
    const posted = postInMemory(server.server, raw, body);
    this.#posted = posted;
    posted.once('error', () => socket.terminate());
    const [answer] = (await once(posted, 'response')) as [IncomingMessage];
    // The server gave the client up, because it reads nothing, or broke off in a stream.
    answer.once('close', () => answer.complete || socket.terminate());
    if (answer.statusCode !== 200) {
      // Otherwise a few bytes could have a long conversation read again and again, and refused for
      // nothing.
      const isRefusal = answer.statusCode! < 500;
      if (isRefusal && previousId !== null && items.length > largeBytes) kept.delete(socket);
      return this.#passError(answer, streamId);
    }
    // Our own answer, with images of any size.
    const parser = new SseParser(Infinity);
    for await (const bytes of answer)
      for (const { event, data } of parser.push(bytes as Buffer)) {
        const turn = turnAfter(event, data, items);
        if (turn) kept.set(socket, turn);
        await this.#send(eventFrame(data, streamId));
      }
  }

  async #passError(answer: IncomingMessage, streamId: string | null): Promise<void> {
    const { statusCode: status = 500, headers } = answer;
    const pieces: Buffer[] = [];
    for await (const piece of answer) pieces.push(piece as Buffer);
    const { error } = JSON.parse(Buffer.concat(pieces).toString()) as { error: unknown };
    await this.#send(errorFrame({ status, error, headers }, streamId));
    // A key that may be used no more has no use for the connection.
    if (status === 401) this.#its.socket.close(closeCodes.policy);
  }

  #sendError(error: ApiError, streamId: string | null = null): Promise<void> {
    const { requestId, server } = this.#its.request;
    const refusal = refusalOf(error, { requestId, publicUrl: server.publicUrl });
    return this.#send(errorFrame(refusal, streamId));
  }

  /** Resolves when the client has room for more, or has gone. */
  #send(text: string): Promise<void> {
    return new Promise((resolve) => this.#its.socket.send(text, () => resolve()));
  }

  /** Ends the connection for a frame that is not taken in. */
  #refuse(error: ApiError, code: number): void {
    this.#endNow({ error, isTold: true, code });
  }

  #endNow({ error, isTold = this.#waiting !== null, code }: Ending): void {
    if (!this.#isOpen) return;
    if (isTold) void this.#sendError(error);
    this.#its.socket.close(code);
  }

  get #isOpen(): boolean {
    return this.#its.socket.readyState === this.#its.socket.OPEN;
  }

  #leave(): void {
    this.#posted?.destroy();
    this.#place?.leave();
    this.#waiting?.place?.leave();
    this.#waiting = null;
  }
}

const binaryRefused = invalidRequest(null, 'Send frames of text: a JSON object each.');
const oneAtATime = new ApiError(
  'rate_limit_exceeded',
  'A connection runs one response at a time, and one more may wait. Send the next when the last has ended, or open another connection.',
);
const frameTooLarge = new ApiError(
  'request_too_large',
  'The frame is larger than a body that this gateway accepts (`server.body_limit_bytes`). Send less.',
);
const frameTooLate = new ApiError(
  'request_timeout',
  'The frame did not arrive in time. Send it again.',
);
const tooOld = new ApiError(
  'websocket_connection_limit_reached',
  'The connection has reached its 60 minutes. Open another, and send the whole conversation there.',
);

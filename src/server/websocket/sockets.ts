// Responses over WebSocket, at `GET /v1/responses`. An upgrade passes the hooks of every request, so
// that it is refused like any: with a status, in HTTP. https://www.rfc-editor.org/rfc/rfc6455
import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import type { WebSocket, WebSocketServer } from 'ws';
import { ApiError } from '../../canonical/errors.ts';
import { shuttingDown } from '../../gateway/unavailable.ts';
import { ServerResponse } from '../../lib/node-http.ts';
import type { BodyRoom } from '../body-room.ts';
import { type Handler, keyOf, type ServerContext } from '../context.ts';
import { closeCodes, Connection } from './connection.ts';
import type { Turn } from './frames.ts';

/** How often connections are looked after. Load balancers close silent ones after a minute. */
export const sweepMs = 30_000;
/** Connections of an account on a thread. Its further clients use HTTP. */
const accountConnectionsMax = 500;
/** The time for a client to close its end, too. */
const closeTimeoutMs = 2_000;

type Bounds = {
  /** Frames that arrive count among the bodies. */
  readonly arriving: BodyRoom;
  /** Of all responses that connections go on from. */
  readonly keptBytesMax: number;
};

export class Sockets {
  readonly #context: ServerContext;
  readonly #arriving: BodyRoom;
  #protocol: Promise<WebSocketServer> | null = null;
  /** What followed the head of an upgrade in its first bytes. */
  readonly #heads = new WeakMap<IncomingMessage, Buffer>();
  readonly #ids = new WeakMap<IncomingMessage, string>();
  /** By account. */
  readonly #open = new Map<Connection, string>();
  readonly #kept: LRUCache<WebSocket, Turn>;

  constructor(context: ServerContext, { arriving, keptBytesMax }: Bounds) {
    this.#context = context;
    this.#arriving = arriving;
    this.#kept = new LRUCache({
      maxSize: Math.floor(keptBytesMax),
      // A text may take two bytes a character.
      sizeCalculation: ({ items }) => 2 * items.length + 1,
    });
  }

  /** Takes the upgrades of the server, and ends the connections before it closes. */
  attach(app: FastifyInstance): void {
    const { server } = app;
    server.on('upgrade', (request, socket, head) => this.#route(server, { request, socket, head }));
    const stopSweeping = this.#context.gateway.clock.every(sweepMs, () => {
      for (const connection of this.#open.keys()) connection.sweep();
    });
    app.addHook('preClose', (done) => {
      stopSweeping();
      const ending = { error: shuttingDown(), code: closeCodes.goingAway };
      for (const connection of this.#open.keys()) connection.end(ending);
      done();
    });
  }

  /** Runs an upgrade through the hooks and the route of its address. */
  #route(server: Server, { request, head, socket: duplex }: Upgrade): void {
    const socket = duplex as Socket;
    socket.on('error', () => socket.destroy());
    const response = new ServerResponse(request);
    try {
      response.assignSocket(socket);
    } catch {
      // Requests before it on this connection are not answered yet.
      socket.destroy();
      return;
    }
    response.shouldKeepAlive = false;
    // Refused: a client that keeps its end open must not keep the connection.
    response.once('finish', () => socket.destroySoon());
    this.#heads.set(request, head);
    server.emit('request', request, response);
  }

  /** The handler of the route. Throws ApiError 403, 426 or 503. */
  get handler(): Handler {
    return async (request, reply) => {
      const head = this.#heads.get(request.raw);
      if (!head) throw upgradeRequired(reply, 'GET /v1/responses opens a WebSocket');
      this.#admit(request, reply);
      const protocol = await (this.#protocol ??= this.#load());
      this.#upgrade(protocol, { request, reply, head });
      return reply;
    };
  }

  #admit(request: FastifyRequest, reply: FastifyReply): void {
    const { lifecycle } = this.#context;
    if (lifecycle.phase === 'draining') throw shuttingDown();
    // A browser lets every page open a WebSocket, and leaves the decision to the server.
    if (request.headers.origin !== undefined && !reply.hasHeader('access-control-allow-origin'))
      throw new ApiError(
        'not_permitted',
        'Pages of this origin may not call the API. Have it added to `server.cors_origins`.',
      );
    const { accountId } = keyOf(request);
    const ofAccount = [...this.#open.values()].filter((id) => id === accountId);
    if (ofAccount.length >= accountConnectionsMax)
      throw upgradeRequired(reply, 'The account has too many WebSockets open');
  }

  /** Loaded with the first upgrade: most processes never have one. */
  async #load(): Promise<WebSocketServer> {
    const ws = await import('ws');
    const options = {
      noServer: true,
      clientTracking: false,
      // Compressed frames could be a thousand times as large as what arrives.
      perMessageDeflate: false,
      // Beyond the limit of a body, which is refused with an error that says so.
      maxPayload: 2 * this.#context.gateway.config.server.body_limit_bytes,
      // A page could offer its key as the name of a protocol: none is accepted, and repeated.
      handleProtocols: () => false as const,
      // Missing in the types.
      closeTimeout: closeTimeoutMs,
    };
    const protocol = new ws.WebSocketServer(options);
    return protocol.on('headers', (headers, request) => {
      headers.push(`x-request-id: ${this.#ids.get(request)}`);
    });
  }

  /** Answers a handshake that is none with a 400. */
  #upgrade(protocol: WebSocketServer, { request, reply, head }: Admitted): void {
    const { raw, requestId } = request;
    this.#ids.set(raw, requestId);
    reply.hijack();
    protocol.handleUpgrade(raw, raw.socket, head, (socket) => {
      reply.raw.detachSocket(raw.socket);
      this.#noteOpened(request);
      const its = { socket, request, arriving: this.#arriving, kept: this.#kept };
      const connection = new Connection(this.#context, its);
      this.#open.set(connection, keyOf(request).accountId);
      socket.once('close', () => {
        this.#open.delete(connection);
        this.#kept.delete(socket);
      });
    });
  }

  /** The request is answered, however long the connection lasts. */
  #noteOpened({ requestRecord, bodies, arrivedAtMs, routeOptions }: FastifyRequest): void {
    const endMs = this.#context.gateway.clock.elapsedMs();
    bodies?.end({ isClientGone: false });
    const answered = { method: 'GET', route: routeOptions.url ?? null, status: 101 };
    const times = { startMs: arrivedAtMs, endMs };
    requestRecord.tell({ type: 'answered', ...answered, isClientGone: false, ...times });
  }
}

type Admitted = {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly head: Buffer;
};

type Upgrade = {
  readonly request: IncomingMessage;
  readonly socket: Duplex;
  readonly head: Buffer;
};

/** Returns true for an upgrade that the route takes. Others stay ordinary requests. */
export function isUpgrade({ method, url, headers }: IncomingMessage): boolean {
  return (
    method === 'GET' &&
    /^\/v1\/responses\/?(?:\?|$)/.test(url ?? '') &&
    /\bwebsocket\b/i.test(headers.upgrade ?? '')
  );
}

function upgradeRequired(reply: FastifyReply, why: string): ApiError {
  // Codex sends its request by POST at once after a 426.
  reply.headers({ upgrade: 'websocket', connection: 'upgrade, close' });
  return new ApiError('upgrade_required', `${why}: send the request by POST.`);
}

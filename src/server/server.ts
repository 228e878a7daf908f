// The HTTP server: limits, hooks in their order, routes, and the answer for unknown paths.
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { Config } from '../config/schema.ts';
import { createAddressList, withoutPorts } from '../lib/addresses.ts';
import type { ServerContext } from './context.ts';
import { BodyRoom, roomsByMode } from './body-room.ts';
import { Cors } from './cors.ts';
import { builtFolder } from './built-files.ts';
import { DashboardFiles, wantsPage } from './dashboard-files.ts';
import { routeOfGoogle } from './google-paths.ts';
import { watchLateRequests } from './late-requests.ts';
import { countWhole, closeUnread, dropUnread, limitPipelining } from './lingering-close.ts';
import { answerLate, answerMalformed } from './malformed.ts';
import { admit } from './middleware/admit.ts';
import { authenticate } from './middleware/authenticate.ts';
import { acceptBytes } from './middleware/body.ts';
import { errorHandler, fromFastify, sendError } from './middleware/errors.ts';
import { refuseNul } from './middleware/refuse-nul.ts';
import { trace } from './middleware/trace.ts';
import { type MemoryWait, waitForMemory } from './middleware/wait-for-memory.ts';
import { addGauges } from './metrics/gauges.ts';
import { memoryShareBytes } from './overload.ts';
import { addRoutes, routesOf } from './routes.ts';
import { isUpgrade, Sockets } from './websocket/sockets.ts';
import { securityHeaders } from './security-headers.ts';
import { unknownEndpoint } from './unknown-endpoint.ts';
import { spoolTo } from './upload-form.ts';

/** The time for headers to arrive. They are small, so slow ones only hold a socket for nothing. */
const headersTimeoutMs = 10_000;
/** The interval of the check for late requests: a timeout is noticed at most this late. */
const lateCheckMs = 2_000;
/**
 * The time that idle connections are kept. It is longer than the usual 60 s of load balancers, so
 * that they close them and we never close one under their request.
 */
const keepAliveTimeoutMs = 75_000;

/**
 * The most that large bodies of image requests may take together until the requests end; those of
 * tests may take a quarter more. The process needs a few times as much memory.
 */
const imageBodyBytes = 96 * 1024 * 1024;

/** The most that files of forms may take on disk together; those of tests may take a quarter more. */
const uploadBytes = 4 * 1024 * 1024 * 1024;

/** Adds the routes of another part of the program, such as the dashboard's API. */
type AddRoutes = (app: FastifyInstance, memoryWait: MemoryWait) => void;

export function createServer(context: ServerContext, addOtherRoutes: AddRoutes): FastifyInstance {
  const { config, log, headers, clock } = context.gateway;
  const { count: threads } = context.threads;
  const bodiesMax = arrivingBytesMax(config, threads);
  const limits = {
    bytesMax: config.server.body_limit_bytes,
    arriving: new BodyRoom(bodiesMax, clock),
    spool: spoolTo(join(config.dataDir, 'uploads'), roomsByMode(uploadBytes, clock)),
  };
  const always = securityHeaders(config.server);
  const cors = new Cors(config.server.cors_origins, headers);
  const roomBytes = Math.min(imageBodyBytes / threads, bodiesMax);
  const rooms = roomsByMode(roomBytes, clock);
  addGauges(context, { rooms, arriving: limits.arriving });
  const memoryWait = waitForMemory(context, rooms);
  const { lifecycle, telemetry } = context;
  const startTrace = trace({
    listeners: context.listeners,
    onError: (err) => log.error({ err }, 'a listener of requests failed by our own fault'),
    clock,
    lifecycle,
    telemetry,
    headers: always,
  });
  const app = Fastify({
    logger: false,
    trustProxy: trustOf(config.server.trust_proxy),
    bodyLimit: config.server.body_limit_bytes,
    requestTimeout: config.server.arrival_timeout_ms,
    keepAliveTimeout: keepAliveTimeoutMs,
    http: {
      headersTimeout: Math.min(headersTimeoutMs, config.server.arrival_timeout_ms),
      connectionsCheckingInterval: Math.min(lateCheckMs, config.server.arrival_timeout_ms),
      shouldUpgradeCallback: isUpgrade,
    },
    rewriteUrl: routeOfGoogle,
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: 500 },
    forceCloseConnections: 'idle',
    // While draining, the gateway answers in its own format.
    return503OnClosing: false,
    clientErrorHandler: (error, socket) => {
      if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') void judgeLate(socket);
      else answerMalformed(error, socket, config.server.public_url);
    },
    // No route has a Fastify schema, so its validator is not loaded.
    schemaController: {
      compilersFactory: { buildValidator: refuseSchemas, buildSerializer: refuseSchemas },
    },
    // A URL that cannot be decoded never reaches the hooks.
    frameworkErrors: (error, request, reply) => {
      startTrace(request, reply, () => {});
      cors.mark(request, reply);
      closeUnread(request, reply);
      sendError(fromFastify(error), request, reply);
    },
  });
  const refuseLate = (socket: Socket) => {
    // This request waits for memory, or has a timeout of its own.
    if (!memoryWait.isTimedHere(socket)) answerLate(socket, config.server.public_url);
  };
  const judgeLate = watchLateRequests(app.server, refuseLate, (recheck) =>
    clock.after(config.server.arrival_timeout_ms, recheck),
  );
  // An unknown `Expect` is no reason to refuse a request.
  // https://www.rfc-editor.org/rfc/rfc9110#section-10.1.1
  app.server.on('checkExpectation', (request, response) =>
    app.server.emit('request', request, response),
  );
  app.server.on('request', (_request, response) => dropUnread(response, config.tuning.stallMs));
  const dashboard = new DashboardFiles(builtFolder('dashboard'), config.server.public_url);
  const sockets = new Sockets(context, { arriving: limits.arriving, keptBytesMax: bodiesMax });
  sockets.attach(app);
  const routes = routesOf(context, { dashboard, sockets });
  acceptBytes(app, limits);
  app.decorate('publicUrl', config.server.public_url);
  app.decorate('unread', new BodyRoom(answerBytesMax(config, threads), clock));
  app.decorateRequest('upload', null);
  app.decorateRequest('requestId', '');
  app.addHook('onRequest', limitPipelining);
  if (config.server.trust_proxy !== false) app.addHook('onRequest', readForwardedFor);
  app.addHook('onRequest', startTrace);
  app.addHook('onRequest', cors.hook);
  app.addHook('onRequest', refuseNul);
  app.addHook('onRequest', admit(context));
  app.addHook('onRequest', authenticate(context));
  app.addHook('onSend', (request, reply, payload, next) => {
    closeUnread(request, reply);
    // Fastify would read all of it, as fast as it comes, to send nothing.
    if (request.method === 'HEAD' && payload instanceof Readable) payload.destroy();
    next();
  });
  app.addHook('onSend', countWhole);
  app.setErrorHandler(errorHandler(log));
  app.setNotFoundHandler((request, reply) =>
    wantsPage(request)
      ? dashboard.sendPage(reply)
      : sendError(unknownEndpoint(routes, request, reply), request, reply),
  );
  addRoutes(app, routes, memoryWait);
  addOtherRoutes(app, memoryWait);
  return app;
}

/**
 * Returns true when a sender of `X-Forwarded-*` is trusted. `hop` 0 is the peer that connected, 1
 * the one that it names.
 */
function trustOf(
  configured: Config['server']['trust_proxy'],
): boolean | ((address: string, hop: number) => boolean) {
  if (typeof configured === 'boolean') return configured;
  if (typeof configured === 'number') return (_address, hop) => hop < configured;
  const proxies = createAddressList(configured);
  return (address) => proxies.includes(address);
}

/** Some proxies, such as Azure's Application Gateway, add the port of each connection. */
function readForwardedFor({ raw }: FastifyRequest, _reply: FastifyReply, next: () => void): void {
  const { headers } = raw;
  const given = headers['x-forwarded-for'];
  if (typeof given === 'string') headers['x-forwarded-for'] = withoutPorts(given);
  next();
}

/**
 * Returns the limit of all arriving bodies. A body takes several times its length once it is parsed
 * and written again.
 */
function arrivingBytesMax({ overload, server, tuning }: Config, threads: number): number {
  return memoryShareBytes(tuning.arrivingBytes, {
    memoryBytes: overload.memory_bytes,
    threads,
    leastBytes: server.body_limit_bytes,
  });
}

/** Returns the limit of large answers of providers, and of answers that wait for slow clients. */
export function answerBytesMax({ overload, tuning }: Config, threads: number): number {
  return memoryShareBytes(tuning.answerBytes, { memoryBytes: overload.memory_bytes, threads });
}

function refuseSchemas(): never {
  throw new Error('requests are validated by lib/schema.ts, not by schemas of their routes');
}

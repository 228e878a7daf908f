// The HTTP server: limits, hooks in their order, routes, and what is said of paths that do not exist.
import assert from 'node:assert/strict';
import type { RequestListener, Server } from 'node:http';
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { ApiError } from '../canonical/errors.ts';
import type { Config } from '../config/schema.ts';
import { createAddressList } from '../lib/addresses.ts';
import type { ServerContext } from './context.ts';
import { addDashboardApi } from './dashboard-api/dispatch.ts';
import { addDashboardStreams } from './dashboard-api/streams.ts';
import { ArrivingBodies } from './arriving-bodies.ts';
import { answerHeaderNames } from './charged.ts';
import { DashboardFiles, dashboardFolder, wantsPage } from './dashboard-files.ts';
import { EndedRequests } from './ended-requests.ts';
import { KnownLane } from './known/known-lane.ts';
import { answerMalformed } from './malformed.ts';
import { admit } from './middleware/admit.ts';
import { authenticate } from './middleware/authenticate.ts';
import { acceptBytes } from './middleware/body.ts';
import { errorHandler, fromFastify, sendError } from './middleware/errors.ts';
import { refuseNul } from './middleware/refuse-nul.ts';
import { trace, Tracing } from './middleware/trace.ts';
import { waitForMemory } from './middleware/wait-for-memory.ts';
import { createMetrics } from './metrics.ts';
import { memoryShareBytes } from './overload.ts';
import { addRoutes, methodsAt, routesOf, type Route } from './routes.ts';
import { securityHeaders } from './security-headers.ts';
import { WaitingRoom } from './waiting-room.ts';

/** Headers alone are never slow: a client that dawdles with them holds a socket for nothing. */
const headersTimeoutMs = 10_000;
/** How often late ones are looked for, and so how much later than asked they are noticed. */
const lateCheckMs = 2_000;
/** Above the usual 60 s of load balancers, so that they close idle connections, never we under their request. */
const keepAliveTimeoutMs = 75_000;

export function createServer(parts: Omit<ServerContext, 'lane'>): FastifyInstance {
  const { config, log, headers, clock } = parts.gateway;
  const metrics = createMetrics(parts);
  const bodiesMax = arrivingBytesMax(config);
  const limits = { bytesMax: config.server.body_limit_bytes, arriving: new ArrivingBodies(bodiesMax) };
  const ended = new EndedRequests({ log, meter: metrics, activity: parts.gateway.activity, clock });
  const tracing = new Tracing(ended, clock);
  const headerNames = answerHeaderNames(headers.cache);
  const always = securityHeaders(config.server);
  const lane = new KnownLane(parts, { tracing, limits, headerNames, headers: always, keepAliveTimeoutMs });
  const context: ServerContext = { ...parts, lane };
  const memoryWait = waitForMemory(context, new WaitingRoom(Math.min(config.images.memory_bytes, bodiesMax)));
  const startTrace = trace({ tracing, lane, lifecycle: context.lifecycle, headers: always });
  const app = Fastify({
    logger: false,
    trustProxy: trustOf(config.server.trust_proxy),
    bodyLimit: config.server.body_limit_bytes,
    requestTimeout: config.server.arrival_timeout_ms,
    keepAliveTimeout: keepAliveTimeoutMs,
    http: {
      headersTimeout: Math.min(headersTimeoutMs, config.server.arrival_timeout_ms),
      connectionsCheckingInterval: Math.min(lateCheckMs, config.server.arrival_timeout_ms),
    },
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: 500 },
    forceCloseConnections: 'idle',
    // While draining we answer ourselves, in our own shape.
    return503OnClosing: false,
    clientErrorHandler: (error, socket) => {
      // It waits for its turn, or has its own clock.
      if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && memoryWait.isTimedHere(socket)) return;
      answerMalformed(error, socket);
    },
    // No route has a schema of Fastify's: its validator would be loaded at every start for nothing.
    schemaController: { compilersFactory: { buildValidator: refuseSchemas, buildSerializer: refuseSchemas } },
    // An address that cannot be decoded never reaches the hooks.
    frameworkErrors: (error, request, reply) => {
      startTrace(request, reply, () => {});
      sendError(fromFastify(error), request, reply);
    },
  });
  putInFront(lane, app.server);
  app.server.on('close', () => {
    ended.tell();
    lane.close();
  });
  // An expectation that nobody knows is no reason to refuse a request. https://www.rfc-editor.org/rfc/rfc9110#section-10.1.1
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response));
  const dashboard = new DashboardFiles(dashboardFolder, config.server.public_url);
  const routes = routesOf(context, { metrics, ended, dashboard });
  acceptBytes(app, limits, lane);
  app.decorateRequest('requestId', '');
  app.decorateRequest('caller', null);
  app.addHook('onRequest', startTrace);
  app.addHook('onRequest', refuseNul);
  app.addHook('onRequest', admit(context));
  app.addHook('onRequest', authenticate(context));
  app.setErrorHandler(errorHandler(log));
  app.setNotFoundHandler((request, reply) =>
    wantsPage(request) ? dashboard.sendPage(reply) : sendError(notFound(routes, request, reply), request, reply),
  );
  addRoutes(app, routes, memoryWait);
  addDashboardApi(app, context);
  addDashboardStreams(app, context, memoryWait);
  return app;
}

/** Not by a server factory: with one, Fastify listens on the first address of `localhost` only. */
function putInFront(lane: KnownLane, server: Server): void {
  const [handle] = server.listeners('request') as RequestListener[];
  assert(handle, 'Fastify listens to its server');
  server.off('request', handle).on('request', lane.before(handle));
  // A shutdown closes idle connections at once, and those where the lane answers look like that. What stays open is closed by its end.
  const closeIdleConnections = server.closeIdleConnections.bind(server);
  server.closeIdleConnections = () => {
    if (!lane.isAnswering) closeIdleConnections();
  };
}

/** Whether a sender of `X-Forwarded-*` is believed; `hop` 0 is who has connected, 1 whom that one names. */
function trustOf(configured: Config['server']['trust_proxy']): boolean | ((address: string, hop: number) => boolean) {
  if (typeof configured === 'boolean') return configured;
  if (typeof configured === 'number') return (_address, hop) => hop < configured;
  const proxies = createAddressList(configured);
  return (address) => proxies.includes(address);
}

/** Parsed and written anew, a body takes several times its length. */
function arrivingBytesMax({ overload, server }: Config): number {
  return memoryShareBytes(overload.arriving_bytes, overload.memory_bytes, server.body_limit_bytes);
}

function refuseSchemas(): never {
  throw new Error('requests are validated by lib/schema.ts, not by schemas of their routes');
}

function notFound(routes: readonly Route[], request: FastifyRequest, reply: FastifyReply): ApiError {
  const methods = methodsAt(routes, request.url);
  const path = request.url.split('?')[0]!.slice(0, 100);
  if (methods.length === 0 || methods.includes(request.method))
    return new ApiError('not_found', `There is no ${path} here. The API lives under /v1; see GET /v1/models.`);
  reply.header('allow', methods.join(', '));
  return new ApiError('method_not_allowed', `${path} takes ${methods.join(' or ')}, not ${request.method}.`);
}

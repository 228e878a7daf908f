// Gives each request its id, and has it told of when the answer has been sent or the client has gone.
import type { ServerResponse } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { RequestTrace } from '../../gateway/gateway.ts';
import { newIdWithPrefix } from '../../lib/ids.ts';
import type { Lifecycle } from '../context.ts';
import type { EndedRequests, Traced } from '../ended-requests.ts';
import type { KnownLane } from '../known-lane.ts';

/** `onClose`: called when the request is over, whatever became of it. */
type Begun = Omit<Traced, 'trace'> & { readonly onClose?: () => void };

/** What begins a request: it has an id from then on, and its line is written whatever becomes of it. */
export type BeginTrace = (response: ServerResponse, begun: Begun) => Traced;

export function createTracing(ended: EndedRequests): BeginTrace {
  return (response, { method, route, publicUrl, onClose }) => {
    const known: RequestTrace = { requestId: newIdWithPrefix('req'), startedAtMs: performance.now() };
    const traced = { trace: known, method, route, publicUrl };
    response.on('close', () => {
      onClose?.();
      const tookMs = performance.now() - known.startedAtMs;
      ended.note({ traced, status: response.statusCode, tookMs, isClientGone: !response.writableFinished });
    });
    return traced;
  };
}

/** The headers that tell a request's id: Anthropic's SDK reads it under a name of its own. */
export function idHeaderNames(route: string | null | undefined): readonly string[] {
  return route?.startsWith('/v1/messages') ? bothNames : ownName;
}

const ownName = ['x-request-id'];
const bothNames = ['x-request-id', 'request-id'];

type TraceOptions = { readonly begin: BeginTrace; readonly lane: KnownLane; readonly lifecycle: Lifecycle };

/** A Fastify onRequest hook, the first of all. */
export function trace({ begin, lane, lifecycle }: TraceOptions) {
  return (request: FastifyRequest, reply: FastifyReply, next: () => void): void => {
    const { url: route = null, config } = request.routeOptions;
    const asked = { method: request.method, route, publicUrl: config.publicUrl };
    const traced = lane.traceOf(request.raw) ?? begin(reply.raw, asked);
    request.trace = traced.trace;
    request.requestId = traced.trace.requestId;
    request.apiKey = null;
    reply.header('x-request-id', request.requestId);
    if (lifecycle.phase !== 'serving') reply.header('connection', 'close');
    next();
  };
}

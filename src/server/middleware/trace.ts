// Gives each request its id, and writes its one log line, and counts it, when the answer has been sent or the client has gone.
import type { ServerResponse } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Activity } from '../../activity/activity.ts';
import type { RequestTrace } from '../../gateway/gateway.ts';
import { newIdWithPrefix } from '../../lib/ids.ts';
import type { Logger } from '../../lib/log.ts';
import type { Lifecycle } from '../context.ts';
import type { KnownLane } from '../known-lane.ts';
import type { Metrics } from '../metrics.ts';

/** A request as the log and the metrics see it. */
export type Traced = {
  readonly trace: RequestTrace;
  readonly method: string;
  /** The pattern that matched, as `/v1/models/*`; null: none did. */
  readonly route: string | null;
  /** The public one that it is another way to; left out: it is none. */
  readonly publicUrl?: string;
};

type Observers = { readonly log: Logger; readonly metrics: Metrics; readonly activity: Activity };

export type BeginTrace = (response: ServerResponse, request: Omit<Traced, 'trace'>) => Traced;

/** What begins a request: it has an id from then on, and its line is written whatever becomes of it. */
export function createTracing({ log, metrics, activity }: Observers): BeginTrace {
  return (response, { method, route, publicUrl }) => {
    const known: RequestTrace = { requestId: newIdWithPrefix('req'), startedAtMs: performance.now() };
    const traced = { trace: known, method, route };
    response.once('close', () => {
      const tookMs = performance.now() - known.startedAtMs;
      writeLine(log, traced, response, tookMs);
      activity.noteRequest(known, publicUrl ?? route ?? '');
      metrics.observe({ route, status: response.statusCode, seconds: tookMs / 1_000, trace: known });
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

/** An allow-list: nothing of a header, a query or a body can slip into the log. */
function writeLine(log: Logger, { trace: known, method, route }: Traced, response: ServerResponse, tookMs: number): void {
  const fields = {
    request_id: known.requestId,
    method,
    route,
    status: response.statusCode,
    duration_ms: Math.round(tookMs * 10) / 10,
    first_byte_ms: known.firstByteMs,
    client_gone: !response.writableFinished,
    account_id: known.accountId,
    key_id: known.keyId,
    mode: known.mode,
    model: known.model,
    provider: known.provider,
    attempts: known.attempts,
    stream: known.stream,
    cache: known.cache,
    input_tokens: known.inputTokens,
    output_tokens: known.outputTokens,
    hold_micros: known.holdMicros,
    cost_micros: known.costMicros,
    loss_micros: known.lossMicros,
    ending: known.ending,
    error_code: known.errorCode,
    upstream_status: known.upstreamStatus,
  };
  if (response.statusCode >= 500) log.warn(fields, 'request');
  else log.info(fields, 'request');
}

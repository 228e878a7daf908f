// Gives each request its id, and writes its one log line, and counts it, when the answer has been sent or the client has gone.
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Activity } from '../../activity/activity.ts';
import { newIdWithPrefix } from '../../lib/ids.ts';
import type { Logger } from '../../lib/log.ts';
import type { Lifecycle } from '../context.ts';
import type { Metrics } from '../metrics.ts';

type Observers = {
  readonly log: Logger;
  readonly lifecycle: Lifecycle;
  readonly metrics: Metrics;
  readonly activity: Activity;
};

/** A Fastify onRequest hook, the first of all. */
export function trace({ log, lifecycle, metrics, activity }: Observers) {
  return (request: FastifyRequest, reply: FastifyReply, next: () => void): void => {
    request.requestId = newIdWithPrefix('req');
    request.trace = { requestId: request.requestId, startedAtMs: performance.now() };
    request.apiKey = null;
    reply.header('x-request-id', request.requestId);
    if (lifecycle.phase !== 'serving') reply.header('connection', 'close');
    reply.raw.once('close', () => {
      writeLine(log, request, reply);
      activity.noteRequest(request.trace, request.routeOptions.url ?? '');
      metrics.observe({
        route: request.routeOptions.url ?? null,
        status: reply.raw.statusCode,
        seconds: (performance.now() - request.trace.startedAtMs) / 1_000,
        trace: request.trace,
      });
    });
    next();
  };
}

/** An allow-list: nothing of a header, a query or a body can slip into the log. */
function writeLine(log: Logger, request: FastifyRequest, reply: FastifyReply): void {
  const { trace: known } = request;
  const fields = {
    request_id: known.requestId,
    method: request.method,
    route: request.routeOptions.url ?? null,
    status: reply.raw.statusCode,
    duration_ms: Math.round((performance.now() - known.startedAtMs) * 10) / 10,
    first_byte_ms: known.firstByteMs,
    client_gone: !reply.raw.writableFinished,
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
  if (reply.raw.statusCode >= 500) log.warn(fields, 'request');
  else log.info(fields, 'request');
}

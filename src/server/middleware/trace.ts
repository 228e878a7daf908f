// Gives each request its id, and records it when its answer has been sent or its client has gone.
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Clock } from '../../lib/clock.ts';
import { newIdWithPrefix } from '../../lib/ids.ts';
import { RequestLog } from '../../gateway/request-log.ts';
import type { Lifecycle } from '../context.ts';
import type { RecordRequest } from '../record-request.ts';

/**
 * Returns the headers that carry a request's id. Anthropic's SDK reads it under a name of its own.
 */
export function idHeaderNames(route: string | null | undefined): readonly string[] {
  return route?.startsWith('/v1/messages') ? bothNames : ownName;
}

const ownName = ['x-request-id'];
const bothNames = ['x-request-id', 'request-id'];

type TraceOptions = {
  readonly record: RecordRequest;
  readonly clock: Clock;
  readonly lifecycle: Lifecycle;
  /** Headers of every answer. */
  readonly headers: Readonly<Record<string, string>>;
};

/** A Fastify onRequest hook, the first of all. */
export function trace({ record, clock, lifecycle, headers }: TraceOptions) {
  return (request: FastifyRequest, reply: FastifyReply, next: () => void): void => {
    const { method, routeOptions } = request;
    const { url: route = null, config } = routeOptions;
    request.requestId = newIdWithPrefix('req');
    request.arrivedAtMs = clock.elapsedMs();
    request.requestLog = new RequestLog(request.requestId);
    request.apiKey = null;
    const { requestLog, arrivedAtMs } = request;
    reply.raw.on('close', () =>
      record({
        fields: requestLog.fields,
        method,
        route,
        publicUrl: config.publicUrl,
        status: reply.raw.statusCode,
        tookMs: clock.elapsedMs() - arrivedAtMs,
        isClientGone: !reply.raw.writableFinished,
      }),
    );
    reply.header('x-request-id', request.requestId).headers(headers);
    if (lifecycle.phase !== 'serving') reply.header('connection', 'close');
    next();
  };
}

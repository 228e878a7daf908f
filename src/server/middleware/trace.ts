// Gives each request its id, reads its trace, and records it when its answer has been sent or its
// client has gone.
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { RequestSpans } from '../../events/request-spans.ts';
import type { Clock } from '../../lib/clock.ts';
import { newIdWithPrefix } from '../../lib/ids.ts';
import { type ClientTrace, readTraceContext } from '../../lib/trace-context.ts';
import type { Telemetry } from '../../domain/telemetry/telemetry.ts';
import type { RequestListener } from '../../events/request-listener.ts';
import { RequestRecord } from '../../gateway/request-record.ts';
import { isPublicApi, type Lifecycle, publicUrlOf } from '../context.ts';

/** Anthropic's SDK reads the request's id under a name of its own. */
export function addAnthropicsId(request: FastifyRequest, reply: FastifyReply): void {
  const { path } = request.requestRecord;
  if (path.startsWith('/v1/messages')) reply.header('request-id', request.requestId);
}

/** Recorded when a client left before its answer began. Nginx's number, since HTTP has none. */
const clientGoneStatus = 499;

type TraceOptions = {
  /** Hear what happens to each request. */
  readonly listeners: readonly RequestListener[];
  /** A listener has thrown. */
  readonly onError: (error: unknown) => void;
  readonly clock: Clock;
  readonly lifecycle: Lifecycle;
  readonly telemetry: Telemetry;
  /** Headers of every answer. */
  readonly headers: Readonly<Record<string, string>>;
};

/** A Fastify onRequest hook, the first of all. */
export function trace({ listeners, onError, clock, lifecycle, telemetry, headers }: TraceOptions) {
  return (request: FastifyRequest, reply: FastifyReply, next: () => void): void => {
    const { method, routeOptions } = request;
    const { url: route = null, config } = routeOptions;
    request.requestId = newIdWithPrefix('req');
    request.arrivedAtMs = clock.elapsedMs();
    const path = config.publicUrl ?? route ?? '';
    request.requestRecord = new RequestRecord(request.requestId, { path, listeners, onError });
    request.apiKey = null;
    request.bodies = null;
    request.place = null;
    const client = traceOf(request);
    const { requestRecord, arrivedAtMs } = request;
    requestRecord.trace = client;
    if (isPublicApi(path)) useSpans(request, telemetry.begin(client));
    if (client) requestRecord.note({ traceId: client.traceId });
    reply.raw.on('close', () => {
      const status = reply.raw.headersSent ? reply.raw.statusCode : clientGoneStatus;
      const isClientGone = !reply.raw.writableFinished;
      request.bodies?.end({ isClientGone });
      const times = { startMs: arrivedAtMs, endMs: clock.elapsedMs() };
      requestRecord.tell({ type: 'answered', method, route, status, isClientGone, ...times });
    });
    reply.header('x-request-id', request.requestId).headers(headers);
    if (lifecycle.phase !== 'serving') reply.header('connection', 'close');
    // A client that has reset its connection has no address, by which limits count. It reads no
    // answer either.
    if (request.socket.remoteAddress === undefined) return void reply.hijack();
    next();
  };
}

/** Called when the key is known: its account may export its own traces. */
export function traceForAccount(request: FastifyRequest, telemetry: Telemetry): void {
  const { apiKey, requestRecord } = request;
  if (!apiKey?.traceExport || !isPublicApi(publicUrlOf(request))) return;
  const client = traceOf(request);
  useSpans(request, telemetry.beginForAccount(requestRecord.spans, client, apiKey.traceExport));
}

function useSpans(request: FastifyRequest, spans: RequestSpans | null): void {
  if (!spans || request.requestRecord.spans === spans) return;
  request.requestRecord.spans = spans;
  request.requestRecord.trace = spans.trace;
  request.requestRecord.note({ traceId: spans.trace.traceId });
}

function traceOf({ headers: { traceparent, tracestate } }: FastifyRequest): ClientTrace | null {
  if (traceparent === undefined) return null;
  return readTraceContext(
    String(traceparent),
    tracestate === undefined ? null : String(tracestate),
  );
}

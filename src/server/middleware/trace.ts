// Gives each request its id, and has it told of when the answer has been sent or the client has gone.
import type { ServerResponse } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { newIdWithPrefix } from '../../lib/ids.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Lifecycle } from '../context.ts';
import type { EndedRequest, EndedRequests, Traced } from '../ended-requests.ts';
import type { KnownLane } from '../known/known-lane.ts';

type Begun = Omit<Traced, 'trace'>;

/** Begins requests and ends them: each has an id from its beginning, and its line is written whatever becomes of it. */
export class Tracing {
  readonly #ended: EndedRequests;
  readonly #clock: Clock;

  constructor(ended: EndedRequests, clock: Clock) {
    this.#ended = ended;
    this.#clock = clock;
  }

  /** Whoever begins a request must end it. */
  begin({ method, route, publicUrl }: Begun): Traced {
    return { trace: { requestId: newIdWithPrefix('req'), startedAtMs: this.#clock.elapsedMs() }, method, route, publicUrl };
  }

  end(traced: Traced, { status, isClientGone }: Pick<EndedRequest, 'status' | 'isClientGone'>): void {
    this.#ended.note({ traced, status, tookMs: this.#clock.elapsedMs() - traced.trace.startedAtMs, isClientGone });
  }

  /** Begins a request that ends by itself, with its answer. `onClose`: called then. */
  follow(response: ServerResponse, begun: Begun, onClose?: () => void): Traced {
    const traced = this.begin(begun);
    response.on('close', () => {
      onClose?.();
      this.end(traced, { status: response.statusCode, isClientGone: !response.writableFinished });
    });
    return traced;
  }
}

/** The headers that tell a request's id: Anthropic's SDK reads it under a name of its own. */
export function idHeaderNames(route: string | null | undefined): readonly string[] {
  return route?.startsWith('/v1/messages') ? bothNames : ownName;
}

const ownName = ['x-request-id'];
const bothNames = ['x-request-id', 'request-id'];

type TraceOptions = {
  readonly tracing: Tracing;
  readonly lane: KnownLane;
  readonly lifecycle: Lifecycle;
  /** Of every answer. */
  readonly headers: Readonly<Record<string, string>>;
};

/** A Fastify onRequest hook, the first of all. */
export function trace({ tracing, lane, lifecycle, headers }: TraceOptions) {
  return (request: FastifyRequest, reply: FastifyReply, next: () => void): void => {
    const { url: route = null, config } = request.routeOptions;
    const asked = { method: request.method, route, publicUrl: config.publicUrl };
    const traced = lane.traceOf(request.raw) ?? tracing.follow(reply.raw, asked);
    request.trace = traced.trace;
    request.requestId = traced.trace.requestId;
    request.apiKey = null;
    reply.header('x-request-id', request.requestId).headers(headers);
    if (lifecycle.phase !== 'serving') reply.header('connection', 'close');
    next();
  };
}

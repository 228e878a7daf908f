// Whether new charged work is taken at all: before its key is looked up and its body is read, so that a refusal costs next to nothing.
import type { FastifyReply, FastifyRequest } from 'fastify';
import { shuttingDown } from '../../gateway/failed.ts';
import type { ServerContext } from '../context.ts';
import { overloaded } from '../overload.ts';

/** A Fastify onRequest hook. Throws ApiError `upstream_unavailable` while draining, `overloaded` under too much load. */
export function admit({ gateway, lifecycle, overload, lane }: ServerContext) {
  return (request: FastifyRequest, reply: FastifyReply, next: () => void): void => {
    if (request.routeOptions.config.charged !== true) return next();
    // It was admitted when it began.
    if (lane.traceOf(request.raw)) return next();
    // A connection kept alive can still bring work after the port has closed.
    if (lifecycle.phase === 'draining') throw shuttingDown();
    if (overload.reason !== null) throw overloaded();
    // From here on a shutdown waits for it, also while its body is on its way.
    reply.raw.once('close', gateway.runs.enter());
    next();
  };
}

// Decides whether new charged work is accepted, before its key is looked up and its body is read,
// so that a refusal costs almost nothing.
import type { FastifyReply, FastifyRequest } from 'fastify';
import { shuttingDown } from '../../gateway/unavailable.ts';
import type { ServerContext } from '../context.ts';
import { overloaded } from '../overload.ts';

/**
 * A Fastify onRequest hook. Throws ApiError `upstream_unavailable` while draining, and `overloaded`
 * under too much load.
 */
export function admit({ gateway, lifecycle, overload }: ServerContext) {
  return (request: FastifyRequest, reply: FastifyReply, next: () => void): void => {
    if (request.routeOptions.config.refusedUnderLoad !== true) return next();
    // A kept-alive connection can still bring requests after the port has closed.
    if (lifecycle.phase === 'draining') throw shuttingDown();
    if (overload.judgeArrival() !== null) throw overloaded();
    // From here on a shutdown waits for this request, even while its body arrives.
    reply.raw.once('close', gateway.runs.enter());
    next();
  };
}

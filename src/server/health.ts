// For load balancers and supervisors: whether the process lives, and whether it should be given work.
import type { Handler, ServerContext } from './context.ts';

export function getHealth(): Handler {
  return async () => ({ status: 'ok' });
}

/** 503 while draining, and while the database does not answer. */
export function getReadiness({ lifecycle, database, gateway }: ServerContext): Handler {
  return async (request, reply) => {
    if (lifecycle.isDraining) return reply.code(503).send({ status: 'draining', running: gateway.runs.count });
    try {
      await database.read.selectFrom('revisions').select('value').limit(1).execute();
    } catch (error) {
      gateway.log.error({ err: error, request_id: request.requestId }, 'the database does not answer');
      return reply.code(503).send({ status: 'database unavailable' });
    }
    return { status: 'ready', running: gateway.runs.count };
  };
}

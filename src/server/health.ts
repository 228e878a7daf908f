// For load balancers and supervisors: whether the process lives, and whether it should be given work.
import type { RouteHealth } from '../gateway/route-health.ts';
import type { Handler, ServerContext } from './context.ts';

export function getHealth(): Handler {
  return async () => ({ status: 'ok' });
}

/** Overload that lasts longer is none that refusing new requests relieves. */
const overloadMsMax = 10_000;

/**
 * 503 while draining, and while the database does not answer or the books cannot be written. A gateway that is overloaded stays ready at first: what it refuses can be sent
 * again, and without it its neighbours would be the next ones. Only when it cannot help itself should work be sent elsewhere. A provider that
 * fails is no reason at all: no other gateway reaches it better.
 */
export function getReadiness({ lifecycle, database, gateway, overload }: ServerContext): Handler {
  return async (request, reply) => {
    lifecycle.readinessAskedMs = gateway.clock.elapsedMs();
    const running = gateway.runs.count;
    if (lifecycle.phase !== 'serving') return reply.code(503).send({ status: 'draining', running });
    const state = { running, overloaded: overload.reason };
    if (overload.lastsMs > overloadMsMax) return reply.code(503).send({ status: 'overloaded', ...state });
    if (gateway.ledger.isFailing()) return reply.code(503).send({ status: 'the books cannot be written', running });
    try {
      await database.read.selectFrom('revisions').select('value').limit(1).execute();
    } catch (error) {
      gateway.log.error({ err: error, request_id: request.requestId }, 'the database does not answer');
      return reply.code(503).send({ status: 'database unavailable' });
    }
    return { status: 'ready', ...state, routes_in_trouble: routesInTrouble(gateway.routing.health) };
  };
}

function routesInTrouble(health: RouteHealth): object[] {
  return health
    .states()
    .filter(({ state }) => state !== 'in-use')
    .map(({ provider, upstreamModel, state, reason, ejectedUntilMs }) => ({
      provider,
      model: upstreamModel,
      state,
      reason,
      until: new Date(ejectedUntilMs ?? 0).toISOString(),
    }));
}

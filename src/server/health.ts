// Health checks for load balancers and supervisors: is the process alive, and should it get work.
import { routesInTrouble } from '../gateway/calling/health.ts';
import type { Handler, ServerContext } from './context.ts';
import { hasMetricsToken } from './metrics/get-metrics.ts';

export const getHealth: Handler = async () => ({ status: 'ok' });

/**
 * An overload that lasts longer makes the gateway unready, because refusing requests did not cure
 * it.
 */
const overloadMsMax = 10_000;

/**
 * Answers 503 while draining, and while the database does not answer or the ledger cannot be
 * written. An overloaded gateway stays ready at first: clients can retry what it refuses, and
 * removing it would overload its neighbours. A failing provider does not count, because no other
 * gateway reaches it better. Without the metrics token only the status is shown.
 */
export function getReadiness(context: ServerContext): Handler {
  const { lifecycle, gateway, threads } = context;
  return async (request, reply) => {
    lifecycle.readinessAskedMs = gateway.clock.elapsedMs();
    threads.noteReadinessAsked();
    const { code, status, ...details } = await readinessOf(context, request.requestId);
    return reply
      .code(code)
      .send({ status, ...(hasMetricsToken(request, gateway.config.metrics.token) && details) });
  };
}

async function readinessOf(
  { lifecycle, database, gateway, overload }: ServerContext,
  requestId: string,
) {
  const running = gateway.runs.count;
  if (lifecycle.phase !== 'serving') return { code: 503, status: 'draining', running };
  const state = { running, overloaded: overload.reason };
  if (overload.lastsMs > overloadMsMax) return { code: 503, status: 'overloaded', ...state };
  if (gateway.books.ledger.isFailing())
    return { code: 503, status: 'the books cannot be written', running };
  try {
    await database.read.selectFrom('revisions').select('value').limit(1).execute();
  } catch (error) {
    gateway.log.error({ err: error, request_id: requestId }, 'the database does not answer');
    return { code: 503, status: 'database unavailable' };
  }
  return {
    code: 200,
    status: 'ready',
    ...state,
    routes_in_trouble: routesInTrouble(gateway.hosts.routing.health),
  };
}

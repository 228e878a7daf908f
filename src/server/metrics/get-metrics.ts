// `GET /metrics` and its token.
import type { FastifyRequest } from 'fastify';
import { ApiError } from '../../canonical/errors.ts';
import { contentType } from '../../lib/metrics/prometheus.ts';
import { isSameText } from '../../lib/same-text.ts';
import type { Handler, ServerContext } from '../context.ts';

/** Returns the handler of `GET /metrics`, which is a 404 unless the operator has set a token. */
export function getMetrics({ gateway, metrics, threads }: ServerContext): Handler {
  const { token } = gateway.config.metrics;
  return async (request, reply) => {
    if (token === undefined)
      throw new ApiError(
        'not_found',
        'There is no /metrics here. The operator opens it with `metrics.token`.',
      );
    if (!hasMetricsToken(request, token)) {
      throw new ApiError(
        'invalid_api_key',
        'GET /metrics needs `Authorization: Bearer <metrics.token>`.',
      );
    }
    return reply.type(contentType).send(await threads.readMetrics(metrics));
  };
}

/**
 * Returns true when the request carries the metrics token; always false when none is configured.
 */
export function hasMetricsToken({ headers }: FastifyRequest, token: string | undefined): boolean {
  return token !== undefined && isSameText(headers.authorization ?? '', `Bearer ${token}`);
}

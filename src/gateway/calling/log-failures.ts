// Logs failed calls of providers, of which the client sees little.
import { searchModelId } from '../../terms/web-search.ts';
import type { CallEnded } from '../../events/request-events.ts';
import type { RequestListener } from '../../events/request-listener.ts';
import type { RequestFields } from '../../events/request-fields.ts';
import type { Logger } from '../../lib/log.ts';

export function logFailures(log: Pick<Logger, 'warn' | 'error'>): RequestListener {
  return {
    hear(event, { fields }) {
      if (event.type !== 'call-ended' || event.call.baseUrl === null) return;
      if (!event.failure || event.ending === 'unknown') return;
      if (event.ending === 'refused' && event.call.ownKeyId !== undefined)
        log.warn(logFieldsOf(event, fields), "a provider refuses an account's own key");
      else if (event.ending === 'refused')
        log.error(
          logFieldsOf(event, fields),
          event.failure.status === 403
            ? 'the provider refuses its credential, or this request'
            : 'the provider refuses its credential or wants money: no request through it can succeed',
        );
      else log.warn(logFieldsOf(event, fields), 'the upstream failed');
    },
  };
}

/**
 * The message of a failure is left out, because it may quote the client's words. Only ours about a
 * search is logged, and why a credential of the operator gave no token.
 */
function logFieldsOf({ call, failure }: CallEnded, { requestId, model }: RequestFields): object {
  const { provider, ownKeyId, upstreamModel, number } = call;
  const { kind, status, message, isUnauthorized = false } = failure!;
  const isSearch = upstreamModel === searchModelId;
  return {
    provider,
    model: number === null ? upstreamModel : (model ?? upstreamModel),
    request_id: requestId,
    ...(number !== null && { attempt: number }),
    ...(((isUnauthorized && ownKeyId === undefined) || (isSearch && kind !== 'status')) && {
      reason: message,
    }),
    kind,
    upstream_status: status,
  };
}

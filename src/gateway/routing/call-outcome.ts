// Names how a call to a provider ended, for the metrics. The names are a bounded set.
import type { UpstreamFailure } from '../../canonical/event.ts';
import type { CallEnding } from './health.ts';

/**
 * Returns `answered`; `abandoned` when nobody waited for the end; `credential-refused`; the status
 * of a failure as `http-429` or `http-5xx`; its kind, such as `timeout`; or `failed` when only that
 * is known.
 */
export function outcomeOf(ending: CallEnding, failure: UpstreamFailure | null): string {
  if (ending === 'unknown') return 'abandoned';
  if (ending === 'refused') return 'credential-refused';
  if (!failure) return ending === 'good' ? 'answered' : 'failed';
  const { kind, status } = failure;
  if (kind !== 'status' || status === null) return kind;
  return status === 429 ? 'http-429' : `http-${Math.floor(status / 100)}xx`;
}

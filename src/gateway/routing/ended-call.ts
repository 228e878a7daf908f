// Notes how a call to a provider ended: for its route's circuit breaker, for the provider's
// statistics, for the metrics, and in the log.
import type { UpstreamFailure } from '../../canonical/event.ts';
import type { Activity } from '../../domain/activity/activity.ts';
import type { Logger } from '../../lib/log.ts';
import type { Meter } from '../meter.ts';
import type { AnswerKind, CallEnding, RouteName } from './health.ts';
import { isCredentialRefused, nextStepAfter } from './retry-policy.ts';
import type { Routing } from './routing.ts';

export type CallCounters = {
  readonly routing: Pick<Routing, 'health'>;
  readonly activity: Pick<Activity, 'noteCall'>;
  readonly meter: Pick<Meter, 'noteCall'>;
};

type EndedCall = {
  readonly route: RouteName;
  readonly kind: AnswerKind;
  readonly ending: CallEnding;
  /** null: it succeeded, or why it failed is unknown. */
  readonly failure: UpstreamFailure | null;
  /** Streams are measured to their first piece, whole answers to their end. */
  readonly ms: number;
};

export function noteCallEnd(
  { routing, activity, meter }: CallCounters,
  { route, kind, ending, failure, ms }: EndedCall,
): void {
  const { provider } = route;
  routing.health.end(route, ending);
  activity.noteCall({ provider, kind, ending, ms });
  meter.noteCall({ provider, kind, outcome: outcomeOf(ending, failure), ms });
}

/**
 * Returns the name of an ending for the metrics: `answered`; `abandoned` when nobody waited for the
 * end; `credential-refused`; the status of a failure as `http-429` or `http-5xx`; its kind, such as
 * `timeout`; or `failed` when only that is known. The names are a bounded set.
 */
function outcomeOf(ending: CallEnding, failure: UpstreamFailure | null): string {
  if (ending === 'unknown') return 'abandoned';
  if (ending === 'refused') return 'credential-refused';
  if (!failure) return ending === 'good' ? 'answered' : 'failed';
  const { kind, status } = failure;
  if (kind !== 'status' || status === null) return kind;
  return status === 429 ? 'http-429' : `http-${Math.floor(status / 100)}xx`;
}

type FailedCall = {
  readonly failure: UpstreamFailure;
  /** Says which call failed. */
  readonly fields: { readonly provider: string; readonly model: string };
  readonly message: string;
};

/** Logs a failure of which the client sees little, and returns how its call ended. */
export function logFailure(log: Logger, { failure, fields, message }: FailedCall): CallEnding {
  const { kind, status } = failure;
  const logged = { ...fields, kind, upstream_status: status };
  if (isCredentialRefused(status)) {
    log.error(
      logged,
      'the provider refuses its credential or wants money: no request through it can succeed',
    );
    return 'refused';
  }
  log.warn(logged, message);
  // A provider that refuses a faulty request is healthy.
  return nextStepAfter(failure) === 'never' ? 'good' : 'bad';
}

// A request that is over, as telemetry reads it: what is known of it, and its spans.
import type { RequestAnswered } from '../../canonical/request-events.ts';
import type { RequestFields } from '../../canonical/request-fields.ts';
import type { RequestSpans } from '../../canonical/request-spans.ts';

export type FinishedRequest = Omit<RequestAnswered, 'type' | 'route'> & {
  /** The public pattern of its route. */
  readonly route: string;
  readonly fields: RequestFields;
  readonly spans: RequestSpans;
};

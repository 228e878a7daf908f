// A request that is over, as telemetry reads it: its facts and its spans.
import type { RequestAnswered } from '../../events/request-events.ts';
import type { RequestFields } from '../../events/request-fields.ts';
import type { RequestSpans } from '../../events/request-spans.ts';

export type FinishedRequest = Omit<RequestAnswered, 'type' | 'route'> & {
  /** The public pattern of its route. */
  readonly route: string;
  readonly fields: RequestFields;
  readonly spans: RequestSpans;
};

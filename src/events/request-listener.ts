// Who hears the events of all requests.
import type { RequestEvent } from './request-events.ts';
import type { RequestFields } from './request-fields.ts';
import type { RequestSpans } from './request-spans.ts';

export type ObservedRequest = {
  /** The public pattern of its route, of which others are aliases; '': none matched. */
  readonly path: string;
  /** Later events add to it. */
  readonly fields: RequestFields;
  /** Recorded for telemetry; null: neither the operator nor the account wants them. */
  readonly spans: RequestSpans | null;
};

export type RequestListener = {
  readonly hear: (event: RequestEvent, request: ObservedRequest) => void;
};

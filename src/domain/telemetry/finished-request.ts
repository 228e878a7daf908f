// A request that is over, as telemetry reads it: what was noted for its log line, and its spans.
import type { Mode } from '../../canonical/mode.ts';
import type { RequestSpans } from '../../canonical/request-spans.ts';

export type FinishedRequest = {
  readonly spans: RequestSpans;
  /** By `Clock.elapsedMs`. */
  readonly startMs: number;
  readonly endMs: number;
  readonly method: string;
  /** The pattern of its route. */
  readonly route: string;
  readonly status: number;
  /** The client disconnected before it had the whole answer. */
  readonly isClientGone: boolean;
  readonly fields: {
    readonly requestId: string;
    readonly accountId?: string;
    readonly keyId?: string;
    readonly mode?: Mode;
    readonly model?: string;
    readonly provider?: string;
    readonly attempts?: number;
    readonly stream?: boolean;
    readonly cache?: string;
    readonly inputTokens?: number;
    readonly outputTokens?: number;
    readonly costMicros?: number;
    readonly upstreamCostMicros?: number;
    readonly lossMicros?: number;
    readonly holdMicros?: number;
    readonly ending?: string;
    readonly errorCode?: string;
    readonly rateLimit?: string;
    readonly rateLimitScope?: string;
    readonly firstByteMs?: number;
  };
};

// The facts of a request, for its log line, the metrics and the account's history. They never have
// a key, a prompt or an answer.
import type { Mode } from '../terms/mode.ts';
import type { RequestTry } from './request-try.ts';
import type { AnswerWorth } from '../terms/stored-response.ts';

/** The source of a replayed answer, as in the cache header and the log. */
export type ReplaySource = 'hit' | 'idempotent-replay';

export function isReplay(outcome: string): outcome is ReplaySource {
  return outcome === 'hit' || outcome === 'idempotent-replay';
}

/**
 * A class, so that each object has all properties from its beginning: to add them one by one takes
 * four times as long.
 */
export class RequestFields {
  readonly requestId: string;
  readonly address?: string;
  /** The client's program: `openai-python/2.8`. Never in the log or telemetry. */
  readonly client?: string | undefined;
  /** The model's name as it was sent; it may not exist. */
  readonly askedModel?: string;
  /** The id of the client's trace. */
  readonly traceId?: string;
  readonly accountId?: string;
  readonly keyId?: string;
  readonly adminKeyId?: string;
  readonly mode?: Mode;
  readonly model?: string;
  /** Never in the log or telemetry. */
  readonly tags?: readonly string[] | undefined;
  /** The provider that served, or was tried last. */
  readonly provider?: string;
  /** How often the request was sent upstream. */
  readonly attempts?: number;
  readonly stream?: boolean;
  /** Set when an earlier answer was replayed, free of charge. */
  readonly cache?: ReplaySource;
  /** The cost of the answer that was repeated, as far as it is known. */
  readonly saved?: AnswerWorth;
  readonly inputTokens?: number;
  readonly outputTokens?: number;
  readonly costMicros?: number;
  readonly upstreamCostMicros?: number;
  readonly holdMicros?: number;
  readonly ending?: 'complete' | 'cut-off' | 'failed';
  /** Why the model stopped. */
  readonly finish?: string;
  /** Why earlier reasoning was withheld from the model. */
  readonly withheld?: string | undefined;
  readonly errorCode?: string;
  readonly upstreamStatus?: number | null;
  /** Milliseconds from the request's arrival to the first piece of a stream. */
  readonly firstByteMs?: number;
  /** The rate limit that refused the request, and whose it is. */
  readonly rateLimit?: string;
  readonly rateLimitScope?: string;
  readonly lossMicros?: number;
  /** Without the client's words. Absent when the provider worded it, as it may quote the prompt. */
  readonly errorMessage?: string;
  /** The field at fault. */
  readonly errorParam?: string | null;
  /** The calls to providers, in order. */
  readonly tries?: readonly RequestTry[];

  constructor(requestId: string) {
    this.requestId = requestId;
  }
}

export type RequestNotes = Omit<
  RequestFields,
  'requestId' | 'lossMicros' | 'errorMessage' | 'errorParam' | 'tries'
>;

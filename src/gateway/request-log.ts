// What is recorded about a request, for its log line, the metrics and the account's activity. Every
// step writes it and none reads it; it is read once, when the request is over. It never holds a
// key, a prompt or an answer.
import type { AnswerWorth } from '../canonical/stored-response.ts';

/** The source of a replayed answer, as in the cache header and the log. */
export type ReplaySource = 'hit' | 'idempotent-replay';

type Notes = {
  readonly accountId?: string;
  readonly keyId?: string;
  readonly mode?: 'live' | 'test';
  readonly model?: string;
  /** The provider that served, or was tried last. */
  readonly provider?: string;
  /** How often the request was sent upstream. */
  readonly attempts?: number;
  readonly stream?: boolean;
  /** Set when an earlier answer was replayed, free of charge. */
  readonly cache?: ReplaySource;
  /** What the original answer cost, if known. */
  readonly saved?: AnswerWorth;
  readonly inputTokens?: number;
  readonly outputTokens?: number;
  readonly costMicros?: number;
  readonly upstreamCostMicros?: number;
  readonly holdMicros?: number;
  readonly ending?: 'complete' | 'cut-off' | 'failed';
  readonly errorCode?: string;
  readonly upstreamStatus?: number | null;
  /** Milliseconds from the request's arrival to the first piece of a stream. */
  readonly firstByteMs?: number;
};

export type RequestFields = Notes & { readonly requestId: string; readonly lossMicros?: number };

export class RequestLog {
  /** Read this when the request is over. */
  readonly fields: RequestFields;

  constructor(requestId: string) {
    this.fields = { requestId };
  }

  /** Overwrites fields that were noted before. */
  note(notes: Notes): void {
    Object.assign(this.fields, notes);
  }

  /** Adds a loss. */
  addLoss(lossMicros: number): void {
    Object.assign(this.fields, { lossMicros: (this.fields.lossMicros ?? 0) + lossMicros });
  }
}

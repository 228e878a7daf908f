// The record of a request, for its log line, the metrics and the account's history. Every step writes
// it; it is read once, when the request is over. A listener gets charges and losses when they are
// booked, which may be later. Its fields never hold a key, a prompt or an answer.
import { type ApiError, withoutWords } from '../canonical/errors.ts';
import type { Mode } from '../canonical/mode.ts';
import type { RequestTry } from '../canonical/request-try.ts';
import type { RequestSpans } from '../canonical/request-spans.ts';
import type { AnswerWorth } from '../canonical/stored-response.ts';

/** The source of a replayed answer, as in the cache header and the log. */
export type ReplaySource = 'hit' | 'idempotent-replay';

type Notes = {
  /** The client's address. */
  readonly address?: string;
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
  /** What the original answer cost, if known. */
  readonly saved?: AnswerWorth;
  readonly inputTokens?: number;
  readonly outputTokens?: number;
  readonly costMicros?: number;
  readonly upstreamCostMicros?: number;
  readonly holdMicros?: number;
  readonly ending?: 'complete' | 'cut-off' | 'failed';
  /** Why the model stopped. */
  readonly finish?: string;
  readonly errorCode?: string;
  readonly upstreamStatus?: number | null;
  /** Milliseconds from the request's arrival to the first piece of a stream. */
  readonly firstByteMs?: number;
  /** The rate limit that refused the request, and whose it is. */
  readonly rateLimit?: string;
  readonly rateLimitScope?: string;
};

export type RequestFields = Notes & {
  readonly requestId: string;
  readonly lossMicros?: number;
  /** Without the client's words. Absent when the provider worded it, as it may quote the prompt. */
  readonly errorMessage?: string;
  /** The field at fault. */
  readonly errorParam?: string | null;
  /** The calls to providers, in order. */
  readonly tries?: readonly RequestTry[];
};

/** A charge as the ledger booked it. */
export type Charged = {
  readonly costMicros: number;
  readonly upstreamCostMicros: number;
  /** The part of the cost that nobody paid. */
  readonly lossMicros: number;
};

/** Called once for each charge and each loss, right after it was booked. */
export type BookingListener = {
  readonly noteCharge: (fields: RequestFields, charged: Charged) => void;
  readonly noteLoss: (fields: RequestFields, lossMicros: number) => void;
};

export class RequestLog {
  /** Read this when the request is over. */
  readonly fields: RequestFields;
  readonly #listener: BookingListener | undefined;
  /** Recorded for telemetry; null: neither the operator nor the account wants them. */
  spans: RequestSpans | null = null;

  constructor(requestId: string, listener?: BookingListener) {
    this.fields = { requestId };
    this.#listener = listener;
  }

  /** Overwrites fields that were noted before. */
  note(notes: Notes): void {
    Object.assign(this.fields, notes);
  }

  /** Notes the error that the client gets. */
  noteError(error: ApiError): void {
    const { code, details, isQuoted } = error;
    const { message, param } = withoutWords(error);
    Object.assign(this.fields, {
      errorCode: code,
      errorParam: param,
      errorMessage: isQuoted ? undefined : message,
    });
    const { limit, scope } = details ?? {};
    if (code === 'rate_limit_exceeded' && typeof limit === 'string')
      this.note({
        rateLimit: limit,
        rateLimitScope: typeof scope === 'string' ? scope : 'address',
      });
  }

  addTry(one: RequestTry): void {
    Object.assign(this.fields, { tries: [...(this.fields.tries ?? []), one] });
  }

  /** Notes the request's charge, and who served it. */
  noteCharge(charged: Charged, notes: Pick<Notes, 'provider' | 'ending'>): void {
    const { costMicros, upstreamCostMicros, lossMicros } = charged;
    this.note({ ...notes, costMicros, upstreamCostMicros });
    this.#sumLoss(lossMicros);
    this.#listener?.noteCharge(this.fields, charged);
  }

  /** Adds the loss of a failed call. */
  addLoss(lossMicros: number): void {
    this.#sumLoss(lossMicros);
    this.#listener?.noteLoss(this.fields, lossMicros);
  }

  #sumLoss(lossMicros: number): void {
    Object.assign(this.fields, { lossMicros: (this.fields.lossMicros ?? 0) + lossMicros });
  }
}

// The events of a request: a step of the request tells one when it is over. The request's record
// and spans hear it first, then the listeners of all requests, which serving.ts connects. Times are
// by `Clock.elapsedMs`.
import type { TraceContext } from '../lib/trace-context.ts';
import type { UpstreamFailure } from '../canonical/event.ts';
import type { Stop } from '../canonical/stop.ts';
import type { Usage } from '../canonical/usage.ts';

export type ProviderCall = {
  /** Its name in the configuration. */
  readonly provider: string;
  /** The account's own key that is used; left out: the operator's credential. */
  readonly ownKeyId?: string;
  /** As the provider calls it; '': it has no name there, as a search. */
  readonly upstreamModel: string;
  /** null: the sandbox answers, and nothing is sent. */
  readonly baseUrl: string | null;
  readonly isStream: boolean;
  /** 1 for the request's first call; null: a search, or an image beside the calls of a model. */
  readonly number: number | null;
  /**
   * The trace that is sent to the provider; null: none. Its `spanId` is that of the call's span.
   */
  readonly trace: TraceContext | null;
  readonly startMs: number;
  /** When the first piece of a stream came; null: none has, or the answer came whole. */
  firstByteMs: number | null;
};

/**
 * `unknown`: nobody waited for its end. `refused`: the provider rejects the credential.
 * `good` is also a request that the provider rightly refused.
 */
export type CallEnding = 'good' | 'bad' | 'refused' | 'unknown';

export type HoldTried = {
  readonly type: 'hold-tried';
  readonly amountMicros: number;
  /** `failed`: the ledger did not answer. */
  readonly outcome: 'held' | 'refused' | 'failed';
  readonly startMs: number;
  readonly endMs: number;
};

export type CallEnded = {
  readonly type: 'call-ended';
  readonly call: ProviderCall;
  readonly ending: CallEnding;
  readonly failure: UpstreamFailure | null;
  /** Why the model stopped; null: unknown, or no model. */
  readonly stop: Stop['reason'] | null;
  readonly endMs: number;
};

/** The ledger has ended the hold. */
export type Settled = {
  readonly type: 'settled';
  /** null: the ledger did not write it. */
  readonly settled: Charged | Released | null;
  readonly startMs: number;
  readonly endMs: number;
};

/** The amounts are those of the ledger's entry. */
export type Charged = {
  readonly kind: 'charged';
  readonly costMicros: number;
  readonly upstreamCostMicros: number;
  /** The part of the cost that nobody paid. */
  readonly lossMicros: number;
  /** null: it is not charged by tokens. */
  readonly usage: Usage | null;
  readonly provider: string;
  readonly ending: 'complete' | 'cut-off';
};

type Released = {
  readonly kind: 'released';
  /** The provider bills it, although nobody pays. */
  readonly lossMicros: number;
  /** The account could cause the loss. */
  readonly isCausedByAccount: boolean;
};

export type RequestEvent =
  | HoldTried
  | { readonly type: 'hold-extended'; readonly amountMicros: number }
  | { readonly type: 'call-begun'; readonly call: ProviderCall }
  | { readonly type: 'first-byte'; readonly call: ProviderCall }
  | CallEnded
  | Settled
  /** A loss was booked beside the hold, or the charge of an answer was given up. */
  | { readonly type: 'lost'; readonly lossMicros: number; readonly isCausedByAccount: boolean }
  /** The answer has been sent, or its client has gone. Its charge may come later. */
  | RequestAnswered;

export type RequestAnswered = {
  readonly type: 'answered';
  readonly method: string;
  /** The pattern that matched, as `/v1/models/*`; null: none did. */
  readonly route: string | null;
  readonly status: number;
  /** The client disconnected before it had the whole answer. */
  readonly isClientGone: boolean;
  readonly startMs: number;
  readonly endMs: number;
};

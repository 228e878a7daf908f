// The types that all sales share: an offer before the hold, a held request, and the outcome of its run.
import type { ApiError } from '../../canonical/errors.ts';
import type { StoredResponse } from '../../terms/stored-response.ts';
import type { RefusedOutcome } from '../../domain/ledger/commands.ts';
import type { Micros } from '../../lib/money.ts';
import type { Run } from '../active-runs.ts';
import type { Client } from '../client.ts';
import type { Attempt } from '../routing/plan.ts';
import type { AnswerStorage } from './answer-storage.ts';
import type { Bill, Charge, Loss, OpenHold, ToReserve } from './open-hold.ts';

/** A request at its highest price. */
export type Offer = ToReserve & {
  /** Returns what the account can pay instead when its hold was refused; null: nothing. */
  readonly smaller: (affordableMicros: Micros) => Offer | null;
  readonly refuse: (refused: RefusedOutcome) => ApiError;
  /** True when it runs on after its client has left, because only its end shows its cost. */
  readonly runsToEnd: boolean;
  /**
   * Returns the call of the first route as it would be made. null or left out: no batch API can run it.
   */
  readonly firstCall?: () => FirstCall | null;
  /** Calls the routes. Streams everything but the end of an answer. */
  readonly call: (held: Running) => Promise<Outcome>;
};

export type FirstCall = Pick<Attempt, 'route' | 'price' | 'tools'> & {
  readonly written: Pick<Attempt['written'], 'path' | 'body'> &
    Partial<Pick<Attempt['written'], 'headers'>>;
  /** Texts to embed; left out: none. */
  readonly inputs?: number;
};

/** A request whose highest price is held. */
export type Running = {
  readonly hold: OpenHold;
  readonly run: Run;
  readonly client: Client;
  /** Where a success is stored. */
  readonly storage: AnswerStorage;
};

/** How a run ended. Nothing is charged yet. */
export type Outcome = (Sold | Failed) & {
  /** Booked beside the end of the hold. */
  readonly losses: readonly Loss[];
  /** Tells the client of an error in a stream that has begun; left out: none has. */
  readonly fail?: (error: ApiError) => void;
};

type Sold = {
  readonly kind: 'sold';
  readonly bill: Bill;
  /** null: nothing is stored. */
  readonly response: StoredResponse | null;
  /** True when the gateway did not cut the answer short, so the cache may keep it. */
  readonly isWhole: boolean;
  /**
   * A part that the account could spoil. Its loss is booked while the account's loss budget has room;
   * otherwise this bill, which includes it, is charged instead.
   */
  readonly spoiled?: { readonly loss: Loss; readonly bill: Bill };
  /** Sends the answer, or its end. */
  readonly deliver: (charge: Charge) => void;
};

type Failed = {
  readonly kind: 'failed';
  readonly error: ApiError;
  readonly lossMicros: Micros;
  readonly isCausedByAccount: boolean;
  /**
   * An answer that the account could spoil. It is charged when the account's loss budget is used up.
   * Left out: the failure is free.
   */
  readonly spoiled?: Bill;
};

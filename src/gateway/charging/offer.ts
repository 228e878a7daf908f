// What every sale has in common: the most that it may cost, how it runs under its hold, and how it
// ended.
import type { ApiError } from '../../canonical/errors.ts';
import type { StoredResponse } from '../../canonical/stored-response.ts';
import type { RefusedOutcome, Reserve } from '../../domain/ledger/commands.ts';
import type { Micros } from '../../lib/money.ts';
import type { Run } from '../active-runs.ts';
import type { Client } from '../client.ts';
import type { AnswerStorage } from '../replaying/answer-storage.ts';
import type { Bill, Charge, Loss, OpenHold } from './open-hold.ts';

/** A request at its highest price. */
export type Offer = Pick<Reserve, 'amountMicros' | 'likelyCost'> & {
  /** True when the request's time may end before its answer does. */
  readonly mayOutlast: boolean;
  /** Returns what the account can pay instead when its hold was refused; null: nothing. */
  readonly smaller: (affordableMicros: Micros) => Offer | null;
  readonly refuse: (refused: RefusedOutcome) => ApiError;
  /** True when it runs on after its client has left, because only its end shows its cost. */
  readonly runsToEnd: boolean;
  /** Calls the routes. Streams everything but the end of an answer. */
  readonly call: (held: Held) => Promise<Outcome>;
};

/** What a request has when its highest price is held. */
export type Held = {
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
  /** What the account could spoil: beyond its loss budget, `bill` is charged instead of the loss. */
  readonly spoiled?: { readonly loss: Loss; readonly bill: Bill };
  /** Sends the answer, or its end. */
  readonly deliver: (charge: Charge) => void;
};

type Failed = {
  readonly kind: 'failed';
  readonly error: ApiError;
  readonly lossMicros: Micros;
  readonly isProvoked: boolean;
  /**
   * An answer that the account could spoil: beyond its loss budget it is charged. Left out: it is
   * free.
   */
  readonly spoiled?: Bill;
};

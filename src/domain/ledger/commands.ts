// The ledger's commands and outcomes. The caller chooses the command ids: a command that is sent
// again with the same id changes nothing and returns its first outcome.
import type { Insertable, Selectable } from 'kysely';
import type { Mode } from '../../terms/mode.ts';
import type { KeptPrice } from '../../terms/price-terms.ts';
import type { SealedCached, SealedResponse } from '../../terms/sealed-answer.ts';
import type { Usage } from '../../canonical/usage.ts';
import type { PoolState } from '../../db/pool-state.ts';
import type { Tables } from '../../db/schema.ts';
import type { Micros } from '../../lib/money.ts';
import type { CamelCase } from '../../lib/snake-case.ts';

/** One account has two ledgers: `<account id>:live` and `<account id>:test`. */
export type LedgerId = `${string}:${Mode}`;

export function ledgerIdOf(accountId: string, mode: Mode): LedgerId {
  return `${accountId}:${mode}`;
}

export function modeOf(ledgerId: LedgerId): Mode {
  return ledgerId.endsWith(':live') ? 'live' : 'test';
}

export function accountIdOf(ledgerId: LedgerId): string {
  return ledgerId.slice(0, ledgerId.lastIndexOf(':'));
}

export type Command = Reserve | Extend | Settle | Release | Credit | Debit;

/** The most that all keys of a member may spend together, in a UTC day and month of one ledger. */
export type Budget = {
  readonly memberId: string;
  /** null means no budget. */
  readonly dailyMicros: Micros | null;
  readonly monthlyMicros: Micros | null;
};

/**
 * Holds the highest possible cost of a request against the balance, both caps of its key and the
 * budget of the key's owner, in one atomic step.
 */
export type Reserve = {
  readonly type: 'reserve';
  /** The request's id. */
  readonly holdId: string;
  readonly ledgerId: LedgerId;
  readonly keyId: string;
  readonly amountMicros: Micros;
  /** The key's current caps; null means no cap. */
  readonly dailyCapMicros: Micros | null;
  readonly monthlyCapMicros: Micros | null;
  /** The current budget of the key's owner; left out when there is none, here and below. */
  readonly budget?: Budget;
  /** The process that runs the request and renews its lease. */
  readonly owner: string;
  readonly likelyCost?: LikelyCost;
  /** True for a hold of 0 that only takes a loss: a frozen account must have it too. */
  readonly isForLoss?: true;
};

/**
 * The likely cost of a running request: the operator's loss if its process is killed. At most the
 * held amount.
 */
export type LikelyCost = { readonly atOnceMicros: Micros; readonly perSecondMicros: Micros };

/**
 * Enlarges an open hold under its windows and caps, so that a long answer is held for in steps. The
 * outcome is `held`, or a refusal like a reservation's, which leaves the hold unchanged.
 */
export type Extend = Pick<Reserve, 'holdId' | 'ledgerId' | 'keyId' | 'budget'> & {
  readonly type: 'extend';
  /** Numbers the extensions of this hold from 1; a repeated number is the same extension. */
  readonly part: number;
  /** In addition to the amount already held. */
  readonly amountMicros: Micros;
};

/**
 * Turns a hold into a charge. Allowed after the hold has expired too; it then takes only what is
 * available.
 */
export type Settle = {
  readonly type: 'settle';
  readonly holdId: string;
  readonly ledgerId: LedgerId;
  readonly keyId: string;
  readonly costMicros: Micros;
  /** The budget at the time of the hold, like its caps. */
  readonly budget?: Budget;
  /** The price terms of `costMicros`; null when they are not stored. */
  readonly price: KeptPrice | null;
  readonly record: ChargeRecord;
  /** Each once. Stored and summed in the same transaction. */
  readonly tags?: readonly string[];
  /**
   * The answer to store in the same transaction, if the request still holds its Idempotency-Key.
   * Absent for a request without a key.
   */
  readonly stored?: SealedResponse;
  /** The answer to cache in the same transaction. Absent when it is not cached. */
  readonly cached?: SealedCached;
};

/**
 * Releases a hold: the request failed and is free. `lossMicros` is its cost for the operator,
 * booked per key.
 */
export type Release = {
  readonly type: 'release';
  readonly holdId: string;
  readonly lossMicros: Micros;
  /**
   * True when the account could provoke the loss, which then counts against its loss budget. False
   * by default.
   */
  readonly isCausedByAccount?: boolean;
};

export type Credit = {
  readonly type: 'credit';
  /** Unique among credits and debits: a second one with this id books nothing. */
  readonly entryId: string;
  readonly ledgerId: LedgerId;
  readonly amountMicros: Micros;
  readonly note: string;
  /**
   * Written in the transaction of the entry. Absent when the audit log already has the decision.
   */
  readonly auditRow?: AuditRow;
};
/** The entry id of a new account's sign-up credit, which is not its own money. */
export function signUpCreditId(accountId: string): string {
  return `signup-${accountId}`;
}

/** The ledger writes it without reading it. */
export type AuditRow = Insertable<Tables['audit_log']>;
/** An operator's debit may take the balance below zero. */
export type Debit = Omit<Credit, 'type'> & { readonly type: 'debit' };

/** The usage record of a charge, with enough data to recompute the cost. */
export type ChargeRecord = CamelCase<Omit<ChargeRow, NotOfRecord | keyof SentLater>> &
  Partial<CamelCase<SentLater>> & { readonly usage: Usage; readonly streamed: boolean };
type ChargeRow = Selectable<Tables['charges']>;
/** Columns that the ledger fills, or that `usage` has. */
type NotOfRecord =
  | 'id'
  | 'ledger_id'
  | 'key_id'
  | 'price_id'
  | 'cost_micros'
  | 'loss_micros'
  | 'hold_micros'
  | 'created_at_ms'
  | 'streamed'
  | Extract<keyof ChargeRow, `${string}_tokens`>;
type SentLater = Pick<ChargeRow, 'conversation' | 'cache_marks' | 'rank_routes'>;

export type Outcome =
  | {
      readonly type: 'held';
      readonly availableMicros: Micros;
      /**
       * Of a new reservation: the cap or budget of which the largest part is spent; left out: there
       * is none, or the command was repeated.
       */
      readonly fullestCap?: CapState;
    }
  | RefusedOutcome
  | {
      readonly type: 'charged';
      readonly chargedMicros: Micros;
      /** The part of the cost that exceeded both the balance and the caps. */
      readonly lossMicros: Micros;
      /** Available after the charge. */
      readonly availableMicros: Micros;
    }
  | { readonly type: 'released' }
  /**
   * A settlement after another request took over the Idempotency-Key: free, and its cost is the
   * operator's loss.
   */
  | { readonly type: 'superseded' }
  | { readonly type: 'credited'; readonly availableMicros: Micros }
  | { readonly type: 'debited'; readonly availableMicros: Micros }
  /** A credit or debit that would take the posted balance beyond `balanceMaxMicros`. */
  | {
      readonly type: 'balance-too-large';
      /** The largest amount that would be booked now. */
      readonly leftMicros: Micros;
    }
  /**
   * The hold was already settled or released differently. An expiry does not count as such: one
   * settlement or release after it is accepted.
   */
  | { readonly type: 'already-resolved' }
  | { readonly type: 'unknown-hold' }
  | { readonly type: 'unknown-ledger' };

/**
 * The reply to one command of a batch: its outcome, or why it could not be run. A rejected command
 * has changed nothing.
 */
export type Reply = Outcome | { readonly type: 'rejected'; readonly message: string };

/**
 * In order of precedence: a frozen account, the daily cap, the monthly cap, the daily budget, the
 * monthly budget, the balance.
 */
export type RefusedOutcome = {
  readonly type:
    | 'account-frozen'
    | 'key-daily-limit'
    | 'key-monthly-limit'
    | 'member-daily-limit'
    | 'member-monthly-limit'
    | 'insufficient-balance';
  /** The remaining room of the refusing limit; at least 0. */
  readonly leftMicros: Micros;
  /** The amount held by running requests against the refusing limit. */
  readonly heldMicros: Micros;
  /**
   * The refusing cap or budget and the amount charged in its window; null when the balance or a frozen
   * account refuses.
   */
  readonly cap: { readonly capMicros: Micros; readonly spentMicros: Micros } | null;
  /** The highest amount that would fit all limits now; 0 when nothing would. */
  readonly affordableMicros: Micros;
  /** When the cap resets, in Unix milliseconds; null for the balance. */
  readonly resetsAtMs: number | null;
};

/** A cap or budget in its current window. */
export type CapState = {
  readonly window: 'day' | 'month';
  readonly capMicros: Micros;
  /** Charged in the window; what running requests hold does not count. */
  readonly spentMicros: Micros;
  readonly resetsAtMs: number;
};

/** Returns the cap of which the largest part is spent; of equal ones the one that resets last. */
export function fullestOf(caps: readonly CapState[]): CapState | undefined {
  return caps.toSorted(
    (one, other) => partOf(other) - partOf(one) || other.resetsAtMs - one.resetsAtMs,
  )[0];
}

function partOf({ capMicros, spentMicros }: CapState): number {
  return capMicros === 0 ? 1 : spentMicros / capMicros;
}

/** The gateway's interface to the ledger. An outcome is durable when its promise resolves. */
export type Ledger = {
  readonly submit: (command: Command) => Promise<Outcome>;
  /** True when the last write failed. */
  readonly isFailing: () => boolean;
  /** Present on PostgreSQL: how the ledger's own connections are used. */
  readonly pool?: () => PoolState;
  readonly close: () => Promise<void>;
};

// What can be asked of the ledger and what it can answer. Commands carry ids made by the caller: a command that is sent again
// with the same id changes nothing and gets its first outcome.
import type { Insertable } from 'kysely';
import type { KeptPrice } from '../canonical/price-terms.ts';
import type { Usage } from '../canonical/usage.ts';
import type { AuditLogTable } from '../db/schema.ts';
import type { Micros } from '../lib/money.ts';

export type Mode = 'live' | 'test';
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

/** Holds the most that a request can cost against the balance and both caps of its key, in one atomic step. */
export type Reserve = {
  readonly type: 'reserve';
  /** The request's id. */
  readonly holdId: string;
  readonly ledgerId: LedgerId;
  readonly keyId: string;
  readonly amountMicros: Micros;
  /** The key's caps as they are now; null: none. */
  readonly dailyCapMicros: Micros | null;
  readonly monthlyCapMicros: Micros | null;
  /** The process that runs the request and keeps its lease alive. */
  readonly owner: string;
  /** Left out: nothing. */
  readonly likelyCost?: LikelyCost;
};

/** What a request has probably cost the operator while it runs: its loss, should its process be killed. At most what is held. */
export type LikelyCost = { readonly atOnceMicros: Micros; readonly perSecondMicros: Micros };

/**
 * Makes an open hold larger, under the windows and caps it was made with: a long answer is held for piece by piece. Answered with
 * `held`, or with a refusal like a reservation's, which leaves the hold as it is.
 */
export type Extend = {
  readonly type: 'extend';
  readonly holdId: string;
  /** Counts the extensions of this hold from 1; a number that comes again is the same extension. */
  readonly part: number;
  readonly ledgerId: LedgerId;
  readonly keyId: string;
  /** On top of what is held already. */
  readonly amountMicros: Micros;
};

/** Turns a hold into a charge. Also after the hold has expired: then it takes only what is available. */
export type Settle = {
  readonly type: 'settle';
  readonly holdId: string;
  readonly ledgerId: LedgerId;
  readonly keyId: string;
  readonly costMicros: Micros;
  /** What `costMicros` was reckoned by; null: nothing is kept of it. */
  readonly price: KeptPrice | null;
  readonly record: ChargeRecord;
  /**
   * Of a request under an Idempotency-Key: its answer, stored in the same transaction, if the key is still the request's own. Left out: it
   * has no key.
   */
  readonly stored?: StoredAnswer;
  /** Of a request that may be cached: its answer, stored in the same transaction. Left out: none is. */
  readonly cached?: CachedAnswer;
};

/** What a request that is sent again is answered with. The ledger writes it and does not look at it. */
export type StoredAnswer = {
  readonly keyDigest: string;
  readonly fingerprint: string;
  readonly owner: string;
  readonly status: number;
  readonly contentType: string;
  /** JSON. */
  readonly headers: string;
  /** Encrypted, base64; null: too long to be kept. */
  readonly body: string | null;
  /** From the charge on. */
  readonly keptForMs: number;
};

/** What identical requests of the account are answered with. The ledger writes it, for the account that pays, and does not look at it. */
export type CachedAnswer = {
  readonly digest: string;
  /** It is stored only while the account is still of this one, and keeps its answers. */
  readonly generation: number;
  readonly contentType: string;
  /** JSON. */
  readonly headers: string;
  /** Encrypted, base64. */
  readonly body: string;
  readonly sizeBytes: number;
  /** From the charge on. */
  readonly keptForMs: number;
};

/** Gives a hold back: the request failed and is free. `lossMicros`: what it cost the operator all the same, booked per key. */
export type Release = {
  readonly type: 'release';
  readonly holdId: string;
  readonly lossMicros: Micros;
  /** Whether the account could provoke the loss, which then counts against its loss budget. Left out: it could not. */
  readonly isProvoked?: boolean;
};

export type Credit = {
  readonly type: 'credit';
  readonly entryId: string;
  readonly ledgerId: LedgerId;
  readonly amountMicros: Micros;
  readonly note: string;
  /** Written with the entry, in its transaction. Left out: whoever decided on it has told the audit log. */
  readonly auditRow?: AuditRow;
};
/** The entry of the credit that a new account begins with: no money of its own. */
export function signUpCreditId(accountId: string): string {
  return `signup-${accountId}`;
}

/** The ledger writes it, and never looks into it. */
export type AuditRow = Insertable<AuditLogTable>;
/** An operator's debit may take the balance below zero. */
export type Debit = Omit<Credit, 'type'> & { readonly type: 'debit' };

/** What a charge is kept with: the usage record, and enough to recompute it. */
export type ChargeRecord = {
  /** Catalogue id and display name of the model. */
  readonly modelId: string;
  readonly modelName: string;
  /** The wire format of the request, `images` or `web-search`. */
  readonly endpoint: string;
  readonly provider: string;
  readonly usage: Usage;
  /** That the provider ran, each at a price of its own. */
  readonly webSearches: number;
  /** That were delivered. */
  readonly images: number;
  /** Whether the upstream's usage was used, or our own count. */
  readonly usageSource: 'upstream' | 'estimate';
  /** Which price was applied: `effective_from`, tier, and the price of a search where there were some. */
  readonly priceVersion: string;
  /** What the request cost the operator. */
  readonly upstreamCostMicros: Micros;
  /** `complete`, or `cut-off` when the client left. */
  readonly ending: 'complete' | 'cut-off';
  readonly streamed: boolean;
  /** How many calls to providers it took. */
  readonly attempts: number;
  /** From the request's arrival to its settlement, in whole milliseconds; null: not known. */
  readonly durationMs: number | null;
  /** From its arrival to the first piece of a stream; null: it was answered whole, or nothing came. */
  readonly firstByteMs: number | null;
};

export type Outcome =
  | { readonly type: 'held'; readonly availableMicros: Micros }
  | RefusedOutcome
  | {
      readonly type: 'charged';
      readonly chargedMicros: Micros;
      /** The part of the cost that neither balance nor caps had room for. */
      readonly lossMicros: Micros;
      /** Available after the charge. */
      readonly availableMicros: Micros;
    }
  | { readonly type: 'released' }
  /** Of a settlement that came after another request had taken over its Idempotency-Key: free, and its cost the operator's loss. */
  | { readonly type: 'superseded' }
  | { readonly type: 'credited'; readonly availableMicros: Micros }
  | { readonly type: 'debited'; readonly availableMicros: Micros }
  /**
   * The hold was already settled or released in another way than now asked. An expiry is not its owner's word: a settlement or a
   * release after one is still accepted, once.
   */
  | { readonly type: 'already-resolved' }
  | { readonly type: 'unknown-hold' }
  | { readonly type: 'unknown-ledger' };

/** In order of precedence: a frozen account before the caps, the daily cap before the monthly, the caps before the balance. */
export type RefusedOutcome = {
  readonly type: 'account-frozen' | 'key-daily-limit' | 'key-monthly-limit' | 'insufficient-balance';
  /** What the refusing limit still has room for, never below 0. */
  readonly leftMicros: Micros;
  /** What running requests hold against the refusing limit. */
  readonly heldMicros: Micros;
  /** The most that would pass every limit now; 0 when nothing would. */
  readonly affordableMicros: Micros;
  /** When the cap starts anew, as Unix milliseconds; null for the balance. */
  readonly resetsAtMs: number | null;
};

/** What the gateway holds in its hand: commands in, outcomes out, durable when the promise resolves. */
export type Ledger = {
  readonly submit: (command: Command) => Promise<Outcome>;
  /** Whether the books could not be written when that was last tried. */
  readonly isFailing: () => boolean;
  readonly close: () => Promise<void>;
};

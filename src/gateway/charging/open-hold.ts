// A hold in the ledger, from its reservation to its one end: a charge or a release. A charge is
// durable before success is reported.
import type { Charged } from '../../events/request-events.ts';
import { noUsage } from '../../canonical/usage.ts';
import type { Clock } from '../../lib/clock.ts';
import { keepPrice, type PriceTerms } from '../../terms/price-terms.ts';
import { type StoredResponse, worthOf } from '../../terms/stored-response.ts';
import type { ApiKey } from '../../domain/keys/api-key.ts';
import { LedgerUnavailable } from '../../domain/ledger/batcher.ts';
import {
  ledgerIdOf,
  type CapState,
  type ChargeRecord,
  type Ledger,
  type LedgerId,
  type Outcome,
  type RefusedOutcome,
  type Reserve,
  type Settle,
} from '../../domain/ledger/commands.ts';
import type { Logger } from '../../lib/log.ts';
import { floorToCents, micros, zeroMicros, type Micros } from '../../lib/money.ts';
import type { AccountTrust } from './account-trust.ts';
import type { AnswerStorage } from './answer-storage.ts';
import type { Caller } from '../request.ts';

/** The ledger that holds are written to, and the accounts' loss budgets. */
export type Books = {
  readonly ledger: Ledger;
  /** This process's name in the ledger's leases. */
  readonly owner: string;
  readonly trust: AccountTrust;
  readonly log: Logger;
  readonly clock: Pick<Clock, 'elapsedMs'>;
};

/** The paying account and key. */
export type Payer = {
  readonly caller: Pick<Caller, 'requestId' | 'key' | 'record'>;
  readonly tags: readonly string[] | undefined;
};

export type Bill = {
  readonly costMicros: Micros;
  readonly terms: PriceTerms;
  readonly record: ChargeRecord;
};

/** What a provider bills for a call that nobody pays. */
export type Loss = {
  readonly lossMicros: Micros;
  /** Each call of a request has a number, under which it books one loss. */
  readonly callNumber: number;
  /** True when the account could cause it; left out: it could not. */
  readonly isCausedByAccount?: boolean;
};

/** The answer that is stored with a charge. */
type ToStore = {
  /** null: nothing is stored. */
  readonly response: StoredResponse | null;
  /** True when the gateway did not cut the answer short. */
  readonly isWhole: boolean;
  readonly storage: AnswerStorage;
};

export type Charge = { readonly costMicros: Micros; readonly balanceCents: number };

export type ToReserve = Pick<Reserve, 'amountMicros' | 'likelyCost'> & {
  /** True when the request's time may end before its answer does. */
  readonly mayOutlast: boolean;
  /** The provider has run it already, so no loss budget stands before its charge. */
  readonly hasRun?: boolean;
};

/**
 * Reserves a hold under the request's id. Throws ApiError `loss_budget_exceeded` or
 * `rate_limit_exceeded`.
 */
export async function reserve(
  books: Books,
  payer: Payer,
  { mayOutlast, hasRun = false, amountMicros, likelyCost }: ToReserve,
): Promise<OpenHold | RefusedOutcome> {
  const { requestId, key, record } = payer.caller;
  const endRisk = hasRun
    ? () => {}
    : await books.trust.admit(key, mayOutlast ? amountMicros : zeroMicros);
  let hold: OpenHold | null = null;
  try {
    const outcome = await record.tellStep(
      books.clock,
      () => {
        const { owner } = books;
        return books.ledger.submit(
          reserveFor(key, { holdId: requestId, amountMicros, likelyCost, owner }),
        );
      },
      (tried) => {
        const failed = tried ? 'refused' : 'failed';
        const ended = tried?.type === 'held' ? 'held' : failed;
        return { type: 'hold-tried', amountMicros, outcome: ended };
      },
    );
    if (outcome.type === 'held') {
      const { fullestCap } = outcome;
      hold = new OpenHold(books, payer, { amountMicros, fullestCap, endRisk });
      return hold;
    }
    if ('affordableMicros' in outcome) return outcome;
    throw new Error(`the ledger answered a reservation with ${outcome.type}`);
  } finally {
    if (!hold) endRisk();
  }
}

/** Returns the command that opens a hold for a key. */
export function reserveFor(
  key: ApiKey,
  hold: Pick<Reserve, 'holdId' | 'amountMicros' | 'likelyCost' | 'owner'>,
): Reserve {
  return {
    type: 'reserve',
    ledgerId: ledgerIdOf(key.accountId, key.mode),
    keyId: key.id,
    dailyCapMicros: key.dailyCapMicros,
    monthlyCapMicros: key.monthlyCapMicros,
    ...budgetOf(key),
    ...hold,
  };
}

/** A request keeps the key, and so the budget, with which it began. */
function budgetOf({ budget }: ApiKey): Pick<Reserve, 'budget'> {
  return budget ? { budget } : {};
}

type OpenHoldInput = {
  readonly amountMicros: Micros;
  readonly fullestCap?: CapState | undefined;
  readonly endRisk: () => void;
};

export class OpenHold {
  readonly #books: Books;
  readonly #payer: Payer;
  readonly #ledgerId: LedgerId;
  #amountMicros: Micros;
  readonly #endRisk: () => void;
  #extensions = 0;
  /** When the hold was placed; undefined: neither the key nor its owner has a cap. */
  readonly fullestCap: CapState | undefined;
  /** True when it was charged or released, or the ledger will do so by itself. */
  hasEnded = false;

  constructor(books: Books, payer: Payer, { amountMicros, fullestCap, endRisk }: OpenHoldInput) {
    this.#books = books;
    this.#payer = payer;
    this.#endRisk = endRisk;
    this.fullestCap = fullestCap;
    this.#ledgerId = ledgerIdOf(payer.caller.key.accountId, payer.caller.key.mode);
    this.#amountMicros = amountMicros;
  }

  /** The amount that is held; `extendTo` changes it. */
  get amountMicros(): Micros {
    return this.#amountMicros;
  }

  /**
   * Grows the hold to this amount. `refused`: it does not fit now. `failed`: the ledger cannot be
   * written.
   */
  async extendTo(amountMicros: Micros): Promise<'held' | 'refused' | 'failed'> {
    const { requestId, key, record } = this.#payer.caller;
    // One that failed may have been booked all the same, so the next is another part.
    this.#extensions += 1;
    try {
      const outcome = await this.#books.ledger.submit({
        type: 'extend',
        holdId: requestId,
        part: this.#extensions,
        ledgerId: this.#ledgerId,
        keyId: key.id,
        amountMicros: micros(amountMicros - this.#amountMicros),
        ...budgetOf(key),
      });
      if (outcome.type !== 'held') return 'refused';
    } catch (err) {
      this.#books.log.error(
        { err, request_id: requestId },
        'a hold could not be extended, so its answer ends',
      );
      return 'failed';
    }
    this.#amountMicros = amountMicros;
    record.tell({ type: 'hold-extended', amountMicros });
    return 'held';
  }

  /**
   * Ends the hold with a charge and stores the response with it. Returns null when another request
   * took over the Idempotency-Key; then nothing is charged. Throws when the ledger cannot be
   * written. In both cases the client must not see a success.
   */
  async charge(
    { costMicros, terms, record }: Bill,
    { response, isWhole, storage }: ToStore,
  ): Promise<Charge | null> {
    const { caller, tags } = this.#payer;
    const { requestId, key } = caller;
    const isFree = key.mode === 'test' || costMicros === 0;
    const sealed = response && (await storage.seal(response, { isWhole, isFree }));
    const outcome = await this.#settle({
      type: 'settle',
      holdId: requestId,
      ledgerId: this.#ledgerId,
      keyId: key.id,
      costMicros,
      ...budgetOf(key),
      price: keepPrice(terms),
      record,
      ...(tags && { tags }),
      ...sealed,
    });
    if (outcome.type === 'superseded') return this.#loseCharge(record);
    if (outcome.type !== 'charged')
      throw new Error(`the ledger answered a settlement with ${outcome.type}`);
    const { chargedMicros, availableMicros } = outcome;
    if (response)
      storage.noteStored({
        ...response,
        worth: worthOf({ costMicros: chargedMicros, usage: record.usage }),
      });
    return { costMicros: chargedMicros, balanceCents: floorToCents(availableMicros) };
  }

  /** Ends the hold without a charge. The loss is what the provider bills anyway. */
  async release(
    lossMicros: Micros,
    { isCausedByAccount = false }: Pick<Loss, 'isCausedByAccount'> = {},
  ): Promise<void> {
    const { requestId, record } = this.#payer.caller;
    const release = { type: 'release', holdId: requestId, lossMicros, isCausedByAccount } as const;
    await record.tellStep(
      this.#books.clock,
      () => this.#books.ledger.submit(release),
      (outcome) => ({
        type: 'settled',
        settled:
          outcome?.type === 'released' ? { kind: 'released', lossMicros, isCausedByAccount } : null,
      }),
    );
    this.#end();
  }

  /**
   * Runs an action that books a loss which the account could cause, one at a time. `isWithin`: the
   * account's loss budget has room for it.
   */
  withinLossBudget<T>(action: (isWithin: boolean) => Promise<T>): Promise<T> {
    return this.#books.trust.bookInTurn(this.#payer.caller.key, action);
  }

  /** Books a loss beside this hold, once for each call, under a hold of zero. */
  async bookLossBeside({ lossMicros, callNumber, isCausedByAccount = false }: Loss): Promise<void> {
    if (lossMicros === 0) return;
    const { ledger, owner, log } = this.#books;
    const { requestId, key, record } = this.#payer.caller;
    const holdId = `${requestId}/attempt-${callNumber}`;
    try {
      const toHold = reserveFor(key, { holdId, amountMicros: zeroMicros, owner });
      const held = await ledger.submit({ ...toHold, isForLoss: true });
      const release = { type: 'release', holdId, lossMicros, isCausedByAccount } as const;
      const outcome = held.type === 'held' ? await ledger.submit(release) : held;
      if (outcome.type === 'released')
        return record.tell({ type: 'lost', lossMicros, isCausedByAccount });
      throw new Error(`the ledger answered with ${outcome.type}`);
    } catch (err) {
      // The request can still be served.
      log.warn(
        { err, request_id: requestId, loss_micros: lossMicros },
        'a loss could not be booked',
      );
    }
  }

  /**
   * Writes the settlement. If it is given up, the ledger later releases the hold and books the
   * loss.
   */
  async #settle(settle: Settle): Promise<Outcome> {
    const { clock, ledger } = this.#books;
    const { record } = settle;
    try {
      const outcome = await this.#payer.caller.record.tellStep(
        clock,
        () => ledger.submit(settle),
        (written) => ({
          type: 'settled',
          settled: written?.type === 'charged' ? chargedOf(written, record) : null,
        }),
      );
      this.#end();
      return outcome;
    } catch (error) {
      if (error instanceof LedgerUnavailable) {
        this.#end();
        this.#loseCharge(record);
      }
      throw error;
    }
  }

  #end(): void {
    if (!this.hasEnded) this.#endRisk();
    this.hasEnded = true;
  }

  /** The answer is free, so its cost is lost. */
  #loseCharge({ upstreamCostMicros: lossMicros }: ChargeRecord): null {
    this.#payer.caller.record.tell({ type: 'lost', lossMicros, isCausedByAccount: false });
    return null;
  }
}

function chargedOf(
  { chargedMicros, lossMicros }: Extract<Outcome, { type: 'charged' }>,
  { upstreamCostMicros, usage, provider, ending }: ChargeRecord,
): Charged {
  const costs = { costMicros: chargedMicros, upstreamCostMicros, lossMicros };
  return { kind: 'charged', ...costs, usage: usage === noUsage ? null : usage, provider, ending };
}

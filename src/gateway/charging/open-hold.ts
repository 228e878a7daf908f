// A hold in the ledger, from its reservation to its one end: a charge or a release. A charge is
// durable before success is reported.
import { keepPrice, type PriceTerms } from '../../canonical/price-terms.ts';
import { type StoredResponse, worthOf } from '../../canonical/stored-response.ts';
import type { ApiKey } from '../../domain/keys/api-key.ts';
import { LedgerUnavailable } from '../../domain/ledger/batcher.ts';
import {
  ledgerIdOf,
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
import type { AccountStandings } from './account-standings.ts';
import type { AnswerStorage } from '../replaying/answer-storage.ts';
import type { Caller } from '../request.ts';

/** The ledger that holds are written to, and who is informed of losses. */
export type Books = {
  readonly ledger: Ledger;
  /** This process's name in the ledger's leases. */
  readonly owner: string;
  readonly standings: AccountStandings;
  readonly log: Logger;
};

/** The paying account and key. */
export type Payer = {
  readonly caller: Pick<Caller, 'requestId' | 'key' | 'log'>;
  readonly tags: readonly string[] | undefined;
};

/** What is charged. */
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
  readonly isProvoked?: boolean;
};

/** The answer that is stored with a charge. */
type ToStore = {
  /** null: nothing is stored. */
  readonly response: StoredResponse | null;
  /** True when the gateway did not cut the answer short. */
  readonly isWhole: boolean;
  readonly storage: AnswerStorage;
};

/** `isProvoked`: the account could cause the loss; left out: it could not. */
type Blame = { readonly isProvoked?: boolean };

export type Charge = { readonly costMicros: Micros; readonly balanceCents: number };

type Amounts = Pick<Reserve, 'amountMicros' | 'likelyCost'>;

/**
 * Reserves a hold under the request's id. Throws ApiError `loss_budget_exceeded` or
 * `rate_limit_exceeded`.
 */
export async function reserve(
  books: Books,
  payer: Payer,
  { mayOutlast, amountMicros, likelyCost }: Amounts & { readonly mayOutlast: boolean },
): Promise<OpenHold | RefusedOutcome> {
  const endRisk = await books.standings.admit(
    payer.caller.key,
    mayOutlast ? amountMicros : zeroMicros,
  );
  let held: OpenHold | RefusedOutcome | null = null;
  try {
    held = await submitReserve(books, payer, { amounts: { amountMicros, likelyCost }, endRisk });
    return held;
  } finally {
    if (!(held instanceof OpenHold)) endRisk();
  }
}

type ToReserve = { readonly amounts: Amounts; readonly endRisk: () => void };

async function submitReserve(
  books: Books,
  payer: Payer,
  { amounts, endRisk }: ToReserve,
): Promise<OpenHold | RefusedOutcome> {
  const { requestId, key } = payer.caller;
  const span = payer.caller.log.spans?.beginHold(amounts.amountMicros);
  const submitted = books.ledger.submit({
    type: 'reserve',
    holdId: requestId,
    ledgerId: ledgerIdOf(key.accountId, key.mode),
    keyId: key.id,
    ...amounts,
    dailyCapMicros: key.dailyCapMicros,
    monthlyCapMicros: key.monthlyCapMicros,
    ...budgetOf(key),
    owner: books.owner,
  });
  const outcome = await (span ? submitted.finally(() => span.end()) : submitted);
  if (span) span.outcome = outcome.type === 'held' ? 'held' : 'refused';
  switch (outcome.type) {
    case 'held':
      return new OpenHold(books, payer, { ...amounts, endRisk });
    case 'account-frozen':
    case 'insufficient-balance':
    case 'key-daily-limit':
    case 'key-monthly-limit':
    case 'member-daily-limit':
    case 'member-monthly-limit':
      return outcome;
    default:
      throw new Error(`the ledger answered a reservation with ${outcome.type}`);
  }
}

/** A request keeps the key, and so the budget, with which it began. */
function budgetOf({ budget }: ApiKey): Pick<Reserve, 'budget'> {
  return budget ? { budget } : {};
}

export class OpenHold {
  readonly #books: Books;
  readonly #payer: Payer;
  readonly #ledgerId: LedgerId;
  #amountMicros: Micros;
  readonly #endRisk: () => void;
  #extensions = 0;
  #hasEnded = false;

  constructor(
    books: Books,
    payer: Payer,
    { amountMicros, endRisk }: Pick<Reserve, 'amountMicros'> & Pick<ToReserve, 'endRisk'>,
  ) {
    this.#books = books;
    this.#payer = payer;
    this.#endRisk = endRisk;
    this.#ledgerId = ledgerIdOf(payer.caller.key.accountId, payer.caller.key.mode);
    this.#amountMicros = amountMicros;
    payer.caller.log.note({ holdMicros: amountMicros });
  }

  /** True when it was charged or released, or the ledger will do so by itself. */
  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /**
   * Grows the hold to this amount. `refused`: it does not fit now. `failed`: the ledger cannot be
   * written.
   */
  async extendTo(amountMicros: Micros): Promise<'held' | 'refused' | 'failed'> {
    const { requestId, key, log } = this.#payer.caller;
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
    log.note({ holdMicros: amountMicros });
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
    const { upstreamCostMicros } = record;
    const { caller, tags } = this.#payer;
    const { requestId, key, log } = caller;
    const isFree = key.mode === 'test' || costMicros === 0;
    const sealed = response && (await storage.seal(response, { isWhole, isFree }));
    const span = log.spans?.beginSettlement();
    const settling = this.#settle({
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
    const outcome = await (span ? settling.finally(() => span.end()) : settling);
    if (outcome.type === 'superseded') return this.#noteFree(upstreamCostMicros);
    if (outcome.type !== 'charged')
      throw new Error(`the ledger answered a settlement with ${outcome.type}`);
    const { chargedMicros, lossMicros, availableMicros } = outcome;
    if (span) span.settled = { kind: 'charged', costMicros: chargedMicros, lossMicros };
    if (response)
      storage.noteStored({
        ...response,
        worth: worthOf({ costMicros: chargedMicros, usage: record.usage }),
      });
    if (lossMicros > 0) this.#books.standings.noteLoss(key);
    const { provider, ending } = record;
    log.noteCharge(
      { costMicros: chargedMicros, upstreamCostMicros, lossMicros },
      { provider, ending },
    );
    return { costMicros: chargedMicros, balanceCents: floorToCents(availableMicros) };
  }

  /**
   * Ends the hold without a charge. The loss is what the provider bills anyway.
   */
  async release(lossMicros: Micros, { isProvoked = false }: Blame = {}): Promise<void> {
    const { requestId, key, log } = this.#payer.caller;
    log.note({ ending: 'failed' });
    const release = {
      type: 'release',
      holdId: requestId,
      lossMicros,
      ...(isProvoked && { isProvoked }),
    } as const;
    const span = log.spans?.beginSettlement();
    const submitted = this.#books.ledger.submit(release);
    const outcome = await (span ? submitted.finally(() => span.end()) : submitted);
    this.#end();
    if (span && outcome.type === 'released')
      span.settled = { kind: 'released', costMicros: 0, lossMicros };
    if (outcome.type === 'released') log.addLoss(lossMicros);
    if (isProvoked) this.#books.standings.noteLoss(key);
  }

  /**
   * Runs an action that books a loss which the account could cause, one at a time. `isWithin`: the
   * account's loss budget has room for it.
   */
  withinLossBudget<T>(action: (isWithin: boolean) => Promise<T>): Promise<T> {
    return this.#books.standings.bookInTurn(this.#payer.caller.key, action);
  }

  /** Books a loss beside this hold, once for each call, under a hold of zero. */
  async bookLossBeside({ lossMicros, callNumber, isProvoked = false }: Loss): Promise<void> {
    if (lossMicros === 0) return;
    const { ledger, owner, log } = this.#books;
    const { requestId, key } = this.#payer.caller;
    const holdId = `${requestId}/attempt-${callNumber}`;
    try {
      const held = await ledger.submit({
        type: 'reserve',
        holdId,
        ledgerId: this.#ledgerId,
        keyId: key.id,
        amountMicros: zeroMicros,
        dailyCapMicros: null,
        monthlyCapMicros: null,
        owner,
        isForLoss: true,
      });
      const release = {
        type: 'release',
        holdId,
        lossMicros,
        ...(isProvoked && { isProvoked }),
      } as const;
      const outcome = held.type === 'held' ? await ledger.submit(release) : held;
      if (outcome.type === 'released') {
        if (isProvoked) this.#books.standings.noteLoss(key);
        return this.#payer.caller.log.addLoss(lossMicros);
      }
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
    try {
      const outcome = await this.#books.ledger.submit(settle);
      this.#end();
      return outcome;
    } catch (error) {
      if (error instanceof LedgerUnavailable) {
        this.#end();
        this.#noteFree(settle.record.upstreamCostMicros);
      }
      throw error;
    }
  }

  #end(): void {
    if (!this.#hasEnded) this.#endRisk();
    this.#hasEnded = true;
  }

  #noteFree(lossMicros: Micros): null {
    this.#payer.caller.log.note({ ending: 'failed' });
    this.#payer.caller.log.addLoss(lossMicros);
    return null;
  }
}

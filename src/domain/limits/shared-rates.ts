// A rate limit shared by several gateways. The database holds the bucket. Each gateway prefetches a
// little, so that a busy key seldom waits for the database, and all gateways together never exceed
// the limit. Unused prefetched units are at most 3 % of a minute's budget and return within a
// second. A small limit has nothing to prefetch: every request asks the database.
import { type Bucket, type Budget, refill } from './bucket.ts';
import type { CancelTimer, Clock } from '../../lib/clock.ts';
import { createCoalescedTask } from './coalesced-task.ts';
import { MemoryRates, type Rates, type TakeResult } from './rates.ts';

export type RateRequest = {
  readonly id: string;
  readonly perMinute: number;
  /** Units given back; negative for units used beyond the grants. */
  readonly returned: number;
  readonly wanted: number;
};
/** `level`: the bucket's level after the grant. */
export type RateGrant = { readonly granted: number; readonly level: number };

type SharedRatesOptions = {
  /**
   * Decides all requests in one database statement. Returns the grants in the order of the
   * requests.
   */
  readonly exchange: (requests: readonly RateRequest[]) => Promise<readonly RateGrant[]>;
  readonly onError: (error: unknown) => void;
  readonly clock: Clock;
};

type Waiter = { readonly amount: number; readonly resolve: (taken: TakeResult) => void };

/** This gateway's share of a budget. */
type Share = {
  budget: Budget;
  /** Granted but unused units; negative for units that were used but not reported yet. */
  stock: number;
  /** The bucket as last reported by the database; null when unknown. */
  known: Bucket | null;
  waiters: Waiter[];
  /** True while a database request is in flight. */
  isPending: boolean;
  /** Units used in this tick and in the previous one. */
  used: number;
  usedBefore: number;
};

const tickMs = 500;
const prefetchPart = 0.03;
/**
 * How long a refusal is repeated without asking the database, because other gateways may return
 * units.
 */
const refusalMs = 100;
/** How long a database that failed is not asked again. */
const unavailableMs = 1_000;

export class SharedRates implements Rates {
  readonly #options: SharedRatesOptions;
  readonly #shares = new Map<string, Share>();
  readonly #exchangeTask = createCoalescedTask(() => this.#exchange());
  readonly #stopTicking: CancelTimer;
  /** Used while the database is unavailable: each gateway counts by itself. */
  readonly #fallback: MemoryRates;
  /** By `Clock.elapsedMs`. */
  #unavailableUntilMs = 0;

  constructor(options: SharedRatesOptions) {
    this.#options = options;
    this.#fallback = new MemoryRates(options.clock.nowMs);
    this.#stopTicking = options.clock.every(tickMs, () => this.#tick());
  }

  take(budget: Budget, amount: number): TakeResult | Promise<TakeResult> {
    const share = this.#shareOf(budget);
    if (amount > budget.perMinute) return { isGranted: false, left: this.#leftOf(share) };
    if (share.waiters.length === 0 && share.stock >= amount) {
      share.stock -= amount;
      share.used += amount;
      if (share.stock < prefetchOf(share) / 2) this.#exchangeTask.schedule();
      return { isGranted: true, left: this.#leftOf(share) };
    }
    if (this.#isUnavailable()) return this.#fallback.take(budget, amount);
    if (this.#isRefused(share, amount)) return { isGranted: false, left: this.#leftOf(share) };
    return new Promise((resolve) => {
      share.waiters.push({ amount, resolve });
      this.#exchangeTask.schedule();
    });
  }

  correct(budget: Budget, amount: number): void {
    const share = this.#shareOf(budget);
    share.stock += amount;
    share.used = Math.max(0, share.used - amount);
    if (share.stock < 0 || share.stock > prefetchMax(share)) this.#exchangeTask.schedule();
  }

  /** Returns all unused units. */
  async close(): Promise<void> {
    this.#stopTicking();
    await this.#exchangeTask.whenIdle();
    for (const share of this.#shares.values()) share.used = share.usedBefore = 0;
    await this.#exchange();
  }

  async #exchange(): Promise<void> {
    if (this.#isUnavailable()) return this.#serveLocally([...this.#shares.values()]);
    const batch = [...this.#shares.values()]
      .map(prepareRequest)
      .filter((prepared) => prepared !== null);
    if (batch.length === 0) return;
    try {
      const grants = await this.#options.exchange(batch.map(({ request }) => request));
      for (const [index, prepared] of batch.entries()) this.#serve(prepared, grants[index]!);
    } catch (error) {
      this.#unavailableUntilMs = this.#options.clock.elapsedMs() + unavailableMs;
      this.#options.onError(error);
      for (const prepared of batch) undo(prepared);
      this.#serveLocally(batch.map(({ share }) => share));
    }
  }

  /** Serves the waiters in order, from the units set aside for them and the new grant. */
  #serve({ share, waiters, kept }: PreparedRequest, { granted, level }: RateGrant): void {
    share.isPending = false;
    share.known = { level, updatedMs: this.#options.clock.nowMs() };
    let pot = kept + granted;
    const decisions = waiters.map(({ amount }) => {
      if (amount > pot) return false;
      pot -= amount;
      share.used += amount;
      return true;
    });
    share.stock += pot;
    // After a refusal, more units may be left than are worth keeping; other gateways need them.
    if (share.stock > prefetchMax(share)) this.#exchangeTask.schedule();
    for (const [index, { resolve }] of waiters.entries())
      resolve({ isGranted: decisions[index]!, left: this.#leftOf(share) });
  }

  #serveLocally(shares: readonly Share[]): void {
    for (const share of shares) {
      for (const { amount, resolve } of share.waiters.splice(0))
        resolve(this.#fallback.take(share.budget, amount));
    }
  }

  /** Returns units unused for a whole tick, and drops shares without units and waiters. */
  #tick(): void {
    for (const [id, share] of this.#shares) {
      share.usedBefore = share.used;
      share.used = 0;
      if (share.usedBefore > 0 || share.waiters.length > 0 || share.isPending) continue;
      if (share.stock === 0) this.#shares.delete(id);
      else this.#exchangeTask.schedule();
    }
  }

  #shareOf(budget: Budget): Share {
    let share = this.#shares.get(budget.id);
    if (!share) {
      share = {
        budget,
        stock: 0,
        known: null,
        waiters: [],
        isPending: false,
        used: 0,
        usedBefore: 0,
      };
      this.#shares.set(budget.id, share);
    } else if (share.budget.perMinute !== budget.perMinute) {
      share.budget = budget;
      share.known = null;
    }
    return share;
  }

  #isUnavailable(): boolean {
    return this.#options.clock.elapsedMs() < this.#unavailableUntilMs;
  }

  /**
   * Returns true when the database has just reported less, so that a flood of refused requests does
   * not reach the database.
   */
  #isRefused(share: Share, amount: number): boolean {
    const { known } = share;
    return (
      known !== null &&
      this.#options.clock.nowMs() - known.updatedMs < refusalMs &&
      this.#leftOf(share) < amount
    );
  }

  #leftOf({ budget, known, stock }: Share): number {
    const bucket = refill(known ?? undefined, budget.perMinute, this.#options.clock.nowMs());
    return Math.min(budget.perMinute, bucket.level + stock);
  }
}

/** A prepared database request for a share, its waiters, and the units set aside for them. */
type PreparedRequest = {
  readonly share: Share;
  readonly request: RateRequest;
  readonly waiters: readonly Waiter[];
  readonly kept: number;
};

/** Returns null when there is nothing to request. */
function prepareRequest(share: Share): PreparedRequest | null {
  const { budget, waiters, stock } = share;
  const needed = waiters.reduce((sum, { amount }) => sum + amount, 0);
  const prefetch = prefetchOf(share);
  const isLow = stock < needed || stock < prefetch / 2;
  // Reports a debt, and returns units beyond what this gateway will need soon.
  const returned =
    stock < 0
      ? stock
      : stock > needed + prefetchMax(share) || !isBusy(share)
        ? Math.max(0, stock - needed - prefetch)
        : 0;
  const rest = stock - returned;
  const wanted = isLow ? Math.max(0, needed + prefetch - rest) : 0;
  if (wanted === 0 && returned === 0 && waiters.length === 0) return null;
  const kept = Math.min(rest, needed);
  share.stock = rest - kept;
  share.waiters = [];
  share.isPending = true;
  // Counts the returned units at once: otherwise a refusal in the meantime would report an outdated
  // level.
  share.known &&= { ...share.known, level: share.known.level + returned };
  return { share, request: { ...budget, returned, wanted }, waiters, kept };
}

/**
 * Undoes a failed request. Returned units may have arrived, so they are not restored; a debt must
 * not be lost.
 */
function undo({ share, request, waiters, kept }: PreparedRequest): void {
  share.isPending = false;
  share.waiters.unshift(...waiters);
  share.stock += kept + Math.min(0, request.returned);
}

function isBusy({ used, usedBefore }: Share): boolean {
  return used + usedBefore > 0;
}

/** As many units as were used recently, but few enough that other gateways do not miss them. */
function prefetchOf(share: Share): number {
  return Math.min(prefetchMax(share), share.used + share.usedBefore);
}

function prefetchMax({ budget }: Share): number {
  return Math.floor(budget.perMinute * prefetchPart);
}

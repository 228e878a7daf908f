// A budget that several gateways share. What is left lies in the database; each gateway draws a little ahead of its need, so that a busy
// key seldom waits for the database, and the gateways together never use more than there is. What lies at a gateway unused is at most 3 %
// of a minute, and goes back within a second. A small limit has nothing to spare: there each request is asked for.
import { type Bucket, type Budget, refill } from './bucket.ts';
import type { CancelTimer, Clock } from '../lib/clock.ts';
import { createPulse, withinMs } from './pulse.ts';
import { MemoryRates, type Rates, type Taken } from './rates.ts';

export type RateAsk = {
  readonly id: string;
  readonly perMinute: number;
  /** What is given back, or, negative, was used beyond what was granted. */
  readonly returned: number;
  readonly wanted: number;
};
/** `level`: what the bucket is left with. */
export type RateGrant = { readonly granted: number; readonly level: number };

export type SharedRatesOptions = {
  /** Decides in one step, in the database; the answers in the order of the asks. */
  readonly exchange: (asks: readonly RateAsk[]) => Promise<readonly RateGrant[]>;
  readonly onError: (error: unknown) => void;
  readonly clock: Clock;
};

type Waiter = { readonly amount: number; readonly resolve: (taken: Taken) => void };

/** This gateway's part of a budget. */
type Share = {
  budget: Budget;
  /** Granted and not used yet; negative: used beyond, and not told yet. */
  stock: number;
  /** The bucket as the database last told; null: nothing is known of it. */
  known: Bucket | null;
  waiters: Waiter[];
  /** Whether the database is being asked for it. */
  isAsked: boolean;
  /** What the share gave in this tick, and in the one before. */
  used: number;
  usedBefore: number;
};

const tickMs = 500;
const aheadPart = 0.03;
/** How long a refusal stands without asking anew: others may have given something back. */
const refusalMs = 100;
/** A database that does not answer in this time is taken for away, and asked again after it. */
const answerMs = 1_000;

export class SharedRates implements Rates {
  readonly #options: SharedRatesOptions;
  readonly #shares = new Map<string, Share>();
  readonly #pulse = createPulse(() => this.#exchange());
  readonly #stopTicking: CancelTimer;
  /** While the database is away each gateway counts for itself. */
  readonly #alone: MemoryRates;
  #awayUntilMs = 0;

  constructor(options: SharedRatesOptions) {
    this.#options = options;
    this.#alone = new MemoryRates(options.clock.nowMs);
    this.#stopTicking = options.clock.every(tickMs, () => this.#tick());
  }

  take(budget: Budget, amount: number): Taken | Promise<Taken> {
    const share = this.#shareOf(budget);
    if (amount > budget.perMinute) return { isGranted: false, left: this.#leftOf(share) };
    if (share.waiters.length === 0 && share.stock >= amount) {
      share.stock -= amount;
      share.used += amount;
      if (share.stock < aheadOf(share) / 2) this.#pulse.ask();
      return { isGranted: true, left: this.#leftOf(share) };
    }
    if (this.#isAway()) return this.#alone.take(budget, amount);
    if (this.#isRefused(share, amount)) return { isGranted: false, left: this.#leftOf(share) };
    return new Promise((resolve) => {
      share.waiters.push({ amount, resolve });
      this.#pulse.ask();
    });
  }

  correct(budget: Budget, amount: number): void {
    const share = this.#shareOf(budget);
    share.stock += amount;
    share.used = Math.max(0, share.used - amount);
    if (share.stock < 0 || share.stock > aheadMax(share)) this.#pulse.ask();
  }

  /** Gives everything back. */
  async close(): Promise<void> {
    this.#stopTicking();
    await this.#pulse.whenIdle();
    for (const share of this.#shares.values()) share.used = share.usedBefore = 0;
    await this.#exchange();
  }

  async #exchange(): Promise<void> {
    if (this.#isAway()) return this.#serveAlone([...this.#shares.values()]);
    const orders = [...this.#shares.values()].map(orderOf).filter((order) => order !== null);
    if (orders.length === 0) return;
    try {
      const grants = await withinMs(this.#options.clock, answerMs, this.#options.exchange(orders.map(({ ask }) => ask)));
      for (const [index, order] of orders.entries()) this.#serve(order, grants[index]!);
    } catch (error) {
      this.#awayUntilMs = this.#options.clock.nowMs() + answerMs;
      this.#options.onError(error);
      for (const order of orders) takeBack(order);
      this.#serveAlone(orders.map(({ share }) => share));
    }
  }

  /** Those that waited, in their order, from what was kept for them and what was granted. */
  #serve({ share, waiters, kept }: Order, { granted, level }: RateGrant): void {
    share.isAsked = false;
    share.known = { level, updatedMs: this.#options.clock.nowMs() };
    let pot = kept + granted;
    const decisions = waiters.map(({ amount }) => {
      if (amount > pot) return false;
      pot -= amount;
      share.used += amount;
      return true;
    });
    share.stock += pot;
    // A refusal may leave more than is worth keeping, which others need now.
    if (share.stock > aheadMax(share)) this.#pulse.ask();
    for (const [index, { resolve }] of waiters.entries()) resolve({ isGranted: decisions[index]!, left: this.#leftOf(share) });
  }

  #serveAlone(shares: readonly Share[]): void {
    for (const share of shares) {
      for (const { amount, resolve } of share.waiters.splice(0)) resolve(this.#alone.take(share.budget, amount));
    }
  }

  /** What was not used for a whole tick goes back; a share that has nothing and wants nothing is forgotten. */
  #tick(): void {
    for (const [id, share] of this.#shares) {
      share.usedBefore = share.used;
      share.used = 0;
      if (share.usedBefore > 0 || share.waiters.length > 0 || share.isAsked) continue;
      if (share.stock === 0) this.#shares.delete(id);
      else this.#pulse.ask();
    }
  }

  #shareOf(budget: Budget): Share {
    let share = this.#shares.get(budget.id);
    if (!share) {
      share = { budget, stock: 0, known: null, waiters: [], isAsked: false, used: 0, usedBefore: 0 };
      this.#shares.set(budget.id, share);
    } else if (share.budget.perMinute !== budget.perMinute) {
      share.budget = budget;
      share.known = null;
    }
    return share;
  }

  #isAway(): boolean {
    return this.#options.clock.nowMs() < this.#awayUntilMs;
  }

  /** Whether the database has just said that there is less, so that a flood of refused requests does not become one of questions. */
  #isRefused(share: Share, amount: number): boolean {
    const { known } = share;
    return known !== null && this.#options.clock.nowMs() - known.updatedMs < refusalMs && this.#leftOf(share) < amount;
  }

  #leftOf({ budget, known, stock }: Share): number {
    const bucket = refill(known ?? undefined, budget.perMinute, this.#options.clock.nowMs());
    return Math.min(budget.perMinute, bucket.level + stock);
  }
}

/** What is asked for a share, who waits for it, and what of its stock is set aside for them. */
type Order = { readonly share: Share; readonly ask: RateAsk; readonly waiters: readonly Waiter[]; readonly kept: number };

/** null: nothing is to be asked. */
function orderOf(share: Share): Order | null {
  const { budget, waiters, stock } = share;
  const needed = waiters.reduce((sum, { amount }) => sum + amount, 0);
  const ahead = aheadOf(share);
  const isLow = stock < needed || stock < ahead / 2;
  // A debt is told; so is what is more than this gateway will soon need.
  const returned =
    stock < 0 ? stock : stock > needed + aheadMax(share) || !isBusy(share) ? Math.max(0, stock - needed - ahead) : 0;
  const rest = stock - returned;
  const wanted = isLow ? Math.max(0, needed + ahead - rest) : 0;
  if (wanted === 0 && returned === 0 && waiters.length === 0) return null;
  const kept = Math.min(rest, needed);
  share.stock = rest - kept;
  share.waiters = [];
  share.isAsked = true;
  // What is on its way there counts already: else a refusal in between would tell of a debt, or of what came back, too late.
  share.known &&= { ...share.known, level: share.known.level + returned };
  return { share, ask: { ...budget, returned, wanted }, waiters, kept };
}

/** The question failed. What was to be given back may be there already, what is owed must not be forgotten. */
function takeBack({ share, ask, waiters, kept }: Order): void {
  share.isAsked = false;
  share.waiters.unshift(...waiters);
  share.stock += kept + Math.min(0, ask.returned);
}

function isBusy({ used, usedBefore }: Share): boolean {
  return used + usedBefore > 0;
}

/** As much as was used of late, and never so much that others would miss it. */
function aheadOf(share: Share): number {
  return Math.min(aheadMax(share), share.used + share.usedBefore);
}

function aheadMax({ budget }: Share): number {
  return Math.floor(budget.perMinute * aheadPart);
}

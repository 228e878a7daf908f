// Concurrency slots shared by several gateways. The database holds each gateway's slot count; a
// dead gateway's slots are free when its lease expires (the ledger's lease, table hold_owners). A
// gateway always reports its total count, so a lost response does no harm. Of a large limit it
// keeps up to 3 % as spare slots for a moment; of a small one it returns each slot at once.
import { createCoalescedTask } from './coalesced-task.ts';
import type { SlotLimit, Slots } from './slots.ts';
import type { CancelTimer, Clock } from '../../lib/clock.ts';

export type SlotRequest = {
  readonly id: string;
  readonly max: number;
  readonly inUse: number;
  readonly wanted: number;
};

type SharedSlotsOptions = {
  /**
   * Returns the slots granted beyond those in use, in the order of the requests. Spare slots that
   * are not requested again are returned.
   */
  readonly exchange: (requests: readonly SlotRequest[]) => Promise<readonly number[]>;
  readonly onError: (error: unknown) => void;
  readonly clock: Clock;
};

/** This gateway's slots of one limit. `leased`: the count in the database, at least `inUse`. */
type SlotPool = {
  limit: SlotLimit;
  inUse: number;
  leased: number;
  waiters: ((isGranted: boolean) => void)[];
  isPending: boolean;
  /** True after an exchange that failed: the database may count slots that are not in use here. */
  isUnsure: boolean;
  /** True when a slot was taken since the last tick. */
  isBusy: boolean;
};

const tickMs = 500;
const sparePart = 0.03;
const unavailableMs = 1_000;
/**
 * A slot returned at another gateway becomes available with a short delay; a client that sends one
 * request after another must not be refused because of it.
 */
const graceMs = 50;

export class SharedSlots implements Slots {
  readonly #options: SharedSlotsOptions;
  readonly #pools = new Map<string, SlotPool>();
  readonly #exchangeTask = createCoalescedTask(() => this.#exchange());
  readonly #stopTicking: CancelTimer;
  /** By `Clock.elapsedMs`. */
  #unavailableUntilMs = 0;

  constructor(options: SharedSlotsOptions) {
    this.#options = options;
    this.#stopTicking = options.clock.every(tickMs, () => this.#tick());
  }

  take(limit: SlotLimit): boolean | Promise<boolean> {
    const pool = this.#poolOf(limit);
    pool.isBusy = true;
    if (limit.max === 0) return false;
    if (
      !pool.isPending &&
      pool.waiters.length === 0 &&
      pool.inUse < Math.min(pool.leased, limit.max)
    ) {
      pool.inUse++;
      return true;
    }
    return this.#takeWithGrace(limit, pool);
  }

  give(limit: SlotLimit): void {
    const pool = this.#poolOf(limit);
    pool.inUse = Math.max(0, pool.inUse - 1);
    if (pool.leased - pool.inUse > spareMax(pool)) this.#exchangeTask.schedule();
  }

  /** Returns all unused slots. */
  async close(): Promise<void> {
    this.#stopTicking();
    await this.#exchangeTask.whenIdle();
    for (const pool of this.#pools.values()) pool.isBusy = false;
    await this.#exchange();
  }

  async #takeWithGrace(limit: SlotLimit, pool: SlotPool): Promise<boolean> {
    if (await this.#wait(pool)) return true;
    await this.#options.clock.sleep(graceMs);
    return this.#wait(this.#poolOf(limit));
  }

  #wait(pool: SlotPool): Promise<boolean> {
    return new Promise((resolve) => {
      pool.waiters.push(resolve);
      this.#exchangeTask.schedule();
    });
  }

  async #exchange(): Promise<void> {
    const batch = [...this.#pools.values()]
      .map(prepareRequest)
      .filter((prepared) => prepared !== null);
    if (batch.length === 0) return;
    if (this.#options.clock.elapsedMs() < this.#unavailableUntilMs)
      return this.#serveLocally(batch);
    try {
      const grants = await this.#options.exchange(batch.map(({ request }) => request));
      for (const [index, prepared] of batch.entries()) this.#serve(prepared, grants[index]!);
    } catch (error) {
      this.#unavailableUntilMs = this.#options.clock.elapsedMs() + unavailableMs;
      this.#options.onError(error);
      this.#serveLocally(batch);
    }
  }

  #serve({ pool, request, waiters }: PreparedRequest, granted: number): void {
    pool.isPending = false;
    pool.isUnsure = false;
    pool.leased = request.inUse + granted;
    // Requests may have ended in the meantime; their slots go to the waiting ones too.
    for (const resolve of waiters) {
      const isGranted = pool.inUse < pool.leased;
      if (isGranted) pool.inUse++;
      resolve(isGranted);
    }
    if (pool.leased - pool.inUse > spareMax(pool)) this.#exchangeTask.schedule();
  }

  /**
   * While the database is unavailable, each gateway grants the whole limit by itself. It reports
   * its count when the database is back.
   */
  #serveLocally(batch: readonly PreparedRequest[]): void {
    for (const { pool, waiters } of batch) {
      pool.isPending = false;
      pool.isUnsure = true;
      for (const resolve of waiters) {
        const isGranted = pool.inUse < pool.limit.max;
        if (isGranted) pool.inUse++;
        resolve(isGranted);
      }
    }
  }

  #tick(): void {
    for (const [id, pool] of this.#pools) {
      if (pool.isUnsure || (!pool.isBusy && pool.leased !== pool.inUse))
        this.#exchangeTask.schedule();
      const isEmpty = pool.inUse === 0 && pool.leased === 0 && pool.waiters.length === 0;
      if (isEmpty && !pool.isPending && !pool.isUnsure && !pool.isBusy) this.#pools.delete(id);
      pool.isBusy = false;
    }
  }

  #poolOf(limit: SlotLimit): SlotPool {
    let pool = this.#pools.get(limit.id);
    if (!pool) {
      pool = {
        limit,
        inUse: 0,
        leased: 0,
        waiters: [],
        isPending: false,
        isUnsure: false,
        isBusy: false,
      };
      this.#pools.set(limit.id, pool);
    }
    pool.limit = limit;
    return pool;
  }
}

type PreparedRequest = {
  readonly pool: SlotPool;
  readonly request: SlotRequest;
  readonly waiters: SlotPool['waiters'];
};

/** Returns null when there is nothing to request. */
function prepareRequest(pool: SlotPool): PreparedRequest | null {
  const { limit, inUse, leased, waiters } = pool;
  const spare = pool.isBusy ? Math.min(spareMax(pool), inUse) : 0;
  const isRight = !pool.isUnsure && leased >= inUse && leased - inUse <= spare;
  if (waiters.length === 0 && isRight) return null;
  pool.waiters = [];
  pool.isPending = true;
  return {
    pool,
    request: {
      ...limit,
      inUse,
      wanted: waiters.length + (waiters.length > 0 ? spare : Math.min(spare, leased - inUse)),
    },
    waiters,
  };
}

function spareMax({ limit }: SlotPool): number {
  return Math.floor(limit.max * sparePart);
}

// Slots that several gateways share. The database knows how many each gateway has; those of a gateway that died are free again when its
// lease ends (the ledger's, db table hold_owners). A gateway always tells the whole number that it has, so that a lost answer does no
// harm. Of a large limit it keeps up to 3 % at hand for a moment; of a small one it gives each slot back at once.
import { createPulse, withinMs } from './pulse.ts';
import type { SlotLimit, Slots } from './slots.ts';
import type { CancelTimer, Clock } from '../lib/clock.ts';

export type SlotAsk = { readonly id: string; readonly max: number; readonly inUse: number; readonly wanted: number };

export type SharedSlotsOptions = {
  /** How many are granted beyond those in use, in the order of the asks; what this gateway had beyond is given back. */
  readonly exchange: (asks: readonly SlotAsk[]) => Promise<readonly number[]>;
  readonly onError: (error: unknown) => void;
  readonly clock: Clock;
};

/** This gateway's slots of one limit. `leased`: what the database knows of, at least those in use. */
type Rack = {
  limit: SlotLimit;
  inUse: number;
  leased: number;
  waiters: ((isGranted: boolean) => void)[];
  isAsked: boolean;
  /** Whether a slot was taken since the last tick. */
  isBusy: boolean;
};

const tickMs = 500;
const keptPart = 0.03;
const answerMs = 1_000;
/** A slot that was given back at another gateway is on its way for a moment; a client that sends one request after the other must not run into it. */
const graceMs = 50;

export class SharedSlots implements Slots {
  readonly #options: SharedSlotsOptions;
  readonly #racks = new Map<string, Rack>();
  readonly #pulse = createPulse(() => this.#exchange());
  readonly #stopTicking: CancelTimer;
  #awayUntilMs = 0;

  constructor(options: SharedSlotsOptions) {
    this.#options = options;
    this.#stopTicking = options.clock.every(tickMs, () => this.#tick());
  }

  take(limit: SlotLimit): boolean | Promise<boolean> {
    const rack = this.#rackOf(limit);
    rack.isBusy = true;
    if (limit.max === 0) return false;
    if (!rack.isAsked && rack.waiters.length === 0 && rack.inUse < Math.min(rack.leased, limit.max)) {
      rack.inUse++;
      return true;
    }
    return this.#takeWithGrace(limit, rack);
  }

  give(limit: SlotLimit): void {
    const rack = this.#rackOf(limit);
    rack.inUse = Math.max(0, rack.inUse - 1);
    if (rack.leased - rack.inUse > keptMax(rack)) this.#pulse.ask();
  }

  /** Gives back what is not in use. */
  async close(): Promise<void> {
    this.#stopTicking();
    await this.#pulse.whenIdle();
    for (const rack of this.#racks.values()) rack.isBusy = false;
    await this.#exchange();
  }

  async #takeWithGrace(limit: SlotLimit, rack: Rack): Promise<boolean> {
    if (await this.#wait(rack)) return true;
    await this.#options.clock.sleep(graceMs);
    return this.#wait(this.#rackOf(limit));
  }

  #wait(rack: Rack): Promise<boolean> {
    return new Promise((resolve) => {
      rack.waiters.push(resolve);
      this.#pulse.ask();
    });
  }

  async #exchange(): Promise<void> {
    const orders = [...this.#racks.values()].map(orderOf).filter((order) => order !== null);
    if (orders.length === 0) return;
    if (this.#options.clock.nowMs() < this.#awayUntilMs) return this.#serveAlone(orders);
    try {
      const grants = await withinMs(this.#options.clock, answerMs, this.#options.exchange(orders.map(({ ask }) => ask)));
      for (const [index, order] of orders.entries()) this.#serve(order, grants[index]!);
    } catch (error) {
      this.#awayUntilMs = this.#options.clock.nowMs() + answerMs;
      this.#options.onError(error);
      this.#serveAlone(orders);
    }
  }

  #serve({ rack, ask, waiters }: Order, granted: number): void {
    rack.isAsked = false;
    rack.leased = ask.inUse + granted;
    // Some of those that were in use may have ended meanwhile: their slots are for those that wait, too.
    for (const resolve of waiters) {
      const isGranted = rack.inUse < rack.leased;
      if (isGranted) rack.inUse++;
      resolve(isGranted);
    }
    if (rack.leased - rack.inUse > keptMax(rack)) this.#pulse.ask();
  }

  /** The database is away: each gateway grants the whole limit by itself, and tells what it has when it is back. */
  #serveAlone(orders: readonly Order[]): void {
    for (const { rack, waiters } of orders) {
      rack.isAsked = false;
      for (const resolve of waiters) {
        const isGranted = rack.inUse < rack.limit.max;
        if (isGranted) rack.inUse++;
        resolve(isGranted);
      }
    }
  }

  #tick(): void {
    for (const [id, rack] of this.#racks) {
      if (!rack.isBusy && rack.leased !== rack.inUse) this.#pulse.ask();
      const isEmpty = rack.inUse === 0 && rack.leased === 0 && rack.waiters.length === 0;
      if (isEmpty && !rack.isAsked && !rack.isBusy) this.#racks.delete(id);
      rack.isBusy = false;
    }
  }

  #rackOf(limit: SlotLimit): Rack {
    let rack = this.#racks.get(limit.id);
    if (!rack) {
      rack = { limit, inUse: 0, leased: 0, waiters: [], isAsked: false, isBusy: false };
      this.#racks.set(limit.id, rack);
    }
    rack.limit = limit;
    return rack;
  }
}

type Order = { readonly rack: Rack; readonly ask: SlotAsk; readonly waiters: Rack['waiters'] };

/** null: nothing is to be asked. */
function orderOf(rack: Rack): Order | null {
  const { limit, inUse, leased, waiters } = rack;
  const spare = rack.isBusy ? Math.min(keptMax(rack), inUse) : 0;
  const isRight = leased >= inUse && leased - inUse <= spare;
  if (waiters.length === 0 && isRight) return null;
  rack.waiters = [];
  rack.isAsked = true;
  return {
    rack,
    ask: { ...limit, inUse, wanted: waiters.length + (waiters.length > 0 ? spare : Math.min(spare, leased - inUse)) },
    waiters,
  };
}

function keptMax({ limit }: Rack): number {
  return Math.floor(limit.max * keptPart);
}

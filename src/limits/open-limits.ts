// The limits of this process: counted in memory where it is the only one, shared through the database where others may run beside it.
import { isPostgresUrl, type Database } from '../db/database.ts';
import { type Clock, readSharedTime, type SharedTime } from '../lib/clock.ts';
import { exchangeRates, exchangeSlots, removeIdle } from './postgres-limits.ts';
import { MemoryRates, type Rates } from './rates.ts';
import { type RateAsk, SharedRates } from './shared-rates.ts';
import { SharedSlots } from './shared-slots.ts';
import { MemorySlots, type Slots } from './slots.ts';

export type Limits = { readonly rates: Rates; readonly slots: Slots; readonly close: () => Promise<void> };

export type LimitsOptions = {
  readonly database: Database;
  /** This process, in the ledger's leases. */
  readonly owner: string;
  /** Called when the database cannot be asked; each gateway counts for itself meanwhile. */
  readonly onError: (error: unknown) => void;
  readonly clock: Clock;
  /** For tests; else the database's own clock is used. */
  readonly databaseTime?: SharedTime | undefined;
};

const removeEveryMs = 60_000;

export function openLimits({ database, owner, onError, clock, databaseTime }: LimitsOptions): Limits {
  const databaseNowMs = databaseTime && (() => readSharedTime(databaseTime));
  if (!isPostgresUrl(database.url)) {
    return { rates: new MemoryRates(clock.nowMs), slots: new MemorySlots(), close: async () => {} };
  }
  const exchange = (asks: readonly RateAsk[]) => exchangeRates(database, asks, databaseNowMs?.());
  const rates = new SharedRates({ exchange, onError, clock });
  const slots = new SharedSlots({ exchange: (asks) => exchangeSlots(database, owner, asks), onError, clock });
  const stopRemoving = clock.every(removeEveryMs, () => void removeIdle(database, databaseNowMs?.()).catch(onError));
  const close = async () => {
    stopRemoving();
    await Promise.all([rates.close(), slots.close()]);
  };
  return { rates, slots, close };
}

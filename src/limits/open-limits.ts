// The limits of this process: counted in memory where it is the only one, shared through the database where others may run beside it.
import { isPostgresUrl, type Database } from '../db/database.ts';
import { exchangeRates, exchangeSlots, removeIdle } from './postgres-limits.ts';
import { MemoryRates, type Rates } from './rates.ts';
import { SharedRates } from './shared-rates.ts';
import { SharedSlots } from './shared-slots.ts';
import { MemorySlots, type Slots } from './slots.ts';

export type Limits = { readonly rates: Rates; readonly slots: Slots; readonly close: () => Promise<void> };

export type LimitsOptions = {
  readonly database: Database;
  /** This process, in the ledger's leases. */
  readonly owner: string;
  /** Called when the database cannot be asked; each gateway counts for itself meanwhile. */
  readonly onError: (error: unknown) => void;
};

const removeEveryMs = 60_000;

export function openLimits({ database, owner, onError }: LimitsOptions): Limits {
  const nowMs = Date.now;
  if (!isPostgresUrl(database.url)) {
    return { rates: new MemoryRates(nowMs), slots: new MemorySlots(), close: async () => {} };
  }
  const rates = new SharedRates({ exchange: (asks) => exchangeRates(database, asks), onError, nowMs });
  const slots = new SharedSlots({ exchange: (asks) => exchangeSlots(database, owner, asks), onError, nowMs });
  const timer = setInterval(() => void removeIdle(database).catch(onError), removeEveryMs).unref();
  const close = async () => {
    clearInterval(timer);
    await Promise.all([rates.close(), slots.close()]);
  };
  return { rates, slots, close };
}

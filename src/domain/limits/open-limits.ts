// Opens the limits of this process: in memory when it is the only gateway, shared through the
// database when others may run.
import { isPostgresUrl, type Database } from '../../db/database.ts';
import { type Clock, readSharedTime, type SharedTime } from '../../lib/clock.ts';
import { exchangeRates, exchangeSlots, removeIdle } from './postgres-limits.ts';
import { withTimeout } from './coalesced-task.ts';
import { MemoryRates, type Rates } from './rates.ts';
import { SharedRates } from './shared-rates.ts';
import { SharedSlots } from './shared-slots.ts';
import { MemorySlots, type Slots } from './slots.ts';

export type Limits = {
  readonly rates: Rates;
  readonly slots: Slots;
  readonly close: () => Promise<void>;
};

type LimitsOptions = {
  readonly database: Database;
  /** This process's owner id in the ledger's leases. */
  readonly owner: string;
  /** Called when the database is unavailable; each gateway then counts by itself. */
  readonly onError: (error: unknown) => void;
  readonly clock: Clock;
  /** For tests; otherwise the database's clock is used. */
  readonly databaseTime?: SharedTime | undefined;
};

const removeEveryMs = 60_000;
/** After this time the database counts as unavailable. */
const databaseTimeoutMs = 1_000;

export function openLimits({
  database,
  owner,
  onError,
  clock,
  databaseTime,
}: LimitsOptions): Limits {
  const databaseNowMs = databaseTime && (() => readSharedTime(databaseTime));
  if (!isPostgresUrl(database.url)) {
    return { rates: new MemoryRates(clock.nowMs), slots: new MemorySlots(), close: async () => {} };
  }
  const inTime = <Answer>(answer: Promise<Answer>) => withTimeout(clock, databaseTimeoutMs, answer);
  const rates = new SharedRates({
    exchange: (requests) => inTime(exchangeRates(database.transient, requests, databaseNowMs?.())),
    onError,
    clock,
  });
  const slots = new SharedSlots({
    exchange: (requests) => inTime(exchangeSlots(database, owner, requests)),
    onError,
    clock,
  });
  const stopRemoving = clock.every(
    removeEveryMs,
    () => void removeIdle(database.transient, databaseNowMs?.()).catch(onError),
  );
  const close = async () => {
    stopRemoving();
    await Promise.all([rates.close(), slots.close()]);
  };
  return { rates, slots, close };
}

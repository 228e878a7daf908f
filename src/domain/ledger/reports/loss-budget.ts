// The loss budget: how much an account may cost the operator by provoked losses in the last 30 UTC
// days. It is a fixed amount, or a share of the account's charges in the same days, whichever is
// higher.
import type { Config } from '../../../config/schema.ts';
import type { Db } from '../../../db/schema.ts';
import { type Micros, micros } from '../../../lib/money.ts';
import type { LedgerId } from '../commands.ts';
import { type Losses, type LossPage, readLosses } from './caused-losses.ts';
import { dayMs, dayOf } from '../../../lib/utc-time.ts';

const windowDays = 30;
/** Of the account's charges. */
const share = 0.05;

export type LossLimits = Pick<Config['limits'], 'loss_budget_usd'>;

/** Returns the fixed amount. A limit of `null` is unlimited. */
export function fixedLossBudget({ loss_budget_usd: usd }: LossLimits): Micros {
  return micros(usd === null ? Number.MAX_SAFE_INTEGER : Math.round(usd * 1_000_000));
}

export type LossStanding = {
  readonly causedMicros: Micros;
  readonly budgetMicros: Micros;
  readonly isExceeded: boolean;
  /**
   * When the budget is met again at the latest, without further losses; null when it is not
   * exceeded.
   */
  readonly resetsAtMs: number | null;
};

type StandingsQuery = {
  /** Absent: all ledgers. */
  readonly ledgerId?: LedgerId;
  readonly page?: LossPage;
  readonly limits: LossLimits;
  readonly nowMs: number;
};

/** Returns the ledgers with provoked losses in the last 30 days, or the one that was asked for. */
export async function readLossStandings(
  db: Db,
  { ledgerId, page, limits, nowMs }: StandingsQuery,
): Promise<ReadonlyMap<LedgerId, LossStanding>> {
  const losses = await readLosses(db, { ledgerId, page, fromDay: firstLossDay(nowMs) });
  const fixedMicros = fixedLossBudget(limits);
  return new Map([...losses].map(([id, own]) => [id, judgeLosses(own, fixedMicros)]));
}

/** Returns the first UTC day of the window that ends on the day of `nowMs`. */
export function firstLossDay(nowMs: number): string {
  return dayOf(nowMs - (windowDays - 1) * dayMs);
}

/** Compares losses with the budget. They must start at `firstLossDay`. */
export function judgeLosses(
  { causedMicros, days, spentMicros }: Losses,
  fixedMicros: Micros,
): LossStanding {
  const budgetMicros = micros(Math.max(fixedMicros, Math.floor(spentMicros * share)));
  const isExceeded = causedMicros > budgetMicros;
  const resetsAtMs = isExceeded ? resetMs({ causedMicros, days }, fixedMicros) : null;
  return { causedMicros, budgetMicros, isExceeded, resetsAtMs };
}

/**
 * Returns when the losses fit the fixed amount. Charges leave the window too, so only the fixed
 * amount is certain.
 */
function resetMs(
  { causedMicros, days }: Pick<Losses, 'causedMicros' | 'days'>,
  fixedMicros: Micros,
): number {
  let left: number = causedMicros;
  let lastDay = '';
  for (const { day, micros: lost } of days) {
    if (left <= fixedMicros) break;
    left -= lost;
    lastDay = day;
  }
  return Date.parse(lastDay) + windowDays * dayMs;
}

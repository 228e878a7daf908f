// How much an account may lose the operator by what it can provoke: in the last 30 UTC days a fixed amount, or a share of what it was charged
// in the same days, whichever is more.
import type { Kysely } from 'kysely';
import type { Config } from '../config/schema.ts';
import type { Tables } from '../db/schema.ts';
import { type Micros, micros } from '../lib/money.ts';
import type { LedgerId } from './commands.ts';
import { type Losses, readLosses } from './loss-days.ts';
import { dayOf } from './window.ts';

const windowDays = 30;
const dayMs = 86_400_000;

export type LossBudget = { readonly floorMicros: Micros; readonly share: number };

export type LossLimits = Pick<Config['limits'], 'loss_budget_usd' | 'loss_budget_share'>;

/** A limit of `null` is more than anybody can lose. */
export function lossBudgetOf({ loss_budget_usd: usd, loss_budget_share: share }: LossLimits): LossBudget {
  const floorMicros = usd === null ? Number.MAX_SAFE_INTEGER : Math.round(usd * 1_000_000);
  return { floorMicros: micros(floorMicros), share };
}

export type LossStanding = {
  readonly provokedMicros: Micros;
  readonly budgetMicros: Micros;
  readonly isExceeded: boolean;
  /** When, at the latest, enough losses are older than the window, if no more come; null: it is not exceeded. */
  readonly resetsAtMs: number | null;
};

type StandingsQuery = {
  /** Left out: all ledgers. */
  readonly ledgerId?: LedgerId;
  readonly limits: LossLimits;
  readonly nowMs: number;
};

/** How the ledgers stand that have provoked losses in the last 30 days; one that is missing has none. */
export async function readLossStandings(
  db: Kysely<Tables>,
  { ledgerId, limits, nowMs }: StandingsQuery,
): Promise<ReadonlyMap<LedgerId, LossStanding>> {
  const losses = await readLosses(db, { ledgerId, fromDay: firstLossDay(nowMs) });
  const budget = lossBudgetOf(limits);
  return new Map([...losses].map(([id, own]) => [id, judgeLosses(own, budget)]));
}

/** The first UTC day of the window that ends with the day of `nowMs`. */
export function firstLossDay(nowMs: number): string {
  return dayOf(nowMs - (windowDays - 1) * dayMs);
}

/** `losses`: those from `firstLossDay` on. */
export function judgeLosses({ provokedMicros, days, spentMicros }: Losses, { floorMicros, share }: LossBudget): LossStanding {
  const budgetMicros = micros(Math.max(floorMicros, Math.floor(spentMicros * share)));
  const isExceeded = provokedMicros > budgetMicros;
  const resetsAtMs = isExceeded ? resetMs({ provokedMicros, days }, floorMicros) : null;
  return { provokedMicros, budgetMicros, isExceeded, resetsAtMs };
}

/** What was spent leaves the window too, so that only the fixed amount is sure. */
function resetMs({ provokedMicros, days }: Pick<Losses, 'provokedMicros' | 'days'>, floorMicros: Micros): number {
  let left: number = provokedMicros;
  let lastDay = '';
  for (const { day, micros: lost } of days) {
    if (left <= floorMicros) break;
    left -= lost;
    lastDay = day;
  }
  return Date.parse(lastDay) + windowDays * dayMs;
}

// How much an account may lose the operator by what it can provoke: in the last 30 UTC days a fixed amount, or a share of what it was charged
// in the same days, whichever is more.
import type { Config } from '../config/schema.ts';
import { type Micros, micros } from '../lib/money.ts';
import type { Losses } from './loss-days.ts';
import { dayOf } from './window.ts';

const windowDays = 30;
const dayMs = 86_400_000;

export type LossBudget = { readonly floorMicros: Micros; readonly share: number };

type LossLimits = Pick<Config['limits'], 'loss_budget_usd' | 'loss_budget_share'>;

/** null: there is no limit. */
export function lossBudgetOf({ loss_budget_usd: usd, loss_budget_share: share }: LossLimits): LossBudget | null {
  return usd === null ? null : { floorMicros: micros(Math.round(usd * 1_000_000)), share };
}

export type LossStanding = {
  readonly provokedMicros: Micros;
  readonly budgetMicros: Micros;
  readonly isExceeded: boolean;
  /** When, at the latest, enough losses are older than the window, if no more come; null: it is not exceeded. */
  readonly resetsAtMs: number | null;
};

/** The first UTC day of the window that ends with the day of `nowMs`. */
export function firstLossDay(nowMs: number): string {
  return dayOf(nowMs - (windowDays - 1) * dayMs);
}

/** `losses`: those from `firstLossDay` on. */
export function judgeLosses({ days, spentMicros }: Losses, { floorMicros, share }: LossBudget): LossStanding {
  const provokedMicros = sum(days.map((day) => day.micros));
  const budgetMicros = micros(Math.max(floorMicros, Math.floor(spentMicros * share)));
  const isExceeded = provokedMicros > budgetMicros;
  return { provokedMicros, budgetMicros, isExceeded, resetsAtMs: isExceeded ? resetMs(days, floorMicros) : null };
}

/** What was spent leaves the window too, so that only the fixed amount is sure. */
function resetMs(days: Losses['days'], floorMicros: Micros): number {
  let left: number = sum(days.map((day) => day.micros));
  let lastDay = '';
  for (const { day, micros: lost } of days) {
    if (left <= floorMicros) break;
    left -= lost;
    lastDay = day;
  }
  return Date.parse(lastDay) + windowDays * dayMs;
}

function sum(values: readonly Micros[]): Micros {
  return micros(values.reduce((total, value) => total + value, 0));
}

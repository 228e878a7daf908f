// Sums of charges by UTC day, updated in the transaction of each charge, so that a chart of a year
// reads hundreds of rows instead of millions. `tollgate verify` recomputes them.
import type { Selectable } from 'kysely';
import { totalInputTokens } from '../../canonical/usage.ts';
import type { ChargeDaysTable } from '../../db/schema.ts';
import { type Micros, micros } from '../../lib/money.ts';
import type { Charge } from './book.ts';
import { dayOf } from '../../lib/utc-time.ts';

export type ChargeDayRow = Selectable<ChargeDaysTable>;

/** Sums charges to one row per day, key, model and endpoint of a ledger. */
export function sumByDay(charges: readonly Charge[]): readonly ChargeDayRow[] {
  const rows = new Map<string, ChargeDayRow>();
  for (const charge of charges) addToDay(rows, charge);
  return [...rows.values()];
}

/** Adds a charge to its row; rows are indexed by `chargeDayId`. */
export function addToDay(rows: Map<string, ChargeDayRow>, charge: Charge): void {
  const row = rowOf(charge);
  const id = chargeDayId(row);
  const known = rows.get(id);
  rows.set(id, known ? sum(known, row) : row);
}

export function chargeDayId({ ledger_id, day, key_id, model_id, endpoint }: ChargeDayRow): string {
  return `${ledger_id} ${day} ${key_id} ${model_id} ${endpoint}`;
}

function rowOf(charge: Charge): ChargeDayRow {
  const { usage } = charge;
  return {
    ledger_id: charge.ledgerId,
    day: dayOf(charge.createdAtMs),
    key_id: charge.keyId,
    model_id: charge.modelId,
    endpoint: charge.endpoint,
    requests: 1,
    input_tokens: totalInputTokens(usage),
    cached_tokens: usage.cacheReadTokens,
    output_tokens: usage.outputTokens,
    images: charge.images,
    cost_micros: charge.costMicros,
    upstream_cost_micros: charge.upstreamCostMicros,
    loss_micros: charge.lossMicros,
  };
}

function sum(one: ChargeDayRow, other: ChargeDayRow): ChargeDayRow {
  const add = (first: Micros, second: Micros) => micros(first + second);
  return {
    ...one,
    requests: one.requests + other.requests,
    input_tokens: one.input_tokens + other.input_tokens,
    cached_tokens: one.cached_tokens + other.cached_tokens,
    output_tokens: one.output_tokens + other.output_tokens,
    images: one.images + other.images,
    cost_micros: add(one.cost_micros, other.cost_micros),
    upstream_cost_micros: add(one.upstream_cost_micros, other.upstream_cost_micros),
    loss_micros: add(one.loss_micros, other.loss_micros),
  };
}

const sums = [
  'requests',
  'input_tokens',
  'cached_tokens',
  'output_tokens',
  'images',
  'cost_micros',
  'upstream_cost_micros',
  'loss_micros',
] as const;

/** The conflict clause of an insert: adds to the existing row. */
export const addToDaySql = `on conflict (ledger_id, day, key_id, model_id, endpoint) do update set ${sums
  .map((column) => `${column} = charge_days.${column} + excluded.${column}`)
  .join(', ')}`;

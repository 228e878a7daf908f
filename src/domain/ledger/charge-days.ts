// Sums of charges by UTC day, updated in the transaction of each charge, so that a chart of a year
// reads hundreds of rows instead of millions. `tollgate verify` recomputes them.
import type { Selectable } from 'kysely';
import { totalInputTokens } from '../../canonical/usage.ts';
import type { Tables } from '../../db/schema.ts';
import { dayOf } from '../../lib/utc-time.ts';
import type { Charge } from './book.ts';
import { defineSums } from './table.ts';

export type ChargeDayRow = Selectable<Tables['charge_days']>;

export const chargeDaysTable = defineSums<ChargeDayRow>('charge_days');

/** Sums charges to one row per day, key, model and endpoint of a ledger. */
export function sumByDay(charges: readonly Charge[]): readonly ChargeDayRow[] {
  return chargeDaysTable.sum(charges.map(rowOf));
}

/** Adds a charge to its row; rows are indexed by `chargeDaysTable.idOf`. */
export function addToDay(rows: Map<string, ChargeDayRow>, charge: Charge): void {
  chargeDaysTable.add(rows, rowOf(charge));
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

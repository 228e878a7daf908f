// Reads charges of models with what their price depends on, to price them again.
import type { Kysely } from 'kysely';
import type { Usage } from '../../../canonical/usage.ts';
import type { Tables } from '../../../db/schema.ts';
import type { Micros } from '../../../lib/money.ts';
import { accountIdOf, type LedgerId } from '../commands.ts';

export type RepricedCharge = {
  readonly accountId: string;
  readonly modelId: string;
  readonly usage: Usage;
  readonly priceVersion: string;
  /** About when the answer ended: then its charge was written. */
  readonly endedAtMs: number;
  readonly costMicros: Micros;
  readonly upstreamCostMicros: Micros;
};

/** Returns the newest live charges of answers without web searches, at most `max`. */
export async function readChargesForPrices(
  db: Kysely<Tables>,
  { fromMs, max }: { readonly fromMs: number; readonly max: number },
): Promise<readonly RepricedCharge[]> {
  const rows = await db
    .selectFrom('charges')
    .select([
      'ledger_id',
      'model_id',
      'input_tokens',
      'cache_read_tokens',
      'cache_write_tokens',
      'cache_write_1h_tokens',
      'output_tokens',
      'reasoning_tokens',
      'price_version',
      'created_at_ms',
      'cost_micros',
      'upstream_cost_micros',
    ])
    .where('created_at_ms', '>=', fromMs)
    .where('ledger_id', 'like', '%:live')
    .where('images', '=', 0)
    .where('web_searches', '=', 0)
    .orderBy('created_at_ms', 'desc')
    .limit(max)
    .execute();
  return rows.map((row) => ({
    accountId: accountIdOf(row.ledger_id as LedgerId),
    modelId: row.model_id,
    usage: {
      inputTokens: row.input_tokens,
      cacheReadTokens: row.cache_read_tokens,
      cacheWriteTokens: row.cache_write_tokens,
      cacheWrite1hTokens: row.cache_write_1h_tokens,
      outputTokens: row.output_tokens,
      reasoningTokens: row.reasoning_tokens,
    },
    priceVersion: row.price_version,
    endedAtMs: row.created_at_ms,
    costMicros: row.cost_micros,
    upstreamCostMicros: row.upstream_cost_micros,
  }));
}

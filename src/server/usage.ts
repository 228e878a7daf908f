// `GET /v1/usage`: the account's charges in the key's mode, newest first, page by page.
import { upstreamModelIn } from '../domain/catalog/catalog.ts';
import { ledgerIdOf } from '../domain/ledger/commands.ts';
import type { Charge } from '../domain/ledger/book.ts';
import { reportCaches } from '../domain/ledger/reports/cache-report.ts';
import { listCharges } from '../domain/ledger/reports/queries.ts';
import { readTagsOf } from '../domain/ledger/reports/tags.ts';
import { encodeUsageCursor } from '../domain/ledger/reports/usage-cursor.ts';
import { totalInputTokens } from '../canonical/usage.ts';
import { microsPerCent } from '../lib/money.ts';
import { keyOf, type Handler, type ServerContext } from './context.ts';
import { readCacheQuery, readUsageQuery } from './usage-query.ts';

export function getUsage({ database, gateway }: ServerContext): Handler {
  return async (request) => {
    const key = keyOf(request);
    const query = {
      ledgerId: ledgerIdOf(key.accountId, key.mode),
      ...readUsageQuery(request.query, gateway.hosts.catalog),
    };
    const { charges, next } = await listCharges(database.read, query);
    const tags = await readTagsOf(database.read, charges);
    return {
      data: charges.map((charge) => usageRecord(charge, tags.get(charge.id))),
      next_cursor: next && encodeUsageCursor(next),
    };
  };
}

/** `GET /v1/usage/prompt-cache` */
export function getCacheReport({ database, gateway }: ServerContext): Handler {
  return (request) => {
    const { accountId, mode } = keyOf(request);
    const { catalog } = gateway.hosts;
    const query = readCacheQuery(request.query, catalog, gateway.clock.nowMs());
    const of = {
      ledgerIds: [ledgerIdOf(accountId, mode)],
      upstreamModelOf: upstreamModelIn(catalog),
    };
    return reportCaches(database.read, { ...of, ...query });
  };
}

function usageRecord(charge: Charge, tags: readonly string[] | undefined) {
  const { usage } = charge;
  const inputTokens = totalInputTokens(usage);
  return {
    created_at: new Date(charge.createdAtMs).toISOString(),
    model: charge.modelName,
    model_id: charge.modelId,
    key_id: charge.keyId,
    input_tokens: inputTokens,
    output_tokens: usage.outputTokens,
    total_tokens: inputTokens + usage.outputTokens,
    cost_cents: charge.costMicros / microsPerCent,
    ...(charge.webSearches > 0 && { web_searches: charge.webSearches }),
    ...(charge.images > 0 && { images: charge.images }),
    ...(tags && { tags }),
    request_id: charge.id,
  };
}

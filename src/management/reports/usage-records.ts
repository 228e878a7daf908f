// A charge for its account. The operator's own cost is left out.
import type { PriceTerms } from '../../terms/price-terms.ts';
import { totalInputTokens } from '../../canonical/usage.ts';
import type { UsageDetail, UsagePrice, UsageRecord } from '../contract/usage.ts';
import type { Charge } from '../../domain/ledger/book.ts';
import { modeOf } from '../../domain/ledger/commands.ts';
import { tokensOf } from '../../domain/ledger/reports/queries.ts';

export function toRecord(charge: Charge, keyName: string): UsageRecord {
  return {
    request_id: charge.id,
    created_at: new Date(charge.createdAtMs).toISOString(),
    mode: modeOf(charge.ledgerId),
    key: { id: charge.keyId, name: keyName },
    model: { id: charge.modelId, name: charge.modelName },
    endpoint: charge.endpoint,
    outcome: charge.ending,
    streamed: charge.streamed,
    input_tokens: totalInputTokens(charge.usage),
    output_tokens: charge.usage.outputTokens,
    images: charge.images,
    web_searches: charge.webSearches,
    cost_micros: charge.costMicros,
    duration_ms: charge.durationMs,
  };
}

type DetailParts = {
  readonly keyName: string;
  readonly terms: PriceTerms | null;
  readonly cacheMiss: UsageDetail['cache_miss'];
};

/** `terms`: null when the charge's price was not stored. */
export function toDetail(charge: Charge, { keyName, terms, cacheMiss }: DetailParts): UsageDetail {
  return {
    ...toRecord(charge, keyName),
    tokens: tokensOf(charge.usage),
    usage_source: charge.usageSource,
    price_version: charge.priceVersion,
    price: terms && toPrice(terms),
    hold_micros: charge.holdMicros,
    loss_micros: charge.lossMicros,
    provider: charge.provider,
    attempts: charge.attempts,
    first_byte_ms: charge.firstByteMs,
    cache_miss: cacheMiss,
  };
}

/** Picodollars per token equal microdollars per million tokens. */
function toPrice({ list }: PriceTerms): UsagePrice {
  return {
    input_micros: list.input,
    cache_read_micros: list.cacheRead,
    cache_write_micros: list.cacheWrite,
    cache_write_1h_micros: list.cacheWrite1h,
    output_micros: list.output,
    web_search_micros: Number(list.search) / 1_000_000,
    image_micros: Number(list.image) / 1_000_000,
    request_micros: Number(list.request) / 1_000_000,
  };
}

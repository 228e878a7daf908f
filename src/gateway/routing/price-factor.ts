import type { OwnKeyTerms, PriceFactor } from '../../domain/catalog/price.ts';
import { type ApiKey, multiplierPpmFor } from '../../domain/keys/api-key.ts';
import type { Config } from '../../config/schema.ts';
import { picosFromUsd } from '../../lib/money.ts';

type Priced = { readonly config: Pick<Config, 'pricing'> };

/** Returns what turns a provider's price into an account's. */
export function priceFactorFor({ config }: Priced, key: ApiKey, modelId: string): PriceFactor {
  return { markup: config.pricing.markup, multiplierPpm: multiplierPpmFor(key, modelId) };
}

/** Returns what is charged for a request with an account's own key. */
export function ownKeyTermsOf({ config }: Priced): OwnKeyTerms {
  const { own_key_percent: percent, own_key_fee: feeUsd } = config.pricing;
  return { pricePpm: Math.round(percent * 10_000), feePicos: picosFromUsd(feeUsd) };
}

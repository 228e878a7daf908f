import type { PriceFactor } from '../../domain/catalog/price.ts';
import { type ApiKey, multiplierPpmFor } from '../../domain/keys/api-key.ts';
import type { Config } from '../../config/schema.ts';

/** Returns what turns a provider's price into an account's. */
export function priceFactorFor(
  { config }: { readonly config: Pick<Config, 'pricing'> },
  key: ApiKey,
  modelId: string,
): PriceFactor {
  return { markup: config.pricing.markup, multiplierPpm: multiplierPpmFor(key, modelId) };
}

// Detects which known price list a value is.
import { readGenaiPrices } from './genai-prices.ts';
import { readLitellm } from './litellm.ts';
import type { PriceSource } from './source.ts';

/** Returns null for anything else. */
export function readSource(
  value: unknown,
  options: { readonly nowMs: number },
): PriceSource | null {
  return readLitellm(value) ?? readGenaiPrices(value, options);
}

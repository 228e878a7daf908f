// Costs and prices of the catalogue, as its pages show them. Pure functions.
import type { CatalogueModel } from '../../../../src/management/contract/service.ts';
import { usdText } from '../../../parts/money-text.ts';
import { shareText } from '../../../parts/number-text.ts';

export type Model = CatalogueModel;

/** The share of the price that is left: `16.7%`; a dash where one of the two is unknown. */
export function marginText(
  price: number | null | undefined,
  cost: number | null | undefined,
): string {
  if (price === null || price === undefined || cost === null || cost === undefined) return '–';
  if (price === 0) return cost === 0 ? '0%' : 'a loss';
  return shareText((price - cost) / price).replace('-', '−');
}

/** Of an image model, by quality or resolution: `$0.006–$0.053 an image`. */
export function imagePriceText(model: Model, markup: unknown): string {
  const prices = pricesAtMarkup(model, markup) as { output?: Record<string, number> } | undefined;
  const micros = Object.values(prices?.output ?? {}).map((usd) => Math.round(usd * 1e6));
  if (micros.length === 0) return '–';
  const ends = [...new Set([Math.min(...micros), Math.max(...micros)])];
  return `${ends.map(usdText).join('–')} an image`;
}

/** Fields of prices that are no amounts. */
const counts = new Set(['above_input_tokens']);

/**
 * Returns a model's prices as an operator would write them to keep what accounts pay: with the
 * markup, rounded up to the millionth of a dollar.
 */
export function pricesAtMarkup(model: Model | undefined, markup: unknown): unknown {
  const prices = (model?.entry as { prices?: unknown } | undefined)?.prices;
  if (model?.is_own_price !== false || markup === 1 || typeof markup !== 'number') return prices;
  return scaled(prices, markup);
}

function scaled(value: unknown, factor: number, name = ''): unknown {
  if (typeof value === 'number')
    return counts.has(name) ? value : Math.ceil(Number((value * factor * 1e6).toFixed(3))) / 1e6;
  if (Array.isArray(value)) return value.map((item) => scaled(item, factor, name));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([inner, child]) => [inner, scaled(child, factor, inner)]),
  );
}

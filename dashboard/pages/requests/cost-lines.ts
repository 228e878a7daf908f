// The lines of a charge, with amounts that add up to it. Pure.
import type { UsageDetail } from '../../../src/management/contract/usage.ts';

export type CostLine = {
  readonly name: string;
  readonly count: number;
  /** Microdollars for a million tokens, or for one image, search or request. */
  readonly price: { readonly micros: number; readonly per: 'million' | 'one' };
  /** Microdollars, with a fraction. */
  readonly amountMicros: number;
};

export type Costs = {
  readonly lines: readonly CostLine[];
  /** What is added so that the charge is a whole number of microdollars. */
  readonly roundingMicros: number;
};

/** Returns null when the prices were not kept. */
export function costsOf(detail: UsageDetail): Costs | null {
  const { tokens, price, images, web_searches: searches } = detail;
  if (!price) return null;
  const million = (name: string, count: number, micros: number) =>
    line(name, count, { micros, per: 'million' });
  const one = (name: string, count: number, micros: number) =>
    line(name, count, { micros, per: 'one' });
  const all = [
    million('Input', tokens.input, price.input_micros),
    million('Cached input', tokens.cache_read, price.cache_read_micros),
    million('Cache write', tokens.cache_write, price.cache_write_micros),
    million('Cache write, 1 hour', tokens.cache_write_1h, price.cache_write_1h_micros),
    million('Output', tokens.output, price.output_micros),
    one('Images', images, price.image_micros),
    one('Web searches', searches, price.web_search_micros),
    one('Request', price.request_micros > 0 ? 1 : 0, price.request_micros),
  ];
  const isTokens = tokens.input + tokens.output > 0;
  const lines = all.filter(
    ({ name, count }) => count > 0 || (isTokens && (name === 'Input' || name === 'Output')),
  );
  const sum = lines.reduce((total, { amountMicros }) => total + amountMicros, 0);
  return { lines, roundingMicros: detail.cost_micros + detail.loss_micros - sum };
}

function line(name: string, count: number, price: CostLine['price']): CostLine {
  const { micros, per } = price;
  return { name, count, price, amountMicros: (count * micros) / (per === 'million' ? 1e6 : 1) };
}

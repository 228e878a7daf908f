// The price that a charge was made at, in full: kept beside the charge, so that it can be recomputed whatever the catalogue says later.
// Whole picodollars are added up as big integers and rounded up once, to a microdollar.
import { hash } from 'node:crypto';
import { roundUpToMicro, type Micros, type Picos, type PicosPerToken } from '../lib/money.ts';
import type { Usage } from './usage.ts';

/** Picodollars: a token of each kind, and one web search that the provider runs. */
export type UnitPrices = {
  readonly input: PicosPerToken;
  readonly output: PicosPerToken;
  readonly cacheRead: PicosPerToken;
  readonly cacheWrite: PicosPerToken;
  readonly cacheWrite1h: PicosPerToken;
  readonly search: Picos;
};

/** As the account pays it, markup and multiplier included, and as the operator does. */
export type PriceTerms = { readonly list: UnitPrices; readonly upstream: UnitPrices };

/** Terms as the ledger keeps them, once however many charges were made by them. */
export type KeptPrice = { readonly id: string; readonly terms: string };

/** What the tokens and searches of a request cost at these prices. */
export function costOf(prices: UnitPrices, usage: Usage, searches: number): Micros {
  return roundUpToMicro(
    BigInt(usage.inputTokens) * BigInt(prices.input) +
      BigInt(usage.cacheReadTokens) * BigInt(prices.cacheRead) +
      BigInt(usage.cacheWriteTokens) * BigInt(prices.cacheWrite) +
      BigInt(usage.cacheWrite1hTokens) * BigInt(prices.cacheWrite1h) +
      BigInt(usage.outputTokens) * BigInt(prices.output) +
      BigInt(searches) * prices.search,
  );
}

const order = ['input', 'output', 'cacheRead', 'cacheWrite', 'cacheWrite1h', 'search'] as const;

/** The same terms have the same id on every machine. */
export function keepPrice({ list, upstream }: PriceTerms): KeptPrice {
  const terms = JSON.stringify({
    list: order.map((unit) => String(list[unit])),
    upstream: order.map((unit) => String(upstream[unit])),
  });
  return { id: hash('sha256', terms, 'base64url').slice(0, 22), terms };
}

/** Reverses `keepPrice`. Throws on a text that it did not write. */
export function readKeptTerms(terms: string): PriceTerms {
  const { list, upstream } = JSON.parse(terms) as { list: readonly string[]; upstream: readonly string[] };
  return { list: readUnits(list), upstream: readUnits(upstream) };
}

function readUnits(values: readonly string[]): UnitPrices {
  const [input, output, cacheRead, cacheWrite, cacheWrite1h] = values.map(Number) as PicosPerToken[];
  return {
    input: input!,
    output: output!,
    cacheRead: cacheRead!,
    cacheWrite: cacheWrite!,
    cacheWrite1h: cacheWrite1h!,
    search: BigInt(values[5]!),
  };
}

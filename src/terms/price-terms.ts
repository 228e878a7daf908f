// The full price terms of a charge. They are kept beside the charge, so that it can be recomputed
// whatever the catalogue says later. Whole picodollars are added as big integers and rounded up
// once, to a microdollar.
import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { roundUpToMicro, type Micros, type Picos, type PicosPerToken } from '../lib/money.ts';
import type { Usage } from '../canonical/usage.ts';

const zeroPicos = 0 as PicosPerToken;

/**
 * Prices in picodollars: of a token of each kind, of a web search, and of an output image with its
 * input images. `request` is charged once: the price of images that are billed by tokens, or that
 * the gateway drew for a model, whose prices differ.
 */
export type UnitPrices = {
  readonly input: PicosPerToken;
  readonly output: PicosPerToken;
  readonly cacheRead: PicosPerToken;
  readonly cacheWrite: PicosPerToken;
  readonly cacheWrite1h: PicosPerToken;
  readonly search: Picos;
  readonly image: Picos;
  readonly request: Picos;
};

/** Nothing, for the account and for the operator. */
export const freePrice = { listPicos: 0n, upstreamPicos: 0n } as const;

/** Terms of something that has one price. */
export const noPrices: UnitPrices = {
  input: zeroPicos,
  output: zeroPicos,
  cacheRead: zeroPicos,
  cacheWrite: zeroPicos,
  cacheWrite1h: zeroPicos,
  search: 0n,
  image: 0n,
  request: 0n,
};

/**
 * `list`: what the account pays, markup and multiplier included. `upstream`: what the operator
 * pays.
 */
export type PriceTerms = { readonly list: UnitPrices; readonly upstream: UnitPrices };

/** Terms as the ledger stores them, once for all charges that share them. */
export type KeptPrice = { readonly id: string; readonly terms: string };

type Quantities = { readonly usage: Usage; readonly searches: number; readonly images: number };

export function costOf(prices: UnitPrices, { usage, searches, images }: Quantities): Micros {
  return roundUpToMicro(
    BigInt(usage.inputTokens) * BigInt(prices.input) +
      BigInt(usage.cacheReadTokens) * BigInt(prices.cacheRead) +
      BigInt(usage.cacheWriteTokens) * BigInt(prices.cacheWrite) +
      BigInt(usage.cacheWrite1hTokens) * BigInt(prices.cacheWrite1h) +
      BigInt(usage.outputTokens) * BigInt(prices.output) +
      BigInt(searches) * prices.search +
      BigInt(images) * prices.image +
      prices.request,
  );
}

const order = ['input', 'output', 'cacheRead', 'cacheWrite', 'cacheWrite1h', 'search'] as const;

/** By terms. Most charges share a few, and the digest costs more than writing them. */
const ids = new LRUCache<string, string>({ max: 1_000 });

/** Equal terms have the same id on every machine. */
export function keepPrice({ list, upstream }: PriceTerms): KeptPrice {
  const terms = JSON.stringify({ list: writeUnits(list), upstream: writeUnits(upstream) });
  let id = ids.get(terms);
  if (id === undefined) {
    id = hash('sha256', terms, 'base64url').slice(0, 22);
    ids.set(terms, id);
  }
  return { id, terms };
}

/**
 * Terms without images or a request price are written as before those existed, so their ids stay
 * the same.
 */
function writeUnits(prices: UnitPrices): string[] {
  const { image, request } = prices;
  const units = order.map((unit) => String(prices[unit]));
  if (request !== 0n) return [...units, String(image), String(request)];
  return image === 0n ? units : [...units, String(image)];
}

/** Reverses `keepPrice`. Throws on text that it did not write. */
export function readKeptTerms(terms: string): PriceTerms {
  const { list, upstream } = JSON.parse(terms) as {
    list: readonly string[];
    upstream: readonly string[];
  };
  return { list: readUnits(list), upstream: readUnits(upstream) };
}

function readUnits(values: readonly string[]): UnitPrices {
  const [input, output, cacheRead, cacheWrite, cacheWrite1h] = values.map(
    Number,
  ) as PicosPerToken[];
  return {
    input: input!,
    output: output!,
    cacheRead: cacheRead!,
    cacheWrite: cacheWrite!,
    cacheWrite1h: cacheWrite1h!,
    search: BigInt(values[5]!),
    image: BigInt(values[6] ?? 0),
    request: BigInt(values[7] ?? 0),
  };
}

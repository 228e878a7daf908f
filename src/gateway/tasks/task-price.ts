// Prices of tasks: a task is billed by a unit, such as a character, or by tokens.
import { type AppliedPrice, ownKeyMark } from '../../domain/catalog/price.ts';
import type { Picos } from '../../lib/money.ts';
import { freePrice } from '../../terms/price-terms.ts';
import type { UnitPrice } from '../sales/units.ts';

/** What is left out is 0. */
export type Count = {
  readonly units?: number;
  readonly inputTokens?: number;
  readonly outputTokens?: number;
};

/** What a request is billed by, before its call. */
export type Size = {
  readonly unit: { readonly one: string; readonly many: string };
  /** What is held: this many units, each of at most `each`, and `beside` once. */
  readonly count: number;
  readonly each: Count;
  readonly beside?: Count;
  /** Our own count. It is charged when the host counts nothing, and lost when a call breaks off. */
  readonly likely: Count;
  /** What is charged at most. A host that counts more lies. */
  readonly most: Count;
};

export const inputToken = { one: 'input token', many: 'input tokens' } as const;

type Sizes = Readonly<Record<'upper' | 'likely' | 'most', number>>;

/** The size of a request that is billed by one count alone. */
export function sizeBy(
  counted: 'units' | 'inputTokens',
  unit: Size['unit'],
  { upper, likely, most }: Sizes,
): Size {
  return {
    unit,
    count: upper,
    each: { [counted]: 1 },
    likely: { [counted]: Math.min(likely, upper) },
    most: { [counted]: most },
  };
}

/** A model without a price for a unit is billed by tokens. */
export function isByUnit({ list }: AppliedPrice): boolean {
  return list.unit !== undefined;
}

export function costOfCount(
  { base, unit = 0n }: AppliedPrice['list'],
  { units = 0, inputTokens = 0, outputTokens = 0 }: Count,
): Picos {
  return (
    BigInt(units) * unit +
    BigInt(inputTokens) * BigInt(base.input) +
    BigInt(outputTokens) * BigInt(base.output)
  );
}

export function highestPrice(price: AppliedPrice, { each, beside = {} }: Size): UnitPrice {
  const { listPicos, upstreamPicos } = costs(price, beside);
  const fee = price.ownKey?.feePicos ?? 0n;
  const request = { listPicos: listPicos + fee, upstreamPicos };
  return { ...costs(price, each), request, version: price.list.version };
}

/** The price of what was counted. It is charged once. */
export function chargedPrice(price: AppliedPrice, count: Count): UnitPrice {
  const { list, upstream, ownKey, isOwnKey } = price;
  const { units, inputTokens = 0, outputTokens = 0 } = count;
  const { listPicos, upstreamPicos } = costs(price, { units: units ?? 0 });
  const fee = isOwnKey ? ownKey!.feePicos : 0n;
  const tokens = { count: { inputTokens, outputTokens }, list: list.base, upstream: upstream.base };
  return {
    ...freePrice,
    ...(units === undefined && { tokens }),
    request: { listPicos: listPicos + fee, upstreamPicos },
    version: list.version + (isOwnKey ? ownKeyMark : ''),
  };
}

function costs({ list, upstream }: AppliedPrice, count: Count) {
  return { listPicos: costOfCount(list, count), upstreamPicos: costOfCount(upstream, count) };
}

export function atMost(count: Count, most: Count): Count {
  const lesser = (name: keyof Count) => Math.min(count[name] ?? 0, most[name] ?? 0);
  const tokens = { inputTokens: lesser('inputTokens'), outputTokens: lesser('outputTokens') };
  return count.units === undefined ? tokens : { units: lesser('units') };
}

/** As OpenAI writes it. */
export function usageOfTokens({ inputTokens = 0, outputTokens = 0 }: Count) {
  return {
    input_tokens: inputTokens,
    output_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
  };
}

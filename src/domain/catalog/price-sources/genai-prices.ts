// Pydantic's genai-prices: a list of providers, each with its models, prices in USD per million
// tokens. https://github.com/pydantic/genai-prices
import { isObject } from '../../../lib/json.ts';
import { namesOf } from './source-names.ts';
import {
  readTokens,
  readUsdPerMillion,
  tiersOf,
  type Bucket,
  type PriceSource,
  type StatedModel,
  type StatedPrices,
} from './source.ts';
import { withoutUndefined } from '../../../lib/without-undefined.ts';

const fieldOfBucket: Readonly<Record<Bucket, string>> = {
  input: 'input_mtok',
  output: 'output_mtok',
  cache_read: 'cache_read_mtok',
  cache_write: 'cache_write_mtok',
  cache_write_1h: 'cache_write_1h_mtok',
  audio: 'input_audio_mtok',
};
const matchDepthMax = 8;

/** Returns null for a value of another form. */
export function readGenaiPrices(
  value: unknown,
  { nowMs }: { readonly nowMs: number },
): PriceSource | null {
  if (
    !Array.isArray(value) ||
    !value.some((provider) => isObject(provider) && Array.isArray(provider['models']))
  )
    return null;
  return genaiPricesFrom(
    (id) => value.find((provider) => isObject(provider) && provider['id'] === id),
    { nowMs },
  );
}

/** Reads the list in its package's form: by provider. */
export function genaiPricesFrom(
  findProvider: (id: string) => unknown,
  { nowMs }: { readonly nowMs: number },
): PriceSource {
  const entriesOf = (provider: string) => {
    const id = namesOf(provider)?.genaiPrices;
    const found = id ? findProvider(id) : null;
    const models: unknown = isObject(found) ? found['models'] : null;
    return Array.isArray(models) ? models.filter(isObject) : [];
  };
  return {
    name: 'genai-prices',
    list: (provider) =>
      entriesOf(provider).flatMap(({ id, deprecated }) =>
        typeof id === 'string' && deprecated !== true ? [id] : [],
      ),
    find: ({ provider, model }) => {
      const entries = entriesOf(provider);
      const entry =
        entries.find((each) => each['id'] === model) ??
        entries.find((each) => equals(each['match'], model));
      return entry ? readEntry(entry, nowMs) : null;
    },
  };
}

/**
 * Accepts only matches of the full id: `starts_with` would give gpt-6's price to a gpt-6.9 that is
 * not listed yet. Regular expressions from an untrusted source are not run.
 */
function equals(match: unknown, id: string, depth = 0): boolean {
  if (!isObject(match) || depth > matchDepthMax) return false;
  const { or } = match;
  return (
    match['equals'] === id || (Array.isArray(or) && or.some((each) => equals(each, id, depth + 1)))
  );
}

function readEntry(entry: Record<string, unknown>, nowMs: number): StatedModel {
  const prices = pricesNow(entry['prices'], nowMs);
  const stated = Object.entries(fieldOfBucket).map(
    ([bucket, field]) => [bucket as Bucket, readPrice(prices[field])] as const,
  );
  const tiers = new Map<number, StatedPrices>();
  for (const [bucket, price] of stated) {
    for (const [start, value] of price.tiers)
      tiers.set(start, { ...tiers.get(start), [bucket]: value });
  }
  const { input_audio_hours: hour, input_mchars: characters } = prices;
  return {
    units: withoutUndefined({
      minute: typeof hour === 'number' ? readUsdPerMillion(hour / 60) : undefined,
      million_characters: readUsdPerMillion(characters),
    }),
    base: withoutUndefined(Object.fromEntries(stated.map(([bucket, { base }]) => [bucket, base]))),
    tiers: tiersOf(tiers),
    contextTokens: readTokens(entry['context_window']),
    supports: {},
  };
}

/**
 * Reads one price, or a list of prices that depend on the date or the time of day; the highest
 * current one counts.
 */
function pricesNow(value: unknown, nowMs: number): Record<string, unknown> {
  if (!Array.isArray(value)) return isObject(value) ? value : {};
  const conditional = value.filter(isObject).map(({ constraint, prices }) => ({
    constraint: isObject(constraint) ? constraint : {},
    prices: isObject(prices) ? prices : {},
  }));
  const started = conditional.filter(({ constraint }) => {
    const { start_date: start } = constraint;
    return (
      !('start_time' in constraint) &&
      (start === undefined || (typeof start === 'string' && Date.parse(start) <= nowMs))
    );
  });
  const byTime = conditional.filter(({ constraint }) => 'start_time' in constraint);
  const candidates = [...started.slice(-1), ...byTime].map(({ prices }) => prices);
  return candidates.toSorted((one, other) => inputOf(other) - inputOf(one))[0] ?? {};
}

function inputOf(prices: Record<string, unknown>): number {
  return readPrice(prices[fieldOfBucket.input]).base ?? 0;
}

/** Reads a number, or `{ base, tiers: [{ start, price }] }`. */
function readPrice(value: unknown): {
  base: number | undefined;
  tiers: (readonly [number, number])[];
} {
  if (!isObject(value)) return { base: readUsdPerMillion(value), tiers: [] };
  const tiers = Array.isArray(value['tiers']) ? value['tiers'].filter(isObject) : [];
  return {
    base: readUsdPerMillion(value['base']),
    tiers: tiers.flatMap((tier) => {
      const [start, price] = [readTokens(tier['start']), readUsdPerMillion(tier['price'])];
      return start === undefined || price === undefined ? [] : [[start, price] as const];
    }),
  };
}

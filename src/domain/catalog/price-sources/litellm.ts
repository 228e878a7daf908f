// LiteLLM's `model_prices_and_context_window`: one object with an entry per model, prices in USD
// per token.
// https://github.com/BerriAI/litellm/blob/main/model_prices_and_context_window.json
import { serviceTiers } from '../../../canonical/service-tier.ts';
import { parseUtcDay } from '../../../lib/iso-time.ts';
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
  input: 'input_cost_per_token',
  output: 'output_cost_per_token',
  cache_read: 'cache_read_input_token_cost',
  cache_write: 'cache_creation_input_token_cost',
  cache_write_1h: 'cache_creation_input_token_cost_above_1hr',
  audio: 'input_cost_per_audio_token',
};
/** Other suffixes, such as `_batches`, are prices of services that are not sold here. */
const thresholdField = /^input_cost_per_token_above_(\d{1,6})k_tokens$/;

/** Returns null for a value of another form. */
export function readLitellm(value: unknown): PriceSource | null {
  if (
    !isObject(value) ||
    !Object.values(value).some((entry) => isObject(entry) && 'litellm_provider' in entry)
  )
    return null;
  return {
    name: 'litellm',
    find: ({ provider, model }) => {
      const names = namesOf(provider)?.litellm;
      const key = names ? `${names.prefix}${model}` : null;
      if (!names || key === null || !Object.hasOwn(value, key)) return null;
      const entry = value[key];
      return isObject(entry) &&
        [names.provider, names.other].includes(entry['litellm_provider'] as string)
        ? readEntry(entry)
        : null;
    },
    list(provider) {
      const names = namesOf(provider)?.litellm;
      return Object.entries(value).flatMap(([key, entry]) =>
        names &&
        key.startsWith(names.prefix) &&
        isObject(entry) &&
        entry['litellm_provider'] === names.provider &&
        (entry['mode'] === 'chat' || entry['mode'] === 'responses')
          ? [key.slice(names.prefix.length)]
          : [],
      );
    },
  };
}

function readEntry(entry: Record<string, unknown>): StatedModel {
  const ranges = rangesOf(entry['tiered_pricing']);
  const { deprecation_date: day } = entry;
  return {
    base: { ...ranges.get(0), ...pricesWith(entry, '') },
    units: withoutUndefined({
      minute: priceOf(entry['input_cost_per_second'], 60),
      million_characters: priceOf(entry['input_cost_per_character']),
      search: priceOf(entry['input_cost_per_query'], 1),
    }),
    tiers: tiersOf(
      new Map([...[...ranges].filter(([above]) => above > 0), ...thresholdsOf(entry)]),
    ),
    variants: variantsOf(entry),
    contextTokens: readTokens(entry['max_input_tokens']),
    maxOutputTokens: readTokens(entry['max_output_tokens']),
    retiresAt: typeof day === 'string' && parseUtcDay(day) !== null ? day : undefined,
    supports: {
      ...flag('thinking', entry['supports_reasoning']),
      ...flag('vision', entry['supports_vision']),
      ...flag('audio', entry['supports_audio_input']),
      ...flag('tools', entry['supports_function_calling']),
    },
  };
}

/** `input_cost_per_token_above_200k_tokens`: the price when the input is longer. */
function thresholdsOf(entry: Record<string, unknown>): Map<number, StatedPrices> {
  const thresholds = Object.keys(entry).flatMap((field) => thresholdField.exec(field)?.[1] ?? []);
  return new Map(
    thresholds.map((thousands) => [
      Number(thousands) * 1_000,
      pricesWith(entry, `_above_${thousands}k_tokens`),
    ]),
  );
}

/** `input_cost_per_token_flex`; Anthropic's fast mode is a factor. */
function variantsOf(entry: Record<string, unknown>): StatedModel['variants'] {
  const { off_peak_pricing: offPeak, provider_specific_entry: factors } = entry;
  const fast = isObject(factors) ? readTokens(factors['fast']) : undefined;
  const faster = ([bucket, usd]: [string, number]) => [bucket, Number((usd * fast!).toFixed(6))];
  return {
    ...Object.fromEntries(serviceTiers.map((tier) => [tier, pricesWith(entry, `_${tier}`)])),
    ...(fast !== undefined && {
      priority: Object.fromEntries(Object.entries(pricesWith(entry, '')).map(faster)),
    }),
    ...(isObject(offPeak) && { off_peak: pricesWith(offPeak, '') }),
  };
}

/** `tiered_pricing`: a list of `{ range: [from, to], input_cost_per_token, … }`. */
function rangesOf(value: unknown): Map<number, StatedPrices> {
  const ranges = Array.isArray(value) ? value.filter(isObject) : [];
  return new Map(
    ranges.flatMap((range) => {
      const from: unknown = Array.isArray(range['range']) ? range['range'][0] : undefined;
      const above = from === 0 ? 0 : readTokens(from);
      return above === undefined ? [] : [[above, pricesWith(range, '')] as const];
    }),
  );
}

function pricesWith(entry: Record<string, unknown>, ending: string): StatedPrices {
  const fields = Object.entries(fieldOfBucket).map(
    ([bucket, field]) => [bucket, priceOf(entry[`${field}${ending}`])] as const,
  );
  return withoutUndefined(Object.fromEntries(fields));
}

function priceOf(usd: unknown, count = 1_000_000): number | undefined {
  return typeof usd === 'number' ? readUsdPerMillion(usd * count) : undefined;
}

function flag(name: keyof StatedModel['supports'], value: unknown): StatedModel['supports'] {
  return typeof value === 'boolean' ? { [name]: value } : {};
}

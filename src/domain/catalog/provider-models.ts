// How each kind of provider lists its models, free of charge.
import { findKnownProvider } from '../../config/known-providers.ts';
import type { ProviderConfig } from '../../config/schema.ts';
import { isObject, type JsonObject } from '../../lib/json.ts';
import { bearer, keyHeader } from '../../lib/key-headers.ts';

type ListRequest = {
  /** Where it is not below the base URL. */
  readonly origin?: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
};

/** Returns null for a kind that cannot be asked free of charge. */
export function modelListOf(
  name: string,
  provider: Pick<ProviderConfig, 'kind' | 'api_key' | 'base_url'>,
): ListRequest | null {
  const { kind, api_key: apiKey, base_url: baseUrl } = provider;
  const known = findKnownProvider(name, provider);
  if (known?.kind === kind && known.modelsPath === null) return null;
  switch (kind) {
    // Its list has a host of its own.
    case 'bedrock':
      return {
        origin: new URL(baseUrl).origin.replace('//bedrock-runtime.', '//bedrock.'),
        path: '/foundation-models',
        headers: bearer(apiKey),
      };
    case 'vertex':
      return {
        path: '/v1beta1/publishers/google/models?pageSize=1000',
        headers: keyHeader('x-goog-api-key', apiKey),
      };
    case 'openai':
    case 'openai-compatible':
      return { path: known?.modelsPath ?? '/models', headers: bearer(apiKey) };
    case 'cohere':
      return { path: '/v1/models?page_size=1000&endpoint=chat', headers: bearer(apiKey) };
    // It lists models, not deployments.
    case 'azure':
      return { path: '/openai/v1/models', headers: keyHeader('api-key', apiKey) };
    case 'anthropic':
      return {
        path: '/v1/models?limit=1000',
        headers: { 'x-api-key': apiKey ?? '', 'anthropic-version': '2023-06-01' },
      };
    case 'google':
      return { path: '/v1beta/models?pageSize=1000', headers: { 'x-goog-api-key': apiKey ?? '' } };
    default:
      return null;
  }
}

/** What a provider's list says about a model. */
export type ListedModel = {
  /** The provider's own id. */
  readonly id: string;
  /** null: the list does not say. */
  readonly contextTokens: number | null;
  /** USD per million tokens, under the names of the configuration; null: the list does not say. */
  readonly prices: ListedPrices | null;
};

type ListedPrices = {
  readonly input: number;
  readonly output: number;
  readonly cache_read?: number;
  readonly cache_write?: number;
};

/** Returns the first models in an answer, sorted by id; null when it is no list. */
export function readModelList(body: unknown): readonly ListedModel[] | null {
  if (Array.isArray(body)) return modelsIn(body);
  if (!isObject(body)) return null;
  const { data, models, modelSummaries, publisherModels } = body;
  const list = data ?? models ?? modelSummaries ?? publisherModels;
  return Array.isArray(list) ? modelsIn(list) : null;
}

const listedAs = /^(?:publishers\/[\w-]+\/)?models\//u;

/** Ten times what the longest lists have. A page shows them all. */
const modelsMax = 5_000;

function modelsIn(list: readonly unknown[]): ListedModel[] {
  const byId = new Map<string, ListedModel>();
  for (const model of list.slice(0, modelsMax)) {
    if (!isObject(model)) continue;
    const id = model['id'] ?? model['modelId'] ?? model['name'];
    if (typeof id !== 'string' || id === '') continue;
    // Gemini writes `models/gemini-…`, and Vertex `publishers/google/models/gemini-…`.
    const own = id.replace(listedAs, '');
    byId.set(own, { id: own, contextTokens: contextOf(model), prices: pricesOf(model) });
  }
  return [...byId.values()].toSorted((one, other) => (one.id < other.id ? -1 : 1));
}

/** OpenRouter, Together and Cohere; Groq; Mistral; vLLM and SGLang; Gemini; llama.cpp; DeepInfra. */
const contextNames =
  'context_length context_window max_context_length max_model_len inputTokenLimit n_ctx n_ctx_train';

function contextOf(model: JsonObject): number | null {
  const places = [model, model['meta'], model['metadata']].filter(isObject);
  const found = contextNames.split(' ').flatMap((name) => places.map((place) => place[name]));
  const isTokens = (value: unknown): value is number =>
    typeof value === 'number' && Number.isInteger(value) && value > 0 && value <= 100_000_000;
  return found.find(isTokens) ?? null;
}

/** Names of prices in the configuration, at OpenRouter, and at Perplexity and Together. */
const priceNames = [
  ['input', 'prompt', 'input'],
  ['output', 'completion', 'output'],
  ['cache_read', 'input_cache_read', 'cache_read'],
  ['cache_write', 'input_cache_write', 'cache_write'],
] as const;

/**
 * OpenRouter writes USD a token, as text; Perplexity and Together (which also has models by the hour)
 * USD per million tokens. Other units are not guessed.
 */
function pricesOf({ pricing, type }: JsonObject): ListedPrices | null {
  if (!isObject(pricing)) return null;
  const isOfToken = typeof pricing['prompt'] === 'string';
  const isOfMillion =
    pricing['unit'] === 'usd_per_1m_tokens' || (type !== undefined && 'hourly' in pricing);
  if (!isOfToken && !isOfMillion) return null;
  const prices: Partial<Record<keyof ListedPrices, number>> = {};
  for (const [name, ofToken, ofMillion] of priceNames) {
    const given = pricing[isOfToken ? ofToken : ofMillion];
    const usd =
      isOfToken && typeof given === 'string' && given !== '' ? Number(given) * 1e6 : given;
    if (typeof usd === 'number' && usd >= 0 && usd <= 1e6) prices[name] = Number(usd.toFixed(6));
  }
  const { input, output, ...cached } = prices;
  return input === undefined || output === undefined ? null : { input, output, ...cached };
}

// How each kind of provider lists its models, free of charge.
import { findKnownProvider } from '../../config/known-providers.ts';
import type { ProviderConfig } from '../../config/schema.ts';
import { isObject } from '../../lib/json.ts';

type ListRequest = {
  /** Where it is not below the base URL. */
  readonly origin?: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
};

/** Returns null for a kind that cannot be asked free of charge. */
export function modelListOf(
  name: string,
  {
    kind,
    api_key: apiKey,
    base_url: baseUrl,
  }: Pick<ProviderConfig, 'kind' | 'api_key' | 'base_url'>,
): ListRequest | null {
  const known = findKnownProvider(name, baseUrl);
  if (known?.kind === kind && known.modelsPath === null) return null;
  switch (kind) {
    // Its list has a host of its own.
    case 'bedrock':
      return {
        origin: new URL(baseUrl).origin.replace('//bedrock-runtime.', '//bedrock.'),
        path: '/foundation-models',
        headers: apiKey === null ? {} : { authorization: `Bearer ${apiKey}` },
      };
    case 'vertex':
      return {
        path: '/v1beta1/publishers/google/models?pageSize=1000',
        headers: apiKey === null ? {} : { 'x-goog-api-key': apiKey },
      };
    case 'openai':
    case 'openai-compatible':
      return {
        ...(known?.modelsPath ? above(baseUrl, known.modelsPath) : { path: '/models' }),
        headers: apiKey === null ? {} : { authorization: `Bearer ${apiKey}` },
      };
    // It lists models, not deployments.
    case 'azure':
      return { path: '/openai/v1/models', headers: apiKey === null ? {} : { 'api-key': apiKey } };
    case 'anthropic':
      return {
        path: '/v1/models?limit=1000',
        headers: { 'x-api-key': apiKey ?? '', 'anthropic-version': '2023-06-01' },
      };
    case 'google':
      return {
        path: '/v1beta/models?pageSize=1000',
        headers: { 'x-goog-api-key': apiKey ?? '' },
      };
    default:
      return null;
  }
}

/** Cohere's list is above the address of its Chat. */
function above(baseUrl: string, path: string): Pick<ListRequest, 'origin' | 'path'> {
  const { origin, pathname, search } = new URL(baseUrl + path);
  return { origin, path: pathname + search };
}

/** Returns the ids in an answer, sorted; null when it is no list. */
export function readModelList(body: unknown): readonly string[] | null {
  if (Array.isArray(body)) return idsIn(body);
  if (!isObject(body)) return null;
  const { data, models, modelSummaries, publisherModels } = body;
  const list = data ?? models ?? modelSummaries ?? publisherModels;
  return Array.isArray(list) ? idsIn(list) : null;
}

const listedAs = /^(?:publishers\/[\w-]+\/)?models\//u;

function idsIn(list: readonly unknown[]): string[] {
  const ids = list.flatMap((model) => {
    const id = isObject(model) ? (model['id'] ?? model['modelId'] ?? model['name']) : null;
    // Gemini writes `models/gemini-…`, and Vertex `publishers/google/models/gemini-…`.
    return typeof id === 'string' && id !== '' ? [id.replace(listedAs, '')] : [];
  });
  return [...new Set(ids)].toSorted();
}

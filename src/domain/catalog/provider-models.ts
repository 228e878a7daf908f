// How each kind of provider lists its models, free of charge.
import type { ProviderKindName } from '../../terms/provider-kind.ts';
import { isObject } from '../../lib/json.ts';

type ListRequest = {
  /** Below the base URL. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
};

/** Returns null for a kind that cannot be asked free of charge. */
export function modelListOf(kind: ProviderKindName, apiKey: string | null): ListRequest | null {
  switch (kind) {
    case 'openai':
    case 'openai-compatible':
      return {
        path: '/models',
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

/** Returns the ids in an answer, sorted; null when it is no list. */
export function readModelList(body: unknown): readonly string[] | null {
  if (Array.isArray(body)) return idsIn(body);
  if (!isObject(body)) return null;
  const list = body['data'] ?? body['models'];
  return Array.isArray(list) ? idsIn(list) : null;
}

function idsIn(list: readonly unknown[]): string[] {
  const ids = list.flatMap((model) => {
    const id = isObject(model) ? (model['id'] ?? model['name']) : null;
    // Gemini writes `models/gemini-…`.
    return typeof id === 'string' && id !== '' ? [id.replace(/^models\//u, '')] : [];
  });
  return [...new Set(ids)].toSorted();
}

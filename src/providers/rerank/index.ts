// Which host ranks documents in which form. All of them have Cohere's, with a few other words.
// https://docs.cohere.com/reference/rerank
import type { HostQuery } from '../provider.ts';
import { readTokenCount } from '../../canonical/usage.ts';
import { isObject, type JsonObject, objectOf } from '../../lib/json.ts';
import type { RerankWishes } from '../../terms/host-wishes.ts';
import type { Ranked, Ranking, RerankHost } from './host.ts';

/** Returns null when it ranks nothing. */
export function rerankHostOf({ kind, wishes }: HostQuery): RerankHost | null {
  switch (kind) {
    case 'openai-compatible':
      return cohereForm(wishes.rerank ?? {});
    case 'cohere':
      return cohereForm({ path: '/v2/rerank', lengthField: 'max_tokens_per_doc' });
    case 'bedrock':
      return bedrock;
    default:
      return null;
  }
}

function cohereForm({
  path = '/rerank',
  isAtOrigin = false,
  topField = 'top_n',
  lengthField,
  fixed = {},
}: RerankWishes): RerankHost {
  return {
    ignores: lengthField ? [] : ['max_tokens_per_doc'],
    write: ({ upstreamModel, query, documents, topCount, tokensPerDocument }) => ({
      path,
      isAtOrigin,
      body: {
        model: upstreamModel,
        query,
        documents,
        [topField]: topCount,
        ...(lengthField && tokensPerDocument !== null && { [lengthField]: tokensPerDocument }),
        ...fixed,
      },
    }),
  };
}

/** By `invoke`, for models of Cohere and of Amazon. Only Cohere's name a version. */
const bedrock: RerankHost = {
  ignores: ['max_tokens_per_doc'],
  write: ({ upstreamModel, query, documents, topCount }) => ({
    path: `/model/${encodeURIComponent(upstreamModel)}/invoke`,
    body: {
      query,
      documents,
      top_n: topCount,
      ...(upstreamModel.includes('cohere.') && { api_version: 2 }),
    },
  }),
};

/**
 * Reads the answer of any host. Returns null for one that is none. Voyage has `data` in place of
 * `results`, and SGLang `score` in place of `relevance_score`.
 * Xinference counts in `meta.tokens` (github.com/xorbitsai/inference/pull/1657, read 2026-11-30).
 */
export function readRanking(
  { results, data, meta, usage }: JsonObject,
  documentCount: number,
): Ranking | null {
  const list: unknown = results ?? data;
  if (!Array.isArray(list)) return null;
  const ranked = list.map((result) => readRanked(result, documentCount));
  const isWhole = (all: readonly (Ranked | null)[]): all is readonly Ranked[] =>
    !all.includes(null) && new Set(all.map((one) => one!.index)).size === all.length;
  if (!isWhole(ranked)) return null;
  const { billed_units: units, tokens } = objectOf(meta);
  const billed = objectOf(units);
  const counted = objectOf(usage);
  return {
    results: ranked,
    searchUnits: readTokenCount(billed.search_units) ?? readTokenCount(counted.search_units),
    tokens:
      readTokenCount(billed.input_tokens) ??
      readTokenCount(objectOf(tokens).input_tokens) ??
      readTokenCount(counted.total_tokens) ??
      readTokenCount(counted.prompt_tokens),
  };
}

function readRanked(result: unknown, documentCount: number): Ranked | null {
  if (!isObject(result)) return null;
  const { index, relevance_score: score = result.score } = result;
  const isIndex = Number.isInteger(index) && Number(index) >= 0 && Number(index) < documentCount;
  return isIndex && typeof score === 'number' && Number.isFinite(score)
    ? { index: Number(index), score }
    : null;
}

// A request to rank documents, by the search unit or by the input token, as its model is priced. It is
// one call: scores of several do not compare, so neither is it split nor does another model step in.
import type { Model } from '../../domain/catalog/model.ts';
import { parseRerankRequest, type RerankRequest } from '../../domain/rerank/rerank-request.ts';
import { newIdWithPrefix } from '../../lib/ids.ts';
import { estimateInputTokens, type InputEstimate } from '../../lib/tokens.ts';
import type { Ranked, RerankHost } from '../../providers/rerank/host.ts';
import { readRanking, rerankHostOf } from '../../providers/rerank/index.ts';
import { rankInSandbox } from '../../providers/registry.ts';
import { findModel } from '../admission/permitted-model.ts';
import type { Endpoint } from '../stages.ts';
import {
  currentPrice,
  deliverOneCall,
  factsOf,
  taskRoutes,
  unitPrice,
  type OneCall,
} from './one-call.ts';
import { saleOfUnits } from './units.ts';

const searchUnit = { one: 'search unit', many: 'search units', counted: null } as const;
const inputToken = { one: 'input token', many: 'input tokens', counted: 'token' } as const;

/** Throws ApiError 400 or 404. */
export const rerankEndpoint: Endpoint = (gateway, { body, caller }) => {
  const { key, record } = caller;
  const request = parseRerankRequest(body);
  record.note({ askedModel: request.model });
  const model = findModel(gateway, key, request.model, 'rerank');
  const routes = taskRoutes(gateway, { model, key }, ({ kind, provider }) =>
    rerankHostOf({ kind: kind.kind, wishes: provider.wishes.rerank }),
  );
  const sizes = sizesOf(request, model);
  const facts = {
    ...factsOf(model, routes, request.body),
    prompt: () => [request.query, ...request.documents].join('\n'),
    tokens: sizes.likely.tokens,
  };
  return saleOfUnits(facts, () => {
    const price = currentPrice(gateway, { model, key });
    const isBySearch = price.list.unit !== undefined;
    const counted = isBySearch ? 'searchUnits' : 'tokens';
    const countMax = sizes.upper[counted];
    const ownCount = Math.min(sizes.likely[counted], countMax);
    const most = unitPrice(price);
    const { query, documents, topCount, tokensPerDocument, ignored } = request;
    const task: OneCall<RerankHost, readonly Ranked[]> = {
      gateway,
      caller,
      model,
      routes,
      price,
      countMax,
      ownCount,
      write: ({ chosen: { upstreamModel }, host }) =>
        host.write({ upstreamModel, query, documents, topCount, tokensPerDocument }),
      read(answer) {
        const ranking = readRanking(answer, documents.length);
        return ranking && ranking.results.length >= topCount
          ? { made: ranking.results, count: ranking[counted] }
          : 'the answer does not have a score for each document';
      },
      play: (signal) => rankInSandbox({ query, documents, signal, clock: gateway.clock }),
      answer: (ranked, count) => ({
        id: newIdWithPrefix('rerank'),
        model: model.id,
        results: resultsOf(ranked, request),
        meta: {
          api_version: { version: '2' },
          billed_units: isBySearch ? { search_units: count } : { input_tokens: count },
        },
        usage: isBySearch ? { search_units: count } : { prompt_tokens: count, total_tokens: count },
      }),
      ignoredAt: ({ host }) => [
        ...ignored,
        ...host.ignores.filter((name) => (request.body[name] ?? null) !== null),
      ],
    };
    const units = {
      endpoint: 'rerank',
      modelName: model.displayName,
      unit: isBySearch ? searchUnit : inputToken,
      count: countMax,
      most,
      likelyPicos: most.upstreamPicos * BigInt(ownCount),
      countField: null,
    };
    return { units, deliver: (signals) => deliverOneCall(task, signals) };
  });
};

function resultsOf(ranked: readonly Ranked[], request: RerankRequest) {
  const { documents, topCount, returnsDocuments } = request;
  return ranked
    .toSorted((one, other) => other.score - one.score || one.index - other.index)
    .slice(0, topCount)
    .map(({ index, score }) => ({
      index,
      relevance_score: score,
      ...(returnsDocuments && { document: { text: documents[index]! } }),
    }));
}

/**
 * A host reads the query with every document. Cohere cuts both together into pieces of 500 tokens, and
 * a search unit is 100 of them. https://cohere.com/pricing (read 2026-11-29)
 */
const pieceTokens = 500;
const piecesPerUnit = 100;
/** A query longer than a piece leaves no room for a document: this much is counted then. */
const pieceTokensMin = 100;

function sizesOf({ query, documents, tokensPerDocument }: RerankRequest, model: Model) {
  const documentMax = Math.min(tokensPerDocument ?? Infinity, model.maxInputTokens);
  const asked = estimateInputTokens(query);
  const read = documents.map((document) => estimateInputTokens(document));
  const sizeAs = (side: keyof Pick<InputEstimate, 'upper' | 'likely'>) => {
    const room = Math.max(pieceTokens - asked[side], pieceTokensMin);
    let tokens = 0;
    let pieces = 0;
    for (const document of read) {
      const size = Math.min(document[side], documentMax);
      tokens += Math.min(asked[side] + size, model.maxInputTokens);
      pieces += Math.ceil(size / room);
    }
    return { tokens, searchUnits: Math.ceil(Math.max(pieces, documents.length) / piecesPerUnit) };
  };
  return { upper: sizeAs('upper'), likely: sizeAs('likely') };
}

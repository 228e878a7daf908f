// A request to rank documents, by the search unit or by the input token, as its model is priced. It is
// one call: scores of several do not compare, so neither is it split nor does another model step in.
import { unreadable } from '../../canonical/upstream-broken.ts';
import type { Model } from '../../domain/catalog/model.ts';
import { parseRerankRequest, type RerankRequest } from '../../domain/tasks/rerank-request.ts';
import { newIdWithPrefix } from '../../lib/ids.ts';
import { estimateInputTokens } from '../../lib/tokens.ts';
import type { Ranked } from '../../providers/rerank/host.ts';
import { readRanking, rerankHostOf } from '../../providers/rerank/index.ts';
import { rankInSandbox } from '../../providers/sandbox/rank.ts';
import { sendTask } from './task-call.ts';
import { inputToken, sizeBy } from './task-price.ts';
import { taskEndpoint } from './task-sale.ts';

const searchUnit = { one: 'search unit', many: 'search units' } as const;

export const rerankEndpoint = taskEndpoint({
  type: 'rerank',
  endpoint: 'rerank',
  read: parseRerankRequest,
  hostOf: rerankHostOf,
  measure(request, model) {
    const { tokens, searchUnits } = sizesOf(request, model);
    return {
      prompt: () => [request.query, ...request.documents].join('\n'),
      tokens: tokens.likely,
      sizeAs: (isByUnit) =>
        isByUnit
          ? sizeBy('units', searchUnit, searchUnits)
          : sizeBy('inputTokens', inputToken, tokens),
    };
  },
  async call({ chosen, host }, { gateway: { clock }, request, size, isByUnit, sending }) {
    const { query, documents, topCount, tokensPerDocument } = request;
    const { signal } = sending;
    if (chosen.isSandbox) {
      const made = await rankInSandbox({ query, documents, signal, clock });
      return { made, count: size.likely, isEstimate: false };
    }
    const { upstreamModel } = chosen;
    const job = { upstreamModel, query, documents, topCount, tokensPerDocument };
    const { body } = await sendTask(sending, host.write(job));
    const ranking = readRanking(body, documents.length);
    if (!ranking || ranking.results.length < topCount)
      throw unreadable('the answer does not have a score for each document');
    const { results: made, searchUnits: units, tokens: inputTokens } = ranking;
    // A host that counts 0 counted nothing.
    const counted = isByUnit ? units && { units } : inputTokens && { inputTokens };
    return { made, count: counted || size.likely, isEstimate: !counted };
  },
  ignoredAt: ({ ignores }, { body }) => ignores.filter((name) => (body[name] ?? null) !== null),
  answer(ranked, { model, request, count: { units = 0, inputTokens = 0 }, isByUnit }) {
    const billed = isByUnit ? { search_units: units } : { input_tokens: inputTokens };
    return {
      body: {
        id: newIdWithPrefix('rerank'),
        model: model.id,
        results: resultsOf(ranked, request),
        meta: { api_version: { version: '2' }, billed_units: billed },
        usage: isByUnit ? billed : { prompt_tokens: inputTokens, total_tokens: inputTokens },
      },
    };
  },
});

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
  const [tokens, searchUnits] = [{ ...none }, { ...none }];
  for (const side of ['upper', 'likely', 'most'] as const) {
    const room = Math.max(pieceTokens - asked[side], pieceTokensMin);
    let pieces = 0;
    for (const document of read) {
      const size = Math.min(document[side], documentMax);
      tokens[side] += Math.min(asked[side] + size, model.maxInputTokens);
      pieces += Math.ceil(size / room);
    }
    searchUnits[side] = Math.ceil(Math.max(pieces, documents.length) / piecesPerUnit);
  }
  return { tokens, searchUnits };
}

const none = { upper: 0, likely: 0, most: 0 };

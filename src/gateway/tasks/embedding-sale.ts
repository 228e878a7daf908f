// A request for embeddings: input tokens at the model's price. Inputs beyond what a host takes in one
// call are split, and one charge covers all calls.
import { invalidRequest } from '../../canonical/errors.ts';
import type { Model } from '../../domain/catalog/model.ts';
import {
  parseEmbeddingRequest,
  type EmbeddingRequest,
} from '../../domain/tasks/embedding-request.ts';
import { estimateInputTokens } from '../../lib/tokens.ts';
import { embeddingHostOf } from '../../providers/embeddings/index.ts';
import { encodeAs } from '../../providers/embeddings/vectors.ts';
import { embedAt } from './embed-at.ts';
import { inputToken } from './task-price.ts';
import { taskEndpoint } from './task-sale.ts';

export const embeddingEndpoint = taskEndpoint({
  type: 'embedding',
  endpoint: 'embeddings',
  read: parseEmbeddingRequest,
  hostOf: ({ kind, provider, upstreamModel }) =>
    embeddingHostOf({ kind: kind.kind, upstreamModel, wishes: provider.wishes.embeddings }),
  serves: ({ takesTokens }, { inputs }) =>
    takesTokens || inputs.every((input) => typeof input === 'string'),
  refuse: (_, model) =>
    invalidRequest(
      'input',
      `input has lists of tokens, which no provider of ${model.id} takes: send texts. LangChain sends them with \`check_embedding_ctx_length=False\`.`,
    ),
  isCachedUnasked: ({ config }) => config.cache.embeddings,
  measure(request, model) {
    checkSize(request, model);
    const { upper, likely, most } = estimateOf(request, model);
    return {
      prompt: () => request.inputs.filter((input) => typeof input === 'string').join('\n'),
      tokens: likely,
      sizeAs: () => ({
        unit: inputToken,
        count: upper,
        each: { inputTokens: 1 },
        likely: { inputTokens: likely },
        most: { inputTokens: most },
      }),
    };
  },
  call: embedAt,
  ignoredAt: ({ ignores }, { body }) => ignores.filter((name) => (body[name] ?? null) !== null),
  answer: (vectors, { model, request, count: { inputTokens = 0 } }) => ({
    body: {
      object: 'list',
      data: vectors.map((vector, index) => ({
        object: 'embedding',
        index,
        embedding: encodeAs(request.encoding, vector),
      })),
      model: model.id,
      usage: { prompt_tokens: inputTokens, total_tokens: inputTokens },
    },
  }),
});

/** Throws ApiError `invalid_request`. */
function checkSize({ dimensions: size }: EmbeddingRequest, { id, dimensions }: Model): void {
  if (size === null || !dimensions) return;
  const { min, max } = dimensions;
  if (size >= min && size <= max) return;
  const rule =
    min === max
      ? `must be ${max} or left out for ${id}, which has one size`
      : `must be a whole number from ${min} to ${max} for ${id}`;
  throw invalidRequest('dimensions', `dimensions ${rule}; got ${size}`);
}

/** A host refuses an input that is longer than the model takes, so it cannot bill more. */
function estimateOf({ inputs }: EmbeddingRequest, { maxInputTokens }: Model) {
  const texts = inputs.filter((input) => typeof input === 'string');
  const listed = inputs.reduce<number>(
    (sum, input) => sum + (typeof input === 'string' ? 0 : input.length),
    0,
  );
  const estimate = estimateInputTokens(texts);
  const sumAs = (side: 'upper' | 'likely' | 'most') =>
    Math.min(estimate[side] + listed, maxInputTokens * inputs.length);
  return { upper: sumAs('upper'), likely: sumAs('likely'), most: sumAs('most') };
}

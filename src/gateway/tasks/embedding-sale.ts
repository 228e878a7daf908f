// A request for embeddings: input tokens at the model's price. Inputs beyond what a host takes in one
// call are split, and one charge covers all calls.
import { invalidRequest } from '../../canonical/errors.ts';
import type { Model } from '../../domain/catalog/model.ts';
import {
  parseEmbeddingRequest,
  type EmbeddingRequest,
} from '../../domain/tasks/embedding-request.ts';
import {
  parseGeminiEmbedding,
  parseGeminiEmbeddings,
} from '../../domain/tasks/gemini-embedding.ts';
import { inWordsOf, type FieldNames } from '../../formats/client-words.ts';
import type { JsonObject } from '../../lib/json.ts';
import { estimateInputTokens } from '../../lib/tokens.ts';
import { embeddingHostOf } from '../../providers/embeddings/index.ts';
import { encodeAs, type Vector } from '../../providers/embeddings/vectors.ts';
import { embedAt, embeddingCall, sizeOfVector } from './embed-at.ts';
import { inputToken, sizeBy } from './task-price.ts';
import type { Endpoint } from '../stages.ts';
import { taskEndpoint } from './task-sale.ts';

/** A number in memory, and as text. */
const keptNumberBytes = 30;

/** How requests and answers are written. */
type Form = {
  /** Throws ApiError `invalid_request`. */
  readonly read: (body: unknown) => EmbeddingRequest;
  /** Its fields that OpenAI names differently. Left out: none. */
  readonly fieldNames?: FieldNames;
  readonly write: (vectors: readonly Vector[], made: Made) => JsonObject;
};

type Made = {
  readonly request: EmbeddingRequest;
  readonly modelId: string;
  readonly tokens: number;
};

export const embeddingEndpoint = embeddingsIn({
  read: parseEmbeddingRequest,
  write: (vectors, { request, modelId, tokens }) => ({
    object: 'list',
    data: vectors.map((vector, index) => ({
      object: 'embedding',
      index,
      embedding: encodeAs(request.encoding, vector),
    })),
    model: modelId,
    usage: { prompt_tokens: tokens, total_tokens: tokens },
  }),
});

const valuesOf = (vector: Vector) => ({ values: encodeAs('float', vector) });
const geminiUsage = ({ tokens }: Made) => ({
  usageMetadata: { promptTokenCount: tokens, totalTokenCount: tokens },
});

export const embedContentEndpoint = embeddingsIn({
  read: parseGeminiEmbedding,
  fieldNames: { input: 'content', dimensions: 'outputDimensionality' },
  write: (vectors, made) => ({ embedding: valuesOf(vectors[0]!), ...geminiUsage(made) }),
});

export const batchEmbedContentsEndpoint = embeddingsIn({
  read: parseGeminiEmbeddings,
  fieldNames: { input: 'requests', dimensions: 'requests[0].outputDimensionality' },
  write: (vectors, made) => ({ embeddings: vectors.map(valuesOf), ...geminiUsage(made) }),
});

function embeddingsIn({ read, fieldNames, write }: Form): Endpoint {
  return taskEndpoint({
    type: 'embedding',
    endpoint: 'embeddings',
    read: (body) => inWordsOf(fieldNames, () => read(body)),
    hostOf: embeddingHostOf,
    serves: ({ takesTokens }, { inputs }) =>
      takesTokens || inputs.every((input) => typeof input === 'string'),
    refuse: (_, model) =>
      invalidRequest(
        'input',
        `input has lists of tokens, which no provider of ${model.id} takes: send texts. LangChain sends them with \`check_embedding_ctx_length=False\`.`,
      ),
    isCachedUnasked: ({ config }) => config.cache.embeddings,
    measure(request, model) {
      inWordsOf(fieldNames, () => checkSize(request, model));
      const sizes = estimateOf(request, model);
      return {
        prompt: () => request.inputs.filter((input) => typeof input === 'string').join('\n'),
        tokens: sizes.likely,
        answerBytes: request.inputs.length * sizeOfVector(request, model) * keptNumberBytes,
        sizeAs: () => sizeBy('inputTokens', inputToken, sizes),
      };
    },
    call: embedAt,
    batchCall: embeddingCall,
    ignoredAt: ({ ignores }, { body }) => ignores.filter((name) => (body[name] ?? null) !== null),
    answer: (vectors, { model, request, count: { inputTokens: tokens = 0 } }) => ({
      body: write(vectors, { request, modelId: model.id, tokens }),
    }),
  });
}

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

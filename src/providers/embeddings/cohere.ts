// Cohere's own embeddings: its compatible ones know no purpose. https://docs.cohere.com/reference/embed
import { readTokenCount } from '../../canonical/usage.ts';
import type { EmbeddingPurpose } from '../../terms/embedding.ts';
import { isObject, type JsonObject, objectOf } from '../../lib/json.ts';
import { textsOnly, type EmbeddingHost, type EmbeddingJob } from './host.ts';
import { readList } from './vectors.ts';

export const itemsMax = 96;

/** It requires one; texts without a purpose are mostly put into an index. */
const inputTypes: Readonly<Record<EmbeddingPurpose, string>> = {
  query: 'search_query',
  document: 'search_document',
  classification: 'classification',
  clustering: 'clustering',
};

export const cohere: EmbeddingHost = {
  itemsMax,
  ...textsOnly,
  write: (job) => ({
    path: '/v2/embed',
    body: { model: job.upstreamModel, ...writeTexts(job) },
  }),
  read: readAnswer,
};

/** Bedrock has the model in its path. */
export function writeTexts({ inputs, dimensions, purpose }: EmbeddingJob): JsonObject {
  return {
    texts: inputs,
    input_type: inputTypes[purpose ?? 'document'],
    embedding_types: ['float'],
    // A text that is too long is refused, as at OpenAI, and not cut.
    truncate: 'NONE',
    ...(dimensions !== null && { output_dimension: dimensions }),
  };
}

/** Bedrock's older models answer with a plain list of vectors. */
export function readAnswer({ embeddings, meta }: JsonObject) {
  const vectors = readList(isObject(embeddings) ? embeddings.float : embeddings);
  const billed = objectOf(objectOf(meta).billed_units);
  return vectors && { vectors, tokens: readTokenCount(billed.input_tokens) };
}

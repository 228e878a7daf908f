// Embeddings of the Gemini API and of Vertex. https://ai.google.dev/api/embeddings
import { readTokenCount } from '../../canonical/usage.ts';
import type { EmbeddingPurpose } from '../../terms/embedding.ts';
import { type JsonObject, objectOf } from '../../lib/json.ts';
import { modelPath } from '../vertex/paths.ts';
import { textsOnly, type Embedded, type EmbeddingHost, type EmbeddingJob } from './host.ts';
import { normalise, readFloats, readList } from './vectors.ts';

const taskTypes: Readonly<Record<EmbeddingPurpose, string>> = {
  query: 'RETRIEVAL_QUERY',
  document: 'RETRIEVAL_DOCUMENT',
  classification: 'CLASSIFICATION',
  clustering: 'CLUSTERING',
};

export const gemini: EmbeddingHost = {
  itemsMax: 100,
  ...textsOnly,
  write: (job) => ({
    path: `/v1beta/models/${encodeURIComponent(job.upstreamModel)}:batchEmbedContents`,
    body: {
      requests: job.inputs.map((text) => ({
        model: `models/${job.upstreamModel}`,
        ...writeContent(job, text),
      })),
    },
  }),
  read({ embeddings, usageMetadata }, job) {
    if (!Array.isArray(embeddings)) return null;
    const vectors = readList(embeddings.map((entry) => objectOf(entry).values));
    return vectors && withLength({ vectors, tokens: countOf(usageMetadata) }, job);
  },
};

/** Gemini's newer models on Vertex: one text a call. */
export const vertexContent: EmbeddingHost = {
  itemsMax: 1,
  ...textsOnly,
  write: (job) => ({
    path: `${modelPath('v1beta1', 'google', job.upstreamModel, job.place)}:embedContent`,
    body: writeContent(job, job.inputs[0]!),
  }),
  read({ embedding, usageMetadata }, job) {
    const vector = readFloats(objectOf(embedding).values);
    return vector && withLength({ vectors: [vector], tokens: countOf(usageMetadata) }, job);
  },
};

/** The older form of Vertex. gemini-embedding-001 takes one text a call there. */
export const vertexPredict: EmbeddingHost = {
  itemsMax: 1,
  ...textsOnly,
  write: ({ upstreamModel, place, inputs, dimensions, purpose }) => ({
    path: `${modelPath('v1', 'google', upstreamModel, place)}:predict`,
    body: {
      instances: inputs.map((content) => ({
        content,
        ...(purpose !== null && { task_type: taskTypes[purpose] }),
      })),
      parameters: {
        // A text that is too long is refused, and not cut.
        autoTruncate: false,
        ...(dimensions !== null && { outputDimensionality: dimensions }),
      },
    },
  }),
  read({ predictions }, job) {
    if (!Array.isArray(predictions)) return null;
    const made = predictions.map((entry) => objectOf(objectOf(entry).embeddings));
    const vectors = readList(made.map(({ values }) => values));
    const counts = made.map(({ statistics }) => readTokenCount(objectOf(statistics).token_count));
    const tokens = counts.includes(null)
      ? null
      : counts.reduce<number>((sum, count) => sum + count!, 0);
    return vectors && withLength({ vectors, tokens }, job);
  },
};

function writeContent({ dimensions, purpose }: EmbeddingJob, text: unknown): JsonObject {
  return {
    content: { parts: [{ text }] },
    ...(purpose !== null && { taskType: taskTypes[purpose] }),
    ...(dimensions !== null && { outputDimensionality: dimensions }),
  };
}

function countOf(usage: unknown): number | null {
  return readTokenCount(objectOf(usage).promptTokenCount);
}

/** gemini-embedding-001 leaves vectors of a size that was asked for as long as they are. */
function withLength({ vectors, tokens }: Embedded, { dimensions }: EmbeddingJob): Embedded {
  return { vectors: dimensions === null ? vectors : vectors.map(normalise), tokens };
}

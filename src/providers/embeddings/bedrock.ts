// Embeddings by `invoke` of Amazon Bedrock, in the form of each vendor.
// https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters.html
import { readTokenCount } from '../../canonical/usage.ts';
import type { EmbeddingPurpose } from '../../terms/embedding.ts';
import { type JsonObject, objectOf, listOf } from '../../lib/json.ts';
import * as cohere from './cohere.ts';
import { textsOnly, type EmbeddingHost, type EmbeddingJob } from './host.ts';
import { readFloats } from './vectors.ts';

/** null: it makes no embeddings in a form that is known here. */
export function bedrockHost(model: string): EmbeddingHost | null {
  if (model.includes('cohere.embed')) return cohereThere;
  if (model.includes('titan-embed-text')) return titan;
  return /nova.*embed/.test(model) ? nova : null;
}

/** The token count is in a header (`countHeader`). */
const cohereThere: EmbeddingHost = {
  itemsMax: cohere.itemsMax,
  ...textsOnly,
  write(job) {
    const { embedding_types: types, ...body } = cohere.writeTexts(job);
    // Only the fourth version knows it.
    const isNewer = job.upstreamModel.includes('embed-v4');
    return invoke(job, isNewer ? { ...body, embedding_types: types } : body);
  },
  read: cohere.readAnswer,
};

const titan: EmbeddingHost = {
  itemsMax: 1,
  takesTokens: false,
  ignores: ['user', 'input_type'],
  write: (job) =>
    invoke(job, {
      inputText: job.inputs[0],
      ...(job.dimensions !== null && { dimensions: job.dimensions, normalize: true }),
    }),
  read({ embedding, inputTextTokenCount }) {
    const vector = readFloats(embedding);
    return vector && { vectors: [vector], tokens: readTokenCount(inputTextTokenCount) };
  },
};

const novaPurposes: Readonly<Record<EmbeddingPurpose, string>> = {
  query: 'GENERIC_RETRIEVAL',
  document: 'GENERIC_INDEX',
  classification: 'CLASSIFICATION',
  clustering: 'CLUSTERING',
};

const nova: EmbeddingHost = {
  itemsMax: 1,
  ...textsOnly,
  write: (job) =>
    invoke(job, {
      taskType: 'SINGLE_EMBEDDING',
      singleEmbeddingParams: {
        embeddingPurpose: novaPurposes[job.purpose ?? 'document'],
        ...(job.dimensions !== null && { embeddingDimension: job.dimensions }),
        text: { value: job.inputs[0], truncationMode: 'NONE' },
      },
    }),
  read({ embeddings }) {
    const [first] = listOf(embeddings);
    const vector = readFloats(objectOf(first).embedding);
    return vector && { vectors: [vector], tokens: null };
  },
};

function invoke({ upstreamModel }: EmbeddingJob, body: JsonObject) {
  return { path: `/model/${encodeURIComponent(upstreamModel)}/invoke`, body };
}

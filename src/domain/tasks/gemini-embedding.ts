// Parses a request for embeddings in Gemini's form, of one text or of many.
// https://ai.google.dev/api/embeddings
import { Type, type Static } from 'typebox';
import { invalidRequest, refuseProblem } from '../../canonical/errors.ts';
import { isObject, type JsonObject, objectOf } from '../../lib/json.ts';
import { compileSchema } from '../../lib/schema.ts';
import type { EmbeddingPurpose } from '../../terms/embedding.ts';
import { parseEmbeddingRequest, type EmbeddingRequest } from './embedding-request.ts';
import { optionalOrNull } from '../../lib/schema-parts.ts';

const purposes: Readonly<Record<string, EmbeddingPurpose>> = {
  RETRIEVAL_QUERY: 'query',
  QUESTION_ANSWERING: 'query',
  FACT_VERIFICATION: 'query',
  CODE_RETRIEVAL_QUERY: 'query',
  RETRIEVAL_DOCUMENT: 'document',
  CLASSIFICATION: 'classification',
  CLUSTERING: 'clustering',
};

const fields = {
  content: Type.Object({
    parts: Type.Array(Type.Object({ text: Type.String() }), { minItems: 1 }),
  }),
  taskType: optionalOrNull(Type.String()),
  title: optionalOrNull(Type.String()),
  outputDimensionality: optionalOrNull(Type.Integer({ minimum: 1 })),
  embedContentConfig: optionalOrNull(Type.Object({})),
};
export const EmbedContentSchema = Type.Object(fields);
export const BatchEmbedContentsSchema = Type.Object({
  requests: Type.Array(Type.Object({ model: optionalOrNull(Type.String()), ...fields }), {
    minItems: 1,
  }),
});

const findProblem = compileSchema(EmbedContentSchema);
const findBatchProblem = compileSchema(BatchEmbedContentsSchema);

/** Throws ApiError `invalid_request` that names the field. `model` comes from the path. */
export function parseGeminiEmbedding(body: unknown): EmbeddingRequest {
  const asked = isObject(body) ? inCamelCase(body) : body;
  refuseProblem(findProblem(asked));
  return asEmbeddings(body as JsonObject, [asked as Static<typeof EmbedContentSchema>], 'content');
}

/** As `parseGeminiEmbedding`. All texts must be for one purpose and size. */
export function parseGeminiEmbeddings(body: unknown): EmbeddingRequest {
  const { requests } = isObject(body) ? body : {};
  const asked = Array.isArray(requests)
    ? { requests: requests.map((one: unknown) => (isObject(one) ? inCamelCase(one) : one)) }
    : body;
  refuseProblem(findBatchProblem(asked));
  const all = (asked as Static<typeof BatchEmbedContentsSchema>).requests;
  return asEmbeddings(body as JsonObject, all, 'requests[0].content');
}

type Asked = Static<typeof EmbedContentSchema>;

function asEmbeddings(body: JsonObject, all: readonly Asked[], path: string): EmbeddingRequest {
  const [{ taskType, outputDimensionality }] = all as readonly [Asked, ...Asked[]];
  const different = all.findIndex(
    (one) => one.taskType !== taskType || one.outputDimensionality !== outputDimensionality,
  );
  if (different !== -1)
    throw invalidRequest(
      `requests[${different}]`,
      `requests[${different}] must have the \`taskType\` and \`outputDimensionality\` of the first; send others in a request of their own`,
    );
  const texts = all.map(({ content }) => content.parts.map(({ text }) => text).join('\n'));
  const empty = texts.indexOf('');
  if (empty !== -1)
    throw invalidRequest(path, `${path.replace('[0]', `[${empty}]`)} must hold some text`);
  const read = parseEmbeddingRequest({
    model: body.model,
    input: texts,
    ...(outputDimensionality && { dimensions: outputDimensionality }),
  });
  const purpose = purposes[(taskType ?? '').toUpperCase()] ?? null;
  const hasTitle = all.some(({ title }) => title);
  return {
    ...read,
    body,
    purpose,
    ignored: [
      ...(taskType && purpose === null ? ['taskType'] : []),
      ...(hasTitle ? ['title'] : []),
    ],
  };
}

/**
 * Google takes one part where a list stands, and since 2026 wants what is not the content in a field of its
 * own (https://ai.google.dev/api/embeddings, read 2026-11-30). Python's SDK sends some fields as they are
 * written there.
 */
function inCamelCase(given: JsonObject): JsonObject {
  const { embed_content_config: snake, embedContentConfig: config = snake, ...own } = given;
  const {
    task_type: taskType,
    output_dimensionality: outputDimensionality,
    content,
    ...body
  }: JsonObject = { ...own, ...objectOf(config) };
  const listed = isObject(content) && isObject(content.parts);
  return {
    ...body,
    ...(content !== undefined && {
      content: listed ? { ...content, parts: [content.parts] } : content,
    }),
    ...(config !== undefined && { embedContentConfig: config }),
    ...(taskType !== undefined && { taskType }),
    ...(outputDimensionality !== undefined && { outputDimensionality }),
  };
}

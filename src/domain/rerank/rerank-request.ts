// Parses a request to rank documents, in Cohere's form, which is Jina's too.
import { Type, type Static } from 'typebox';
import { invalidRequest } from '../../canonical/errors.ts';
import { isObject, type JsonObject } from '../../lib/json.ts';
import { compileSchema } from '../../lib/schema.ts';

/** Scores of several calls do not compare, so a request is one call, and this is what hosts take. */
const documentsMax = 1_000;

const orNull = <Schema extends Parameters<typeof Type.Union>[0][number]>(schema: Schema) =>
  Type.Optional(Type.Union([schema, Type.Null()]));

export const RerankRequestSchema = Type.Object({
  model: Type.String({ minLength: 1 }),
  query: Type.String({ minLength: 1 }),
  documents: Type.Array(Type.Union([Type.String(), Type.Object({ text: Type.String() })])),
  top_n: orNull(Type.Integer({ minimum: 1 })),
  return_documents: orNull(Type.Boolean()),
  max_tokens_per_doc: orNull(Type.Integer({ minimum: 1 })),
});

const { documents: _, ...otherFields } = RerankRequestSchema.properties;
const findProblem = compileSchema(Type.Object(otherFields));
const knownFields = new Set(Object.keys(RerankRequestSchema.properties));

export type RerankRequest = {
  readonly body: JsonObject;
  readonly model: string;
  readonly query: string;
  /** From 1 to `documentsMax`, none of them empty. */
  readonly documents: readonly string[];
  /** How many documents the answer has. */
  readonly topCount: number;
  readonly returnsDocuments: boolean;
  /** Longer documents are cut; null: where the model cuts them. */
  readonly tokensPerDocument: number | null;
  /** Fields that are left out. */
  readonly ignored: readonly string[];
};

/** Throws ApiError `invalid_request` that names the field. */
export function parseRerankRequest(body: unknown): RerankRequest {
  const problem = findProblem(body);
  if (problem)
    throw invalidRequest(problem.path || null, `${problem.path || 'the body'} ${problem.message}`);
  const fields = body as Static<typeof RerankRequestSchema>;
  const documents = readDocuments(fields.documents);
  return {
    body: fields,
    model: fields.model,
    query: fields.query.toWellFormed(),
    documents,
    topCount: Math.min(fields.top_n ?? documents.length, documents.length),
    returnsDocuments: fields.return_documents ?? false,
    tokensPerDocument: fields.max_tokens_per_doc ?? null,
    ignored: Object.entries(fields).flatMap(([name, value]) =>
      knownFields.has(name) || value === null ? [] : [name],
    ),
  };
}

function readDocuments(documents: unknown): readonly string[] {
  const listed: readonly unknown[] = Array.isArray(documents) ? documents : [];
  if (listed.length === 0 || listed.length > documentsMax)
    throw invalidRequest(
      'documents',
      `documents must be a list of 1 to ${documentsMax} texts; got ${listed.length}. Scores of several requests do not compare: send the ones that a search finds first.`,
    );
  return listed.map((document, index) => {
    const text = isObject(document) ? document.text : document;
    if (typeof text === 'string' && text !== '') return text.toWellFormed();
    throw invalidRequest(
      'documents',
      `documents[${index}] must be a text that is not empty, or an object with it as \`text\``,
    );
  });
}

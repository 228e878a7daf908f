// Parses a request to rank documents, in Cohere's form, which is Jina's too.
import { Type } from 'typebox';
import { invalidRequest } from '../../canonical/errors.ts';
import { isObject } from '../../lib/json.ts';
import { optionalOrNull } from '../../lib/schema-parts.ts';
import { fieldReader, type TaskRequest } from './task-request.ts';

/** Scores of several calls do not compare, so a request is one call, and this is what hosts take. */
const documentsMax = 1_000;

export const RerankRequestSchema = Type.Object({
  model: Type.String({ minLength: 1 }),
  query: Type.String({ minLength: 1 }),
  documents: Type.Array(Type.Union([Type.String(), Type.Object({ text: Type.String() })])),
  top_n: optionalOrNull(Type.Integer({ minimum: 1 })),
  return_documents: optionalOrNull(Type.Boolean()),
  max_tokens_per_doc: optionalOrNull(Type.Integer({ minimum: 1 })),
});

/** `top_k`: Voyage's. */
const readFields = fieldReader(RerankRequestSchema, 'documents', { top_k: 'top_n' });

export type RerankRequest = TaskRequest & {
  readonly query: string;
  /** From 1 to `documentsMax`, none of them empty. */
  readonly documents: readonly string[];
  /** How many documents the answer has. */
  readonly topCount: number;
  readonly returnsDocuments: boolean;
  /** Longer documents are cut; null: where the model cuts them. */
  readonly tokensPerDocument: number | null;
};

/** Throws ApiError `invalid_request` that names the field. */
export function parseRerankRequest(body: unknown): RerankRequest {
  const { fields, ignored } = readFields(body);
  const documents = readDocuments(fields.documents);
  return {
    body: fields,
    model: fields.model,
    query: fields.query.toWellFormed(),
    documents,
    topCount: Math.min(fields.top_n ?? documents.length, documents.length),
    returnsDocuments: fields.return_documents ?? false,
    tokensPerDocument: fields.max_tokens_per_doc ?? null,
    ignored,
  };
}

function readDocuments(documents: unknown): readonly string[] {
  const listed: readonly unknown[] = Array.isArray(documents) ? documents : [];
  if (listed.length === 0 || listed.length > documentsMax)
    throw invalidRequest(
      'documents',
      `documents must be a list of 1 to ${documentsMax} texts; got ${listed.length || 'none'}.${listed.length > 0 ? ' Scores of several requests do not compare: send the ones that a search finds first.' : ''}`,
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

// Parses a request for embeddings, in OpenAI's form. `input_type` is Cohere's and Voyage's.
import { Type } from 'typebox';
import { invalidRequest } from '../../canonical/errors.ts';
import type { EmbeddingEncoding, EmbeddingInput, EmbeddingPurpose } from '../../terms/embedding.ts';
import { optionalOrNull } from '../../lib/schema-parts.ts';
import { fieldReader, type TaskRequest } from './task-request.ts';

/** As at OpenAI. */
const inputsMax = 2_048;

/** The words of Cohere, Voyage, NVIDIA and OpenAI's clients for them. */
const purposes: Readonly<Record<string, EmbeddingPurpose>> = {
  query: 'query',
  search_query: 'query',
  document: 'document',
  search_document: 'document',
  passage: 'document',
  classification: 'classification',
  clustering: 'clustering',
};

const token = Type.Integer({ minimum: 0, maximum: 10_000_000 });

export const EmbeddingRequestSchema = Type.Object({
  model: Type.String({ minLength: 1 }),
  input: Type.Union([
    Type.String(),
    Type.Array(Type.String()),
    Type.Array(token),
    Type.Array(Type.Array(token)),
  ]),
  dimensions: optionalOrNull(Type.Integer({ minimum: 1 })),
  encoding_format: optionalOrNull(Type.Enum(['float', 'base64'])),
  input_type: optionalOrNull(Type.Enum(Object.keys(purposes))),
  user: optionalOrNull(Type.String()),
});

/** `output_dimension`: Cohere's, Mistral's and Voyage's. */
const readFields = fieldReader(EmbeddingRequestSchema, 'input', {
  output_dimension: 'dimensions',
});

export type EmbeddingRequest = TaskRequest & {
  /** From 1 to `inputsMax`, none of them empty. */
  readonly inputs: readonly EmbeddingInput[];
  readonly dimensions: number | null;
  readonly encoding: EmbeddingEncoding;
  readonly purpose: EmbeddingPurpose | null;
  readonly user: string | null;
};

/** Throws ApiError `invalid_request` that names the field. */
export function parseEmbeddingRequest(body: unknown): EmbeddingRequest {
  const { fields, ignored } = readFields(body);
  return {
    body: fields,
    model: fields.model,
    inputs: readInputs(fields.input),
    dimensions: fields.dimensions ?? null,
    encoding: fields.encoding_format ?? 'float',
    purpose: purposes[fields.input_type ?? ''] ?? null,
    user: fields.user ?? null,
    ignored,
  };
}

function readInputs(input: unknown): readonly EmbeddingInput[] {
  const isList = Array.isArray(input) && typeof input[0] !== 'number';
  const inputs: readonly unknown[] = isList ? input : [input];
  if (inputs.length === 0 || inputs.length > inputsMax)
    throw invalidRequest(
      'input',
      `input must have 1 to ${inputsMax} entries; got ${inputs.length || 'none'}. ${inputs.length > 0 ? 'Send the others in further requests' : 'Send a text'}.`,
    );
  for (const [index, one] of inputs.entries())
    checkInput(one, isList ? `input[${index}]` : 'input');
  return inputs.map((one) =>
    typeof one === 'string' ? one.toWellFormed() : one,
  ) as EmbeddingInput[];
}

function checkInput(input: unknown, path: string): void {
  if (typeof input === 'string' || Array.isArray(input)) {
    if (input.length === 0) throw invalidRequest('input', `${path} must not be empty`);
    if (typeof input === 'string' || input.every(isToken)) return;
  }
  throw invalidRequest(
    'input',
    `${path} must be a text, or a list of tokens (whole numbers); nothing else can be embedded`,
  );
}

function isToken(value: unknown): boolean {
  return Number.isInteger(value) && (value as number) >= 0 && (value as number) <= 10_000_000;
}

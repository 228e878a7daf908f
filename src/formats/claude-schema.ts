// Fits JSON schemas to Anthropic's constrained decoding, for structured output and for tools with
// `strict`. Bedrock documents the same limits for all models:
// https://docs.aws.amazon.com/bedrock/latest/userguide/structured-output.html, and
// github.com/vercel/ai/issues/17197, read 2026-11-29.
// https://platform.claude.com/docs/en/build-with-claude/structured-outputs#json-schema-limitations,
// and how the npm package `@anthropic-ai/sdk` 1.11 changes a schema (lib/transform-json-schema.js),
// read 2026-11-23.
import { isObject, type JsonObject } from '../lib/json.ts';
import { mendSchema } from './mend-schema.ts';
import { fates, fitSchema, type Lose, type SchemaTable } from './fit-schema.ts';

/**
 * An object that names its properties is closed; what it says about others moves into the
 * description. An object that names none is left for Anthropic to refuse, because closing it would
 * allow only `{}`.
 */
export const anthropicTable: SchemaTable = {
  words: {
    ...fates(
      'keep',
      '$ref $defs definitions anyOf allOf type description title properties required',
    ),
    $schema: 'drop',
    $comment: 'drop',
    enum: (value) => (isListOfPlain(value) ? 'keep' : 'describe'),
    const: (value) => (isPlain(value) ? 'keep' : 'describe'),
    oneOf: (value) => ({ word: 'anyOf', value, isExact: false }),
    items: (value) => (Array.isArray(value) ? 'describe' : 'keep'),
    minItems: (value) => (value === 0 || value === 1 ? 'keep' : 'describe'),
    format: (value) => (formats.has(value) ? 'keep' : 'describe'),
    additionalProperties: (value, { properties }) =>
      value === false || !isObject(properties) ? 'keep' : 'describe',
  },
  others: 'describe',
  refStandsAlone: true,
  finish: (schema) => closeObject(withoutTypeOfLiterals(schema)),
};

const formats: ReadonlySet<unknown> = new Set(
  'date-time time date duration email hostname uri ipv4 ipv6 uuid'.split(' '),
);

/** `description`: the format's own, which moves into the schema's. */
export function writeOutputSchema(
  schema: JsonObject,
  description: string | null,
  lose: Lose,
): JsonObject {
  const described =
    description === null || schema.description !== undefined ? schema : { description, ...schema };
  return fitSchema(mendSchema(described), anthropicTable, lose);
}

function isPlain(value: unknown): boolean {
  return value === null || typeof value !== 'object';
}

function isListOfPlain(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0 && value.every(isPlain);
}

/**
 * Anthropic compares each literal with `type` and does not support a list of types there. The
 * literals are enough.
 */
function withoutTypeOfLiterals(schema: JsonObject): JsonObject {
  if (schema.enum === undefined && schema.const === undefined) return schema;
  const { type: _, ...rest } = schema;
  return rest;
}

function closeObject(schema: JsonObject): JsonObject {
  const isOpen = isObject(schema.properties) && schema.additionalProperties === undefined;
  return isOpen ? { ...schema, additionalProperties: false } : schema;
}

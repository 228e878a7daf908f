// Fits JSON schemas of structured output to `responseJsonSchema`: the keywords that Gemini's
// reference lists. https://ai.google.dev/api/generate-content#FIELDS.response_json_schema (read
// 2026-11-23)
import { fates, fitSchema, newerNames, type Lose, type SchemaTable } from '../fit-schema.ts';
import { mendSchema } from '../mend-schema.ts';
import type { JsonObject } from '../../lib/json.ts';

export const geminiTable: SchemaTable = {
  words: {
    ...fates(
      'keep',
      '$id $defs $anchor type format title description prefixItems minItems maxItems minimum maximum anyOf oneOf ' +
        'properties additionalProperties required propertyOrdering',
    ),
    $schema: 'drop',
    $comment: 'drop',
    enum: (value) => (Array.isArray(value) && value.every(isTextOrNumber) ? 'keep' : 'describe'),
    const: (value) =>
      isTextOrNumber(value) ? { word: 'enum', value: [value], isExact: true } : 'describe',
    ...newerNames,
  },
  others: 'describe',
  refStandsAlone: true,
};

/** Moves the format's description into the schema, where Gemini reads it. */
export function writeResponseSchema(
  schema: JsonObject,
  description: string | null,
  lose: Lose,
): JsonObject {
  const described = description === null ? schema : { description, ...schema };
  return fitSchema(mendSchema(described), geminiTable, lose);
}

function isTextOrNumber(value: unknown): boolean {
  return typeof value === 'string' || typeof value === 'number';
}

// The JSON Schema keywords that OpenAI supports. It refuses `strict` for a schema with an
// unsupported keyword; without `strict` it accepts any.
// https://developers.openai.com/api/docs/guides/structured-outputs#supported-schemas (read
// 2026-11-21), and the keywords that the npm package `openai` 7.55 refuses to send
// (lib/transform.mjs).
import { isObject, type JsonObject, listOf } from '../lib/json.ts';
import { fates, fitSchema, openRoot, type Lose, type SchemaTable } from './fit-schema.ts';
import { mendSchema } from './mend-schema.ts';
import { asObjectParameters, describeAlternatives } from './tool-parameters.ts';

/** The keywords that OpenAI supports under `strict`. */
export const openAiStrictTable: SchemaTable = {
  words: {
    oneOf: (value) => ({ word: 'anyOf', value, isExact: false }),
    format: (value) => (formats.has(value) ? 'keep' : 'describe'),
    ...fates(
      'describe',
      '$anchor $dynamicAnchor $dynamicRef $recursiveAnchor $recursiveRef additionalItems allOf contains contentEncoding ' +
        'contentMediaType contentSchema dependencies dependentRequired dependentSchemas else if maxContains maxProperties ' +
        'minContains minProperties not patternProperties prefixItems propertyNames then unevaluatedItems ' +
        'unevaluatedProperties uniqueItems',
    ),
  },
  others: 'keep',
  refStandsAlone: false,
};

const formats: ReadonlySet<unknown> = new Set(
  'date-time time date duration email hostname ipv4 ipv6 uuid'.split(' '),
);

export function fitOpenAiSchema(given: JsonObject, strict: boolean | null, lose: Lose): JsonObject {
  const schema = mendSchema(given);
  return strict ? fitSchema(openRoot(schema), openAiStrictTable, lose) : schema;
}

export function fitOpenAiParameters(
  parameters: JsonObject | null,
  strict: boolean | null,
  lose: Lose,
): JsonObject {
  const schema = describeAlternatives(asObjectParameters(parameters), lose);
  return strict ? fitSchema(schema, openAiStrictTable, lose) : schema;
}

/**
 * Returns true when `strict` can be requested. Anthropic always follows the schema. OpenAI does so
 * only under `strict`, which it refuses for schemas with optional properties, open objects or
 * keywords that compose schemas.
 */
export function isStrictSchema(schema: unknown): boolean {
  if (Array.isArray(schema)) return schema.every(isStrictSchema);
  if (!isObject(schema)) return true;
  if (composingWords.some((word) => word in schema)) return false;
  if ((schema.type === 'object' || 'properties' in schema) && !isClosedObject(schema)) return false;
  return subschemasOf(schema).every(isStrictSchema);
}

const composingWords = [
  'allOf',
  'oneOf',
  'not',
  'if',
  'dependentRequired',
  'dependentSchemas',
  'patternProperties',
];

function isClosedObject({ additionalProperties, properties, required }: JsonObject): boolean {
  const names = isObject(properties) ? Object.keys(properties) : [];
  const listed = new Set<unknown>(listOf(required));
  return additionalProperties === false && names.every((name) => listed.has(name));
}

function subschemasOf(schema: JsonObject): unknown[] {
  const { properties, $defs, definitions, items, anyOf } = schema;
  return [...valuesOf(properties), ...valuesOf($defs), ...valuesOf(definitions), items, anyOf];
}

function valuesOf(schemas: unknown): unknown[] {
  return isObject(schemas) ? Object.values(schemas) : [];
}

// Fits JSON schemas to what Kimi's models accept. Moonshot answers 400 to the whole request for one
// tool with another schema: "not a valid moonshot flavored json schema".
// https://github.com/MoonshotAI/walle (read 2026-11-26), its validator
import { isObject, type JsonObject } from '../../lib/json.ts';
import { fitSchema, newerNames, openRoot, type Lose, type SchemaTable } from '../fit-schema.ts';
import { asObjectParameters, describeAlternatives } from '../tool-parameters.ts';

/** Returns true for Moonshot's models, on every host. */
export function isKimi(model: string): boolean {
  return /kimi|moonshot/i.test(model);
}

export function fitKimiParameters(parameters: JsonObject | null, lose: Lose): JsonObject {
  return fitKimiSchema(describeAlternatives(asObjectParameters(parameters), lose), lose);
}

export function fitKimiSchema(schema: JsonObject, lose: Lose): JsonObject {
  return fitSchema(openRoot(schema), kimiTable, lose);
}

const kimiTable: SchemaTable = {
  words: {
    ...newerNames,
    properties: (value) => ({ word: 'properties', value: openTrue(value), isExact: true }),
    anyOf: (value, { type, properties }) =>
      properties === undefined && (type === undefined || isTyped(value)) ? 'keep' : 'describe',
    enum: (value) => (typeOfValues(value) === null ? 'describe' : 'keep'),
  },
  others: 'keep',
  refStandsAlone: false,
  finish: writeType,
};

/** A schema must be an object, so that `true` becomes `{}`. */
function openTrue(properties: unknown): unknown {
  if (!isObject(properties)) return properties;
  return Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => [name, schema === true ? {} : schema]),
  );
}

/** A type may not stand beside `anyOf` or `$ref`, which have their own, and must beside `enum`. */
function writeType(schema: JsonObject): JsonObject {
  const { type, ...rest } = schema;
  if (rest.anyOf !== undefined || rest.$ref !== undefined) return rest;
  const typeOfEnum = typeOfValues(rest.enum);
  const isMissing = type === undefined || Array.isArray(typeOfEnum);
  return typeOfEnum !== null && isMissing ? { ...schema, type: typeOfEnum } : schema;
}

function isTyped(alternatives: unknown): boolean {
  return (
    Array.isArray(alternatives) &&
    alternatives.every(
      (schema) =>
        isObject(schema) && ['type', '$ref', 'anyOf', 'enum'].some((word) => word in schema),
    )
  );
}

/** The values must have one plain type, besides null. Otherwise returns null. */
function typeOfValues(values: unknown): string | string[] | null {
  if (!Array.isArray(values)) return null;
  const types = new Set(values.map((value) => (value === null ? 'null' : typeof value)));
  const hasNull = types.delete('null');
  const [type = 'null'] = types;
  if (types.size !== 1 || !['string', 'number', 'boolean'].includes(type)) return null;
  return hasNull ? [type, 'null'] : type;
}

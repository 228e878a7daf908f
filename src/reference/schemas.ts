// Turns TypeBox schemas, which are JSON Schema, into schemas of an OpenAPI 3.1 document, in which
// every field has a description.
import type { TSchema } from 'typebox';
import { isObject, type JsonObject } from '../lib/json.ts';
import { describeField } from './describe-field.ts';

export type Schemas = {
  /**
   * Returns a reference to the schema if it has a name, else the schema itself. `holder`: the field
   * or the place that the schema stands in, which decides what its fields mean.
   */
  readonly use: (schema: TSchema, holder: string) => JsonObject;
  /** The named schemas that were used, in the order of their names. */
  readonly used: () => JsonObject;
};

/** `named`: the schemas that become components. They are recognized by identity. */
export function collectSchemas(named: Readonly<Record<string, TSchema>>): Schemas {
  const names = new Map<unknown, string>(
    Object.entries(named).map(([name, schema]) => [schema, name]),
  );
  const components = new Map<string, JsonObject>();

  const use = (schema: unknown, holder: string): JsonObject => {
    const name = names.get(schema);
    if (name === undefined) return copy(schema as JsonObject, holder);
    if (!components.has(name)) {
      components.set(name, {});
      components.set(name, copy(schema as JsonObject, name));
    }
    return { $ref: `#/components/schemas/${name}` };
  };

  const copy = (schema: JsonObject, holder: string): JsonObject => {
    const copied: Record<string, unknown> = {};
    const useHere = (value: unknown) => use(value, holder);
    for (const [keyword, value] of Object.entries(schema)) {
      if (keyword === 'mismatch') continue;
      else if (keyword === 'properties')
        copied.properties = eachValue(value as JsonObject, (field, name) => ({
          description: describeField(holder, name),
          ...use(field, name),
        }));
      else if (keyword === 'patternProperties')
        Object.assign(copied, mapOf(value as JsonObject, useHere));
      else if (keyword === 'anyOf' || keyword === 'allOf')
        copied[keyword] = (value as unknown[]).map(useHere);
      else if (keyword === 'items' || (keyword === 'additionalProperties' && isObject(value)))
        copied[keyword] = useHere(value);
      else copied[keyword] = value;
    }
    return simplify(copied);
  };

  const used = () =>
    Object.fromEntries([...components].toSorted(([one], [other]) => (one < other ? -1 : 1)));
  return { use, used };
}

/** A record with any names. */
function mapOf(patterns: JsonObject, use: (schema: unknown) => JsonObject): JsonObject {
  const [[pattern, schema] = ['', {}]] = Object.entries(patterns);
  return pattern === '^.*$'
    ? { additionalProperties: use(schema) }
    : { patternProperties: eachValue(patterns, use) };
}

type Change = (value: unknown, name: string) => JsonObject;

function eachValue(values: JsonObject, change: Change): JsonObject {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, change(value, name)]),
  );
}

/** A union of constant texts is an enum, which generators turn into better types. */
function simplify(schema: JsonObject): JsonObject {
  if (Array.isArray(schema.enum) && schema.type === undefined && schema.enum.every(isText))
    return { type: 'string', ...schema };
  const { anyOf, ...rest } = schema;
  if (!Array.isArray(anyOf)) return schema;
  const constants = anyOf.map((branch) => (isObject(branch) ? branch.const : undefined));
  return constants.every(isText) ? { type: 'string', enum: constants, ...rest } : schema;
}

function isText(value: unknown): boolean {
  return typeof value === 'string';
}

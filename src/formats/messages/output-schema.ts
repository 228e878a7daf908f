// JSON schemas of structured output, which vendors constrain to parts of the standard that differ.
import { isObject } from '../../lib/json.ts';
import type { JsonObject } from '../format.ts';

/**
 * Anthropic always keeps to the schema; OpenAI only does under `strict`, which it refuses for a schema with optional properties, open
 * objects or some of the rarer words. true where `strict` can be asked for.
 * https://developers.openai.com/api/docs/guides/structured-outputs#supported-schemas (read 2026-11-21).
 */
export function isStrictSchema(schema: unknown): boolean {
  if (Array.isArray(schema)) return schema.every(isStrictSchema);
  if (!isObject(schema)) return true;
  if (refusedWords.some((word) => word in schema)) return false;
  if ((schema.type === 'object' || 'properties' in schema) && !isClosedObject(schema)) return false;
  return subschemasOf(schema).every(isStrictSchema);
}

const refusedWords = ['allOf', 'oneOf', 'not', 'if', 'dependentRequired', 'dependentSchemas', 'patternProperties'];

function isClosedObject({ additionalProperties, properties, required }: JsonObject): boolean {
  const names = isObject(properties) ? Object.keys(properties) : [];
  const listed: readonly unknown[] = Array.isArray(required) ? required : [];
  return additionalProperties === false && names.every((name) => listed.includes(name));
}

function subschemasOf(schema: JsonObject): unknown[] {
  const { properties, $defs, definitions, items, anyOf } = schema;
  return [...valuesOf(properties), ...valuesOf($defs), ...valuesOf(definitions), items, anyOf];
}

function valuesOf(schemas: unknown): unknown[] {
  return isObject(schemas) ? Object.values(schemas) : [];
}

/**
 * Anthropic wants every object to say that it takes no other properties. Where an object names its properties and says nothing, that is
 * what its author expects to get; an object that names none is left for Anthropic to judge. `description` is told to the model.
 */
export function writeOutputSchema(schema: JsonObject, description: string | null): JsonObject {
  const closed = closeObjects(schema) as JsonObject;
  return description === null || closed.description !== undefined ? closed : { description, ...closed };
}

function closeObjects(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closeObjects);
  if (!isObject(schema)) return schema;
  const closed: Record<string, unknown> = { ...schema };
  for (const word of ['properties', '$defs', 'definitions']) if (isObject(closed[word])) closed[word] = closeEach(closed[word]);
  for (const word of ['items', 'anyOf', 'allOf', 'oneOf']) if (word in closed) closed[word] = closeObjects(closed[word]);
  if (isObject(closed.properties) && closed.additionalProperties === undefined) closed.additionalProperties = false;
  return closed;
}

function closeEach(schemas: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, closeObjects(schema)]));
}

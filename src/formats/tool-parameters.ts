// Function parameters as vendors want them: an object at the top. Tools without arguments, above
// all MCP tools, often have only `{"type":"object"}` or nothing.
import { isObject, type JsonObject } from '../lib/json.ts';
import { mendSchema, type MendOptions } from './mend-schema.ts';
import { openRoot, describeKeywords, type Lose } from './fit-schema.ts';

/**
 * Adds `type`, `properties`, and the `items` of arrays; without them OpenAI refuses the whole
 * request. Returns the same object when it has all.
 */
export function asObjectParameters(parameters: JsonObject | null): JsonObject {
  const typed = asObjectSchema(parameters ?? {}, { withItems: true });
  return isObject(typed.properties) ? typed : { ...typed, properties: {} };
}

/** Adds `type`, which Anthropic requires too, and leaves out keywords that are null. */
export function asObjectSchema(schema: JsonObject, options?: MendOptions): JsonObject {
  const root = openRoot(mendSchema(schema, options));
  const { type } = root;
  const isMissing = type === undefined || (Array.isArray(type) && type.includes('object'));
  return isMissing ? { ...root, type: 'object' } : root;
}

/**
 * OpenAI and Anthropic refuse alternatives at the top, with or without `strict`. They move into the
 * description.
 */
export function describeAlternatives(schema: JsonObject, lose: Lose): JsonObject {
  const described = Object.entries(schema).filter(([word]) => alternatives.has(word));
  if (described.length === 0) return schema;
  for (const [word] of described) lose(word);
  const rest = Object.entries(schema).filter(([word]) => !alternatives.has(word));
  return describeKeywords(Object.fromEntries(rest), described);
}

const alternatives = new Set(['anyOf', 'oneOf', 'allOf', 'enum', 'not']);

/** Returns true when a function takes no arguments. */
export function takesNothing(parameters: JsonObject): boolean {
  const { properties } = parameters;
  if (isObject(properties) && Object.keys(properties).length > 0) return false;
  return Object.keys(parameters).every((word) => emptyWords.has(word)) && !allowsOthers(parameters);
}

function allowsOthers({ additionalProperties }: JsonObject): boolean {
  return additionalProperties === true || isObject(additionalProperties);
}

const emptyWords = new Set([
  'type',
  'properties',
  'required',
  'additionalProperties',
  'title',
  'description',
  '$schema',
  '$id',
]);

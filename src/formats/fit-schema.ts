// Fits a JSON schema to what a vendor's constrained decoding supports. Vendors answer 400 to a
// keyword that they do not support, so such keywords move into the description, where the model
// reads them. Every node is visited once and every moved value is written once, so the work is
// linear in the size of the schema. References are not followed, except one at the top, by one
// step.
import { isObject, type JsonObject } from '../lib/json.ts';

/**
 * `describe`: move the keyword into the description. `drop`: remove it. An object: replace it by
 * another keyword that means the same, or more.
 */
type Fate =
  | 'keep'
  | 'describe'
  | 'drop'
  | { readonly word: string; readonly value: unknown; readonly isExact: boolean };
type WordRule = Fate | ((value: unknown, schema: JsonObject) => Fate);

export type SchemaTable = {
  readonly words: Readonly<Record<string, WordRule>>;
  readonly others: Fate;
  /** The vendor accepts nothing beside a `$ref` except keywords that begin with `$`. */
  readonly refStandsAlone: boolean;
  /** Makes the last changes to each fitted schema. */
  readonly finish?: (schema: JsonObject) => JsonObject;
};

/** Gives words, separated by spaces, one fate. */
export function fates(fate: Fate, words: string): SchemaTable['words'] {
  return Object.fromEntries(words.split(' ').map((word) => [word, fate]));
}

/** Renames what has a newer name: a tuple's schemas, and definitions, also in references. */
export const newerNames: SchemaTable['words'] = {
  items: (value) => (Array.isArray(value) ? { word: 'prefixItems', value, isExact: true } : 'keep'),
  definitions: (value) => ({ word: '$defs', value, isExact: true }),
  $ref: (value) => ({ word: '$ref', value: renameDefinitions(value), isExact: true }),
};

/** Called with each keyword that the vendor will not enforce, perhaps more than once. */
export type Lose = (word: string) => void;

/**
 * Example: `fitSchema({ type: 'integer', minimum: 1 }, anthropic, lose)` returns `{ type: 'integer',
 * description: '{minimum: 1}' }`.
 */
export function fitSchema(node: JsonObject, table: SchemaTable, lose: Lose): JsonObject {
  const schema = unwrapAllOf(node);
  const isLoneRef = table.refStandsAlone && typeof schema.$ref === 'string';
  const kept: [string, unknown][] = [];
  const described: [string, unknown][] = [];
  for (const [word, value] of Object.entries(schema)) {
    const fate = fateOf(word, schema, table, isLoneRef);
    if (fate === 'keep') kept.push([word, fitValue(word, value, table, lose)]);
    else if (fate === 'describe') described.push([word, value]);
    else if (fate !== 'drop') kept.push([fate.word, fitValue(fate.word, fate.value, table, lose)]);
    if (fate !== 'keep' && (typeof fate === 'string' || !fate.isExact)) lose(word);
  }
  // From entries, because assigning `__proto__` would lose it.
  const fitted = describeKeywords(Object.fromEntries(kept), described);
  return table.finish ? table.finish(fitted) : fitted;
}

/**
 * Replaces a `$ref` at the top by the schema that it names, because OpenAI wants an object there;
 * its own SDK does the same. Generators such as zod-to-json-schema put a named schema into the
 * definitions and refer to it at the top.
 */
export function openRoot(schema: JsonObject): JsonObject {
  const root = unwrapAllOf(schema);
  const { $ref, ...rest } = root;
  const match = typeof $ref === 'string' ? /^#\/(\$defs|definitions)\/([^/]+)$/.exec($ref) : null;
  if (!match || rest.allOf !== undefined) return root;
  const [, holder = '', name = ''] = match;
  const definitions = rest[holder];
  const named =
    isObject(definitions) && Object.hasOwn(definitions, name) ? definitions[name] : null;
  return isObject(named) ? unwrapAllOf({ ...rest, allOf: [named] }) : root;
}

/** Appends keywords and their values to the schema's description. */
export function describeKeywords(
  schema: JsonObject,
  described: readonly (readonly [string, unknown])[],
): JsonObject {
  if (described.length === 0) return schema;
  const words = `{${described.map(([word, value]) => `${word}: ${JSON.stringify(value)}`).join(', ')}}`;
  const { description } = schema;
  return {
    ...schema,
    description:
      typeof description === 'string' && description !== '' ? `${description}\n\n${words}` : words,
  };
}

function renameDefinitions(reference: unknown): unknown {
  return typeof reference === 'string'
    ? reference.replace(/^#\/definitions\//, '#/$defs/')
    : reference;
}

function fateOf(
  word: string,
  schema: JsonObject,
  { words, others }: SchemaTable,
  isLoneRef: boolean,
): Fate {
  if (isLoneRef && !word.startsWith('$') && word !== 'definitions') return 'drop';
  const rule = Object.hasOwn(words, word) ? words[word]! : others;
  const fate = typeof rule === 'function' ? rule(schema[word], schema) : rule;
  const isTaken =
    typeof fate === 'object' && fate.word !== word && Object.hasOwn(schema, fate.word);
  if (!isTaken && fate !== 'describe') return fate;
  return isLoneRef ? 'drop' : 'describe';
}

/**
 * Unwraps an `allOf` with a single schema. Generators write it around a `$ref` that has a
 * description or a default.
 */
function unwrapAllOf(schema: JsonObject): JsonObject {
  const { allOf, ...rest } = schema;
  if (!Array.isArray(allOf) || allOf.length !== 1) return schema;
  const only: unknown = allOf[0];
  if (!isObject(only) || Object.keys(only).some((word) => Object.hasOwn(rest, word))) return schema;
  return unwrapAllOf({ ...only, ...rest });
}

function fitValue(word: string, value: unknown, table: SchemaTable, lose: Lose): unknown {
  const fit = (schema: unknown) => (isObject(schema) ? fitSchema(schema, table, lose) : schema);
  if (schemaMaps.has(word) && isObject(value)) {
    return Object.fromEntries(Object.entries(value).map(([name, schema]) => [name, fit(schema)]));
  }
  if (!schemaWords.has(word)) return value;
  return Array.isArray(value) ? value.map(fit) : fit(value);
}

/** Keywords that hold schemas by name, and keywords that hold one schema or a list. */
export const schemaMaps: ReadonlySet<string> = new Set([
  'properties',
  '$defs',
  'definitions',
  'patternProperties',
  'dependentSchemas',
]);
export const schemaWords: ReadonlySet<string> = new Set([
  'items',
  'additionalProperties',
  'anyOf',
  'oneOf',
  'allOf',
  'prefixItems',
  'not',
  'contains',
]);

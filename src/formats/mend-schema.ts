// Mends JSON schemas that generators write carelessly and vendors refuse, without changing what they
// allow.
import { isObject, type JsonObject, listOf } from '../lib/json.ts';
import { schemaMaps, schemaWords } from './fit-schema.ts';

export type MendOptions = {
  /** True: an array without `items`, which OpenAI refuses, gets empty ones. */
  readonly withItems?: boolean;
};

/**
 * Leaves out keywords that are null, which no vendor accepts, and writes those of older drafts as
 * today's, which Anthropic and OpenAI demand. The others keep their order.
 */
export function mendSchema(schema: JsonObject, options: MendOptions = {}): JsonObject {
  const mend = (value: unknown) => (isObject(value) ? mendSchema(value, options) : value);
  const entries: [string, unknown][] = [];
  for (const [given, old] of Object.entries(schema)) {
    if (old === null && !mayBeNull.has(given)) continue;
    const current = renewed(given, old, schema);
    if (current === null) continue;
    const [word, value] = current;
    if (schemaMaps.has(word) && isObject(value)) {
      const members = Object.entries(value).map(([name, member]) => [name, mendMember(member)]);
      entries.push([word, Object.fromEntries(members)]);
    } else if (!schemaWords.has(word)) entries.push([word, value]);
    else if (Array.isArray(value)) entries.push([word, value.map(mend)]);
    else entries.push([word, word === 'items' ? mendMember(value) : mend(value)]);
  }
  const named = requiredByThemselves(schema);
  const mended: JsonObject = Object.fromEntries(entries);
  const whole = named.length > 0 ? { ...mended, required: joined(mended.required, named) } : mended;
  const isArray = options.withItems && [schema.type].flat().includes('array');
  return isArray && (whole.items ?? null) === null ? { ...whole, items: {} } : whole;

  /** Generators write `true` for "anything", which OpenAI refuses in the place of a schema. */
  function mendMember(member: unknown): unknown {
    return member === true ? {} : (mend(member) ?? {});
  }
}

const mayBeNull = new Set(['const', 'default', 'example']);

/** Returns a keyword of an older draft as today's; null when it says nothing, or another says it. */
function renewed(word: string, value: unknown, schema: JsonObject): [string, unknown] | null {
  const isList = Array.isArray(schema.items) && schema.prefixItems === undefined;
  // An empty list is an empty object, as PHP writes it.
  const isTuple = isList && (schema.items as unknown[]).length > 0;
  switch (word) {
    case 'items':
      return isTuple ? ['prefixItems', value] : [word, isList ? {} : value];
    case 'additionalItems':
      return isTuple ? ['items', value] : [word, value];
    case 'minimum':
      return schema.exclusiveMinimum === true ? ['exclusiveMinimum', value] : [word, value];
    case 'maximum':
      return schema.exclusiveMaximum === true ? ['exclusiveMaximum', value] : [word, value];
    case 'exclusiveMinimum':
    case 'exclusiveMaximum':
    case 'required':
      return typeof value === 'boolean' ? null : [word, value];
    default:
      // An empty object, as PHP writes it.
      return schemaMaps.has(word) && Array.isArray(value) && value.length === 0
        ? [word, {}]
        : [word, value];
  }
}

/** The properties that say `required: true` inside their own schema, as the third draft has it. */
function requiredByThemselves({ properties }: JsonObject): string[] {
  if (!isObject(properties)) return [];
  return Object.entries(properties).flatMap(([name, member]) =>
    isObject(member) && member.required === true ? [name] : [],
  );
}

function joined(required: unknown, names: readonly string[]): unknown[] {
  return [...new Set([...listOf(required), ...names])];
}

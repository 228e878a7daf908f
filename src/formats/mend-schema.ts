// Mends JSON schemas that generators write carelessly and vendors refuse, without changing what they
// allow.
import { isObject, type JsonObject } from '../lib/json.ts';
import { schemaMaps, schemaWords } from './fit-schema.ts';

export type MendOptions = {
  /** True: an array without `items`, which OpenAI refuses, gets empty ones. */
  readonly withItems?: boolean;
};

/** Leaves out keywords that are null, which no vendor accepts. The others keep their order. */
export function mendSchema(schema: JsonObject, options: MendOptions = {}): JsonObject {
  const mend = (value: unknown) => (isObject(value) ? mendSchema(value, options) : value);
  const entries: [string, unknown][] = [];
  for (const [word, value] of Object.entries(schema)) {
    if (value === null && !mayBeNull.has(word)) continue;
    if (schemaMaps.has(word) && isObject(value)) {
      const members = Object.entries(value).map(([name, member]) => [name, mend(member) ?? {}]);
      entries.push([word, Object.fromEntries(members)]);
    } else if (!schemaWords.has(word)) entries.push([word, value]);
    else entries.push([word, Array.isArray(value) ? value.map(mend) : mend(value)]);
  }
  const isArray = options.withItems && [schema.type].flat().includes('array');
  if (isArray && (schema.items ?? null) === null) entries.push(['items', {}]);
  return Object.fromEntries(entries);
}

const mayBeNull = new Set(['const', 'default', 'example']);

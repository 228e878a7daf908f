// Reads Google's own dialect of schemas (`responseSchema`, `parameters`), a part of OpenAPI 3.0, as JSON
// Schema. https://ai.google.dev/api/caching#Schema (read 2026-11-29)
import { isObject, type JsonObject } from '../../lib/json.ts';

/** Returns a schema without `nullable` and with types in lower case. Takes JSON Schema, too. */
export function readClientSchema(schema: JsonObject): JsonObject {
  const entries = Object.entries(schema).flatMap(([given, value]) => readWord(given, value));
  const read: Record<string, unknown> = Object.fromEntries(entries);
  const order = schema.propertyOrdering ?? schema.property_ordering;
  if (Array.isArray(order) && isObject(read['properties']))
    read['properties'] = inOrder(read['properties'], order);
  return schema.nullable === true ? withNull(read) : read;
}

/** Models write properties in their order in the schema. */
function inOrder(properties: JsonObject, order: readonly unknown[]): JsonObject {
  const first = order.filter((name) => typeof name === 'string' && Object.hasOwn(properties, name));
  const names = new Set([...(first as string[]), ...Object.keys(properties)]);
  return Object.fromEntries(Array.from(names, (name) => [name, properties[name]]));
}

const inner = new Set(['items', 'additionalProperties', 'not']);
const innerLists = new Set(['anyOf', 'oneOf', 'allOf', 'prefixItems']);
const innerMaps = new Set(['properties', '$defs', 'defs']);
/** Google writes these as text: proto's 64-bit numbers. */
const counts = new Set([
  'minItems',
  'maxItems',
  'minProperties',
  'maxProperties',
  'minLength',
  'maxLength',
]);

const words = new Set([...inner, ...innerLists, ...innerMaps, ...counts, 'propertyOrdering']);

function readWord(given: string, value: unknown): [string, unknown][] {
  const camel = given.replaceAll(/_([a-z])/g, (_match, letter: string) => letter.toUpperCase());
  const word = words.has(camel) ? camel : given;
  if (word === 'nullable' || word === 'propertyOrdering' || value === null) return [];
  if (word === 'type' && typeof value === 'string') {
    const type = value.toLowerCase();
    return type === 'type_unspecified' ? [] : [['type', type]];
  }
  if (word === 'format' && value === 'enum') return [];
  if (counts.has(word)) return [[word, Number(value)]];
  if (inner.has(word)) return [[word, readInner(value)]];
  if (innerLists.has(word) && Array.isArray(value)) return [[word, value.map(readInner)]];
  if (innerMaps.has(word) && isObject(value)) {
    const members = Object.entries(value).map(([name, one]) => [name, readInner(one)] as const);
    return [[word, Object.fromEntries(members)]];
  }
  return [[word, value]];
}

function readInner(value: unknown): unknown {
  return isObject(value) ? readClientSchema(value) : value;
}

function withNull(schema: Record<string, unknown>): JsonObject {
  if (typeof schema['type'] !== 'string') return { anyOf: [schema, { type: 'null' }] };
  const { enum: allowed } = schema;
  return {
    ...schema,
    type: [schema['type'], 'null'],
    ...(Array.isArray(allowed) && { enum: [...(allowed as unknown[]), null] }),
  };
}

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '../lib/json.ts';
import { mendSchema } from './mend-schema.ts';

const text = { type: 'string' };

/** As generators write a schema, and as it is sent. */
const mended: Readonly<Record<string, readonly [from: JsonObject, to: JsonObject]>> = {
  'keywords that are null are left out': [
    { type: 'object', required: null, properties: { a: { default: null, enum: null } } },
    { type: 'object', properties: { a: { default: null } } },
  ],
  'a list of items becomes prefixItems': [
    { type: 'array', items: [text, { type: 'number' }], additionalItems: false },
    { type: 'array', prefixItems: [text, { type: 'number' }], items: false },
  ],
  'a limit that is said to be exclusive takes its place': [
    { minimum: 0, exclusiveMinimum: true, maximum: 9, exclusiveMaximum: false },
    { exclusiveMinimum: 0, maximum: 9 },
  ],
  'a property that says it is required is listed by its object': [
    { properties: { a: { ...text, required: true }, b: { ...text, required: false }, c: text } },
    { properties: { a: text, b: text, c: text }, required: ['a'] },
  ],
  'a property that is listed already is listed once': [
    { required: ['a'], properties: { a: { required: true } } },
    { required: ['a'], properties: { a: {} } },
  ],
  'true, which allows anything, becomes an empty schema': [
    { properties: { a: true, b: { type: 'array', items: true } }, additionalProperties: true },
    { properties: { a: {}, b: { type: 'array', items: {} } }, additionalProperties: true },
  ],
  'an empty list of properties or of items becomes an empty object': [
    { properties: { a: { type: 'object', properties: [] }, b: { type: 'array', items: [] } } },
    { properties: { a: { type: 'object', properties: {} }, b: { type: 'array', items: {} } } },
  ],
};

for (const [name, [from, to]] of Object.entries(mended)) {
  test(name, () => {
    assert.equal(JSON.stringify(mendSchema(from)), JSON.stringify(to));
  });
}

test('a schema of today’s draft keeps its bytes', () => {
  const schema = {
    type: 'object',
    properties: {
      required: { const: null },
      minimum: { type: 'number', exclusiveMinimum: 0, minimum: 1 },
      items: { prefixItems: [text], items: [text] },
      not: { items: false, anyOf: [true, text] },
    },
    required: ['required'],
  };
  assert.equal(JSON.stringify(mendSchema(schema)), JSON.stringify(schema));
});

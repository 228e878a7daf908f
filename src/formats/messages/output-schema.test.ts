import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isStrictSchema, writeOutputSchema } from './output-schema.ts';

const city = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'], additionalProperties: false };

test('a schema whose objects are closed and require all they name is strict', () => {
  assert.ok(isStrictSchema(city));
  assert.ok(isStrictSchema({ ...city, properties: { city: { anyOf: [city, { type: 'null' }] } } }));
  assert.ok(
    isStrictSchema({ ...city, properties: { city: { type: 'array', items: { $ref: '#/$defs/x' } } }, $defs: { x: city } }),
  );
});

test('a schema with an optional property, an open object or a rarer word is not, at any depth', () => {
  const nested = (inner: object) => ({ ...city, properties: { city: { type: 'array', items: inner } } });
  for (const inner of [
    { ...city, required: [] },
    { ...city, additionalProperties: undefined },
    { type: 'object' },
    { oneOf: [city] },
    { anyOf: [{ allOf: [city] }] },
  ]) {
    assert.equal(isStrictSchema(inner), false, JSON.stringify(inner));
    assert.equal(isStrictSchema(nested(inner)), false, JSON.stringify(inner));
  }
});

test('objects that name their properties are closed for Anthropic, the others and what was said are left', () => {
  const { additionalProperties: _, ...open } = city;
  assert.deepEqual(writeOutputSchema(open, null), city);
  assert.deepEqual(writeOutputSchema({ type: 'array', items: { anyOf: [open, { type: 'object' }] } }, null), {
    type: 'array',
    items: { anyOf: [city, { type: 'object' }] },
  });
  assert.deepEqual(writeOutputSchema({ ...open, additionalProperties: true }, null), { ...open, additionalProperties: true });
  assert.deepEqual(writeOutputSchema({ type: 'object', properties: { properties: open } }, null).properties, {
    properties: city,
  });
});

test('the description of the format is told with the schema, unless the schema has its own', () => {
  assert.equal(writeOutputSchema(city, 'A city.').description, 'A city.');
  assert.equal(writeOutputSchema({ ...city, description: 'Mine.' }, 'A city.').description, 'Mine.');
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withLosses } from '../../tests/support/formats/with-losses.ts';
import { fitSchema } from './fit-schema.ts';
import { anthropicTable, writeOutputSchema } from './claude-schema.ts';

const city = {
  type: 'object',
  properties: { city: { type: 'string' } },
  required: ['city'],
  additionalProperties: false,
};
const fit = (schema: object) =>
  withLosses((lose) => fitSchema(schema as never, anthropicTable, lose));

/** Keywords that Anthropic accepts unchanged. */
const kept: readonly object[] = [
  { type: 'string' },
  { type: ['string', 'null'] },
  { type: 'string', format: 'date-time' },
  { type: 'string', format: 'uri' },
  { type: 'array', items: { type: 'string' }, minItems: 0 },
  { type: 'array', items: { type: 'string' }, minItems: 1 },
  { enum: ['a', 1, true, null] },
  { const: 'a' },
  { anyOf: [{ type: 'string' }, { type: 'null' }] },
  { allOf: [city, city] },
  { $ref: '#/$defs/x', $defs: { x: city } },
  { $ref: '#/definitions/x', definitions: { x: city } },
  { title: 'T', description: 'D', ...city },
];

for (const schema of kept) {
  test(`Anthropic accepts ${JSON.stringify(schema).slice(0, 60)}`, () => {
    assert.deepEqual(fit(schema), { schema, lost: [] });
  });
}

/** Keywords that it refuses, each with a type that it belongs to. */
const described: readonly (readonly [type: string, word: string, value: unknown])[] = [
  ['integer', 'minimum', 0],
  ['integer', 'maximum', 9],
  ['number', 'exclusiveMinimum', 0],
  ['number', 'exclusiveMaximum', 9],
  ['number', 'multipleOf', 0.5],
  ['string', 'minLength', 1],
  ['string', 'maxLength', 9],
  ['string', 'pattern', '^a$'],
  ['string', 'format', 'regex'],
  ['string', 'contentEncoding', 'base64'],
  ['string', 'default', 'a'],
  ['string', 'examples', ['a']],
  ['string', 'enum', [{ a: 1 }]],
  ['object', 'const', { a: 1 }],
  ['array', 'minItems', 2],
  ['array', 'maxItems', 9],
  ['array', 'uniqueItems', true],
  ['array', 'contains', { type: 'string' }],
  ['array', 'prefixItems', [{ type: 'string' }]],
  ['array', 'items', [{ type: 'string' }]],
  ['object', 'minProperties', 1],
  ['object', 'maxProperties', 9],
  ['object', 'patternProperties', { '^a': { type: 'string' } }],
  ['object', 'propertyNames', { pattern: '^a' }],
  ['object', 'dependentRequired', { a: ['b'] }],
  ['object', 'dependentSchemas', { a: {} }],
  ['object', 'unevaluatedProperties', false],
  ['object', 'if', {}],
  ['object', 'then', {}],
  ['object', 'else', {}],
  ['object', 'not', {}],
  ['string', 'nullable', true],
  ['string', 'x-order', 1],
];

for (const [type, word, value] of described) {
  test(`${word} with ${JSON.stringify(value)}, which Anthropic refuses, moves into the description`, () => {
    const description = `{${word}: ${JSON.stringify(value)}}`;
    assert.deepEqual(fit({ type, [word]: value }), { schema: { type, description }, lost: [word] });
    assert.deepEqual(fit({ type, description: 'D', [word]: value }).schema, {
      type,
      description: `D\n\n${description}`,
    });
  });
}

test('the dialect and comments are left out and listed', () => {
  assert.deepEqual(fit({ $schema: 'x', $comment: 'y', type: 'string' }), {
    schema: { type: 'string' },
    lost: ['$schema', '$comment'],
  });
});

test('oneOf becomes anyOf', () => {
  assert.deepEqual(fit({ oneOf: [{ type: 'integer', minimum: 1 }, { type: 'null' }] }), {
    schema: { anyOf: [{ type: 'integer', description: '{minimum: 1}' }, { type: 'null' }] },
    lost: ['minimum', 'oneOf'],
  });
  const both = fit({ anyOf: [city], oneOf: [{ type: 'object' }] });
  assert.deepEqual(both.schema, { anyOf: [city], description: '{oneOf: [{"type":"object"}]}' });
});

test('literals lose their type, because Anthropic compares them with it', () => {
  assert.deepEqual(fit({ type: ['string', 'null'], enum: ['a', null] }), {
    schema: { enum: ['a', null] },
    lost: [],
  });
  assert.deepEqual(fit({ type: 'string', const: 'a' }), { schema: { const: 'a' }, lost: [] });
});

test('a reference keeps only its definitions beside it', () => {
  const schema = {
    $ref: '#/$defs/x',
    description: 'D',
    default: 1,
    $id: 'a',
    $defs: { x: { type: 'integer', minimum: 1 } },
  };
  assert.deepEqual(fit(schema), {
    schema: { $ref: '#/$defs/x', $defs: { x: { type: 'integer', description: '{minimum: 1}' } } },
    lost: ['description', 'default', '$id', 'minimum'],
  });
  assert.deepEqual(fit({ allOf: [{ $ref: '#/$defs/x' }] }).schema, { $ref: '#/$defs/x' });
});

test('objects that name properties are closed, and others stay unchanged', () => {
  const { additionalProperties: _, ...open } = city;
  assert.deepEqual(fit(open), { schema: city, lost: [] });
  assert.deepEqual(fit({ type: 'array', items: { anyOf: [open, { type: 'object' }] } }).schema, {
    type: 'array',
    items: { anyOf: [city, { type: 'object' }] },
  });
  assert.deepEqual(fit({ ...open, additionalProperties: { type: 'string' } }), {
    schema: { ...city, description: '{additionalProperties: {"type":"string"}}' },
    lost: ['additionalProperties'],
  });
  const record = { type: 'object', additionalProperties: { type: 'integer', minimum: 1 } };
  assert.deepEqual(fit(record).schema, {
    ...record,
    additionalProperties: { type: 'integer', description: '{minimum: 1}' },
  });
});

test('properties may have the names of keywords', () => {
  const schema = {
    type: 'object',
    properties: { minimum: { type: 'string' }, properties: city },
    additionalProperties: false,
  };
  assert.deepEqual(fit(schema), { schema, lost: [] });
});

test('the format’s description moves into the schema, unless the schema has its own', () => {
  const describe = (schema: object) =>
    withLosses((lose) => writeOutputSchema(schema as never, 'A city.', lose)).schema.description;
  assert.equal(describe(city), 'A city.');
  assert.equal(describe({ ...city, description: 'Mine.' }), 'Mine.');
});

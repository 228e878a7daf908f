import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fitSchema } from '../fit-schema.ts';
import { geminiTable, writeResponseSchema } from './response-schema.ts';

const fit = (schema: object) => fitSchema(schema as never, geminiTable);
const text = { type: 'string' };

/** Every keyword that the reference lists. */
const kept: readonly object[] = [
  { $id: 'a', $anchor: 'b', type: 'string', format: 'date-time', title: 'T', description: 'D' },
  { $ref: '#/$defs/x', $defs: { x: text } },
  { enum: ['a', 1] },
  { type: 'array', items: text, prefixItems: [text], minItems: 2, maxItems: 9 },
  { type: 'integer', minimum: 0, maximum: 9 },
  { anyOf: [text] },
  { oneOf: [text] },
  {
    type: 'object',
    properties: { a: text },
    additionalProperties: text,
    required: ['a'],
    propertyOrdering: ['a'],
  },
];

for (const schema of kept) {
  test(`Gemini accepts ${JSON.stringify(schema).slice(0, 60)}`, () => {
    assert.deepEqual(fit(schema), { schema, lost: [] });
  });
}

const described: readonly (readonly [type: string, word: string, value: unknown])[] = [
  ['number', 'exclusiveMinimum', 0],
  ['number', 'exclusiveMaximum', 9],
  ['number', 'multipleOf', 0.5],
  ['string', 'minLength', 1],
  ['string', 'maxLength', 9],
  ['string', 'pattern', '^a$'],
  ['string', 'default', 'a'],
  ['string', 'examples', ['a']],
  ['string', 'enum', ['a', null]],
  ['boolean', 'const', true],
  ['array', 'uniqueItems', true],
  ['array', 'contains', text],
  ['object', 'minProperties', 1],
  ['object', 'maxProperties', 9],
  ['object', 'patternProperties', { '^a': text }],
  ['object', 'propertyNames', { pattern: '^a' }],
  ['object', 'dependentRequired', { a: ['b'] }],
  ['object', 'allOf', [text, text]],
  ['object', 'not', {}],
  ['object', 'if', {}],
];

for (const [type, word, value] of described) {
  test(`${word} with ${JSON.stringify(value)}, which Gemini does not know, moves into the description`, () => {
    const description = `{${word}: ${JSON.stringify(value)}}`;
    assert.deepEqual(fit({ type, [word]: value }), { schema: { type, description }, lost: [word] });
  });
}

test('a keyword with an equivalent is replaced by it', () => {
  assert.deepEqual(fit({ type: 'string', const: 'a' }), {
    schema: { type: 'string', enum: ['a'] },
    lost: [],
  });
  assert.deepEqual(
    fit({ properties: { a: { $ref: '#/definitions/x' } }, definitions: { x: { const: 1 } } }),
    {
      schema: { properties: { a: { $ref: '#/$defs/x' } }, $defs: { x: { enum: [1] } } },
      lost: [],
    },
  );
  assert.deepEqual(fit({ type: 'array', items: [{ const: 1 }, text] }), {
    schema: { type: 'array', prefixItems: [{ enum: [1] }, text] },
    lost: [],
  });
});

test('a reference stands alone', () => {
  assert.deepEqual(fit({ $ref: '#/$defs/x', description: 'D' }), {
    schema: { $ref: '#/$defs/x' },
    lost: ['description'],
  });
});

test('the format’s description moves into the schema', () => {
  assert.deepEqual(writeResponseSchema(text, 'D'), {
    schema: { description: 'D', type: 'string' },
    lost: [],
  });
});

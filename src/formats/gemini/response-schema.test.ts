import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withLosses } from '../../../tests/support/formats/with-losses.ts';
import { fitSchema } from '../fit-schema.ts';
import { geminiTable, writeResponseSchema } from './response-schema.ts';

const fit = (schema: object) => withLosses((lose) => fitSchema(schema as never, geminiTable, lose));
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

const described: Readonly<Record<string, readonly [type: string, value: unknown]>> = {
  exclusiveMinimum: ['number', 0],
  exclusiveMaximum: ['number', 9],
  multipleOf: ['number', 0.5],
  minLength: ['string', 1],
  maxLength: ['string', 9],
  pattern: ['string', '^a$'],
  default: ['string', 'a'],
  examples: ['string', ['a']],
  enum: ['string', ['a', null]],
  const: ['boolean', true],
  uniqueItems: ['array', true],
  contains: ['array', text],
  minProperties: ['object', 1],
  maxProperties: ['object', 9],
  patternProperties: ['object', { '^a': text }],
  propertyNames: ['object', { pattern: '^a' }],
  dependentRequired: ['object', { a: ['b'] }],
  allOf: ['object', [text, text]],
  not: ['object', {}],
  if: ['object', {}],
};

for (const [word, [type, value]] of Object.entries(described)) {
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
    { schema: { properties: { a: { $ref: '#/$defs/x' } }, $defs: { x: { enum: [1] } } }, lost: [] },
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
  assert.deepEqual(
    withLosses((lose) => writeResponseSchema(text, 'D', lose)),
    {
      schema: { description: 'D', type: 'string' },
      lost: [],
    },
  );
});

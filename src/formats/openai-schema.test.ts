import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withLosses } from '../../tests/support/formats/with-losses.ts';
import { fitOpenAiParameters, fitOpenAiSchema, isStrictSchema } from './openai-schema.ts';

const text = { type: 'string' };
const city = {
  type: 'object',
  properties: { city: text },
  required: ['city'],
  additionalProperties: false,
};
const fit = (schema: object, strict: boolean | null = true) =>
  withLosses((lose) => fitOpenAiSchema(schema as never, strict, lose));
const fitParameters = (schema: object, strict: boolean | null) =>
  withLosses((lose) => fitOpenAiParameters(schema as never, strict, lose));

const kept: readonly object[] = [
  { ...city, $schema: 'x', title: 'T', description: 'D' },
  { ...city, properties: { city: { $ref: '#/$defs/x', description: 'D' } }, $defs: { x: text } },
  { ...city, properties: { city: { $ref: '#/definitions/x' } }, definitions: { x: text } },
  { anyOf: [text, { type: 'null' }] },
  { type: ['string', 'null'], enum: ['a', null] },
  { const: 'a' },
  { type: 'string', pattern: '^a$', minLength: 1, maxLength: 9, default: 'a' },
  {
    type: 'number',
    minimum: 0,
    maximum: 9,
    exclusiveMinimum: 0,
    exclusiveMaximum: 9,
    multipleOf: 2,
  },
  { type: 'array', items: text, minItems: 2, maxItems: 9 },
  ...'date-time time date duration email hostname ipv4 ipv6 uuid'
    .split(' ')
    .map((format) => ({ type: 'string', format })),
];

for (const schema of kept) {
  test(`OpenAI accepts ${JSON.stringify(schema).slice(0, 60)} under strict`, () => {
    assert.deepEqual(fit(schema), { schema, lost: [] });
  });
}

const described: readonly (readonly [type: string, word: string, value: unknown])[] = [
  ['string', 'format', 'uri'],
  ['string', 'contentEncoding', 'base64'],
  ['string', 'contentMediaType', 'text/plain'],
  ['string', 'contentSchema', {}],
  ['array', 'uniqueItems', true],
  ['array', 'contains', text],
  ['array', 'minContains', 1],
  ['array', 'maxContains', 9],
  ['array', 'prefixItems', [text]],
  ['array', 'additionalItems', false],
  ['array', 'unevaluatedItems', false],
  ['object', 'minProperties', 1],
  ['object', 'maxProperties', 9],
  ['object', 'patternProperties', { '^a': text }],
  ['object', 'propertyNames', { pattern: '^a' }],
  ['object', 'unevaluatedProperties', false],
  ['object', 'dependencies', { a: ['b'] }],
  ['object', 'dependentRequired', { a: ['b'] }],
  ['object', 'dependentSchemas', { a: {} }],
  ['object', 'allOf', [text, text]],
  ['object', 'not', {}],
  ['object', 'if', {}],
  ['object', 'then', {}],
  ['object', 'else', {}],
  ['object', '$anchor', 'a'],
  ['object', '$dynamicRef', '#a'],
];

for (const [type, word, value] of described) {
  test(`${word} with ${JSON.stringify(value)}, which OpenAI refuses under strict, moves into the description`, () => {
    const description = `{${word}: ${JSON.stringify(value)}}`;
    assert.deepEqual(fit({ type, [word]: value }), { schema: { type, description }, lost: [word] });
    assert.deepEqual(fit({ type, [word]: value }, null), {
      schema: { type, [word]: value },
      lost: [],
    });
  });
}

test('oneOf becomes anyOf', () => {
  assert.deepEqual(fit({ oneOf: [text, { type: 'null' }] }), {
    schema: { anyOf: [text, { type: 'null' }] },
    lost: ['oneOf'],
  });
});

test('without strict, an array without items gets empty items', () => {
  const listed = (a: object) => ({ type: 'object', properties: { a } });
  for (const type of ['array', ['array', 'null']]) {
    const { schema } = fitParameters(listed({ type }), null);
    assert.deepEqual(schema, listed({ type, items: {} }));
  }
});

test('an object behind a reference moves to the top', () => {
  assert.deepEqual(fit({ $ref: '#/$defs/x', $defs: { x: city } }), {
    schema: { ...city, $defs: { x: city } },
    lost: [],
  });
});

test('alternatives at the top of parameters move into the description, with or without strict', () => {
  const anyOf = [{ required: ['a'] }, { required: ['b'] }];
  const parameters = { type: 'object', properties: { a: text, b: text }, anyOf };
  for (const strict of [null, true]) {
    const { schema, lost } = fitParameters(parameters, strict);
    assert.deepEqual(lost, ['anyOf']);
    assert.equal(schema.description, `{anyOf: ${JSON.stringify(anyOf)}}`);
    assert.ok(!('anyOf' in schema));
  }
});

test('a schema is strict when its objects are closed and require every property', () => {
  assert.ok(isStrictSchema(city));
  assert.ok(isStrictSchema({ ...city, properties: { city: { anyOf: [city, { type: 'null' }] } } }));
  assert.ok(
    isStrictSchema({
      ...city,
      properties: { city: { type: 'array', items: { $ref: '#/$defs/x' } } },
      $defs: { x: city },
    }),
  );
});

test('a schema with an optional property, an open object or a composing keyword is not strict, at any depth', () => {
  const nested = (inner: object) => ({
    ...city,
    properties: { city: { type: 'array', items: inner } },
  });
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

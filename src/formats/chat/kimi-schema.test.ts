import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withLosses } from '../../../tests/support/formats/with-losses.ts';
import { fitKimiParameters, fitKimiSchema } from './kimi-schema.ts';

const text = { type: 'string' };
const nothing = { type: 'null' };
const named = { type: 'object', properties: { name: text }, required: ['name'] };
const fit = (schema: object) =>
  withLosses((lose) => fitKimiSchema({ properties: { a: schema } }, lose));
const fitParameters = (schema: object) =>
  withLosses((lose) => fitKimiParameters(schema as never, lose));
const fitted = (schema: object, lost: readonly string[] = []) => ({
  schema: { properties: { a: schema } },
  lost,
});

const kept: readonly object[] = [
  { ...named, title: 'T', description: 'D', additionalProperties: false },
  { anyOf: [text, nothing], default: null },
  { anyOf: [{ enum: ['a'], type: 'string' }, { $ref: '#/$defs/x' }] },
  { $ref: '#/$defs/x', description: 'D' },
  { type: 'integer', enum: [1, 2], minimum: 0 },
  { oneOf: [text] },
  {},
];

for (const schema of kept) {
  test(`Kimi accepts ${JSON.stringify(schema).slice(0, 60)}`, () => {
    assert.deepEqual(fit(schema), fitted(schema));
  });
}

const changed: Readonly<Record<string, readonly [from: object, to: object]>> = {
  'leaves the type to the alternatives': [
    { type: 'object', anyOf: [named, nothing] },
    { anyOf: [named, nothing] },
  ],
  'leaves the type to the reference': [
    { type: 'object', $ref: '#/$defs/x' },
    { $ref: '#/$defs/x' },
  ],
  'refers to definitions by their newer name': [{ $ref: '#/definitions/x' }, { $ref: '#/$defs/x' }],
  'calls the items of a tuple prefixItems': [
    { type: 'array', items: [text] },
    { type: 'array', prefixItems: [text] },
  ],
  'gets the type of listed texts': [{ enum: ['a', 'b'] }, { type: 'string', enum: ['a', 'b'] }],
  'gets the type of listed numbers': [{ enum: [1, 2] }, { type: 'number', enum: [1, 2] }],
  'may be null when null is listed': [
    { type: 'string', enum: ['a', null] },
    { type: ['string', 'null'], enum: ['a', null] },
  ],
  'is an object instead of true': [
    { type: 'object', properties: { any: true } },
    { type: 'object', properties: { any: {} } },
  ],
};

for (const [behaviour, [from, to]] of Object.entries(changed)) {
  test(`a schema for Kimi ${behaviour}`, () => {
    assert.deepEqual(fit(from), fitted(to));
  });
}

test('alternatives that Kimi refuses move into the description', () => {
  const either = [{ required: ['name'] }, { required: ['id'] }];
  const described = { description: `{anyOf: ${JSON.stringify(either)}}` };
  assert.deepEqual(fit({ ...named, anyOf: either }), fitted({ ...named, ...described }, ['anyOf']));
  assert.deepEqual(
    fit({ type: 'string', anyOf: [{ minLength: 1 }] }),
    fitted({ type: 'string', description: '{anyOf: [{"minLength":1}]}' }, ['anyOf']),
  );
  assert.deepEqual(fit({ enum: ['a', 1] }), fitted({ description: '{enum: ["a",1]}' }, ['enum']));
  assert.deepEqual(fitParameters({ ...named, anyOf: either }), {
    schema: { ...named, ...described },
    lost: ['anyOf'],
  });
});

test('definitions get their newer name, and a reference at the top is opened', () => {
  const definitions = { Where: { type: 'object', properties: { city: text } } };
  assert.deepEqual(fitParameters({ $ref: '#/definitions/Where', definitions }), {
    schema: { ...definitions.Where, $defs: definitions },
    lost: [],
  });
});

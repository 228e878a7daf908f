import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  asObjectParameters,
  asObjectSchema,
  takesNothing,
  describeAlternatives,
} from './tool-parameters.ts';

const nothing = { type: 'object', properties: {} };

test('incomplete parameters become an object with properties', () => {
  for (const parameters of [
    null,
    {},
    { type: 'object' },
    { type: null },
    { properties: null },
    { type: ['object', 'null'] },
  ]) {
    assert.deepEqual(asObjectParameters(parameters), nothing, JSON.stringify(parameters));
  }
  assert.deepEqual(asObjectParameters({ additionalProperties: false }), {
    ...nothing,
    additionalProperties: false,
  });
  assert.deepEqual(asObjectSchema({}), { type: 'object' });
  assert.deepEqual(asObjectSchema({ type: null }), { type: 'object' });
});

test('parameters behind a reference or in an allOf of one move to the top', () => {
  const properties = { city: { type: 'string' } };
  const named = { type: 'object', properties, required: ['city'] };
  assert.deepEqual(asObjectParameters({ allOf: [named] }), named);
  for (const holder of ['definitions', '$defs']) {
    const definitions = { [holder]: { Where: named } };
    assert.deepEqual(asObjectParameters({ $ref: `#/${holder}/Where`, ...definitions }), {
      ...named,
      ...definitions,
    });
    assert.deepEqual(
      asObjectParameters({
        allOf: [{ $ref: `#/${holder}/Where` }],
        description: 'D',
        ...definitions,
      }),
      { ...named, description: 'D', ...definitions },
    );
  }
  // Keywords beside the reference are kept.
  const both = describeAlternatives(
    asObjectSchema({ $ref: '#/$defs/Where', properties: { day: {} }, $defs: { Where: named } }),
    () => {},
  );
  assert.deepEqual(both.properties, { day: {} });
  assert.match(String(both.description), /^\{allOf: .*"city"/);
  // No reference is followed twice, and only references to a definition of the same schema are
  // followed.
  const loop = { $defs: { a: { $ref: '#/$defs/a' } } };
  assert.deepEqual(asObjectSchema({ $ref: '#/$defs/a', ...loop }), {
    $ref: '#/$defs/a',
    ...loop,
    type: 'object',
  });
  for (const $ref of ['#', '#/$defs/__proto__', '#/$defs/none', 'https://example.com/a.json'])
    assert.deepEqual(asObjectSchema({ $ref, ...loop }), { $ref, ...loop, type: 'object' });
});

test('complete parameters keep their bytes', () => {
  const parameters = { type: 'object', properties: { city: { type: 'string' } } };
  assert.equal(JSON.stringify(asObjectParameters(parameters)), JSON.stringify(parameters));
  assert.equal(describeAlternatives(parameters, assert.fail), parameters);
});

test('a function takes nothing when no keyword allows an argument', () => {
  for (const empty of [
    {},
    { type: 'object' },
    nothing,
    { ...nothing, additionalProperties: false, required: [], title: 'T' },
  ]) {
    assert.ok(takesNothing(empty), JSON.stringify(empty));
  }
  for (const some of [
    { properties: { a: {} } },
    { type: 'object', additionalProperties: true },
    { type: 'object', additionalProperties: { type: 'string' } },
    { $ref: '#/$defs/x' },
    { type: 'object', anyOf: [{}] },
    { type: 'object', patternProperties: { a: {} } },
  ]) {
    assert.ok(!takesNothing(some), JSON.stringify(some));
  }
});

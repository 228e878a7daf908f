import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from '../../tests/support/property.ts';
import { fitSchema, type SchemaTable } from './fit-schema.ts';
import type { JsonObject } from '../lib/json.ts';
import { geminiTable } from './gemini/response-schema.ts';
import { anthropicTable } from './claude-schema.ts';
import { openAiStrictTable } from './openai-schema.ts';

const fit = (schema: JsonObject, table: SchemaTable) => fitSchema(schema, table, () => {});
const tables: readonly SchemaTable[] = [anthropicTable, geminiTable, openAiStrictTable];
const words = [
  'properties',
  '$defs',
  'items',
  'anyOf',
  'oneOf',
  'allOf',
  'not',
  'additionalProperties',
  'if',
  'x',
  '$ref',
];

const anySchema = fc.letrec((tie) => ({
  schema: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom(
      {},
      true,
      { type: 'string', minLength: 1 },
      { $ref: '#' },
      { $ref: '#/$defs/a', minLength: 2 },
    ),
    fc.dictionary(
      fc.constantFrom(...words),
      fc.oneof(tie('schema'), fc.array(tie('schema')), tie('map')),
    ),
  ),
  map: fc.dictionary(fc.constantFrom('a', 'minimum', '__proto__', 'properties'), tie('schema')),
})).schema;

test('a fitted schema is at most a few times larger, and fitting it again changes nothing', () => {
  fc.assert(
    fc.property(anySchema, (value) => {
      const schema = { schema: value, type: 'object', properties: { a: value } } as never;
      for (const table of tables) {
        const once = fit(schema, table);
        // A value in the description is quoted, and its quotes are escaped once more in the JSON
        // that is compared.
        assert.ok(JSON.stringify(once).length <= 4 * JSON.stringify(schema).length + 200);
        // An `allOf` that could not be unwrapped beside a keyword can be when that one has moved.
        if (!JSON.stringify(value).includes('allOf')) assert.deepEqual(fit(once, table), once);
      }
    }),
  );
});

test('circular references stay unchanged', () => {
  const tree = {
    type: 'object',
    properties: { children: { type: 'array', items: { $ref: '#/$defs/tree' } } },
  };
  for (const table of tables) {
    const schema = fit({ $ref: '#/$defs/tree', $defs: { tree } }, table);
    assert.equal(schema.$ref, '#/$defs/tree');
    assert.deepEqual(Object.keys(schema.$defs as object), ['tree']);
  }
});

test('each subschema is visited once, at any depth and width', () => {
  let visits = 0;
  const counting: SchemaTable = { ...anthropicTable, finish: (schema) => (visits++, schema) };
  let schema: Record<string, unknown> = { type: 'string', minLength: 1 };
  for (let depth = 0; depth < 60; depth++)
    schema = { allOf: [{ anyOf: [schema], oneOf: [{ type: 'null' }] }] };
  fit(schema, counting);
  assert.equal(visits, 61);
  visits = 0;
  fit(
    {
      properties: Object.fromEntries(
        Array.from({ length: 10_000 }, (_, index) => [`p${index}`, { minimum: 1 }]),
      ),
    },
    counting,
  );
  assert.equal(visits, 10_001);
});

test('every property name is kept', () => {
  const schema = JSON.parse(
    '{"type":"object","properties":{"__proto__":{"type":"string"}},"additionalProperties":false}',
  ) as never;
  for (const table of tables)
    assert.deepEqual(Object.keys(fit(schema, table).properties as object), ['__proto__']);
});

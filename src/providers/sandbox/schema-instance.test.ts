import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Check } from 'typebox/schema';
import { cpuMsOf, tryToBeQuick } from '../../../tests/support/cpu-time.ts';
import fc from '../../../tests/support/property.ts';
import { makeInstance, openBudget } from './schema-instance.ts';

const valueOf = (schema: unknown): unknown => {
  const made = makeInstance(schema);
  assert.equal(made.kind, 'instance', JSON.stringify(made));
  return made.kind === 'instance' ? made.value : undefined;
};

const examples: [schema: Record<string, unknown>, value: unknown][] = [
  [{ type: 'string' }, 'text'],
  [{ type: 'string', minLength: 6 }, 'textte'],
  [{ type: 'string', maxLength: 2 }, 'te'],
  [{ type: 'string', format: 'date' }, '2026-01-01'],
  [{ type: 'string', format: 'date', minLength: 10, maxLength: 10 }, '2026-01-01'],
  [{ type: 'string', pattern: '^[A-Z]{3}-\\d{2,}$' }, 'AAA-00'],
  [
    { type: 'string', pattern: '^(?:https?://)[^/\\s]+\\.(com|org)$', minLength: 14 },
    'https://aa.com',
  ],
  [{ type: 'string', pattern: '^a*$', minLength: 5 }, 'aaaaa'],
  [{ type: 'string', pattern: '^([a-z]+)$', minLength: 3 }, 'aaa'],
  [{ type: 'string', pattern: '^\\+?[1-9]\\d{1,14}$', minLength: 8 }, '+1000000'],
  [{ type: 'string', pattern: '^(?:a{0,3}-)*(b{9999}){0}$', minLength: 5 }, '-----'],
  [{ type: 'string', pattern: '\\u00e9{3}\\x41(😀|b)+', minLength: 7 }, 'éééA😀😀😀'],
  [{ type: 'string', examples: ['Paris'] }, 'Paris'],
  [{ type: 'string', examples: ['Paris'], pattern: '^(?=P)' }, 'Paris'],
  [{ type: 'string', format: 'email', pattern: '^(?!\\.)[^@]+@.+$' }, 'text@example.com'],
  [{ type: 'integer', minimum: 3 }, 3],
  [{ type: 'integer', exclusiveMinimum: 3, multipleOf: 5 }, 5],
  [{ type: 'integer', maximum: -2 }, -2],
  [{ type: 'integer', exclusiveMinimum: 0, maximum: Number.MAX_SAFE_INTEGER }, 1],
  [{ type: 'number', minimum: -1_000, exclusiveMaximum: 0 }, -1],
  [{ type: 'number', exclusiveMinimum: 0 }, 1],
  [{ type: 'number', exclusiveMinimum: 0, exclusiveMaximum: 1 }, 0.5],
  [{ type: ['null', 'boolean'] }, false],
  [{ enum: ['celsius', 'fahrenheit'] }, 'celsius'],
  [{ allOf: [{ enum: [1, 'b', 'a'] }, { enum: ['a', 1, 'b'], type: 'string' }] }, 'b'],
  [{ const: { a: [1] } }, { a: [1] }],
  [{ type: 'array', items: { type: 'integer' }, minItems: 1, uniqueItems: true }, [0]],
  [
    { type: 'array', prefixItems: [{ type: 'string' }], items: { type: 'null' }, minItems: 2 },
    ['text', null],
  ],
  [
    { type: 'object', properties: { a: { type: 'string' }, b: {} }, required: ['a'] },
    { a: 'text' },
  ],
  [
    {
      allOf: [
        {
          type: 'object',
          properties: { a: { type: 'string' } },
          additionalProperties: { minimum: 3 },
        },
        { properties: { b: { type: 'integer' } }, required: ['a', 'b'] },
      ],
    },
    { a: 'text', b: 3 },
  ],
  [
    {
      allOf: [
        { type: 'number', minimum: 2 },
        { type: 'integer', maximum: 9 },
      ],
    },
    2,
  ],
  [{ anyOf: [{ type: 'null' }, { type: 'string' }] }, null],
  [{ oneOf: [{ not: {} }, { type: 'string' }] }, 'text'],
  [{ $ref: '#/$defs/a~1b%20c', $defs: { 'a/b c': { const: 7 } } }, 7],
  [{ $ref: '#/$defs/a/anyOf/1', $defs: { a: { anyOf: [{}, { const: 7 }] } } }, 7],
  [
    {
      $defs: {
        node: {
          type: 'object',
          properties: { next: { anyOf: [{ $ref: '#/$defs/node' }, { type: 'null' }] } },
          required: ['next'],
        },
      },
      $ref: '#/$defs/node',
    },
    { next: { next: { next: null } } },
  ],
];

for (const [schema, value] of examples) {
  test(`the instance of ${JSON.stringify(schema)} is valid and small: ${JSON.stringify(value)}`, () => {
    const made = valueOf(schema);
    assert.ok(Check(schema, made), JSON.stringify(made));
    assert.deepEqual(made, value);
  });
}

test('schemas in Google’s dialect are read', () => {
  const properties = {
    city: { type: 'STRING', minLength: '6', nullable: true },
    days: { type: 'ARRAY', items: { type: 'INTEGER', minimum: 3 }, minItems: '1' },
  };
  const schema = { type: 'OBJECT', properties, required: ['city', 'days'] };
  assert.deepEqual(valueOf(schema), { city: 'textte', days: [3] });
});

test('a class that only a pattern without the flag `u` may have is read', () => {
  assert.equal(valueOf({ type: 'string', pattern: '^[\\w-\\.]+@([\\w-]+\\.)+[\\@\\w]$' }), 'a@a.a');
});

const refused: [schema: Record<string, unknown>, reason: RegExp][] = [
  [{ type: 'string', not: { const: 'text' } }, /`not`/],
  [{ type: 'string', pattern: '^(?=a)b' }, /lookaround/],
  [{ type: 'string', pattern: '(a)\\1' }, /\\1/],
  [{ type: 'string', pattern: 'b|c', minLength: 2 }, /no text of the right length/],
  [{ type: 'string', pattern: '^(aa)+$', minLength: 3, maxLength: 3 }, /right length/],
  [{ type: 'string', pattern: '('.repeat(900) + 'a' + ')'.repeat(900) }, /groups in each other/],
  [{ type: 'integer', minimum: 5, maximum: 4 }, /no number/],
  [{ $ref: 'https://example.com/schema' }, /does not point into the schema/],
  [{ $ref: '#/$defs/missing' }, /points at nothing/],
  [{ $ref: '#/%zz' }, /cannot be read/],
  [{ $ref: '#' }, /never end/],
  [{ anyOf: [{ $ref: '#' }] }, /without an end|too large/],
  [{ type: 'array', minItems: 2, uniqueItems: true }, /`uniqueItems`/],
  [{ allOf: [{ prefixItems: [true] }, { items: { const: 1 } }] }, /different places/],
  [{ type: 'object', minProperties: 1 }, /more or fewer properties/],
  [{ type: 'string', minLength: 3, maxLength: 2 }, /`minLength` is above its `maxLength`/],
  [{ type: 'object', required: ['a'], properties: { a: { $ref: '#' } } }, /without an end/],
  [{ type: 'object', required: ['a'], additionalProperties: false }, /forbids it/],
  [{ allOf: [{ const: 1 }, { const: 2 }] }, /none of the values/],
  [{ type: 'array', minItems: 1_000_000_000 }, /too large/],
  [{ type: 'string', minLength: 1_000_000_000 }, /too large/],
];

for (const [schema, reason] of refused) {
  test(`${JSON.stringify(schema)} is refused with the reason`, () => {
    const made = makeInstance(schema);
    assert.ok(made.kind === 'none' && reason.test(made.reason), JSON.stringify(made));
  });
}

/** Definitions that each reference the next one twice: 2^60 paths. */
const doubling = (keyword: string) =>
  Object.fromEntries(
    Array.from({ length: 60 }, (_, index) => {
      const next = { $ref: `#/$defs/d${index + 1}` };
      return [`d${index}`, index === 59 ? { type: 'string' } : { [keyword]: [next, next] }];
    }),
  );

test('multiplying references and explosive expressions end soon', () => {
  const schemas = [
    ...['allOf', 'anyOf', 'oneOf'].map((keyword) => ({
      $ref: '#/$defs/d0',
      $defs: doubling(keyword),
    })),
    { type: 'string', pattern: '^(a+)+$', default: `${'a'.repeat(60)}!` },
    { type: 'string', pattern: '(((a{9999}){9999}){9999})' },
    { oneOf: [{ const: `${'a'.repeat(60)}!` }, { type: 'string', pattern: '^(a+)+$' }] },
  ];
  for (const schema of schemas)
    assert.ok(cpuMsOf(() => makeInstance(schema)) < 1_000, JSON.stringify(schema).slice(0, 100));
});

const many = (count: number, item: unknown): unknown[] => Array<unknown>(count).fill(item);
const numbers = Array.from({ length: 40_000 }, (_, index) => index);

const long: Readonly<Record<string, object>> = {
  'many parts with a property each': {
    allOf: Array.from({ length: 5_000 }, (_, index) => ({
      properties: { [`p${index}`]: {} },
      required: [`p${index}`],
    })),
  },
  'parts that are references to one long list': {
    allOf: many(8_000, { $ref: '#/$defs/a' }),
    $defs: { a: { enum: numbers } },
  },
  'parts that require one long list': {
    allOf: many(8_000, { $ref: '#/$defs/a' }),
    $defs: { a: { required: numbers.slice(0, 15_000).map(String) } },
  },
  'two lists that have nothing in common': {
    allOf: [{ enum: numbers.slice(0, 20_000) }, { enum: numbers.slice(20_000) }],
  },
  'closed objects': {
    allOf: many(2, {
      properties: Object.fromEntries(numbers.slice(0, 9_000).map((name) => [name, 1])),
      additionalProperties: false,
    }),
  },
  'tuples that are equal': {
    prefixItems: numbers,
    allOf: many(3_000, { $ref: '#/$defs/a' }),
    $defs: { a: { prefixItems: [...numbers] } },
  },
  'branches that are references to one long list': {
    oneOf: many(5_000, { $ref: '#/$defs/a' }),
    $defs: { a: { enum: numbers } },
  },
  'a long text and many bounds': {
    oneOf: [{ const: 'x'.repeat(100_000) }, ...many(6_000, { minLength: 100_001 })],
  },
  'a long reference to nothing': {
    anyOf: many(5_000, { $ref: '#/$defs/a' }),
    $defs: { a: { $ref: `#${'/a'.repeat(50_000)}` } },
  },
  'many copies of a long value': {
    type: 'array',
    minItems: 10_000,
    items: { const: 'x'.repeat(200_000) },
  },
  'many texts of a long pattern': {
    type: 'array',
    minItems: 10_000,
    items: { type: 'string', pattern: 'x'.repeat(200_000) },
  },
  'many texts of a short pattern': {
    type: 'array',
    minItems: 1_400,
    items: { type: 'string', pattern: 'é{9999}' },
  },
  'many long texts that are longer than allowed': {
    anyOf: many(1_400, { type: 'string', pattern: 'é{19999}', maxLength: 9 }),
  },
  'one long pattern that never gets long enough': {
    type: 'string',
    minLength: 500,
    pattern: `b|${'\\u0061'.repeat(330)}`,
  },
  'many long patterns of which none gets long enough': {
    anyOf: many(100, { type: 'string', minLength: 500, pattern: `b|${'\\u0061'.repeat(330)}` }),
  },
  'many properties with a long pattern': {
    type: 'object',
    required: numbers.slice(0, 111).map(String),
    additionalProperties: { type: 'string', minLength: 500, pattern: `${'\\u0061'.repeat(320)}a*` },
  },
  'patterns of many groups': {
    anyOf: many(100, { type: 'string', minLength: 500, pattern: `b|${'(a*)?'.repeat(380)}` }),
  },
  'as many required names as allowed ones': {
    type: 'object',
    required: [...numbers.slice(0, 8_000).map((name) => `p${name}`), 'z'],
    properties: Object.fromEntries(numbers.slice(0, 8_000).map((name) => [`p${name}`, 1])),
    additionalProperties: false,
  },
  'one type many times': {
    anyOf: many(30, { $ref: '#/$defs/a' }),
    $defs: { a: { type: many(20_000, 'number'), minimum: 2, maximum: 1 } },
  },
  'many small objects': {
    type: 'array',
    minItems: 10_000,
    items: { type: 'object', required: ['a'], properties: { a: { anyOf: [{ type: 'null' }] } } },
  },
  'many long examples': {
    type: 'array',
    minItems: 10_000,
    items: { type: 'string', default: 'x'.repeat(200_000) },
  },
  'many long texts': {
    type: 'array',
    minItems: 10_000,
    items: { type: 'string', minLength: 10_000 },
  },
};

for (const [name, schema] of Object.entries(long)) {
  test(`a schema of a quarter of a megabyte ends soon: ${name}`, async () => {
    const { isQuick, tookMs } = await tryToBeQuick(JSON.stringify(schema), () =>
      cpuMsOf(() => JSON.stringify(makeInstance(schema))),
    );
    assert.ok(isQuick, `${Math.round(tookMs)} ms of CPU time`);
  });
}

test('all schemas of a request share one budget of steps', () => {
  const budget = openBudget();
  const schema = { type: 'array', minItems: 5_000, items: { type: 'integer' } };
  const made = Array.from({ length: 4 }, () => makeInstance(schema, budget).kind);
  assert.deepEqual(new Set(made), new Set(['instance', 'none']));
  assert.equal(makeInstance({ type: 'string' }).kind, 'instance', 'the next request has its own');
});

const scalar = fc.oneof(
  fc.record(
    {
      type: fc.constant('string'),
      minLength: fc.nat(9),
      maxLength: fc.integer({ min: 5, max: 20 }),
    },
    { requiredKeys: ['type'] },
  ),
  fc.record(
    {
      type: fc.constantFrom('integer', 'number'),
      minimum: fc.integer({ min: -50, max: 20 }),
      exclusiveMaximum: fc.integer({ min: 0, max: 60 }),
      multipleOf: fc.constantFrom(1, 2, 5),
    },
    { requiredKeys: ['type'] },
  ),
  fc.record({
    enum: fc.uniqueArray(fc.oneof(fc.string(), fc.integer(), fc.constant(null)), { minLength: 1 }),
  }),
  fc.record({ type: fc.constantFrom('boolean', 'null') }),
  fc.record({
    type: fc.constant('string'),
    pattern: fc.constantFrom('^[a-c]+x?$', '\\d{3}|zz', '^(ab|c){2,}\\.[^a]$', '.*'),
  }),
);
const names = fc.constantFrom('a', 'b', 'c', '__proto__', 'x y');
const { schema: anySchema } = fc.letrec<{ schema: Record<string, unknown> }>((tie) => ({
  schema: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    scalar,
    fc
      .record(
        {
          properties: fc.dictionary(names, tie('schema'), { noNullPrototype: true }),
          required: fc.uniqueArray(names),
          additionalProperties: fc.oneof(fc.boolean(), tie('schema')),
          minProperties: fc.nat(4),
        },
        { requiredKeys: [] },
      )
      .map((schema) => ({ type: 'object', ...schema })),
    fc
      .record(
        {
          items: tie('schema'),
          minItems: fc.nat(3),
          uniqueItems: fc.boolean(),
          prefixItems: fc.array(tie('schema'), { maxLength: 2, minLength: 1 }),
        },
        { requiredKeys: [] },
      )
      .map((schema) => ({ type: 'array', ...schema })),
    fc.record({ anyOf: fc.array(tie('schema'), { minLength: 1, maxLength: 3 }) }),
    // The values of an `enum` are not compared with rules beside it.
    fc
      .record(
        {
          allOf: fc.array(tie('schema'), { minLength: 1, maxLength: 2 }),
          type: fc.constantFrom('object', 'string'),
        },
        { requiredKeys: ['allOf'] },
      )
      .filter((schema) => !JSON.stringify(schema).includes('"enum"')),
  ),
}));

test('every made value is valid, and most schemas get one', () => {
  let made = 0;
  let tried = 0;
  fc.assert(
    fc.property(anySchema, (schema) => {
      const instance = makeInstance(schema);
      tried++;
      if (instance.kind === 'none') return;
      made++;
      assert.ok(Check(schema, instance.value), JSON.stringify(instance.value));
    }),
    { numRuns: 1_000 },
  );
  assert.ok(made / tried > 0.5, `${made} of ${tried}`);
});

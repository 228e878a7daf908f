import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Type } from 'typebox';
import { checkUncompiled, compileSchema } from './schema.ts';

const Optional = (schema: ReturnType<typeof Type.String> | ReturnType<typeof Type.Number>) =>
  Type.Optional(Type.Union([schema, Type.Null()]));
const TextPart = Type.Object({ type: Type.Literal('text'), text: Type.String() });
const ImagePart = Type.Object({ type: Type.Literal('image'), url: Type.String({ minLength: 1 }) });
const schema = Type.Object({
  model: Type.String({ minLength: 1 }),
  temperature: Optional(Type.Number({ minimum: 0, maximum: 2 })),
  limit: Type.Optional(Type.Integer({ minimum: 1 })),
  limits: Type.Optional(Type.Array(Type.Integer(), { uniqueItems: true })),
  effort: Type.Optional(Type.Union([Type.Literal('low'), Type.Literal('high'), Type.Null()])),
  messages: Type.Optional(
    Type.Array(
      Type.Union([
        Type.Object({
          role: Type.Literal('user'),
          content: Type.Union([Type.String(), Type.Array(Type.Union([TextPart, ImagePart]))]),
        }),
        Type.Object({ role: Type.Literal('tool'), id: Type.String() }),
      ]),
      { minItems: 1 },
    ),
  ),
  metadata: Type.Optional(Type.Record(Type.String(), Type.String())),
  items: Type.Optional(
    Type.Array(
      Type.Union([
        Type.Object({
          type: Type.Optional(Type.Union([Type.Literal('message'), Type.Null()])),
          role: Type.Literal('user'),
        }),
        Type.Object({ type: Type.Literal('function_call'), call_id: Type.String() }),
      ]),
    ),
  ),
});
const checks = [compileSchema(schema), (value: unknown) => checkUncompiled(schema, value)];

const problems: [value: unknown, path: string, message: string][] = [
  [[], '', 'must be an object; got an array'],
  [{}, 'model', 'is required: a non-empty string'],
  [{ model: '' }, 'model', 'must not be empty'],
  [{ model: 5 }, 'model', 'must be a non-empty string; got 5'],
  [{ model: 'm', temperature: 3 }, 'temperature', 'must be a number from 0 to 2; got 3'],
  [{ model: 'm', temperature: '1' }, 'temperature', 'must be a number from 0 to 2; got "1"'],
  [{ model: 'm', limit: 1.5 }, 'limit', 'must be a whole number of at least 1; got 1.5'],
  [{ model: 'm', limits: [5, 1, 5] }, 'limits[2]', 'must differ from the others; got 5 twice'],
  [{ model: 'm', effort: 'extreme' }, 'effort', 'must be `low` or `high`; got "extreme"'],
  [{ model: 'm', messages: [] }, 'messages', 'must have at least 1 item; got 0'],
  [
    { model: 'm', messages: [{ content: 'x' }] },
    'messages[0].role',
    'is required: `user` or `tool`',
  ],
  [
    { model: 'm', messages: [{ role: 'robot' }] },
    'messages[0].role',
    'must be `user` or `tool`; got "robot"',
  ],
  [
    { model: 'm', messages: [{ role: 'user', content: 7 }] },
    'messages[0].content',
    'must be a string or an array; got 7',
  ],
  [
    { model: 'm', messages: [{ role: 'user', content: [{ type: 'text' }] }] },
    'messages[0].content[0].text',
    'is required: a string',
  ],
  [
    { model: 'm', messages: [{ role: 'user', content: [{ type: 'image', url: null }] }] },
    'messages[0].content[0].url',
    'must be a non-empty string; got null',
  ],
  [{ model: 'm', messages: [{ role: 'tool' }] }, 'messages[0].id', 'is required: a string'],
  [{ model: 'm', metadata: { a: 1 } }, 'metadata.a', 'must be a string; got 1'],
  // An optional tag still selects the branch when it is present.
  [
    { model: 'm', items: [{ type: 'message', role: 'robot' }] },
    'items[0].role',
    'must be `user`; got "robot"',
  ],
  [{ model: 'm', items: [{ type: 'function_call' }] }, 'items[0].call_id', 'is required: a string'],
];

for (const [value, path, message] of problems) {
  test(`${JSON.stringify(value)} is refused: ${path} ${message}`, () => {
    for (const check of checks) assert.deepEqual(check(value), { path, message });
  });
}

test('valid values pass, null counts as absent if the schema says so, and unknown fields are ignored', () => {
  const valid = {
    model: 'm',
    temperature: null,
    effort: null,
    messages: [{ role: 'user', content: [{ type: 'text', text: 'x', extra: 1 }] }],
    extra: {},
  };
  for (const check of checks) assert.equal(check(valid), null);
});

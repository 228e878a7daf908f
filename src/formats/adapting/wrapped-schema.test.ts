import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from '../../../tests/support/property.ts';
import type { StreamEvent } from '../../canonical/event.ts';
import { unwrapAnswer, wrapSchema } from './wrapped-schema.ts';

/** Returns the text that the client sees when it comes in pieces of this size, and checks what is dropped. */
function shownOf(text: string, size = 1): string {
  let dropped = 0;
  const textIn = (event: StreamEvent) => (event.type === 'text-delta' ? event.text : '');
  const step = unwrapAnswer((event) => (dropped += textIn(event).length));
  const pieces = text.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? [];
  const deltas = pieces.map((piece) => ({ type: 'text-delta', text: piece }) as const);
  const events: StreamEvent[] = [{ type: 'text-start' }, ...deltas, { type: 'text-end' }];
  const shown = events.flatMap(step).map(textIn).join('');
  assert.equal(shown.length + dropped, text.length);
  return shown;
}

const cases: Readonly<Record<string, [text: string, shown: string]>> = {
  'an object that is white space apart': ['\n{ "answer" :[1]\n}\n ', '[1]\n'],
  'an object that was cut off at the limit': ['{"answer":["a', '["a'],
  'an answer without the object': ['["a", {"b": 1}]', '["a", {"b": 1}]'],
  'a refusal': ['I cannot do {that}: no.', 'I cannot do {that}: no.'],
  nothing: ['', ''],
};

for (const [title, [text, shown]] of Object.entries(cases))
  test(`of ${title}, the client sees the answer alone`, () => {
    assert.equal(shownOf(text), shown);
    assert.equal(shownOf(text, 100), shown);
  });

test('the answer is taken out of its object behind another text', () => {
  const step = unwrapAnswer(() => {});
  const texts = ['I look it up: wait.', '{"answer":[1]}'];
  const events = texts.flatMap((text): StreamEvent[] => [
    { type: 'text-start' },
    { type: 'text-delta', text },
    { type: 'text-end' },
  ]);
  const shown = events.flatMap(step).flatMap((event) => ('text' in event ? [event.text] : []));
  assert.deepEqual(shown, ['I look it up: wait.', '[1]']);
});

test('any answer is taken out of its object, however the text is split', () => {
  const size = fc.integer({ min: 1, max: 7 });
  fc.assert(
    fc.property(fc.jsonValue(), size, fc.nat(2), (answer, length, spaces) => {
      const text = shownOf(JSON.stringify({ answer }, null, spaces), length);
      assert.deepEqual(JSON.parse(text), JSON.parse(JSON.stringify(answer)));
    }),
  );
});

test('a list becomes the field of an object, whose definitions stay at the top', () => {
  const named = { name: 'answer', description: null, strict: true } as const;
  const item = { $ref: '#/$defs/Item' };
  const $defs = { Item: { type: 'string' } };
  const definitions = $defs;
  const format = { type: 'json-schema', ...named } as const;
  assert.deepEqual(
    wrapSchema({ ...format, schema: { type: 'array', items: item, $defs, definitions } }),
    {
      ...format,
      schema: {
        type: 'object',
        properties: { answer: { type: 'array', items: item } },
        required: ['answer'],
        additionalProperties: false,
        $defs,
        definitions,
      },
    },
  );
  for (const schema of [{ type: 'object' }, { $ref: '#/$defs/Item', $defs }])
    assert.equal(wrapSchema({ ...format, schema }), null);
});

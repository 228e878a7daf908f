import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from '../../../tests/support/property.ts';
import { isObject } from '../../lib/json.ts';
import { parseEvent } from './stream-event.ts';

const official = JSON.stringify({
  type: 'content_block_delta',
  index: 0,
  delta: { type: 'text_delta', text: ' word' },
});
const piece = fc.oneof(
  fc.constantFrom('"', '\\', '\\"', '\\n', '\n', '\u0000', '{', '}', ',', ' ', '0', '1', '-', 'e5'),
  fc.string({ maxLength: 3, unit: 'binary' }),
);

function parsePlainly(data: string): unknown {
  try {
    const value: unknown = JSON.parse(data);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

test('an event of text is read as JSON reads it, and one that is no JSON is refused', () => {
  const place = fc.nat({ max: official.length });
  fc.assert(
    fc.property(fc.array(fc.tuple(place, fc.nat({ max: 2 }), piece)), (edits) => {
      let data = official;
      for (const [at, removed, added] of edits)
        data = data.slice(0, at) + added + data.slice(at + removed);
      assert.deepEqual(parseEvent(data), parsePlainly(data));
    }),
    { numRuns: 5_000 },
  );
});

test('any text, index and padding are read as JSON reads them', () => {
  const whole = ['', 'a word', 'é 🙂 日本', '\ud800', '\u2028', 'x'.repeat(100_000)];
  const texts = [...whole, '\\n', '\\u00e9', '\\', '"', '\n', '\t', '\u0000', '\u001f', '\u007f'];
  for (const text of texts)
    for (const index of ['0', '7', '123456789', '1234567890', '01', '1.0', '-0', '1e2'])
      for (const padding of ['', '          ', '\t']) {
        const data = `{"type":"content_block_delta","index":${index},"delta":{"type":"text_delta","text":"${text}"}${padding}}`;
        assert.deepEqual(parseEvent(data), parsePlainly(data), data.slice(0, 200));
      }
});

test('a text of thirty million characters is read', () => {
  const text = 'x'.repeat(30_000_000);
  const event = parseEvent(official.replace(' word', text)) as { delta: { text: string } };
  assert.equal(event.delta.text.length, text.length);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from '../../../tests/support/property.ts';
import { ObjectSearch } from './json-object.ts';

/** The part of a streamed text that the client sees: each piece is shown or dropped as a whole. */
function shownOf(pieces: readonly string[]): string {
  const search = new ObjectSearch();
  let [shown, dropped] = ['', 0];
  for (const piece of pieces) {
    const pushed = search.push(piece);
    shown += pushed.shown;
    dropped += pushed.dropped.length;
  }
  shown += search.end();
  assert.equal(shown.length + dropped, pieces.join('').length);
  return shown;
}

const cases: Readonly<Record<string, [text: string, shown: string]>> = {
  'a bare object': ['{"a": 1}', '{"a": 1}'],
  'an object in a code fence': ['```json\n{"a": [1, {"b": "}"}]}\n```', '{"a": [1, {"b": "}"}]}'],
  'a sentence before and after': [
    'Here {as asked}: {"a": "\\"}{"} Anything else? {"b": 2}',
    '{"a": "\\"}{"}',
  ],
  'an empty object': ['Nothing found.\n{ }\n', '{ }'],
  'an object that was cut off at the limit': ['So: {"a": [1, 2', '{"a": [1, 2'],
  'no object at all': ['I cannot do {that}.', 'I cannot do {that}.'],
  nothing: ['', ''],
};

for (const [title, [text, shown]] of Object.entries(cases)) {
  test(`JSON mode shows only the object of ${title}, in one piece and in single characters`, () => {
    assert.equal(shownOf([text]), shown);
    assert.equal(shownOf(text.split('')), shown);
  });
}

test('any JSON object is shown unchanged, inside any fence and however the text is split', () => {
  const object = fc.dictionary(fc.string(), fc.jsonValue());
  const around = fc.constantFrom('', '```json\n', 'Sure!\n\n', '{ x }', '\n```', '"', '}');
  fc.assert(
    fc.property(
      object,
      around,
      around,
      fc.integer({ min: 1, max: 7 }),
      fc.nat(2),
      (value, before, after, size, spaces) => {
        const json = JSON.stringify(value, null, spaces);
        const text = before + json + after;
        const pieces = Array.from({ length: Math.ceil(text.length / size) }, (_, index) =>
          text.slice(index * size, (index + 1) * size),
        );
        assert.equal(shownOf(pieces), json);
      },
    ),
    { numRuns: 1_000 },
  );
});

test('a long text without an object streams, and at most a preface is held back', () => {
  const search = new ObjectSearch();
  let [shown, sent] = [0, 0];
  for (let index = 0; index < 2_000; index++) {
    const { shown: text } = search.push('A {long} answer. ');
    sent += 17;
    shown += text.length;
    assert.ok(sent - shown <= 4_100);
  }
});

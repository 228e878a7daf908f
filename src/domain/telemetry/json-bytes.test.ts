import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from '../../../tests/support/property.ts';
import { flag, millionths, oneOf, text, whole } from './attributes.ts';
import { JsonBytes, piece } from './json-bytes.ts';

/** Returns what is written as text. */
function written(write: (json: JsonBytes) => void): string {
  const json = new JsonBytes();
  write(json);
  return Buffer.from(json.written()).toString();
}

test('any text is written as JSON, however long it is', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 60_000 }), (value) => {
      assert.equal(JSON.parse(written((json) => json.text(value))), value.toWellFormed());
    }),
    { numRuns: 200 },
  );
  for (const value of ['"', '\\', '\n', '\u007f', 'ü', '😀', '\ud800', 'x'.repeat(100_000)])
    assert.equal(
      written((json) => json.text(value)),
      JSON.stringify(value),
    );
});

test('any whole number is written as it is', () => {
  const number = fc.oneof(fc.maxSafeInteger(), fc.integer(), fc.integer({ min: 0, max: 10 }));
  fc.assert(
    fc.property(number, (value) => {
      assert.equal(
        written((json) => json.whole(value)),
        String(value),
      );
    }),
  );
  for (const value of [0, 9, 10, 999_999_999, 1_000_000_000])
    assert.equal(
      written((json) => json.whole(value)),
      String(value),
    );
});

test('millionths are the same number as by division', () => {
  const write = millionths('usd');
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 2 ** 50 }), (value) => {
      const attribute: unknown = JSON.parse(
        written((json) => {
          write(json, value);
          json.dropComma();
        }),
      );
      assert.deepEqual(attribute, { key: 'usd', value: { doubleValue: value / 1e6 } });
    }),
  );
});

test('attributes have commas between them, and those without a value are left out', () => {
  const json = new JsonBytes();
  json.piece(piece('['));
  text('absent')(json, undefined);
  text('a')(json, 'one "two"');
  whole('b')(json, null);
  whole('c')(json, 7);
  flag('d')(json, true);
  oneOf('e')(json, 'stop');
  json.dropComma();
  json.piece(piece(']'));
  assert.deepEqual(JSON.parse(Buffer.from(json.written()).toString()), [
    { key: 'a', value: { stringValue: 'one "two"' } },
    { key: 'c', value: { intValue: '7' } },
    { key: 'd', value: { boolValue: true } },
    { key: 'e', value: { arrayValue: { values: [{ stringValue: 'stop' }] } } },
  ]);
  json.clear();
  assert.equal(json.written().length, 0);
});

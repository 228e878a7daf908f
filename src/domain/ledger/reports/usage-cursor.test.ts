import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from '../../../../tests/support/property.ts';
import { decodeUsageCursor, encodeUsageCursor } from './usage-cursor.ts';

const cursor = fc
  .tuple(
    fc.integer({ min: 0, max: Date.UTC(9999, 11, 31, 23, 59, 59, 999) }),
    fc.stringMatching(/^[0-9a-z_]{1,40}$/),
  )
  .map(([createdAtMs, id]) => ({ createdAtMs, id }));

test('a cursor is decoded unchanged', () => {
  fc.assert(
    fc.property(cursor, (place) =>
      assert.deepEqual(decodeUsageCursor(encodeUsageCursor(place)), place),
    ),
  );
});

test('a cursor consists of a timestamp and a record id', () => {
  const place = { createdAtMs: Date.UTC(2026, 10, 21, 12), id: '01kahw3v9gq2' };
  assert.equal(encodeUsageCursor(place), '2026-11-21T12:00:00.000Z|01kahw3v9gq2');
});

test('any text is either a canonical cursor or refused, and nothing throws', () => {
  const almost = fc.tuple(cursor, fc.string(), fc.nat()).map(([place, noise, at]) => {
    const text = encodeUsageCursor(place);
    return text.slice(0, at % text.length) + noise + text.slice(at % text.length);
  });
  fc.assert(
    fc.property(fc.oneof(fc.string(), almost), (text) => {
      const place = decodeUsageCursor(text);
      if (place) assert.equal(encodeUsageCursor(place), text);
    }),
  );
});

test('text that only resembles a cursor is refused', () => {
  for (const text of [
    '',
    '|',
    '2026-11-21T12:00:00.000Z',
    '2026-11-21T12:00:00.000Z|',
    '2026-11-21T12:00:00Z|a',
    '2026-11-21 12:00:00.000Z|a',
    '2026-11-21T12:00:00.000+01:00|a',
    '2026-02-31T12:00:00.000Z|a',
    '2026-11-21T24:00:00.000Z|a',
    '2026-13-21T12:00:00.000Z|a',
    '2026-11-21T12:00:00.000Z|a b',
    '2026-11-21T12:00:00.000Z|a\n',
    `2026-11-21T12:00:00.000Z|${'a'.repeat(129)}`,
    ' 2026-11-21T12:00:00.000Z|a',
  ]) {
    assert.equal(decodeUsageCursor(text), null, text);
  }
});

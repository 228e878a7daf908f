import assert from 'node:assert/strict';
import test from 'node:test';
import fc from '../../tests/support/property.ts';
import { parseRange } from './byte-range.ts';

test('a single byte range is parsed as in the standard’s examples', () => {
  const asked = {
    'bytes=0-499': [0, 499],
    'bytes=500-999': [500, 999],
    'bytes=-500': [9_500, 9_999],
    'bytes=9500-': [9_500, 9_999],
    'bytes=0-0': [0, 0],
    'bytes=-1': [9_999, 9_999],
    'bytes=-20000': [0, 9_999],
    'Bytes=9999-99999999999999999999': [9_999, 9_999],
  };
  for (const [header, [start, end]] of Object.entries(asked)) {
    assert.deepEqual(parseRange(header, 10_000), { kind: 'part', start, end }, header);
  }
  for (const header of ['bytes=10000-', 'bytes=99999999999999999999-', 'bytes=-0']) {
    assert.deepEqual(parseRange(header, 10_000), { kind: 'unsatisfiable' }, header);
  }
  for (const header of [
    undefined,
    '',
    'bytes',
    'bytes=',
    'bytes=-',
    'bytes=5-2',
    'bytes=0-1,5-6',
    'items=0-1',
    'bytes=a-b',
    'bytes=1.5-2',
  ]) {
    assert.deepEqual(parseRange(header, 10_000), { kind: 'whole' }, String(header));
  }
});

test('property: every part lies within the bytes', () => {
  const number = fc.option(fc.nat(200), { nil: '' }).map(String);
  fc.assert(
    fc.property(number, number, fc.integer({ min: 1, max: 100 }), (first, last, size) => {
      const range = parseRange(`bytes=${first}-${last}`, size);
      if (range.kind === 'part')
        assert.ok(0 <= range.start && range.start <= range.end && range.end < size);
    }),
  );
});

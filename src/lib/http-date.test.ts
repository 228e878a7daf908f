import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from '../../tests/support/property.ts';
import { HttpDate } from './http-date.ts';

test('it is the second that was asked for, whatever was asked for before', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 10_000 })), (moments) => {
      const date = new HttpDate();
      for (const ms of moments) assert.equal(date.now(1_790_000_000_000 + ms), new Date(1_790_000_000_000 + ms).toUTCString());
    }),
  );
  assert.equal(new HttpDate().now(784_111_777_999), 'Sun, 06 Nov 1994 08:49:37 GMT');
});

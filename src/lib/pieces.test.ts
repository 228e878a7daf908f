import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Pieces } from './pieces.ts';

test('bytes that come one by one are kept in few pieces, in their order', () => {
  const whole = Buffer.from(Array.from({ length: 100_000 }, (_, index) => index % 251));
  const pieces = new Pieces();
  for (let at = 0; at < whole.length; at += 1) pieces.add(whole.subarray(at, at + 1));
  assert.equal(pieces.bytes, whole.length);
  const taken = pieces.take();
  assert.ok(taken.length < 1_000, `${taken.length} pieces`);
  assert.ok(Buffer.concat(taken).equals(whole));
  assert.deepEqual(pieces.take(), []);
});

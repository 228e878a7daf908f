import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createFailedKeys } from './failed-keys.ts';

const one = '192.0.2.1';
const other = '192.0.2.2';

function throttleAt(perMinute: number | null) {
  const clock = { nowMs: 1_000_000 };
  return { clock, failed: createFailedKeys(perMinute, () => clock.nowMs) };
}

test('so many wrong keys a minute are told so, further ones are to wait; others are not concerned', () => {
  const { clock, failed } = throttleAt(20);
  for (let count = 0; count < 20; count++) assert.equal(failed.note(one), 0);
  assert.equal(failed.note(one), 3);
  assert.equal(failed.note(other), 0);
  clock.nowMs += 3_000;
  assert.equal(failed.note(one), 0);
  assert.equal(failed.note(one), 3);
});

test('from a blocked address thirty keys a minute are still looked for, then none', () => {
  const { clock, failed } = throttleAt(5);
  for (let count = 0; count < 5; count++) failed.note(one);
  for (let count = 0; count < 30; count++) assert.equal(failed.secondsToWait(one), 0);
  assert.equal(failed.secondsToWait(one), 12);
  assert.equal(failed.secondsToWait(other), 0);
  clock.nowMs += 2_000;
  assert.equal(failed.secondsToWait(one), 0);
  assert.ok(failed.secondsToWait(one) > 0);
});

test('a subscriber does not get another chance with each address of an IPv6 network', () => {
  const { failed } = throttleAt(5);
  const notes = Array.from({ length: 6 }, (_, index) => failed.note(`2001:db8::${index.toString(16)}`));
  assert.deepEqual(notes.slice(0, 5), [0, 0, 0, 0, 0]);
  assert.ok(notes[5]! > 0);
});

test('without a limit nobody waits', () => {
  const { failed } = throttleAt(null);
  for (let count = 0; count < 1_000; count++) assert.equal(failed.note(one) + failed.secondsToWait(one), 0);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addressRatesInMemory } from './address-rates.ts';
import { createFailedKeys } from './failed-keys.ts';

const one = '192.0.2.1';
const other = '192.0.2.2';

function throttleAt(perMinute: number | null) {
  const clock = { nowMs: 1_000_000 };
  return {
    clock,
    failed: createFailedKeys(
      perMinute,
      addressRatesInMemory(() => clock.nowMs),
    ),
  };
}

test('wrong keys beyond the limit must wait; other addresses are not affected', async () => {
  const { clock, failed } = throttleAt(20);
  for (let count = 0; count < 20; count++) assert.equal(await failed.note(one), 0);
  assert.equal(await failed.note(one), 3);
  assert.equal(await failed.note(other), 0);
  clock.nowMs += 3_000;
  assert.equal(await failed.note(one), 0);
  assert.equal(await failed.note(one), 3);
});

test('a blocked address still gets thirty lookups a minute', async () => {
  const { clock, failed } = throttleAt(5);
  for (let count = 0; count < 5; count++) await failed.note(one);
  for (let count = 0; count < 30; count++) assert.equal(await failed.secondsToWait(one), 0);
  assert.equal(await failed.secondsToWait(one), 12);
  assert.equal(await failed.secondsToWait(other), 0);
  clock.nowMs += 2_000;
  assert.equal(await failed.secondsToWait(one), 0);
  assert.ok((await failed.secondsToWait(one)) > 0);
});

test('all addresses of one IPv6 network share the limit', async () => {
  const { failed } = throttleAt(5);
  const notes = await Promise.all(
    Array.from({ length: 6 }, (_, index) => failed.note(`2001:db8::${index.toString(16)}`)),
  );
  assert.deepEqual(notes.slice(0, 5), [0, 0, 0, 0, 0]);
  assert.ok(notes[5]! > 0);
});

test('without a limit no address waits', async () => {
  const { failed } = throttleAt(null);
  for (let count = 0; count < 1_000; count++)
    assert.equal((await failed.note(one)) + (await failed.secondsToWait(one)), 0);
});

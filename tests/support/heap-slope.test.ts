import assert from 'node:assert/strict';
import { test } from 'node:test';
import { slopePerHour, windowMinima } from './heap-slope.ts';

test('the lows of a saw that climbs by 6 an hour', () => {
  const saw = Array.from({ length: 600 }, (_, second) => ({ ms: second * 1_000, value: 50 + second / 600 + (second % 20) }));
  const lows = windowMinima(saw, 60_000);
  assert.equal(lows.length, 10);
  assert.ok(Math.abs(slopePerHour(lows) - 6) < 0.01, String(slopePerHour(lows)));
});

test('a flat line, and too little to tell', () => {
  assert.equal(slopePerHour([1, 2, 3].map((ms) => ({ ms, value: 7 }))), 0);
  assert.equal(slopePerHour([{ ms: 1, value: 7 }]), 0);
  assert.equal(slopePerHour([]), 0);
});

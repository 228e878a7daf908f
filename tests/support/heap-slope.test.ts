import assert from 'node:assert/strict';
import { test } from 'node:test';
import { slopePerHour } from './heap-slope.ts';

test('a slope of 6 an hour is found through noise', () => {
  const samples = Array.from({ length: 600 }, (_, second) => ({
    ms: second * 1_000,
    value: 50 + second / 600 + (second % 2),
  }));
  assert.ok(Math.abs(slopePerHour(samples) - 6) < 0.1, String(slopePerHour(samples)));
});

test('a flat line, or too few points, has slope 0', () => {
  assert.equal(slopePerHour([1, 2, 3].map((ms) => ({ ms, value: 7 }))), 0);
  assert.equal(slopePerHour([{ ms: 1, value: 7 }]), 0);
  assert.equal(slopePerHour([]), 0);
});

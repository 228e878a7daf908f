import assert from 'node:assert/strict';
import { test } from 'node:test';
import { missText } from './cache-miss.ts';

test('a miss says how much was not read, why, and from which turn on', () => {
  const miss = { reason: 'expired', tokens: 12_500, turn: 4, requests: 2, cost_micros: 9 } as const;
  assert.equal(missText(miss), '12.5K tokens: expired');
  assert.equal(missText(miss, true), '12.5K tokens: expired, from turn 4');
  assert.equal(missText({ ...miss, reason: 'first-turn' }, true), '12.5K tokens: first turn');
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from '../../tests/support/property.ts';
import { budgetOfEffort, effortOfBudget, nearestEffort } from './effort.ts';
import { effortLevels } from './request.ts';

test('a budget is the level whose budget is nearest', () => {
  const levels = [
    0, 1, 1_024, 4_608, 4_609, 8_192, 16_384, 16_385, 24_576, 31_999, 40_000, 65_536, 1_000_000,
  ].map(effortOfBudget);
  const expected = 'none low low low medium medium medium high high xhigh xhigh max max';
  assert.deepEqual(levels, expected.split(' '));
});

test('a level comes back from its own budget', () => {
  for (const effort of effortLevels) {
    assert.equal(effortOfBudget(budgetOfEffort[effort]), effort === 'minimal' ? 'low' : effort);
  }
});

test('a level that a model does not know becomes the next lower one that it knows, else its lowest', () => {
  assert.equal(nearestEffort('xhigh', ['low', 'medium', 'high']), 'high');
  assert.equal(nearestEffort('xhigh', ['low', 'medium', 'high', 'max']), 'high');
  assert.equal(nearestEffort('medium', ['high']), 'high');
  assert.equal(nearestEffort('none', ['minimal', 'low']), 'minimal');
});

test('thinking a little never becomes thinking not at all', () => {
  assert.equal(nearestEffort('minimal', ['none', 'low', 'medium']), 'low');
  assert.equal(nearestEffort('none', ['none', 'low']), 'none');
});

test('a known level stays, and the result is always known', () => {
  const someLevels = fc.subarray([...effortLevels], { minLength: 1 });
  fc.assert(
    fc.property(fc.constantFrom(...effortLevels), someLevels, (effort, known) => {
      const nearest = nearestEffort(effort, known);
      assert.ok(known.includes(nearest));
      if (known.includes(effort)) assert.equal(nearest, effort);
    }),
  );
});

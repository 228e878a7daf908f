import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RetryBudget } from './retry-budget.ts';

function takeAll(budget: RetryBudget, inFlight = 1): number {
  let taken = 0;
  while (budget.take(inFlight)) taken++;
  return taken;
}

test('a lone request may be retried, and a fifth of many requests at once', () => {
  const cases = [
    [1, 3],
    [15, 3],
    [20, 4],
    [104, 20],
  ] as const;
  for (const [inFlight, allowed] of cases) {
    assert.equal(takeAll(new RetryBudget(3), inFlight), allowed, `${inFlight} in flight`);
  }
});

test('a retry that is given back can be taken again', () => {
  const budget = new RetryBudget(2);
  assert.equal(takeAll(budget), 2);
  budget.giveBack(1);
  assert.equal(takeAll(budget), 1);
});

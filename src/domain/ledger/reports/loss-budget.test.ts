import assert from 'node:assert/strict';
import { test } from 'node:test';
import { micros } from '../../../lib/money.ts';
import { firstLossDay, judgeLosses, fixedLossBudget } from './loss-budget.ts';

const budget = micros(100);
const lossesOf = (days: Readonly<Record<string, number>>, spent = 0) => ({
  causedMicros: micros(Object.values(days).reduce((sum, lost) => sum + lost, 0)),
  days: Object.entries(days).map(([day, lost]) => ({ day, micros: micros(lost) })),
  spentMicros: micros(spent),
});

test('the budget is the fixed amount or the share of spending, whichever is higher; only losses above it exceed it', () => {
  const cases = [
    { lost: 100, spent: 0, budgetMicros: 100, isExceeded: false },
    { lost: 101, spent: 0, budgetMicros: 100, isExceeded: true },
    { lost: 101, spent: 2_000, budgetMicros: 100, isExceeded: true },
    { lost: 101, spent: 2_019, budgetMicros: 100, isExceeded: true },
    { lost: 101, spent: 2_020, budgetMicros: 101, isExceeded: false },
    { lost: 5_001, spent: 100_000, budgetMicros: 5_000, isExceeded: true },
  ];
  for (const { lost, spent, ...expected } of cases) {
    const { budgetMicros, isExceeded } = judgeLosses(
      lossesOf({ '2026-11-21': lost }, spent),
      budget,
    );
    assert.deepEqual({ budgetMicros, isExceeded }, expected, `${lost} of ${spent}`);
  }
});

test("a refusal ends at the latest on the day when the window's losses fit the fixed amount", () => {
  const { causedMicros, resetsAtMs } = judgeLosses(
    lossesOf({ '2026-11-01': 40, '2026-11-05': 90, '2026-11-21': 60 }),
    budget,
  );
  assert.equal(causedMicros, 190);
  assert.equal(resetsAtMs, Date.UTC(2026, 11, 5));
  assert.equal(firstLossDay(resetsAtMs), '2026-11-06');
  assert.equal(firstLossDay(resetsAtMs - 1), '2026-11-05');
  assert.equal(judgeLosses(lossesOf({}), budget).resetsAtMs, null);
});

test('a budget of null is unlimited; one of 0 allows no loss', () => {
  const unlimited = fixedLossBudget({ loss_budget_usd: null });
  assert.equal(judgeLosses(lossesOf({ '2026-11-21': 1e12 }), unlimited).isExceeded, false);
  const none = fixedLossBudget({ loss_budget_usd: 0 });
  assert.equal(judgeLosses(lossesOf({}), none).isExceeded, false);
  assert.equal(judgeLosses(lossesOf({ '2026-11-21': 1 }), none).isExceeded, true);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { topUpProblem } from './top-up-amount.ts';

const bounds = { min_micros: 5_000_000, max_micros: 500_000_000 };

test('a top-up is a whole number of cents between the minimum and the maximum', () => {
  for (const text of ['5', '$500', '12.34']) assert.equal(topUpProblem(text, bounds), null, text);
  const problems: readonly [string, RegExp][] = [
    ['', /Enter an amount/],
    ['ten', /Enter an amount/],
    ['4.99', /minimum is \$5\.00/],
    ['500.01', /maximum is \$500\.00/],
    ['12.345', /whole cents/],
  ];
  for (const [text, problem] of problems) assert.match(topUpProblem(text, bounds)!, problem, text);
});

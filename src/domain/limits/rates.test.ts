import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from '../../../tests/support/property.ts';
import { MemoryRates } from './rates.ts';

function ratesAt(sizeMax?: number) {
  const clock = { nowMs: 1_000_000 };
  return { clock, rates: new MemoryRates(() => clock.nowMs, sizeMax) };
}

test('over any period a bucket grants exactly up to its capacity plus what flowed in', () => {
  const step = fc.record({ waitMs: fc.nat(20_000), amount: fc.integer({ min: 1, max: 30 }) });
  fc.assert(
    fc.property(
      fc.integer({ min: 30, max: 200 }),
      fc.array(step, { maxLength: 60 }),
      (perMinute, steps) => {
        const { clock, rates } = ratesAt();
        const grants: { atMs: number; amount: number }[] = [];
        for (const { waitMs, amount } of steps) {
          clock.nowMs += waitMs;
          const { isGranted, left } = rates.take({ id: 'k', perMinute }, amount);
          if (isGranted) grants.push({ atMs: clock.nowMs, amount });
          else assert.ok(left < amount, 'refused although enough was left');
        }
        for (const [first, { atMs }] of grants.entries()) {
          let sum = 0;
          for (const grant of grants.slice(first)) {
            sum += grant.amount;
            assert.ok(
              sum <= perMinute + ((grant.atMs - atMs) * perMinute) / 60_000 + 1e-6,
              `${sum} in ${grant.atMs - atMs} ms`,
            );
          }
        }
      },
    ),
  );
});

test("overuse is owed and unused units come back, but never more than a minute's budget", () => {
  const { clock, rates } = ratesAt();
  const budget = { id: 'key', perMinute: 1_000 };
  rates.take(budget, 400);
  rates.correct(budget, -1_100);
  assert.deepEqual(rates.take(budget, 1), { isGranted: false, left: -500 });
  clock.nowMs += 30_000;
  assert.deepEqual(rates.take(budget, 1), { isGranted: false, left: 0 });
  rates.correct(budget, 5_000);
  assert.deepEqual(rates.take(budget, 1_000), { isGranted: true, left: 0 });
});

test('a lowered limit applies at once, a limit of 0 refuses everything, and a clock that goes back grants nothing', () => {
  const { clock, rates } = ratesAt();
  rates.take({ id: 'key', perMinute: 600 }, 1);
  assert.deepEqual(rates.take({ id: 'key', perMinute: 2 }, 1), { isGranted: true, left: 1 });
  assert.equal(rates.take({ id: 'none', perMinute: 0 }, 1).isGranted, false);
  rates.take({ id: 'key', perMinute: 2 }, 1);
  clock.nowMs -= 3_600_000;
  assert.equal(rates.take({ id: 'key', perMinute: 2 }, 1).isGranted, false);
  clock.nowMs += 30_000;
  assert.equal(
    rates.take({ id: 'key', perMinute: 2 }, 1).isGranted,
    true,
    'time continues from there',
  );
});

test('full buckets are removed, owing ones stay, and the number of buckets is bounded', () => {
  const { clock, rates } = ratesAt();
  for (let index = 0; index < 998; index++) rates.take({ id: `key ${index}`, perMinute: 1 }, 1);
  const debtor = { id: 'debtor', perMinute: 1 };
  rates.correct(debtor, -100);
  clock.nowMs += 60_000;
  rates.take({ id: 'last', perMinute: 1 }, 1);
  assert.equal(rates.size, 2);
  assert.equal(rates.take(debtor, 1).isGranted, false);

  const bounded = ratesAt(10).rates;
  for (let index = 0; index < 100; index++) bounded.take({ id: `key ${index}`, perMinute: 1 }, 1);
  assert.equal(bounded.size, 10);
});

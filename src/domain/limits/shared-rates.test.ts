// Simulated gateways that share a bucket. The database is bucket.ts with delayed answers, on a test
// clock.
import assert from 'node:assert/strict';
import { setImmediate } from 'node:timers/promises';
import { test } from 'node:test';
import fc from '../../../tests/support/property.ts';
import { draw, refill, type Bucket } from './bucket.ts';
import { columnOf } from '../../../tests/support/column-of.ts';
import { TestClock } from '../../../tests/support/test-clock.ts';
import { SharedRates, type RateRequest, type RateGrant } from './shared-rates.ts';

type Table = { readonly buckets: Map<string, Bucket>; asked: number; isAway: boolean };

/** `delays`: the event-loop turns that each answer takes, repeated. */
function simulate({ gateways, delays = [0] }: { gateways: number; delays?: readonly number[] }) {
  const clock = new TestClock();
  const table: Table = { buckets: new Map(), asked: 0, isAway: false };
  const errors: unknown[] = [];
  const exchange = async (requests: readonly RateRequest[]): Promise<readonly RateGrant[]> => {
    const turns = delays[table.asked++ % delays.length]!;
    if (table.isAway) throw new Error('away');
    const grants = requests.map(({ id, ...request }) => {
      const full = refill(table.buckets.get(id), request.perMinute, clock.nowMs());
      const { bucket, granted } = draw(full, request);
      table.buckets.set(id, bucket);
      return { granted, level: bucket.level };
    });
    for (let turn = 0; turn < turns; turn++) await setImmediate();
    return grants;
  };
  const options = { exchange, onError: (error: unknown) => errors.push(error), clock };
  const shares = Array.from({ length: gateways }, () => new SharedRates(options));
  const pass = async (milliseconds: number) => {
    await clock.advance(milliseconds);
    for (let turn = 0; turn < 10; turn++) await setImmediate();
  };
  return { shares, clock, table, errors, pass };
}

type Budget = Parameters<SharedRates['take']>[0];
async function grantedIn(shares: readonly SharedRates[], budget: Budget, each: number) {
  const asked = shares.flatMap((share) =>
    Array.from({ length: each }, async () => share.take(budget, 1)),
  );
  return (await Promise.all(asked)).filter(({ isGranted }) => isGranted).length;
}

test('three gateways under bursts and steady load use at least 90 % of the limit and never exceed it', async () => {
  const step = fc.record({
    waitMs: fc.constantFrom(20, 100, 300, 700),
    burst: fc.tuple(fc.nat(40), fc.nat(40), fc.nat(40)),
  });
  const cases = fc.record({
    perMinute: fc.constantFrom(5, 60, 600, 6_000),
    amount: fc.constantFrom(1, 3, 5),
    steps: fc.array(step, { minLength: 10, maxLength: 40 }),
    delays: fc.array(fc.nat(4), { minLength: 1, maxLength: 4 }),
  });
  await fc.assert(
    fc.asyncProperty(cases, async ({ perMinute, amount: each, steps, delays }) => {
      const { shares, clock, table, pass } = simulate({ gateways: 3, delays });
      const startMs = clock.nowMs();
      const budget = { id: 'k', perMinute };
      const grants: { atMs: number; amount: number }[] = [];
      let isStarved = false;
      for (const { waitMs, burst } of steps) {
        const taken = shares.flatMap((share, index) =>
          Array.from({ length: burst[index]! }, async () => share.take(budget, each)),
        );
        const answers = await Promise.all(taken);
        const amount = each * answers.filter(({ isGranted }) => isGranted).length;
        isStarved ||= amount < each * answers.length;
        grants.push({ atMs: clock.nowMs(), amount });
        await pass(waitMs);
      }
      const kept = 3 * Math.floor(perMinute * 0.03);
      for (const [first, { atMs }] of grants.entries()) {
        let sum = 0;
        for (const grant of grants.slice(first)) {
          sum += grant.amount;
          const flowed = ((grant.atMs - atMs) * perMinute) / 60_000;
          const most = perMinute + flowed + (atMs === startMs ? 0 : kept);
          assert.ok(sum <= most + 1e-6, `${sum} in ${grant.atMs - atMs} ms`);
        }
      }
      const total = grants.reduce((sum, { amount }) => sum + amount, 0);
      if (isStarved && total < perMinute * 0.9 - each)
        assert.fail(`refused after ${total} of ${perMinute}`);
      await Promise.all(shares.map((share) => share.close()));
      const left = refill(table.buckets.get('k'), perMinute, clock.nowMs()).level;
      const flowed = ((clock.nowMs() - startMs) * perMinute) / 60_000;
      assert.ok(left + total <= perMinute + flowed + 1e-6, 'no units came from nowhere');
    }),
    { numRuns: 60 },
  );
});

test('a busy key seldom queries the database; an idle one has returned everything', async () => {
  const { shares, table, pass } = simulate({ gateways: 1 });
  const budget = { id: 'k', perMinute: 60_000 };
  for (let index = 0; index < 500; index++) {
    assert.ok((await shares[0]!.take(budget, 1)).isGranted);
    await pass(10);
  }
  assert.ok(table.asked < 50, `${table.asked} questions for 500 requests`);
  for (let index = 0; index < 4; index++) await pass(500);
  assert.equal(table.buckets.get('k')!.level, 60_000);
});

test('a small limit is shared exactly', async () => {
  const { shares, pass } = simulate({ gateways: 3 });
  const budget = { id: 'k', perMinute: 5 };
  const burst = () => grantedIn(shares, budget, 20);
  assert.equal(await burst(), 5);
  await pass(11_999);
  assert.equal(await burst(), 0);
  await pass(101);
  assert.equal(await burst(), 1);
});

test('with large amounts, units left over at one gateway are available to another', async () => {
  const { shares, pass } = simulate({ gateways: 2 });
  const budget = { id: 'k', perMinute: 10_000 };
  const asked = [6_000, 6_000].map(async (amount) => shares[0]!.take(budget, amount));
  assert.deepEqual(columnOf(await Promise.all(asked), 'isGranted'), [true, false]);
  await pass(0);
  assert.equal((await shares[1]!.take(budget, 3_700)).isGranted, true, 'all but three percent');
  // Unused units are available to both gateways; overuse is owed.
  shares[0]!.correct(budget, 5_000);
  await pass(150);
  assert.equal((await shares[1]!.take(budget, 5_000)).isGranted, true);
  shares[1]!.correct(budget, -1_000);
  await pass(150);
  assert.equal((await shares[0]!.take(budget, 500)).isGranted, false);
});

test('a flood of refused requests does not flood the database', async () => {
  const { shares, table, pass } = simulate({ gateways: 1 });
  const budget = { id: 'k', perMinute: 10 };
  for (let index = 0; index < 10; index++) await shares[0]!.take(budget, 1);
  const before = table.asked;
  for (let index = 0; index < 1_000; index++) {
    assert.equal((await shares[0]!.take(budget, 1)).isGranted, false);
    await pass(1);
  }
  assert.ok(table.asked - before <= 12, `${table.asked - before} questions in a second`);
});

test('while the database is unavailable each gateway counts by itself; afterwards they share again', async () => {
  const { shares, table, errors, pass, clock } = simulate({ gateways: 2 });
  const budget = { id: 'k', perMinute: 10 };
  const burst = () => grantedIn(shares, budget, 15);
  table.isAway = true;
  assert.equal(await burst(), 20);
  assert.equal(errors.length, 2);
  table.isAway = false;
  await pass(1_000);
  clock.jumpTo(clock.nowMs() + 60_000);
  assert.equal(await burst(), 10);
});

test('after a failure the database is asked again within a second, even when the wall clock goes back', async () => {
  const { shares, table, pass, clock } = simulate({ gateways: 1 });
  const budget = { id: 'k', perMinute: 10 };
  table.isAway = true;
  await shares[0]!.take(budget, 1);
  table.isAway = false;
  clock.jumpTo(clock.nowMs() - 3_600_000);
  const before = table.asked;
  await pass(1_100);
  await shares[0]!.take(budget, 1);
  assert.ok(table.asked > before);
});

test('tokens that a bucket owes count at once, also while they are being written to the database', async () => {
  const { shares } = simulate({ gateways: 1, delays: [0, 20] });
  const budget = { id: 'k', perMinute: 100 };
  await shares[0]!.take(budget, 100);
  shares[0]!.correct(budget, -50);
  for (let turn = 0; turn < 5; turn++) await setImmediate();
  assert.deepEqual(await shares[0]!.take(budget, 1), { isGranted: false, left: -50 });
});

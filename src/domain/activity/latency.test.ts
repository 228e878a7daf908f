import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bucketOf, latencyOf } from './latency.ts';

test('quantiles are within ten percent of the measured values', () => {
  for (const ms of [1, 3, 12, 250, 999, 1_000, 61_000, 3_600_000]) {
    const { p50Ms, p95Ms, calls } = latencyOf(new Map([[bucketOf(ms), 7]]))!;
    assert.equal(p50Ms, p95Ms);
    assert.equal(calls, 7);
    assert.ok(Math.abs(p50Ms - ms) <= Math.max(0.1 * ms, 1), `${ms} ms is reported as ${p50Ms}`);
  }
});

test('the quantiles are the median and the 95th percentile', () => {
  const spread = new Map<number, number>();
  for (let ms = 1; ms <= 1_000; ms++) spread.set(bucketOf(ms), (spread.get(bucketOf(ms)) ?? 0) + 1);
  const { p50Ms, p95Ms } = latencyOf(spread)!;
  assert.ok(Math.abs(p50Ms - 500) <= 60, `${p50Ms}`);
  assert.ok(Math.abs(p95Ms - 950) <= 100, `${p95Ms}`);
  assert.equal(latencyOf(new Map()), null);
});

test('the shortest and longest calls have a bucket too', () => {
  assert.deepEqual([bucketOf(0), bucketOf(0.9), bucketOf(1), bucketOf(1e12)], [0, 0, 1, 88]);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lastDays, toSeries } from './daily-costs.ts';

const days = ['2026-02-28', '2026-03-01', '2026-03-02'];
const sum = (day: number, group: string, costMicros: number) => ({
  day: days[day]!,
  group,
  costMicros,
});

test('lastDays returns UTC days across the end of a month, today last', () => {
  assert.deepEqual(lastDays(Date.UTC(2026, 2, 2, 23, 59), 3), days);
  assert.deepEqual(lastDays(Date.UTC(2026, 2, 2), 3), days);
});

test('each series has a value per day, the most expensive comes first, and free groups are left out', () => {
  const sums = [sum(0, 'a', 1), sum(2, 'a', 2), sum(1, 'b', 9), sum(1, 'free', 0)];
  assert.deepEqual(toSeries(sums, days), [
    { id: 'b', cost_micros: [0, 9, 0] },
    { id: 'a', cost_micros: [1, 0, 2] },
  ]);
});

test('with more than nine groups, the cheapest are combined into one series', () => {
  const nine = Array.from({ length: 9 }, (_, place) => sum(0, `g${place}`, 100 - place));
  assert.deepEqual(
    toSeries(nine, days).map(({ id }) => id),
    nine.map(({ group }) => group),
  );
  const series = toSeries([...nine, sum(2, 'tenth', 5)], days);
  assert.equal(series.length, 9);
  assert.deepEqual(series.at(-1), { id: null, cost_micros: [92, 0, 5] });
});

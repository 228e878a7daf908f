import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from '../../../tests/support/property.ts';
import { latencySumsOf, latencySumsOfTag, periodsOf } from './latency-sums.ts';

test('a range is made of whole months and days', () => {
  assert.deepEqual(
    periodsOf('2026-01-30', '2026-03-02'),
    '2026-01-30 2026-01-31 2026-02 2026-03-01 2026-03-02'.split(' '),
  );
  assert.deepEqual(periodsOf('2024-02-01', '2024-02-29'), ['2024-02']);
  assert.equal(periodsOf('2026-01-01', '2026-12-31').length, 12);
});

test('the sums of the periods are those of the days, in every group and any range', () => {
  const dayOf = (number: number) =>
    new Date(Date.UTC(2026, 0, 1) + number * 86_400_000).toISOString().slice(0, 10);
  const day = fc.nat({ max: 400 }).map(dayOf);
  const measured = fc.record({
    day,
    time: fc.nat({ max: 23 }).map((hour) => `T${String(hour).padStart(2, '0')}`),
    key_id: fc.constantFrom('k0', 'k1'),
    model_id: fc.constantFrom('m0', 'm1'),
    provider: fc.constantFrom('p0', ''),
    tag: fc.constantFrom('t0', 't1=a'),
    requests: fc.integer({ min: 1, max: 9 }),
  });
  fc.assert(
    fc.property(fc.array(measured), fc.tuple(day, day), (rows, ends) => {
      const [from, to] = ends.toSorted() as [string, string];
      const same = { account_id: 'a', mode: 'live', kind: 'first', latency_bucket: 7 } as const;
      const sums = rows.flatMap(({ tag, time, ...row }) => {
        const { day: on, requests } = row;
        return [
          ...latencySumsOf({ ...same, ...row, hour: `${on}${time}` }),
          ...latencySumsOfTag({ ...same, day: on, requests, tag }),
        ];
      });
      const within = rows.filter((row) => from <= row.day && row.day <= to);
      const periods = new Set(periodsOf(from, to));
      const ofHours = sums.filter(({ period }) => period.length === 13);
      assert.deepEqual(
        ofHours.map(({ grouped_by: by, period, requests }) => [by, period, requests]),
        rows.map((row) => ['none', `${row.day}${row.time}`, row.requests]),
      );
      for (const [by, column] of [
        ['model', 'model_id'],
        ['key', 'key_id'],
        ['provider', 'provider'],
        ['tag', 'tag'],
        ['none', null],
      ] as const)
        for (const group of ['', 'k0', 'm1', 'p0', 't1=a']) {
          const total = (found: readonly { readonly requests: number }[]) =>
            found.reduce((sum, { requests }) => sum + requests, 0);
          assert.equal(
            total(
              sums.filter(
                (sum) => sum.grouped_by === by && sum.group_id === group && periods.has(sum.period),
              ),
            ),
            total(within.filter((row) => (column === null ? '' : row[column]) === group)),
          );
        }
    }),
  );
});

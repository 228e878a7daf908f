import assert from 'node:assert/strict';
import { test } from 'node:test';
import { costSeries, dayPoints, hourPoints, sumOf, totalsOf } from './series.ts';

const cost = (id: string | null, name: string | null, micros: number[]) => ({
  id,
  name,
  is_rest: id === null,
  cost_micros: micros,
});

test('groups have a label, a colour, a sum, and a total at each point', () => {
  const series = costSeries({
    series: [cost('a', null, [1, 0]), cost('b', 'B', [0, 2]), cost(null, null, [3, 4])],
    tag_name: null,
  });
  assert.deepEqual(
    series.map(({ label }) => label),
    ['a', 'B', 'All others'],
  );
  assert.equal(new Set(series.map(({ color }) => color)).size, 3);
  assert.deepEqual(series.map(sumOf), [1, 2, 7]);
  const points = dayPoints(['2026-11-21', '2026-11-22']);
  assert.deepEqual(totalsOf({ points, series }), [4, 6]);
});

test('the values of a tag name stand without it', () => {
  const series = [
    cost('project=alpha', 'project=alpha', [1]),
    cost('project', 'project', [1]),
    cost(null, null, [2]),
  ];
  assert.deepEqual(
    costSeries({ series, tag_name: 'project' }).map(({ label }) => label),
    ['alpha', 'project', 'Other requests'],
  );
});

test('a UTC day keeps its date in every time zone, beside the one as many days before', () => {
  const [first, last] = dayPoints(['2026-11-01', '2026-11-02']);
  assert.match(first!.title, /\b1\b/);
  assert.match(first!.before, /\b30\b/);
  assert.match(last!.before, /\b31\b/);
  const hours = hourPoints('2026-11-01');
  assert.equal(hours.length, 24);
  assert.equal(hours[13]!.tick, '13:00');
  assert.match(hours[13]!.before, /\b31\b.*13:00/);
});

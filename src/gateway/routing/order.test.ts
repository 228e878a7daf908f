import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from '../../../tests/support/property.ts';
import { orderRoutes } from './order.ts';

const route = fc.record({
  rank: fc.integer({ min: 0, max: 3 }),
  weight: fc.integer({ min: 1, max: 1_000 }),
});
const chance = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });

test('every route is listed once, by rising rank, for any random number', () => {
  fc.assert(
    fc.property(fc.array(route, { maxLength: 8 }), fc.infiniteStream(chance), (routes, chances) => {
      const ordered = orderRoutes(routes, () => chances.next().value);
      assert.equal(new Set(ordered).size, routes.length);
      assert.ok(routes.every((one) => ordered.includes(one)));
      const ranks = ordered.map(({ rank }) => rank);
      assert.deepEqual(
        ranks,
        ranks.toSorted((a, b) => a - b),
      );
    }),
  );
});

test('routes of one rank come first as often as their weights say', () => {
  const [three, one] = [
    { rank: 0, weight: 3 },
    { rank: 0, weight: 1 },
  ];
  const firstAt = (number: number) => orderRoutes([three, one], () => number)[0];
  assert.deepEqual([0, 0.5, 0.7499].map(firstAt), [three, three, three]);
  assert.deepEqual([0.75, 0.9999].map(firstAt), [one, one]);
});

test('evenly spread random numbers give shares equal to the weights', () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 2, maxLength: 4 }),
      (weights) => {
        const routes = weights.map((weight) => ({ rank: 5, weight }));
        const sum = weights.reduce((total, weight) => total + weight, 0);
        const firsts = Array.from(
          { length: sum },
          (_, step) => orderRoutes(routes, () => (step + 0.5) / sum)[0],
        );
        for (const one of routes)
          assert.equal(firsts.filter((first) => first === one).length, one.weight);
      },
    ),
  );
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from '../../../tests/support/property.ts';
import { drawFor } from './conversation.ts';
import { orderRoutes } from './order.ts';

const route = fc.record({
  rank: fc.integer({ min: 0, max: 3 }),
  weight: fc.integer({ min: 1, max: 1_000 }),
});
const chance = fc.double({ min: Number.MIN_VALUE, max: 1, noNaN: true });

test('every route is listed once, by rising rank, for any draws', () => {
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

const named = (weights: readonly number[]) =>
  weights.map((weight, index) => ({ name: `route-${index}`, rank: 0, weight }));
const orderFor = (routes: ReturnType<typeof named>, conversation: string) =>
  orderRoutes(routes, ({ name }) => drawFor(conversation, name));

test('conversations come first to routes of one rank as often as their weights say', () => {
  const routes = named([1, 3, 6]);
  const firsts = new Map<string, number>();
  for (let index = 0; index < 10_000; index++) {
    const [first] = orderFor(routes, `conversation ${index}`);
    firsts.set(first!.name, (firsts.get(first!.name) ?? 0) + 1);
  }
  // Within eight standard deviations of at most 50.
  for (const { name, weight } of routes)
    assert.ok(Math.abs(firsts.get(name)! - weight * 1_000) < 400, `${name}: ${firsts.get(name)}`);
});

test('a route that goes moves only its own conversations', () => {
  const routes = named([2, 1, 4, 1]);
  fc.assert(
    fc.property(fc.string(), fc.nat({ max: 3 }), (conversation, gone) => {
      const all = orderFor(routes, conversation);
      const left = orderFor(
        routes.filter((_route, index) => index !== gone),
        conversation,
      );
      assert.deepEqual(
        left,
        all.filter((one) => one !== routes[gone]),
      );
    }),
  );
});

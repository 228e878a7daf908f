import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from '../../tests/support/property.ts';
import { WaitingRoom, type Place } from './waiting-room.ts';

/** Returns the indexes of the places that are inside, in order of arrival. */
async function indexesInside(places: readonly Place[]): Promise<number[]> {
  const admitted = await Promise.all(
    places.map((place) => Promise.race([place.admitted, Promise.resolve().then(() => false)])),
  );
  return admitted.flatMap((isInside, index) => (isInside ? [index] : []));
}

test('requests are let in by order of arrival, and a small one does not overtake a large one', async () => {
  const room = new WaitingRoom(100);
  const places = [60, 60, 10, 30].map((bytes) => room.enter(bytes));
  assert.deepEqual(await indexesInside(places), [0]);
  places[0]!.leave();
  assert.deepEqual(await indexesInside(places), [0, 1, 2, 3]);
  assert.equal(room.bytesInside, 100);
});

test('a request larger than the room is let in alone', async () => {
  const room = new WaitingRoom(100);
  const places = [10, 500, 10].map((bytes) => room.enter(bytes));
  assert.deepEqual(await indexesInside(places), [0]);
  places[0]!.leave();
  assert.deepEqual(await indexesInside(places), [0, 1]);
  places[1]!.leave();
  assert.deepEqual(await indexesInside(places), [0, 1, 2]);
});

test('a request that leaves the queue is never let in, and those behind it move up', async () => {
  const room = new WaitingRoom(100);
  const [first, large, small] = [80, 90, 20].map((bytes) => room.enter(bytes));
  large!.leave();
  assert.deepEqual(
    [await first!.admitted, await large!.admitted, await small!.admitted],
    [true, false, true],
  );
  assert.equal(room.bytesInside, 100);
});

test('a request that shrinks makes room for the next', async () => {
  const room = new WaitingRoom(100);
  const places = [100, 50].map((bytes) => room.enter(bytes));
  places[0]!.shrinkTo(50);
  assert.deepEqual(await indexesInside(places), [0, 1]);
  places[0]!.shrinkTo(70);
  assert.equal(room.bytesInside, 100, 'it never grows');
});

const steps = fc.array(
  fc.oneof(
    fc.record({ enter: fc.integer({ min: 1, max: 150 }) }),
    fc.record({ leave: fc.nat({ max: 30 }) }),
    fc.record({ shrink: fc.nat({ max: 30 }), to: fc.nat({ max: 150 }) }),
  ),
  { maxLength: 80 },
);

test('property: the room never overfills except for one alone, keeps order, and ends empty', async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (taken) => {
      const room = new WaitingRoom(100);
      const places: Place[] = [];
      const bytesInside = new Map<number, number>();
      const sizes: number[] = [];
      const gone = new Set<number>();
      const order: number[] = [];
      const noteAdmission = async (index: number, place: Place) => {
        if (!(await place.admitted)) return;
        order.push(index);
        if (!gone.has(index)) bytesInside.set(index, sizes[index]!);
      };
      for (const step of taken) {
        if ('enter' in step) {
          const index = places.length;
          const place = room.enter(step.enter);
          places.push(place);
          sizes.push(step.enter);
          void noteAdmission(index, place);
        } else if ('leave' in step) {
          places[step.leave]?.leave();
          if (step.leave < places.length) gone.add(step.leave);
          bytesInside.delete(step.leave);
        } else {
          places[step.shrink]?.shrinkTo(step.to);
          const before = bytesInside.get(step.shrink);
          if (before !== undefined) bytesInside.set(step.shrink, Math.min(before, step.to));
        }
        await Promise.resolve();
        const sum = [...bytesInside.values()].reduce((total, bytes) => total + bytes, 0);
        assert.equal(room.bytesInside, sum);
        assert.ok(
          sum <= 100 || [...bytesInside.values()].filter((bytes) => bytes > 0).length === 1,
          `${sum} bytes inside`,
        );
        const next = places.findIndex(
          (_place, index) => !gone.has(index) && !bytesInside.has(index),
        );
        if (next !== -1)
          assert.ok(sum > 0 && sum + sizes[next]! > 100, 'somebody waits though there is room');
      }
      assert.deepEqual(
        order,
        order.toSorted((one, other) => one - other),
      );
      for (const place of places) place.leave();
      assert.equal(room.bytesInside, 0);
    }),
  );
});

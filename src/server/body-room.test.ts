import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FastifyRequest } from 'fastify';
import fc from '../../tests/support/property.ts';
import { TestClock } from '../../tests/support/test-clock.ts';
import { BodyRoom, ownersOf as ownersOfRequest, type Place } from './body-room.ts';

/** Returns the indexes of the places that are inside, in order of arrival. */
async function indexesInside(places: readonly Place[]): Promise<number[]> {
  const admitted = await Promise.all(
    places.map((place) => Promise.race([place.admitted, Promise.resolve().then(() => false)])),
  );
  return admitted.flatMap((isInside, index) => (isInside ? [index] : []));
}

const owner = ['one'];

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
      const room = new BodyRoom(100, new TestClock());
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
          const place = room.enter(owner, step.enter);
          places.push(place);
          sizes.push(step.enter);
          void noteAdmission(index, place);
        } else if ('leave' in step) {
          places[step.leave]?.leave();
          if (step.leave < places.length) gone.add(step.leave);
          bytesInside.delete(step.leave);
        } else {
          places[step.shrink]?.keep(step.to);
          const before = bytesInside.get(step.shrink);
          if (before !== undefined) bytesInside.set(step.shrink, Math.min(before, step.to));
        }
        await Promise.resolve();
        const sum = [...bytesInside.values()].reduce((total, bytes) => total + bytes, 0);
        assert.equal(room.bytes, sum);
        const isAlone = [...bytesInside.values()].filter((bytes) => bytes > 0).length === 1;
        assert.ok(sum <= 100 || isAlone, `${sum} bytes inside`);
        const isWaiting = (_place: Place, index: number) =>
          !gone.has(index) && !bytesInside.has(index);
        const next = places.findIndex(isWaiting);
        if (next !== -1)
          assert.ok(sum > 0 && sum + sizes[next]! > 100, 'somebody waits though there is room');
      }
      const inOrder = order.toSorted((one, other) => one - other);
      assert.deepEqual(order, inOrder);
      for (const place of places) place.leave();
      assert.equal(room.bytes, 0);
    }),
  );
});

const ownersOf = (key: string, account = key, address = key) => [
  `key ${key}`,
  `account ${account}`,
  `address ${address}`,
];

/** Bodies that arrive in one room, by name. */
function arrivingIn(room: BodyRoom) {
  const refused: string[] = [];
  const begin = (name: string, owners: readonly string[], bytes = 0) => {
    const place = room.enter(owners, bytes);
    place.onRefused(() => refused.push(name));
    return place;
  };
  return { refused, begin };
}

test('stalled uploads of one client give way to the small bodies of others', () => {
  for (const [what, stalling] of Object.entries({
    'one key': [1, 2, 3].map(() => ownersOf('x')),
    'keys of one account': [1, 2, 3].map((index) => ownersOf(`x${index}`, 'x')),
    'one key from many addresses': [1, 2, 3].map((index) => ownersOf('x', 'x', `x${index}`)),
    'accounts at one address': [1, 2, 3].map((index) => ownersOf(`x${index}`, `x${index}`, 'x')),
  })) {
    const room = new BodyRoom(100, new TestClock());
    const { begin, refused } = arrivingIn(room);
    for (const [index, owners] of stalling.entries()) begin(`stalled ${index}`, owners).take(33);
    for (let turn = 0; turn < 20; turn++) {
      const small = begin('small', ownersOf('y'));
      small.take(2);
      begin('another small', ownersOf('z')).take(2);
      small.leave();
    }
    assert.ok(!refused.some((name) => name.includes('small')), `${what}: ${refused.join()}`);
    assert.ok(refused.length > 0 && room.bytes <= 100, what);
  }
});

test('a body counts under its key, its account and its address, which is a /64 for IPv6', () => {
  const request = { ip: '2001:db8::1', apiKey: { id: 'key_1', accountId: 'acc_1' } };
  const named = (changes: object) =>
    ownersOfRequest({ ...request, ...changes } as unknown as FastifyRequest);
  assert.deepEqual(named({}), named({ ip: '2001:db8::2' }));
  assert.notDeepEqual(named({}), named({ ip: '2001:db8:0:1::1' }));
  assert.equal(new Set(named({})).size, 3);
  assert.equal(new Set(named({ apiKey: null })).size, 3, 'an address alone weighs as much');
});

test('of one client, the largest and slowest upload gives way, not the newest', async () => {
  const clock = new TestClock();
  const room = new BodyRoom(100, clock);
  const { begin, refused } = arrivingIn(room);
  begin('small', ownersOf('x')).take(10);
  begin('slow', ownersOf('x')).take(40);
  await clock.advance(30_000);
  begin('fast', ownersOf('x')).take(50);
  begin('new', ownersOf('x')).take(5);
  assert.deepEqual(refused, ['slow']);
});

test('an announced body that does not come gives way after some seconds to a client that holds less', async () => {
  const clock = new TestClock();
  const room = new BodyRoom(100, clock);
  const { begin, refused } = arrivingIn(room);
  const [first] = ['a', 'b', 'c', 'd'].map((name) => begin(name, ownersOf('x'), 30));
  first!.take(30);
  first!.keep(30);
  const own = begin('own', ownersOf('x'), 20);
  const other = begin('other', ownersOf('y'), 20);
  await clock.advance(4_000);
  assert.deepEqual([refused, room.waiting], [[], 3], 'uploads have some seconds');
  await clock.advance(4_000);
  assert.equal(await other.admitted, true);
  assert.deepEqual(refused, ['b'], 'a body that has arrived is never refused');
  await clock.advance(600_000);
  assert.deepEqual(refused, ['b'], 'a client does not displace itself');
  own.leave();
  assert.equal(await own.admitted, false);
});

test('a client that queues many bodies does not keep another waiting for all of them', async () => {
  const room = new BodyRoom(100, new TestClock());
  const { begin } = arrivingIn(room);
  const running = begin('running', ownersOf('x'), 60);
  const queued = ['x', 'x', 'x', 'y'].map((key) => begin(key, ownersOf(key), 60));
  running.leave();
  assert.deepEqual(await indexesInside(queued), [3]);
  queued[3]!.leave();
  assert.deepEqual(await indexesInside(queued), [0, 3]);
});

const uploads = fc.array(
  fc.oneof(
    fc.record({ enter: fc.constantFrom('x', 'y', 'z') }),
    fc.record({ take: fc.nat({ max: 20 }), bytes: fc.integer({ min: 1, max: 60 }) }),
    fc.record({ leave: fc.nat({ max: 20 }) }),
    fc.record({ advanceMs: fc.nat({ max: 9_000 }) }),
  ),
  { maxLength: 80 },
);

test('property: only uploads of the client that holds most are refused, and only if all do not fit', async () => {
  await fc.assert(
    fc.asyncProperty(uploads, async (taken) => {
      const clock = new TestClock();
      const room = new BodyRoom(100, clock);
      const held: { place: Place; key: string; bytes: number; isInside: boolean }[] = [];
      const heldBy = (key?: string) =>
        held.reduce((sum, one) => sum + (!key || one.key === key ? one.bytes : 0), 0);
      const end = (one: (typeof held)[number]) => Object.assign(one, { bytes: 0, isInside: false });
      for (const step of taken) {
        if ('enter' in step) {
          const place = room.enter(ownersOf(step.enter));
          const one = { place, key: step.enter, bytes: 0, isInside: true };
          held.push(one);
          place.onRefused(() => {
            assert.ok(heldBy() > 100, 'refused while all fitted');
            for (const key of ['x', 'y', 'z']) assert.ok(heldBy(one.key) >= heldBy(key));
            end(one);
          });
        } else if ('take' in step) {
          const one = held[step.take];
          if (one?.isInside) one.bytes += step.bytes;
          one?.place.take(step.bytes);
        } else if ('leave' in step) {
          const one = held[step.leave];
          one?.place.leave();
          if (one) end(one);
        } else await clock.advance(step.advanceMs);
        assert.equal(room.bytes, heldBy());
        assert.ok(room.bytes <= 100 || held.filter(({ bytes }) => bytes > 0).length === 1);
      }
      for (const { place } of held) place.leave();
      assert.equal(room.bytes, 0);
    }),
  );
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { placeIn, ScopedMemory } from './scoped-memory.ts';

const placeOf = (name: string, generation = 0, scope = 'acc') => placeIn(scope, generation, name);
const keptForMs = 100;
const setUp = (bytesMax = 1_000_000) => {
  const clock = { nowMs: 1_000 };
  return { clock, memory: new ScopedMemory<string>({ bytesMax, nowMs: () => clock.nowMs }) };
};

test('a value is found until it expires, and its memory is then freed', () => {
  const { clock, memory } = setUp();
  memory.set(placeOf('d'), 'one', { bytes: 1, keptForMs });
  memory.set(placeOf('d'), 'two', { bytes: 1, keptForMs });
  memory.set(placeOf('late'), 'three', { bytes: 1, keptForMs: 0 });
  clock.nowMs += keptForMs;
  assert.equal(memory.get(placeOf('d')), 'two');
  memory.removeExpired();
  assert.deepEqual([...memory.generations()], [['acc', 0]]);
  clock.nowMs += 1;
  memory.removeExpired();
  assert.equal(memory.get(placeOf('d')), undefined);
  assert.equal(memory.get(placeOf('late')), undefined);
  assert.equal(memory.generations().size, 0);
});

test('the memory is bounded by bytes: what was used last stays, and what is larger than all of it is not taken', () => {
  const { memory } = setUp(10_000);
  for (const name of ['a', 'b', 'c']) memory.set(placeOf(name), name, { bytes: 2_000, keptForMs });
  memory.get(placeOf('a'));
  memory.set(placeOf('d'), 'd', { bytes: 2_000, keptForMs });
  memory.set(placeOf('huge'), 'huge', { bytes: 10_000, keptForMs });
  const found = ['a', 'b', 'c', 'd', 'huge'].filter((name) => memory.get(placeOf(name)));
  assert.deepEqual(found, ['a', 'c', 'd']);
});

test('a newer generation drops the older ones, which can neither come back nor be found', () => {
  const { memory } = setUp();
  const set = (place: ReturnType<typeof placeOf>, value: string) => memory.set(place, value, { bytes: 1, keptForMs });
  set(placeOf('a', 1), 'one');
  set(placeOf('again', 1), 'one');
  set(placeOf('again', 1), 'one');
  set(placeOf('a', 1, 'other'), 'other');
  assert.equal(memory.get(placeOf('a', 2)), undefined);
  assert.equal(memory.get(placeOf('again', 1)), undefined);
  assert.deepEqual([...memory.generations()], [['other', 1]]);
  set(placeOf('b', 2), 'two');
  set(placeOf('a', 1), 'late');
  assert.equal(memory.get(placeOf('a', 1)), undefined);
  set(placeOf('c', 3), 'three');
  assert.equal(memory.get(placeOf('b', 2)), undefined);
  memory.forget('acc');
  assert.equal(memory.get(placeOf('c', 3)), undefined);
  assert.equal(memory.get(placeOf('a', 1, 'other')), 'other');
});

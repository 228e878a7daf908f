import assert from 'node:assert/strict';
import { test } from 'node:test';
import { scopedKey, ScopedLruCache } from './scoped-lru-cache.ts';

const keyOf = (name: string, generation = 0, scope = 'acc') => scopedKey(scope, generation, name);
const keptForMs = 100;
const setUp = (bytesMax = 1_000_000) => {
  const clock = { nowMs: 1_000 };
  return { clock, memory: new ScopedLruCache<string>({ bytesMax, nowMs: () => clock.nowMs }) };
};

test('a value is returned until it expires, and its memory is then freed', () => {
  const { clock, memory } = setUp();
  memory.set(keyOf('d'), 'one', { bytes: 1, keptForMs });
  memory.set(keyOf('d'), 'two', { bytes: 1, keptForMs });
  memory.set(keyOf('late'), 'three', { bytes: 1, keptForMs: 0 });
  clock.nowMs += keptForMs;
  assert.equal(memory.get(keyOf('d')), 'two');
  memory.removeExpired();
  assert.deepEqual([...memory.generations()], [['acc', 0]]);
  clock.nowMs += 1;
  memory.removeExpired();
  assert.equal(memory.get(keyOf('d')), undefined);
  assert.equal(memory.get(keyOf('late')), undefined);
  assert.equal(memory.generations().size, 0);
});

test('the byte budget evicts the least recently used, and refuses a value larger than the budget', () => {
  const { memory } = setUp(10_000);
  for (const name of ['a', 'b', 'c']) memory.set(keyOf(name), name, { bytes: 2_000, keptForMs });
  memory.get(keyOf('a'));
  memory.set(keyOf('d'), 'd', { bytes: 2_000, keptForMs });
  memory.set(keyOf('huge'), 'huge', { bytes: 10_000, keptForMs });
  const found = ['a', 'b', 'c', 'd', 'huge'].filter((name) => memory.get(keyOf(name)));
  assert.deepEqual(found, ['a', 'c', 'd']);
});

test('a newer generation drops the older ones, which cannot be stored or found again', () => {
  const { memory } = setUp();
  const set = (place: ReturnType<typeof keyOf>, value: string) =>
    memory.set(place, value, { bytes: 1, keptForMs });
  set(keyOf('a', 1), 'one');
  set(keyOf('again', 1), 'one');
  set(keyOf('again', 1), 'one');
  set(keyOf('a', 1, 'other'), 'other');
  assert.equal(memory.get(keyOf('a', 2)), undefined);
  assert.equal(memory.get(keyOf('again', 1)), undefined);
  assert.deepEqual([...memory.generations()], [['other', 1]]);
  set(keyOf('b', 2), 'two');
  set(keyOf('a', 1), 'late');
  assert.equal(memory.get(keyOf('a', 1)), undefined);
  set(keyOf('c', 3), 'three');
  assert.equal(memory.get(keyOf('b', 2)), undefined);
  memory.forget('acc');
  assert.equal(memory.get(keyOf('c', 3)), undefined);
  assert.equal(memory.get(keyOf('a', 1, 'other')), 'other');
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HotResponses } from './hot-responses.ts';

const nameOf = (digest: string, generation = 0, accountId = 'acc') => ({ accountId, generation, digest });
const responseOf = (body: string) => ({ status: 200, contentType: 'text/plain', headers: {}, body });
const setUp = (memoryBytes = 1_000_000) => {
  const clock = { nowMs: 1_000 };
  return { clock, hot: new HotResponses({ memoryBytes, nowMs: () => clock.nowMs }) };
};

test('an answer is found until it expires, and its memory is then freed', () => {
  const { clock, hot } = setUp();
  hot.set(nameOf('d'), responseOf('one'), 100);
  hot.set(nameOf('d'), responseOf('two'), 100);
  hot.set(nameOf('late'), responseOf('three'), 0);
  clock.nowMs += 100;
  assert.equal(hot.get(nameOf('d'))?.response.body, 'two');
  clock.nowMs += 1;
  hot.removeExpired();
  assert.equal(hot.get(nameOf('d')), undefined);
  assert.equal(hot.get(nameOf('late')), undefined);
  assert.equal(hot.generations().size, 0);
});

test('the memory is bounded by bytes: what was used last stays, and what is larger than all of it is not taken', () => {
  const { hot } = setUp(10_000);
  const body = 'é'.repeat(1_000);
  for (const digest of ['a', 'b', 'c']) hot.set(nameOf(digest), responseOf(body), 1_000);
  hot.get(nameOf('a'));
  hot.set(nameOf('d'), responseOf(body), 1_000);
  hot.set(nameOf('huge'), responseOf('x'.repeat(10_000)), 1_000);
  const found = ['a', 'b', 'c', 'd', 'huge'].filter((digest) => hot.get(nameOf(digest)));
  assert.deepEqual(found, ['a', 'c', 'd']);
});

test('a newer generation drops the older ones, which can neither come back nor be found', () => {
  const { hot } = setUp();
  hot.set(nameOf('a', 1), responseOf('one'), 1_000);
  hot.set(nameOf('a', 1, 'other'), responseOf('other'), 1_000);
  assert.equal(hot.get(nameOf('a', 2)), undefined);
  assert.deepEqual([...hot.generations()], [['other', 1]]);
  hot.set(nameOf('b', 2), responseOf('two'), 1_000);
  hot.set(nameOf('a', 1), responseOf('late'), 1_000);
  assert.equal(hot.get(nameOf('a', 1)), undefined);
  hot.set(nameOf('c', 3), responseOf('three'), 1_000);
  assert.equal(hot.get(nameOf('b', 2)), undefined);
  hot.forget('acc');
  assert.equal(hot.get(nameOf('c', 3)), undefined);
  assert.equal(hot.get(nameOf('a', 1, 'other'))?.response.body, 'other');
});

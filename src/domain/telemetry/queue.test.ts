import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TestClock } from '../../../tests/support/test-clock.ts';
import type { Posted } from './post.ts';
import { SendQueue } from './queue.ts';
import { Room } from '../../lib/room.ts';

const taken: Posted = { kind: 'taken', rejected: 0 };
const down = { kind: 'later', problem: 'it cannot be reached', waitMs: null } as const;

/** A queue whose receiver gives the next of `answers`, the last for ever. */
function openQueue(clock: TestClock, answers: readonly (Posted | Promise<Posted>)[], room = 1_000) {
  const bodies: string[] = [];
  const problems: (string | null)[] = [];
  const queue = new SendQueue({
    post: async (body) => {
      bodies.push(Buffer.from(body).toString());
      return answers[Math.min(bodies.length, answers.length) - 1]!;
    },
    wrapping: { head: Buffer.from('['), tail: Buffer.from(']') },
    room: new Room(room),
    onResult: (problem) => problems.push(problem),
    clock,
  });
  const add = (item: string) => queue.add(Buffer.from(item));
  return { queue, add, bodies, problems };
}

test('a receiver that is down gets the same batch again, after waits that double', async () => {
  const clock = new TestClock();
  const { queue, add, bodies, problems } = openQueue(clock, [down, down, down, taken]);
  add('a');
  const sentAfter: number[] = [];
  for (let second = 1; second <= 12; second++) {
    await clock.advance(1_000);
    while (sentAfter.length < bodies.length) sentAfter.push(second);
  }
  assert.deepEqual(bodies, ['[a]', '[a]', '[a]', '[a]']);
  assert.deepEqual(sentAfter, [1, 2, 4, 8]);
  assert.deepEqual(problems, [...Array.from({ length: 3 }, () => 'it cannot be reached'), null]);
  assert.equal(queue.dropped, 0);
});

test('a batch is dropped and counted after five tries, or when it is refused', async () => {
  const clock = new TestClock();
  const failing = openQueue(clock, [down]);
  failing.add('a');
  await clock.advance(3_600_000);
  assert.deepEqual([failing.bodies.length, failing.queue.dropped], [5, 1]);
  const refusing = openQueue(clock, [{ kind: 'refused', problem: 'status 400' }]);
  refusing.add('a');
  await clock.advance(60_000);
  assert.deepEqual([refusing.bodies.length, refusing.queue.dropped], [1, 1]);
});

test('what a slow receiver leaves no room for is dropped and counted, and the rest is sent', async () => {
  const clock = new TestClock();
  const { promise, resolve } = Promise.withResolvers<Posted>();
  const { queue, add, bodies } = openQueue(clock, [promise, taken], 15);
  add('first');
  await clock.advance(1_000);
  for (let item = 0; item < 100; item++) add('12345');
  await clock.advance(60_000);
  assert.deepEqual([bodies.length, queue.dropped], [1, 98]);
  resolve(taken);
  await clock.advance(1_000);
  assert.deepEqual(bodies, ['[first]', '[12345,12345]']);
});

test('a request of several spans fits in the 1 MiB that nginx allows', async () => {
  const clock = new TestClock();
  const { queue, bodies } = openQueue(clock, [taken], 4 * 1024 * 1024);
  for (let item = 0; item < 3; item++) queue.add(Buffer.alloc(512 * 1024, 'a'));
  await clock.advance(2_000);
  assert.equal(queue.sent, 3);
  assert.ok(bodies.every((body) => body.length <= 1024 * 1024));
});

test('the wait that a receiver asks for is kept', async () => {
  const clock = new TestClock();
  const { add, bodies } = openQueue(clock, [{ ...down, waitMs: 30_000 }, taken]);
  add('a');
  await clock.advance(30_000);
  assert.equal(bodies.length, 1);
  await clock.advance(2_000);
  assert.equal(bodies.length, 2);
});

test('a stop sends what waits, and does not wait for a receiver that is down', async () => {
  const clock = new TestClock();
  const working = openQueue(clock, [taken]);
  working.add('a');
  await working.queue.close();
  assert.deepEqual(working.bodies, ['[a]']);
  const failing = openQueue(clock, [down]);
  failing.add('a');
  await failing.queue.close();
  assert.equal(failing.bodies.length, 1);
});

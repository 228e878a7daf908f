// Threads that share limits through the book of one of them; each answer arrives some turns of the
// event loop later.
import assert from 'node:assert/strict';
import { setImmediate } from 'node:timers/promises';
import { test } from 'node:test';
import fc from '../../../tests/support/property.ts';
import { TestClock } from '../../../tests/support/test-clock.ts';
import { SharedRates } from './shared-rates.ts';
import { SharedSlots } from './shared-slots.ts';
import { LimitsBook } from './thread-limits.ts';

function startThreads(count: number) {
  const clock = new TestClock();
  const book = new LimitsBook(clock.nowMs);
  const onError = (error: unknown) => assert.fail(String(error));
  const later = async <Answer>(decide: () => Answer): Promise<Answer> => {
    await setImmediate();
    const answer = decide();
    await setImmediate();
    return answer;
  };
  const threads = Array.from({ length: count }, (_, index) => ({
    rates: new SharedRates({
      exchange: (requests) => later(() => book.exchangeRates(requests)),
      onError,
      clock,
    }),
    slots: new SharedSlots({
      exchange: (requests) => later(() => book.exchangeSlots(index, requests)),
      onError,
      clock,
    }),
  }));
  return { clock, book, threads };
}

test('threads together run no more requests at once than the limit, and as many', async () => {
  const burst = fc.tuple(fc.nat(6), fc.nat(6), fc.nat(6));
  const cases = fc.record({
    max: fc.constantFrom(1, 4, 100),
    bursts: fc.array(burst, { minLength: 1, maxLength: 8 }),
  });
  await fc.assert(
    fc.asyncProperty(cases, async ({ max, bursts }) => {
      const { clock, threads } = startThreads(3);
      const limit = { id: 'k', max };
      const running: number[] = [];
      for (const each of bursts) {
        const taken = threads.flatMap(({ slots }, index) =>
          Array.from({ length: each[index]! }, async () => {
            if (await slots.take(limit)) running.push(index);
          }),
        );
        const wanted = running.length + taken.length;
        await clock.hurry(Promise.all(taken));
        assert.equal(running.length, Math.min(max, wanted));
        // Half of them end.
        for (const index of running.splice(0, Math.ceil(running.length / 2)))
          threads[index]!.slots.give(limit);
      }
      for (const index of running) threads[index]!.slots.give(limit);
      await clock.hurry(Promise.all(threads.map(({ slots }) => slots.close())));
    }),
    { numRuns: 40 },
  );
});

test('threads together use a small rate limit exactly', async () => {
  const { clock, threads } = startThreads(4);
  const budget = { id: 'k', perMinute: 7 };
  const burst = async () => {
    const taken = threads.flatMap(({ rates }) =>
      Array.from({ length: 10 }, async () => (await rates.take(budget, 1)).isGranted),
    );
    return (await Promise.all(taken)).filter(Boolean).length;
  };
  assert.equal(await burst(), 7);
  await clock.advance(60_000);
  assert.equal(await burst(), 7);
});

test('a slot that was granted in a lost answer is given back', async () => {
  const clock = new TestClock();
  const book = new LimitsBook(clock.nowMs);
  let isLost = true;
  const one = new SharedSlots({
    exchange: async (requests) => {
      const granted = book.exchangeSlots(0, requests);
      if (isLost) throw new Error('the answer is lost');
      return granted;
    },
    onError: () => {},
    clock,
  });
  const other = new SharedSlots({
    exchange: async (requests) => book.exchangeSlots(1, requests),
    onError: (error) => assert.fail(String(error)),
    clock,
  });
  const limit = { id: 'k', max: 1 };
  assert.ok(await clock.hurry(Promise.resolve(one.take(limit))));
  one.give(limit);
  isLost = false;
  for (let tick = 0; tick < 6; tick++) {
    await clock.advance(500);
    for (let turn = 0; turn < 5; turn++) await setImmediate();
  }
  assert.ok(await clock.hurry(Promise.resolve(other.take(limit))));
});

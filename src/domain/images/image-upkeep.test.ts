import assert from 'node:assert/strict';
import { once } from 'node:events';
import test from 'node:test';
import { TestClock } from '../../../tests/support/test-clock.ts';
import type { ImageStore } from './image-store.ts';
import { ImageUpkeep } from './image-upkeep.ts';

const storeWith = (removeExpired: ImageStore['removeExpired']) => ({ removeExpired }) as ImageStore;

test('expired images are removed every hour, also after a failure', async () => {
  const clock = new TestClock();
  let runs = 0;
  const errors: unknown[] = [];
  const onError = (error: unknown) => errors.push(error);
  const upkeep = new ImageUpkeep(
    storeWith(async () => {
      if (++runs === 1) throw new Error('the disk is away');
    }),
    { onError, clock, waitMs: 100 },
  );
  await clock.advance(99);
  assert.equal(runs, 0);
  await clock.advance(1);
  assert.deepEqual([runs, errors.length], [1, 1]);
  await clock.advance(3_600_000);
  await clock.advance(3_600_000);
  assert.deepEqual([runs, errors.length], [3, 1]);
  await upkeep.close();
  await clock.advance(36_000_000);
  assert.equal(runs, 3);
});

test('closing aborts a running removal and waits for it', async () => {
  const started = Promise.withResolvers<void>();
  let isDone = false;
  const store = storeWith(async (signal) => {
    started.resolve();
    await once(signal, 'abort');
    await new Promise(setImmediate);
    isDone = true;
  });
  const clock = new TestClock();
  const upkeep = new ImageUpkeep(store, {
    onError: (error) => assert.fail(String(error)),
    clock,
    waitMs: 0,
  });
  await clock.advance(0);
  await started.promise;
  await upkeep.close();
  assert.equal(isDone, true);
});

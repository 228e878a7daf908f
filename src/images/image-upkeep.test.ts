import assert from 'node:assert/strict';
import { once } from 'node:events';
import test from 'node:test';
import type { ImageStore } from './image-store.ts';
import { ImageUpkeep } from './image-upkeep.ts';

const storeWith = (removeExpired: ImageStore['removeExpired']) => ({ removeExpired }) as ImageStore;

test('expired images are removed once the time has come, every hour, and a failure does not end that', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  let runs = 0;
  const errors: unknown[] = [];
  const onError = (error: unknown) => errors.push(error);
  const upkeep = new ImageUpkeep(
    storeWith(async () => {
      if (++runs === 1) throw new Error('the disk is away');
    }),
    { onError, waitMs: 100 },
  );
  const pass = async (ms: number) => {
    t.mock.timers.tick(ms);
    for (let turn = 0; turn < 5; turn++) await Promise.resolve();
  };
  await pass(99);
  assert.equal(runs, 0);
  await pass(1);
  assert.deepEqual([runs, errors.length], [1, 1]);
  await pass(3_600_000);
  await pass(3_600_000);
  assert.deepEqual([runs, errors.length], [3, 1]);
  await upkeep.close();
  await pass(36_000_000);
  assert.equal(runs, 3);
});

test('closing tells a removal to stop and waits for it', async () => {
  const started = Promise.withResolvers<void>();
  let isDone = false;
  const store = storeWith(async (signal) => {
    started.resolve();
    await once(signal, 'abort');
    await new Promise(setImmediate);
    isDone = true;
  });
  const upkeep = new ImageUpkeep(store, { onError: (error) => assert.fail(String(error)), waitMs: 0 });
  // The upkeep's own timer keeps no program alive.
  const alive = setInterval(() => {}, 1_000);
  await started.promise;
  await upkeep.close();
  clearInterval(alive);
  assert.equal(isDone, true);
});

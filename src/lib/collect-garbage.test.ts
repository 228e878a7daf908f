import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { getHeapSpaceStatistics } from 'node:v8';
import { collectAfterStart } from './collect-garbage.ts';

test('a thread that allocated much during its start gives its young generation back', async () => {
  const kept = Array.from({ length: 400_000 }, (_, index) => ({ index }));
  const grownBytes = youngBytes();
  assert.equal(kept.length, 400_000);
  collectAfterStart();
  await setImmediate();
  assert.ok(youngBytes() < grownBytes / 2, `${youngBytes()} of ${grownBytes} bytes`);
});

function youngBytes(): number {
  const spaces = getHeapSpaceStatistics();
  return spaces.find(({ space_name: name }) => name === 'new_space')!.space_size;
}

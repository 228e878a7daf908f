import assert from 'node:assert/strict';
import { test } from 'node:test';
import { getHeapSpaceStatistics } from 'node:v8';
import { TestClock } from '../../tests/support/test-clock.ts';
import { collectAfterStart } from './collect-garbage.ts';

test('a thread that allocated much during its start gives its young generation back', async () => {
  const clock = new TestClock();
  collectAfterStart(clock);
  const kept = Array.from({ length: 400_000 }, (_, index) => ({ index }));
  const grownBytes = youngBytes();
  assert.equal(kept.length, 400_000);
  await clock.advance(5_000);
  assert.ok(youngBytes() < grownBytes / 2, `${youngBytes()} of ${grownBytes} bytes`);
});

function youngBytes(): number {
  const spaces = getHeapSpaceStatistics();
  return spaces.find(({ space_name: name }) => name === 'new_space')!.space_size;
}

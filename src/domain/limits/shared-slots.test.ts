// Slots of one gateway whose database fails.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TestClock } from '../../../tests/support/test-clock.ts';
import { SharedSlots } from './shared-slots.ts';

test('after a failure the database is asked again within a second, even when the wall clock goes back', async () => {
  const clock = new TestClock();
  let isAway = true;
  let asked = 0;
  const slots = new SharedSlots({
    async exchange(requests) {
      asked += 1;
      if (isAway) throw new Error('away');
      return requests.map(({ wanted }) => wanted);
    },
    onError: () => {},
    clock,
  });
  const limit = { id: 'k', max: 2 };
  assert.ok(await slots.take(limit), 'the gateway grants by itself');
  isAway = false;
  clock.jumpTo(clock.nowMs() - 3_600_000);
  await clock.advance(1_100);

  assert.ok(await slots.take(limit));
  assert.ok(asked > 1, 'the database is asked again');
  await slots.close();
});

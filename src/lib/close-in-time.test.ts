import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TestClock } from '../../tests/support/test-clock.ts';
import { closeInTime } from './close-in-time.ts';

test('a part that hangs at the end keeps no later part from closing', async () => {
  const clock = new TestClock();
  const closed: string[] = [];
  const part = (name: string) => ({ close: () => closed.push(name) });
  const hanging = { close: () => new Promise(() => {}) };
  const parts = [[hanging], [part('working'), hanging], [part('activity')]];
  const closing = closeInTime({ parts, stores: [[part('ledger')], [hanging]], clock });
  await clock.advance(10_000);
  await closing;
  assert.deepEqual(closed, ['working', 'activity', 'ledger']);
});

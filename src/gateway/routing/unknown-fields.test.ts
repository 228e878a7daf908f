import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TestClock } from '../../../tests/support/test-clock.ts';
import { createUnknownNotices } from './notices.ts';

function notices() {
  const clock = new TestClock();
  const logged: unknown[] = [];
  const log = { warn: (fields: object) => void logged.push((fields as { field: string }).field) };
  const note = createUnknownNotices(log, clock);
  return { clock, logged, note: (...fields: string[]) => note(new Set(fields)) };
}

test('clients that invent names fill the log only up to a limit a day', async () => {
  const { clock, logged, note } = notices();
  for (let index = 0; index < 1_000; index++) note(`invented_${index}`);
  assert.equal(logged.length, 200);
  await clock.advance(24 * 3_600_000);
  note('new');
  assert.equal(logged.at(-1), 'new');
});

test('a name that could be a client’s words is not logged', () => {
  const { logged, note } = notices();
  note('messages.my secret', 'messages.content.x-y_1', 'b'.repeat(65));
  assert.deepEqual(logged, ['an unusual name', 'messages.content.x-y_1']);
});

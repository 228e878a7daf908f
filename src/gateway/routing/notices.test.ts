import assert from 'node:assert/strict';
import { test } from 'node:test';
import { noUsage } from '../../canonical/usage.ts';
import { dayMs } from '../../lib/utc-time.ts';
import { TestClock } from '../../../tests/support/test-clock.ts';
import { createCountNotices, createUnknownNotices } from './notices.ts';

test('a provider with unexplained tokens is logged once a day', async () => {
  const clock = new TestClock();
  const told: unknown[] = [];
  const log = { warn: ({ provider }: { provider?: string }) => told.push(provider) };
  const noteCounts = createCountNotices(log, clock);
  const note = (provider: string, unexplainedTokens?: number) =>
    noteCounts({ provider, upstreamModel: 'm' }, { ...noUsage, unexplainedTokens });
  note('a');
  note('a', 5);
  note('a', 7);
  note('b', 1);
  assert.deepEqual(told, ['a', 'b']);
  await clock.advance(dayMs);
  note('a', 5);
  note('a', 5);
  assert.deepEqual(told, ['a', 'b', 'a']);
});

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
  await clock.advance(dayMs);
  note('new');
  assert.equal(logged.at(-1), 'new');
});

test('a name that could be a client’s words is not logged', () => {
  const { logged, note } = notices();
  note('messages.my secret', 'messages.content.x-y_1', 'b'.repeat(65));
  assert.deepEqual(logged, ['an unusual name', 'messages.content.x-y_1']);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { noUsage } from '../../canonical/usage.ts';
import { dayMs } from '../../lib/utc-time.ts';
import { TestClock } from '../../../tests/support/test-clock.ts';
import { createCountNotices } from './notices.ts';

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

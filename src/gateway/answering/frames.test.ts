import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { isPending } from '../../../tests/support/is-pending.ts';
import { TestClock } from '../../../tests/support/test-clock.ts';
import { chat } from '../../formats/chat/index.ts';
import { openFrames } from './frames.ts';
import type { Called } from '../stages.ts';
import { UpstreamBroken } from '../../canonical/upstream-broken.ts';

const request = {
  body: {},
  model: 'm',
  stream: true,
  maxOutputTokens: null,
  choices: 1,
  thinkingBudgetTokens: 0,
};
const clock = new TestClock();
const called = {
  gateway: { clock },
  caller: { requestId: 'req_1' },
  call: { attempt: { route: { format: 'chat' }, written: { isTranslated: false } } },
  asked: { format: chat, model: { id: 'm' }, request, estimate: { likely: 1 } },
  granted: { wanted: { estimate: { most: 1, audio: { most: 0 } } } },
} as unknown as Called;

async function failureOf(chunks: AsyncIterable<Uint8Array>): Promise<UpstreamBroken['failure']> {
  const { frames } = openFrames(called, chunks);
  try {
    await Array.fromAsync(frames);
  } catch (error) {
    if (error instanceof UpstreamBroken) return error.failure;
    throw error;
  }
  throw new Error('the frames came to an end');
}

test('an upstream that never ends is stopped', async () => {
  const stopped = Promise.withResolvers<void>();
  async function* endless(): AsyncGenerator<Uint8Array> {
    try {
      yield Buffer.from(': ');
      yield Buffer.alloc(512 * 1024 * 1024);
      for (;;) yield setImmediate(Buffer.from(': '));
    } finally {
      stopped.resolve();
    }
  }
  const failure = await failureOf(endless());
  assert.equal(failure.kind, 'unreadable');
  assert.match(failure.message, /over 536870912 bytes/);
  assert.ok(await isPending(stopped.promise), 'its end may come at once');
  await clock.advance(1_000);
  await stopped.promise;
});

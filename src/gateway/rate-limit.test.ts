import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError } from '../canonical/errors.ts';
import { createRateLimiter } from './rate-limit.ts';

function limiterAt() {
  const clock = { nowMs: 1_000_000 };
  return { clock, limiter: createRateLimiter(() => clock.nowMs) };
}

function isRefused(action: () => unknown): ApiError {
  try {
    action();
  } catch (error) {
    if (error instanceof ApiError) return error;
  }
  throw new Error('it passed');
}

test('a whole minute of requests passes at once, the next one waits for its share', () => {
  const { clock, limiter } = limiterAt();
  for (let index = 0; index < 60; index++) limiter.take('key', 60);
  const error = isRefused(() => limiter.take('key', 60));
  assert.equal(error.code, 'rate_limit_exceeded');
  assert.equal(error.retryAfterSeconds, 1);
  assert.equal(error.headers['x-ratelimit-remaining-requests'], '0');
  clock.nowMs += 999;
  isRefused(() => limiter.take('key', 60));
  clock.nowMs += 1;
  limiter.take('key', 60);
  isRefused(() => limiter.take('key', 60));
});

test('keys do not share a bucket, and no limit means no headers', () => {
  const { limiter } = limiterAt();
  limiter.take('one', 1);
  isRefused(() => limiter.take('one', 1));
  limiter.take('other', 1);
  assert.deepEqual(limiter.take('one', null), {});
});

test('the headers say where the caller stands, as OpenAI writes them', () => {
  const { limiter } = limiterAt();
  assert.deepEqual(limiter.take('key', 600), {
    'x-ratelimit-limit-requests': '600',
    'x-ratelimit-remaining-requests': '599',
    'x-ratelimit-reset-requests': '100ms',
  });
  assert.equal(limiter.take('slow', 2)['x-ratelimit-reset-requests'], '30s');
});

test('a lowered limit holds at once, a limit of 0 refuses all, a clock that steps back grants nothing', () => {
  const { clock, limiter } = limiterAt();
  limiter.take('key', 600);
  assert.equal(limiter.take('key', 2)['x-ratelimit-remaining-requests'], '1');
  assert.equal(isRefused(() => limiter.take('none', 0)).retryAfterSeconds, 60);
  limiter.take('key', 2);
  clock.nowMs -= 3_600_000;
  isRefused(() => limiter.take('key', 2));
});

test('buckets of callers that went quiet are swept', () => {
  const { clock, limiter } = limiterAt();
  for (let index = 0; index < 999; index++) limiter.take(`key ${index}`, 1);
  clock.nowMs += 60_000;
  limiter.take('last', 1);
  limiter.take('key 0', 1);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { UpstreamFailure } from '../../canonical/event.ts';
import { nextStepAfter, waitBeforeRetryMs } from './retry-policy.ts';

const failure = (
  status: number | null,
  kind: UpstreamFailure['kind'] = 'status',
  retryAfterSeconds: number | null = null,
): UpstreamFailure => ({ kind, status, message: 'x', retryAfterSeconds });

test('passing failures are retried, the route’s own go to another route, the request’s own stop', () => {
  const steps = (statuses: readonly number[]) =>
    new Set(statuses.map((status) => nextStepAfter(failure(status))));
  assert.deepEqual(
    steps([408, 409, 429, 498, 499, 500, 502, 503, 504, 520, 529]),
    new Set(['again']),
  );
  assert.deepEqual(steps([301, 307, 401, 402, 403, 404, 410, 412, 413]), new Set(['elsewhere']));
  assert.deepEqual(steps([400, 405, 415, 422, 451]), new Set(['never']));
  for (const kind of ['connection', 'timeout', 'broken-stream', 'unreadable'] as const) {
    assert.equal(nextStepAfter(failure(null, kind)), 'again');
  }
});

test('a billed answer is not asked for again', () => {
  for (const spoilt of [failure(500), failure(null, 'unreadable'), failure(401)])
    assert.equal(nextStepAfter({ ...spoilt, isBilled: true }), 'never');
});

test('waits double up to their cap, and half of each wait is random', () => {
  const waits = (random: number) =>
    [0, 1, 2, 3, 9].map((retries) =>
      waitBeforeRetryMs(failure(529), retries, { baseMs: 100, capMs: 500, random: () => random }),
    );
  assert.deepEqual(waits(0), [50, 100, 200, 250, 250]);
  assert.deepEqual(waits(1), [100, 200, 400, 500, 500]);
});

test('a retry waits a little longer than `Retry-After`, or is given up when that is too long', () => {
  const wait = (seconds: number, random = 0) =>
    waitBeforeRetryMs(failure(429, 'status', seconds), 0, {
      baseMs: 100,
      capMs: 5_000,
      random: () => random,
    });
  assert.deepEqual([wait(2), wait(2, 0.5), wait(5), wait(6)], [2_000, 2_050, 5_000, null]);
  assert.equal(wait(0), 50, 'a `Retry-After` of zero still waits');
});

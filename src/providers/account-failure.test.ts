import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readAccountFailure } from './account-failure.ts';

const failure = (status: number, message: string) =>
  readAccountFailure({ kind: 'status', status, message, retryAfterSeconds: null }).status;

test('an empty account at MiniMax, which says that it may pass, wants money', () => {
  for (const status of [402, 429, 500])
    assert.equal(failure(status, 'insufficient balance (1008)'), 402);
  assert.equal(failure(500, 'internal error (1000)'), 500);
});

test('a wrong key at xAI, which blames the request, is the operator’s', () => {
  assert.equal(failure(400, 'Incorrect API key provided: xa***. You can obtain one.'), 401);
  assert.equal(failure(400, 'messages must not be empty'), 400);
});

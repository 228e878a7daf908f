import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeFailure } from '../canonical/make-failure.ts';
import { readAccountFailure, readOpenAiFailure } from './account-failure.ts';

const failure = (status: number, message: string) =>
  readAccountFailure({ kind: 'status', status, message, retryAfterSeconds: null }).status;

test('an empty account that a provider calls a fault that may pass wants money', () => {
  for (const status of [402, 429, 500])
    assert.equal(failure(status, 'insufficient balance (1008)'), 402);
  assert.equal(failure(500, 'internal error (1000)'), 500);
  for (const message of [
    'Your team 16f2-4a40 has either used all available credits or reached its monthly spending limit. To continue',
    'Insufficient balance or no resource package. Please recharge.',
    '余额不足或无可用资源包,请充值。',
    'Your prepayment credits are depleted. Please go to AI Studio',
    'Your account org-ea6a <ak-f8ty> is suspended due to insufficient balance, please recharge',
    'Account acme is suspended, possibly due to reaching the monthly spending limit',
  ])
    assert.equal(failure(429, message), 402);
  assert.equal(failure(429, 'Rate limit reached for requests'), 429);
  const novitas = 'Insufficient quota available for instant inference. trace_id: 1f';
  assert.equal(failure(400, novitas), 402);
});

test('an empty account in a body with status 200 wants money, a text with status 200 may be a model’s', () => {
  const message = 'insufficient balance (1008)';
  const unreadable = makeFailure('unreadable', message);
  const { kind, status } = readAccountFailure(unreadable, { error: { message } });
  assert.deepEqual([kind, status], ['status', 402]);
  assert.equal(readAccountFailure(unreadable, message), unreadable);
});

test('a refusal that quotes words of an empty account is the client’s', () => {
  for (const words of ['insufficient balance (1008)', 'Account x is suspended'])
    assert.equal(failure(400, `Invalid schema: '${words}' is not a type.`), 400);
});

test('an account without credit at OpenAI wants money, a limit a minute passes', () => {
  const limited = { kind: 'status', status: 429, message: 'x', retryAfterSeconds: 7 } as const;
  const statusFor = (code: unknown) => readOpenAiFailure(limited, { error: { code } }).status;
  const unpaid = [
    'insufficient_quota',
    'credit_balance_exhausted',
    'billing_not_active',
    'organization_spend_limit_exceeded',
    'project_spend_limit_exceeded',
  ];
  assert.deepEqual(unpaid.map(statusFor), [402, 402, 402, 402, 402]);
  assert.deepEqual(['rate_limit_exceeded', 429, null].map(statusFor), [429, 429, 429]);
  assert.equal(readOpenAiFailure(limited, '<html>').status, 429);
});

test('a wrong key at xAI, which blames the request, is the operator’s', () => {
  assert.equal(failure(400, 'Incorrect API key provided: xa***. You can obtain one.'), 401);
  assert.equal(failure(400, 'messages must not be empty'), 400);
});

test('a 403 about one request is the client’s: xAI’s guidelines, a context that is too short at Together', () => {
  assert.equal(failure(403, 'Content violates usage guidelines. Team: x, Model: grok-4'), 400);
  assert.equal(failure(403, 'Input validation error: `inputs` tokens + `max_new_tokens` …'), 400);
  assert.equal(failure(403, 'Access to the chat endpoint is denied'), 403);
});

test('a prompt that OpenRouter’s moderation refuses is the client’s fault, a refused key is not', () => {
  const refused = { kind: 'status', status: 403, message: 'x', retryAfterSeconds: null } as const;
  const metadata = { reasons: ['violence'], flagged_input: 'x…', provider_name: 'X' };
  assert.equal(readAccountFailure(refused, { error: { code: 403, metadata } }).status, 400);
  for (const body of [{ error: { code: 403, metadata: { raw: 'x' } } }, 'x', null, undefined])
    assert.equal(readAccountFailure(refused, body).status, 403);
});

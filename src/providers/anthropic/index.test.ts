import assert from 'node:assert/strict';
import { test } from 'node:test';
import { knownProviders } from '../../config/known-providers.ts';
import { anthropic } from './index.ts';

const place = { region: null, project: null, apiVersion: null };
test('requests carry the pinned version and the key, and no other header', () => {
  assert.deepEqual(anthropic.headers('secret', {}), {
    'anthropic-version': '2023-06-01',
    'x-api-key': 'secret',
  });
  assert.deepEqual(anthropic.headers(null, {}), { 'anthropic-version': '2023-06-01' });
});

test('beta features that only shape a request are forwarded, others are not', () => {
  const asked =
    'claude-code-20250219, context-1m-2025-08-07,interleaved-thinking-2025-05-14,skills-2025-10-02,compact-2026-09-04';
  assert.equal(
    anthropic.headers('k', { 'anthropic-beta': asked })['anthropic-beta'],
    'claude-code-20250219,interleaved-thinking-2025-05-14',
  );
});

test('requests go to the messages path below a base URL without a version', () => {
  const target = {
    model: 'm',
    stream: false,
    maxOutputTokens: 1,
    thinking: false,
    isOpenAi: false,
  } as const;
  assert.equal(
    `${knownProviders.anthropic!.baseUrl as string}${anthropic.path('messages', target, place)}`,
    'https://api.anthropic.com/v1/messages',
  );
});

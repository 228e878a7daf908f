import assert from 'node:assert/strict';
import { test } from 'node:test';
import { anthropic } from './index.ts';

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

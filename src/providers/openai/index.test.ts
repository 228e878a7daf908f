import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { UpstreamTarget } from '../../formats/format.ts';
import { openai } from './index.ts';

const target = {} as UpstreamTarget;

test('each format has its path, and the key is a bearer token', () => {
  assert.equal(openai.path('responses', target), '/responses');
  assert.equal(openai.path('chat', target), '/chat/completions');
  assert.deepEqual(openai.headers('sk-x', {}), { authorization: 'Bearer sk-x' });
  assert.deepEqual(openai.headers(null, { 'anthropic-beta': 'x' }), {});
});

test('requests always ask OpenAI not to store', () => {
  assert.deepEqual(openai.adaptBody!({ model: 'm', input: 'x' }), {
    model: 'm',
    input: 'x',
    store: false,
  });
  assert.deepEqual(openai.adaptBody!({ model: 'm', store: true }), {
    model: 'm',
    store: false,
  });
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { UpstreamTarget } from '../../formats/format.ts';
import { openai } from './index.ts';

const target = {} as UpstreamTarget;
const place = { region: null, project: null, apiVersion: null };
const sent = { format: 'responses', target, client: {}, ignored: new Set<string>() } as const;

test('each format has its path, and the key is a bearer token', () => {
  assert.equal(openai.path('responses', target, place), '/responses');
  assert.equal(openai.path('chat', target, place), '/chat/completions');
  assert.deepEqual(openai.headers('sk-x', {}), { authorization: 'Bearer sk-x' });
  assert.deepEqual(openai.headers(null, { 'anthropic-beta': 'x' }), {});
});

test('requests always ask OpenAI not to store', () => {
  assert.deepEqual(openai.adaptBody!({ model: 'm', input: 'x' }, sent), {
    model: 'm',
    input: 'x',
    store: false,
  });
  assert.deepEqual(openai.adaptBody!({ model: 'm', store: true }, sent), {
    model: 'm',
    store: false,
  });
});

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
  assert.deepEqual(openai.adaptBody!({ model: 'm', input: 'x' }, 'responses'), {
    model: 'm',
    input: 'x',
    store: false,
  });
  assert.deepEqual(openai.adaptBody!({ model: 'm', store: true }, 'chat'), {
    model: 'm',
    store: false,
  });
});

test('reasoning of other hosts’ models is removed from Chat messages without changing the given body', () => {
  const messages = [
    { role: 'user', content: 'x' },
    {
      role: 'assistant',
      content: 'y',
      reasoning_content: 'a',
      reasoning: 'b',
      reasoning_details: [],
    },
  ];
  const adapted = openai.adaptBody!({ model: 'm', messages }, 'chat');
  assert.deepEqual(adapted.messages, [messages[0], { role: 'assistant', content: 'y' }]);
  assert.equal(messages[1]!.reasoning_content, 'a');
});

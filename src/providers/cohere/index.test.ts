import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '../../lib/json.ts';
import type { SentAs } from '../provider.ts';
import { cohere } from './index.ts';

const write = (body: JsonObject) =>
  cohere.adaptBody!({ model: 'command-a', max_tokens: 4_000, ...body }, {} as SentAs);
const named = (name: string) => ({ type: 'function', function: { name } });
const tools = [named('f'), named('g')];

test('a forced tool is the only one that is offered, and the model’s own choice has no word', () => {
  const chosen = write({ tools, tool_choice: named('g') });
  assert.deepEqual([chosen.tools, chosen.tool_choice], [[named('g')], 'REQUIRED']);
  assert.deepEqual(write({ tools, tool_choice: 'auto' }), write({ tools }));
  assert.equal(write({ tools, tool_choice: 'NONE' }).tool_choice, 'NONE');
  for (const none of [{ tool_choice: 'none' }, { tools: [], tool_choice: 'NONE' }])
    assert.deepEqual(write(none), write({}));
});

test('an effort becomes a budget within the output limit, and the highest has none', () => {
  const thinkingOf = (effort: string, max_tokens = 4_000) =>
    write({ reasoning_effort: effort, max_tokens }).thinking;
  assert.deepEqual(thinkingOf('none'), { type: 'disabled' });
  assert.deepEqual(thinkingOf('low'), { type: 'enabled', token_budget: 1_024 });
  assert.deepEqual(thinkingOf('medium'), { type: 'enabled', token_budget: 4_000 });
  assert.deepEqual(thinkingOf('high'), { type: 'enabled' });
  assert.equal('thinking' in write({}), false);
});

test('a schema is a part of JSON mode', () => {
  const schema = { type: 'object' };
  const format = { type: 'json_schema', json_schema: { name: 'x', schema, strict: true } };
  assert.deepEqual(write({ response_format: format }).response_format, {
    type: 'json_object',
    json_schema: schema,
  });
  const plain = { type: 'json_object' };
  assert.deepEqual(write({ response_format: plain }).response_format, plain);
});

test('reasoning of earlier answers goes before their words, and an answer of calls has no content', () => {
  const calls = [{ id: 'c', ...named('f') }];
  const messagesOf = (message: JsonObject) =>
    write({ messages: [{ role: 'assistant', ...message }] }).messages;
  const thinking = { type: 'thinking', thinking: 'Hm.' };
  const text = { type: 'text', text: 'Yes.' };
  assert.deepEqual(messagesOf({ content: 'Yes.', reasoning_content: 'Hm.' }), [
    { role: 'assistant', content: [thinking, text] },
  ]);
  assert.deepEqual(messagesOf({ content: [text], reasoning_content: 'Hm.' }), [
    { role: 'assistant', content: [thinking, text] },
  ]);
  assert.deepEqual(messagesOf({ content: null, tool_calls: calls, reasoning_content: 'Hm.' }), [
    { role: 'assistant', content: [thinking], tool_calls: calls },
  ]);
  assert.deepEqual(messagesOf({ content: null, tool_calls: calls }), [
    { role: 'assistant', tool_calls: calls },
  ]);
});

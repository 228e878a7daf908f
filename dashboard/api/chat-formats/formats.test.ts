import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hasTokens } from '../run-chat.ts';
import { chatFormats } from './registry.ts';
import { defaultSettings, noAnswer, type ChatRequest } from './types.ts';

const { responses, chat, messages } = chatFormats;

test('reasoning counts as the first token in every format', () => {
  const thought = { choices: [{ delta: { reasoning_content: 'Hm' } }] };
  const thinking = { delta: { type: 'thinking_delta', thinking: 'Hm' } };
  const started = messages.readEvent(noAnswer, 'content_block_start', {
    content_block: { type: 'thinking', thinking: '' },
  });
  assert.ok(
    hasTokens(responses.readEvent(noAnswer, 'response.reasoning_text.delta', { delta: 'Hm' })),
  );
  assert.ok(hasTokens(chat.readEvent(noAnswer, '', thought)));
  assert.ok(hasTokens(messages.readEvent(started, 'content_block_delta', thinking)));
  const empty = { choices: [{ delta: { role: 'assistant', content: '' } }] };
  assert.ok(!hasTokens(chat.readEvent(noAnswer, '', empty)));
});

test('a signed thought of Messages goes back unchanged, before the call that it led to', () => {
  const events: readonly (readonly [string, object])[] = [
    ['content_block_start', { content_block: { type: 'thinking', thinking: '', signature: '' } }],
    ['content_block_delta', { delta: { type: 'thinking_delta', thinking: 'Paris' } }],
    ['content_block_delta', { delta: { type: 'signature_delta', signature: 'c2ln' } }],
    ['content_block_stop', {}],
    [
      'content_block_start',
      { content_block: { type: 'tool_use', id: 'c1', name: 'w', input: {} } },
    ],
    ['content_block_delta', { delta: { type: 'input_json_delta', partial_json: '{"city":' } }],
    ['content_block_delta', { delta: { type: 'input_json_delta', partial_json: '"Paris"}' } }],
    ['content_block_stop', {}],
    ['message_delta', { delta: { stop_reason: 'tool_use' } }],
  ];
  let answer = noAnswer;
  for (const [event, data] of events) answer = messages.readEvent(answer, event, data);
  assert.deepEqual(answer.calls, [{ id: 'c1', name: 'w', arguments: '{"city":"Paris"}' }]);
  assert.deepEqual(answer.echo, [
    { type: 'thinking', thinking: 'Paris', signature: 'c2ln' },
    { type: 'tool_use', id: 'c1', name: 'w', input: { city: 'Paris' } },
  ]);
});

test('an answer of one format is rewritten for another', () => {
  const call = { id: 'c1', name: 'w', arguments: '{"city":"Paris"}' };
  const request: ChatRequest = {
    ...defaultSettings,
    model: 'm',
    messages: [
      { role: 'assistant', format: 'messages', text: 'Look:', calls: [call], echo: [{ own: 1 }] },
      { role: 'tool', results: [{ callId: 'c1', output: '7' }] },
    ],
  };
  assert.deepEqual(chat.writeBody(request)['messages'], [
    {
      role: 'assistant',
      content: 'Look:',
      tool_calls: [
        { id: 'c1', type: 'function', function: { name: 'w', arguments: call.arguments } },
      ],
    },
    { role: 'tool', tool_call_id: 'c1', content: '7' },
  ]);
  assert.deepEqual(responses.writeBody(request)['input'], [
    { role: 'assistant', content: 'Look:' },
    { type: 'function_call', call_id: 'c1', name: 'w', arguments: call.arguments },
    { type: 'function_call_output', call_id: 'c1', output: '7' },
  ]);
  assert.deepEqual(messages.writeBody(request)['messages'], [
    { role: 'assistant', content: [{ own: 1 }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c1', content: '7' }] },
  ]);
});

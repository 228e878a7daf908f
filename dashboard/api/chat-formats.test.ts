import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chatFormats, isReadable } from './chat-formats.ts';

test('reasoning counts as the first token in every format', () => {
  const { responses, chat, messages } = chatFormats;
  assert.ok(isReadable(responses.readEvent('response.reasoning_text.delta', { delta: 'Hm' })));
  assert.ok(
    isReadable(chat.readEvent('', { choices: [{ delta: { reasoning_content: 'Hm' } }] })),
    'chat',
  );
  const thinking = { delta: { type: 'thinking_delta', thinking: 'Hm' } };
  assert.ok(isReadable(messages.readEvent('content_block_delta', thinking)), 'messages');
  assert.ok(
    !isReadable(chat.readEvent('', { choices: [{ delta: { role: 'assistant', content: '' } }] })),
  );
});

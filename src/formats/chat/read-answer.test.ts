import assert from 'node:assert/strict';
import { test } from 'node:test';

import { UnreadableAnswer } from '../format.ts';
import { contextFor } from '../../../tests/support/formats/chat.ts';
import { readAnswer } from './read-answer.ts';
import { relayAnswer } from './relay-answer.ts';

const choice = (message: object, finish: unknown = 'stop') => ({
  choices: [{ index: 0, message, finish_reason: finish }],
});
const call = (fields: object) => choice({ content: null, tool_calls: [fields] });

const unreadable: Record<string, [body: unknown, message: RegExp]> = {
  'no object': ['text', /not a JSON object/],
  'an error under HTTP 200': [{ error: { message: 'boom' } }, /^boom$/],
  'no choices': [{ choices: [] }, /no choices/],
  'a choice without a message': [{ choices: [{ index: 0 }] }, /no message/],
  'a broken-off choice': [choice({ content: 'x' }, 'error'), /broke off/],
};

function isUnreadable(message: RegExp): (error: unknown) => boolean {
  return (error) => error instanceof UnreadableAnswer && message.test(error.message);
}

for (const [name, [body, message]] of Object.entries(unreadable)) {
  test(`${name} is unreadable, translated or relayed`, () => {
    assert.throws(() => readAnswer(body), isUnreadable(message));
    assert.throws(() => relayAnswer(body, contextFor()), isUnreadable(message));
  });
}

test('a tool call without a name cannot be translated', () => {
  assert.throws(
    () => readAnswer(call({ id: 'a', function: { arguments: '{}' } })),
    UnreadableAnswer,
  );
});

const message = (content: string) => ({ message: { content }, finish_reason: 'stop' });

test('the relay adds our own count of every choice when the upstream sent none', () => {
  const body = {
    choices: [...choice({ content: '12345' }).choices, ...choice({ content: '678' }).choices],
    extra: 1,
  };
  const relayed = relayAnswer(body, contextFor());
  assert.equal(relayed.outputBytes, 8);
  assert.equal(relayed.usage, null);
  assert.deepEqual(relayed.body, {
    id: 'chatcmpl-01kahw',
    object: 'chat.completion',
    created: 1_790_000_000,
    choices: ['12345', '678'].map((content) => ({
      index: 0,
      message: { role: 'assistant', content },
      finish_reason: 'stop',
    })),
    extra: 1,
    model: 'catalogue/model',
    usage: {
      prompt_tokens: 7,
      completion_tokens: 2,
      total_tokens: 9,
      prompt_tokens_details: { cached_tokens: 0 },
      completion_tokens_details: { reasoning_tokens: 0 },
    },
  });
});

test('the relay reports the stop reason of the choice with index 0', () => {
  const cut = { index: 1, ...message('b'), finish_reason: 'length' };
  const whole = { index: 0, ...message('a'), finish_reason: 'stop' };
  assert.equal(relayAnswer({ choices: [cut, whole] }, contextFor()).stop?.reason, 'end');
});

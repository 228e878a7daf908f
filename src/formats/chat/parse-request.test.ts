import assert from 'node:assert/strict';
import { test } from 'node:test';
import { textPart } from '../../../tests/support/canonical/parts.ts';
import { assertRefused } from '../../../tests/support/assert-refused.ts';
import { simpleRequest } from '../../../tests/support/formats/chat.ts';
import { parseRequest } from './parse-request.ts';

const limits = { chatMaxTokens: 2048 };
const user = (content: unknown) => ({ messages: [{ role: 'user', content }] });
const assistant = (fields: object) => ({ messages: [{ role: 'assistant', ...fields }] });

const refused: Record<string, object> = {
  'model is required: a non-empty string': { model: undefined },
  'model must not be empty': { model: '' },
  'model must be a non-empty string; got 5': { model: 5 },
  'messages is required: a non-empty array': { messages: undefined },
  'messages must have at least 1 item; got 0': { messages: [] },
  'messages must be a non-empty array; got "Hi"': { messages: 'Hi' },
  'messages[0] must be an object; got "Hi"': { messages: ['Hi'] },
  'messages[0].role must be `system`, `developer`, `user`, `assistant`, `tool` or `function`; got "robot"':
    { messages: [{ role: 'robot', content: '' }] },
  'messages[0].content is required: a string or an array': { messages: [{ role: 'user' }] },
  'messages[0].content must be a string or an array; got null': user(null),
  'messages[0].content[0].text must be a string; got 5': user([{ type: 'text', text: 5 }]),
  'messages[0].content[0].image_url must be an object; got 5': user([
    { type: 'image_url', image_url: 5 },
  ]),
  'messages[0].tool_calls[0].function.arguments must be a string; got an object': assistant({
    tool_calls: [{ id: 'a', type: 'function', function: { name: 'f', arguments: {} } }],
  }),
  'messages[0].tool_call_id is required: a non-empty string': {
    messages: [{ role: 'tool', content: 'x' }],
  },
  'max_tokens must be a whole number of at least 1; got 0': { max_tokens: 0 },
  'max_tokens must be a whole number of at least 1; got 1.5': { max_tokens: 1.5 },
  'max_completion_tokens must be a whole number of at least 1; got 0': { max_completion_tokens: 0 },
  'max_completion_tokens must be a whole number of at least 1; got 1.5': {
    max_completion_tokens: 1.5,
  },
  'max_tokens must be at most 2048; got 2049. For longer answers use max_completion_tokens, which only the model limits, or ask the operator to raise limits.chat_max_tokens':
    { max_tokens: 2049 },
  'temperature must be a number from 0 to 2; got 2.1': { temperature: 2.1 },
  'temperature must be a number from 0 to 2; got "1"': { temperature: '1' },
  'top_p must be a number from 0 to 1; got -1': { top_p: -1 },
  'stream must be `true` or `false`; got "true"': { stream: 'true' },
  'stream_options.include_usage must be `true` or `false`; got 1': {
    stream_options: { include_usage: 1 },
  },
  'n must be a whole number from 1 to 128; got 0': { n: 0 },
  'n must be a whole number from 1 to 128; got 129': { n: 129 },
  'stop[0] must be a string; got 1': { stop: [1] },
  'presence_penalty must be a number from -2 to 2; got 3': { presence_penalty: 3 },
  'frequency_penalty must be a number from -2 to 2; got -3': { frequency_penalty: -3 },
  'seed must be a whole number; got "x"': { seed: 'x' },
  'metadata.a must be a string; got 1': { metadata: { a: 1 } },
  'reasoning_effort must be `none`, `minimal`, `low`, `medium`, `high`, `xhigh` or `max`; got "extreme"':
    { reasoning_effort: 'extreme' },
  'tools[0].function is required: an object': { tools: [{ type: 'function' }] },
  'tools[0].function.name is required: a non-empty string': {
    tools: [{ type: 'function', function: {} }],
  },
  'tool_choice must be `none`, `auto` or `required` or an object; got "some"': {
    tool_choice: 'some',
  },
  'tool_choice.function is required: an object': { tool_choice: { type: 'function' } },
  'response_format.json_schema is required: an object': {
    response_format: { type: 'json_schema' },
  },
};

for (const [message, fields] of Object.entries(refused)) {
  test(`refused: ${message}`, () => {
    const [param] = /^\S+/.exec(message)!;
    assertRefused(() => parseRequest({ ...simpleRequest, ...fields }, limits), param, message);
  });
}

test('a body that is not an object is refused', () => {
  assert.throws(() => parseRequest([], limits), {
    message: 'the body must be an object; got an array',
  });
});

test('bodies of SDKs pass: null fields, parts, calls without content, unknown fields and parts', () => {
  const body = {
    ...simpleRequest,
    messages: [
      { role: 'developer', content: [textPart('Be brief.')] },
      {
        role: 'user',
        name: 'ann',
        content: [{ type: 'input_audio', input_audio: { data: '', format: 'wav' } }],
      },
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'a', type: 'function', function: { name: 'f', arguments: '' } }],
      },
      { role: 'tool', tool_call_id: 'a', content: [textPart('1')] },
      { role: 'assistant', content: null, refusal: 'no', annotations: [] },
      { role: 'function', name: 'f', content: null },
    ],
    temperature: null,
    max_tokens: null,
    max_completion_tokens: null,
    stop: null,
    stream: null,
    tools: [{ type: 'code_interpreter' }],
    tool_choice: { type: 'allowed_tools', allowed_tools: {} },
    response_format: { type: 'grammar' },
    reasoning_effort: null,
    stream_options: null,
    brand_new: { deep: [1] },
  };
  assert.deepEqual(parseRequest(body, limits), {
    body,
    model: 'm',
    stream: false,
    maxOutputTokens: null,
    choices: 1,
    thinkingBudgetTokens: 0,
  });
});

const maximum = (fields: object, chatMaxTokens: number | null = 2048) =>
  parseRequest({ ...simpleRequest, ...fields }, { chatMaxTokens }).maxOutputTokens;

test('the smaller of both limits counts; only max_tokens has a configured maximum, which can be lifted', () => {
  assert.equal(maximum({ max_tokens: 2048 }), 2048);
  assert.equal(maximum({ max_completion_tokens: 100_000 }), 100_000);
  assert.equal(maximum({ max_tokens: 10, max_completion_tokens: 20 }), 10);
  assert.equal(maximum({ max_tokens: 30, max_completion_tokens: 20 }), 20);
  assert.equal(maximum({ max_tokens: 100_000 }, null), 100_000);
});

test('n and stream are read', () => {
  const request = parseRequest({ ...simpleRequest, n: 3, stream: true }, limits);
  assert.equal(request.choices, 3);
  assert.equal(request.stream, true);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { textPart } from '../../../tests/support/canonical/parts.ts';
import { assertRefused } from '../../../tests/support/assert-refused.ts';
import { clientRequest, limits } from '../../../tests/support/formats/messages.ts';
import { parseRequest } from './parse-request.ts';

const valid = { model: 'm', max_tokens: 100, messages: [{ role: 'user', content: 'Hello' }] };
const user = (...content: unknown[]) => ({ messages: [{ role: 'user', content }] });

const refused: Record<string, Record<string, unknown>> = {
  'model is required: a non-empty string': { model: undefined },
  'model must not be empty': { model: '' },
  'model must be a non-empty string; got 7': { model: 7 },
  'max_tokens is required: a whole number of at least 0': { max_tokens: undefined },
  'max_tokens must be a whole number of at least 0; got -1': { max_tokens: -1 },
  'max_tokens must be a whole number of at least 0; got 1.5': { max_tokens: 1.5 },
  'max_tokens must be a whole number of at least 0; got null': { max_tokens: null },
  'messages is required: a non-empty array': { messages: undefined },
  'messages must have at least 1 item; got 0': { messages: [] },
  'messages[0].role must be `user`, `assistant` or `system`; got "tool"': {
    messages: [{ role: 'tool', content: 'x' }],
  },
  'messages[0].content is required: a string or an array': { messages: [{ role: 'user' }] },
  'messages[0].content must be a string or an array; got 7': {
    messages: [{ role: 'user', content: 7 }],
  },
  'messages[0].content[0].type is required: `text`, `image`, `document`, `search_result`, `tool_use`, `tool_result`, `thinking` or `redacted_thinking`':
    user({ text: 'x' }),
  'messages[0].content[0].text must be a string; got 5': user({ type: 'text', text: 5 }),
  'messages[0].content[0].source is required: an object': user({ type: 'image' }),
  'messages[0].content[0].source.data is required: a string': user({
    type: 'image',
    source: { type: 'base64', media_type: 'image/png' },
  }),
  'messages[0].content[0].source.url must not be empty': user({
    type: 'image',
    source: { type: 'url', url: '' },
  }),
  'messages[0].content[0].input must be an object; got "{}"': user({
    type: 'tool_use',
    id: 'a',
    name: 'b',
    input: '{}',
  }),
  'messages[0].content[0].tool.definition.input_schema is required: an object': {
    messages: [
      {
        role: 'system',
        content: [{ type: 'tool_addition', tool: { definition: { name: 'f' } } }],
      },
    ],
  },
  'messages[0].content[0].tool_use_id is required: a non-empty string': user({
    type: 'tool_result',
    content: 'x',
  }),
  'messages[0].content[0].content[0].text is required: a string': user({
    type: 'tool_result',
    tool_use_id: 'a',
    content: [{ type: 'text' }],
  }),
  'messages[0].content[0].cache_control.ttl must be `5m` or `1h`; got "2h"': user({
    type: 'text',
    text: 'x',
    cache_control: { type: 'ephemeral', ttl: '2h' },
  }),
  'system must be a string or an array; got 5': { system: 5 },
  'system[0].type must be `text`; got "image"': { system: [{ type: 'image', text: 'x' }] },
  'temperature must be a number from 0 to 1; got 1.1': { temperature: 1.1 },
  'temperature must be a number from 0 to 1; got "1"': { temperature: '1' },
  'top_p must be a number from 0 to 1; got -1': { top_p: -1 },
  'top_k must be a whole number of at least 0; got -1': { top_k: -1 },
  'stop_sequences must be an array; got "x"': { stop_sequences: 'x' },
  'stream must be `true` or `false`; got "yes"': { stream: 'yes' },
  'tools must be an array; got an object': { tools: {} },
  'tools[0].input_schema is required: an object': { tools: [{ name: 'a' }] },
  'tools[0].name is required: a non-empty string': { tools: [{ input_schema: {} }] },
  'tool_choice must be an object; got "auto"': { tool_choice: 'auto' },
  'tool_choice.type must be `auto`, `any`, `tool` or `none`; got "required"': {
    tool_choice: { type: 'required' },
  },
  'tool_choice.name is required: a non-empty string': { tool_choice: { type: 'tool' } },
  'thinking.budget_tokens is required: a whole number of at least 1024': {
    thinking: { type: 'enabled' },
  },
  'thinking.budget_tokens must be a whole number of at least 1024; got 1023': {
    thinking: { type: 'enabled', budget_tokens: 1023 },
  },
  'thinking.budget_tokens must be below max_tokens, which it counts towards; got 2048 of 2048': {
    max_tokens: 2048,
    thinking: { type: 'enabled', budget_tokens: 2048 },
  },
  'output_config.effort must be `low`, `medium`, `high`, `xhigh` or `max`; got "extreme"': {
    output_config: { effort: 'extreme' },
  },
  'output_config.format.schema is required: an object': {
    output_config: { format: { type: 'json_schema' } },
  },
  'metadata.user_id must be a string; got 5': { metadata: { user_id: 5 } },
};

for (const [message, fields] of Object.entries(refused)) {
  test(`a body is refused when ${message}`, () => {
    const body = JSON.parse(JSON.stringify({ ...valid, ...fields })) as unknown;
    const [param] = /^\S+/.exec(message)!;
    assertRefused(() => parseRequest(body, limits), param, message);
  });
}

for (const body of [null, 'x', [], 5]) {
  test(`a body that is ${JSON.stringify(body)} is refused as a whole`, () => {
    assert.throws(() => parseRequest(body, limits), /^Error: the body must be an object/);
  });
}

test('a body with every known field passes unchanged', () => {
  const body = {
    model: 'm',
    max_tokens: 4096,
    system: [{ type: 'text', text: 'Be kind.', cache_control: { type: 'ephemeral', ttl: '1h' } }],
    messages: [
      {
        role: 'user',
        content: [
          textPart('What is this?'),
          { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } },
          {
            type: 'document',
            source: { type: 'text', media_type: 'text/plain', data: 'x' },
            title: 'T',
            citations: { enabled: true },
          },
        ],
      },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'Hm', signature: 's' },
          { type: 'redacted_thinking', data: 'd' },
          { type: 'tool_use', id: 'toolu_1', name: 'look', input: {} },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'toolu_1', content: 'A cat', is_error: false },
        ],
      },
      { role: 'system', content: 'Answer in French.' },
    ],
    tools: [
      { name: 'look', description: 'Looks', input_schema: { type: 'object' } },
      { type: 'bash_20250124', name: 'bash' },
    ],
    tool_choice: { type: 'auto', disable_parallel_tool_use: true },
    thinking: { type: 'enabled', budget_tokens: 1024 },
    output_config: { effort: 'high', format: { type: 'json_schema', schema: { type: 'object' } } },
    stop_sequences: ['END'],
    temperature: 1,
    top_p: 0.9,
    top_k: 40,
    stream: true,
    metadata: { user_id: 'u' },
  };
  const request = parseRequest(body, limits);
  assert.equal(request.body, body);
  assert.deepEqual(
    { ...request, body: null },
    {
      body: null,
      model: 'm',
      stream: true,
      maxOutputTokens: 4096,
      choices: 1,
      thinkingBudgetTokens: 1024,
    },
  );
});

const optionalFields =
  'system stream temperature top_p top_k stop_sequences tool_choice thinking output_config output_format metadata cache_control';

test('unknown fields, blocks, sources and typed tools pass, and null means not set', () => {
  const request = clientRequest({
    ...user({ type: 'hologram', rays: 3 }, { type: 'image', source: { type: 'orbit' } }),
    tools: [{ type: 'telepathy_20300101' }],
    new_field: { a: 1 },
    ...Object.fromEntries(optionalFields.split(' ').map((name) => [name, null])),
  });
  assert.equal(request.stream, false);
  assert.equal(request.thinkingBudgetTokens, 0);
});

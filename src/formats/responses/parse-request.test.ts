import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError } from '../../canonical/errors.ts';
import { parseRequest } from './parse-request.ts';

const limits = { chatMaxTokens: 2048 };
const valid = { model: 'm', input: 'hello' };

/** Each row: the fault, the body, the field in the error, and its message. */
const refused: readonly (readonly [string, unknown, string | null, RegExp])[] = [
  ['an array', [], null, /must be a JSON object/],
  ['null', null, null, /must be a JSON object/],
  ['no model', { input: 'x' }, 'model', /^model is required/],
  ['an empty model', { model: '', input: 'x' }, 'model', /^model must not be empty/],
  [
    'a number for a model',
    { model: 4, input: 'x' },
    'model',
    /^model must be a non-empty string; got 4/,
  ],
  ['no input', { model: 'm' }, 'input', /^input is required: a string, or an array of items/],
  ['input null', { model: 'm', input: null }, 'input', /^input is required/],
  ['input that is a number', { model: 'm', input: 3 }, 'input', /^input must be/],
  ['no items', { model: 'm', input: [] }, 'input', /^input must have at least 1 item/],
  [
    'instructions as an array',
    { ...valid, instructions: [] },
    'instructions',
    /^instructions must be a string/,
  ],
  ['stream as text', { ...valid, stream: 'true' }, 'stream', /^stream must be `true` or `false`/],
  [
    'no output at all',
    { ...valid, max_output_tokens: 0 },
    'max_output_tokens',
    /of at least 1; got 0/,
  ],
  ['half a token', { ...valid, max_output_tokens: 1.5 }, 'max_output_tokens', /whole number/],
  [
    'a temperature over 2',
    { ...valid, temperature: 2.1 },
    'temperature',
    /^temperature must be a number from 0 to 2; got 2.1/,
  ],
  ['a negative temperature', { ...valid, temperature: -0.1 }, 'temperature', /from 0 to 2/],
  ['a top_p over 1', { ...valid, top_p: 1.01 }, 'top_p', /from 0 to 1/],
  ['too many top_logprobs', { ...valid, top_logprobs: 21 }, 'top_logprobs', /from 0 to 20/],
  [
    'an unknown effort',
    { ...valid, reasoning: { effort: 'extreme' } },
    'reasoning.effort',
    /`low`, `medium`, `high`/,
  ],
  ['reasoning as text', { ...valid, reasoning: 'high' }, 'reasoning', /must be an object/],
  ['an unknown truncation', { ...valid, truncation: 'some' }, 'truncation', /`auto` or `disabled`/],
  [
    'previous_response_id as a number',
    { ...valid, previous_response_id: 7 },
    'previous_response_id',
    /must be a string/,
  ],
  ['store as text', { ...valid, store: 'no' }, 'store', /`true` or `false`/],
  [
    'parallel_tool_calls as text',
    { ...valid, parallel_tool_calls: 'yes' },
    'parallel_tool_calls',
    /`true` or `false`/,
  ],
  ['metadata with a number', { ...valid, metadata: { a: 1 } }, 'metadata.a', /must be a string/],
  ['a tool without a type', { ...valid, tools: [{ name: 'f' }] }, 'tools[0].type', /required/],
  [
    'a function without a name',
    { ...valid, tools: [{ type: 'function' }] },
    'tools[0].name',
    /is required/,
  ],
  [
    'parameters that are text',
    { ...valid, tools: [{ type: 'function', name: 'f', parameters: '{}' }] },
    'tools[0].parameters',
    /must be an object/,
  ],
  [
    'a namespace without tools',
    { ...valid, tools: [{ type: 'namespace', name: 'n' }] },
    'tools[0].tools',
    /is required/,
  ],
  [
    'a function of a namespace without a name',
    { ...valid, tools: [{ type: 'namespace', name: 'n', tools: [{ type: 'function' }] }] },
    'tools[0].tools[0].name',
    /is required/,
  ],
  [
    'a grammar without a definition',
    {
      ...valid,
      tools: [{ type: 'custom', name: 'c', format: { type: 'grammar', syntax: 'lark' } }],
    },
    'tools[0].format.definition',
    /is required/,
  ],
  [
    'allowed tools without a mode',
    { ...valid, tool_choice: { type: 'allowed_tools', tools: [] } },
    'tool_choice.mode',
    /is required/,
  ],
  ['an unknown tool choice', { ...valid, tool_choice: 'any' }, 'tool_choice', /must be/],
  [
    'a tool choice without a name',
    { ...valid, tool_choice: { type: 'function' } },
    'tool_choice.name',
    /is required/,
  ],
  [
    'a schema format without a schema',
    { ...valid, text: { format: { type: 'json_schema', name: 'n' } } },
    'text.format.schema',
    /is required/,
  ],
  ['an item that is text', { model: 'm', input: ['hello'] }, 'input[0]', /must be an object/],
  [
    'an unknown role',
    { model: 'm', input: [{ role: 'critic', content: 'x' }] },
    'input[0].role',
    /`user`, `assistant`/,
  ],
  [
    'a message without content',
    { model: 'm', input: [{ role: 'user' }] },
    'input[0].content',
    /is required/,
  ],
  [
    'a text part without text',
    { model: 'm', input: [{ role: 'user', content: [{ type: 'input_text' }] }] },
    'input[0].content[0].text',
    /is required/,
  ],
  [
    'a number for a text',
    {
      model: 'm',
      input: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 4 }] }],
    },
    'input[0].content[0].text',
    /must be a string; got 4/,
  ],
  [
    'an image address that is an object',
    {
      model: 'm',
      input: [{ role: 'user', content: [{ type: 'input_image', image_url: { url: 'x' } }] }],
    },
    'input[0].content[0].image_url',
    /must be a string/,
  ],
  [
    'a call without call_id',
    { model: 'm', input: [{ type: 'function_call', name: 'f', arguments: '{}' }] },
    'input[0].call_id',
    /is required/,
  ],
  [
    'arguments that are an object',
    { model: 'm', input: [{ type: 'function_call', call_id: 'c', name: 'f', arguments: {} }] },
    'input[0].arguments',
    /must be a string; got an object/,
  ],
  [
    'a result without output',
    { model: 'm', input: [{ type: 'function_call_output', call_id: 'c' }] },
    'input[0].output',
    /is required/,
  ],
  [
    'a reference',
    { model: 'm', input: ['x', { type: 'item_reference', id: 'msg_1' }] },
    'input[1]',
    /send the item itself/,
  ],
  [
    'a reference behind one to reasoning',
    { model: 'm', input: [{ id: 'rs_1' }, { id: 'msg_1' }] },
    'input[1]',
    /store: false/,
  ],
  [
    'a reference without a type',
    { model: 'm', input: [{ id: 'msg_1' }] },
    'input[0]',
    /send the item itself/,
  ],
];

test('each malformed request is refused with a 400 that names the field', async (t) => {
  for (const [what, body, param, message] of refused) {
    await t.test(what, () => {
      assert.throws(
        () => parseRequest(body, limits),
        (error) => {
          assert.ok(error instanceof ApiError);
          assert.equal(error.code, 'invalid_request');
          assert.equal(error.param, param);
          assert.match(error.message, message);
          return true;
        },
      );
    });
  }
});

test('every request of the official SDK is accepted', async (t) => {
  const accepted: Readonly<Record<string, object>> = {
    'a string': {},
    'null for every optional field': {
      instructions: null,
      stream: null,
      max_output_tokens: null,
      temperature: null,
      top_p: null,
      tools: null,
      tool_choice: null,
      parallel_tool_calls: null,
      reasoning: null,
      truncation: null,
      previous_response_id: null,
      store: null,
      text: null,
      metadata: null,
      user: null,
      include: null,
      service_tier: null,
      prompt_cache_key: null,
      top_logprobs: null,
    },
    'every known effort': { reasoning: { effort: 'xhigh', summary: 'auto' } },
    'a message without a type': { input: [{ role: 'developer', content: 'x' }] },
    'a whole conversation': {
      input: [
        { type: 'message', role: 'system', content: 'x', id: 'msg_1', status: 'completed' },
        {
          role: 'user',
          content: [{ type: 'input_image', image_url: 'https://a.b/c.png', detail: 'low' }],
        },
        {
          type: 'reasoning',
          id: 'rs_1',
          summary: [{ type: 'summary_text', text: 's' }],
          encrypted_content: null,
        },
        {
          type: 'message',
          role: 'assistant',
          id: 'msg_2',
          content: [
            { type: 'output_text', text: 'x', annotations: [] },
            { type: 'refusal', refusal: 'no' },
          ],
        },
        { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' },
        { type: 'function_call_output', call_id: 'c', output: [{ type: 'input_text', text: 'x' }] },
        { type: 'custom_tool_call', call_id: 'd', name: 'g', input: 'x' },
        { type: 'custom_tool_call_output', call_id: 'd', output: 'x' },
      ],
    },
    'unknown fields, items, parts and tools': {
      client_metadata: { a: [1] },
      input: [
        { type: 'web_search_call', id: 'ws_1' },
        { role: 'user', content: [{ type: 'input_audio', input_audio: {} }] },
      ],
      tools: [
        { type: 'web_search' },
        { type: 'custom', name: 'p', format: { type: 'grammar', syntax: 'lark', definition: 'x' } },
      ],
      tool_choice: { type: 'allowed_tools', mode: 'auto', tools: [] },
      text: { format: { type: 'grammar' }, verbosity: 'low' },
    },
  };
  for (const [what, fields] of Object.entries(accepted)) {
    await t.test(what, () => {
      const body = { ...valid, ...fields };
      assert.equal(parseRequest(body, limits).body, body);
    });
  }
});

test('model, stream flag and maximum are read from a request', () => {
  const request = parseRequest({ ...valid, stream: true, max_output_tokens: 5 }, limits);
  assert.deepEqual(
    { ...request, body: null },
    {
      body: null,
      model: 'm',
      stream: true,
      maxOutputTokens: 5,
      choices: 1,
      thinkingBudgetTokens: 0,
    },
  );
});

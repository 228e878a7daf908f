import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertRefused } from '../../../tests/support/assert-refused.ts';
import { parseRequest } from './parse-request.ts';

const limits = { chatMaxTokens: 2048 };
const valid = { model: 'm', input: 'hello' };

/** Fields by the message that refuses them; a message begins with the field's name. */
const refused: Readonly<Record<string, object>> = {
  'model is required: a non-empty string': { model: undefined },
  'model must not be empty': { model: '' },
  'model must be a non-empty string; got 4': { model: 4 },
  'input is required: a string, or an array of items with the whole conversation.': {
    input: undefined,
  },
  'input must be a string or a non-empty array; got 3': { input: 3 },
  'input must have at least 1 item; got 0': { input: [] },
  'instructions must be a string; got an array': { instructions: [] },
  'stream must be `true` or `false`; got "true"': { stream: 'true' },
  'max_output_tokens must be a whole number of at least 1; got 0': { max_output_tokens: 0 },
  'max_output_tokens must be a whole number of at least 1; got 1.5': { max_output_tokens: 1.5 },
  'temperature must be a number from 0 to 2; got 2.1': { temperature: 2.1 },
  'temperature must be a number from 0 to 2; got -0.1': { temperature: -0.1 },
  'top_p must be a number from 0 to 1; got 1.01': { top_p: 1.01 },
  'top_p must be a number from 0 to 1; got -0.1': { top_p: -0.1 },
  'top_logprobs must be a whole number from 0 to 20; got 21': { top_logprobs: 21 },
  'reasoning.effort must be `none`, `minimal`, `low`, `medium`, `high`, `xhigh` or `max`; got "extreme"':
    { reasoning: { effort: 'extreme' } },
  'reasoning must be an object; got "high"': { reasoning: 'high' },
  'truncation must be `auto` or `disabled`; got "some"': { truncation: 'some' },
  'previous_response_id must be a string; got 7': { previous_response_id: 7 },
  'store must be `true` or `false`; got "no"': { store: 'no' },
  'parallel_tool_calls must be `true` or `false`; got "yes"': { parallel_tool_calls: 'yes' },
  'metadata.a must be a string; got 1': { metadata: { a: 1 } },
  'tools[0].type is required: `function`, `custom`, `namespace` or `tool_search`': {
    tools: [{ name: 'f' }],
  },
  'tools[0].name is required: a non-empty string': { tools: [{ type: 'function' }] },
  'tools[0].parameters must be an object; got "{}"': {
    tools: [{ type: 'function', name: 'f', parameters: '{}' }],
  },
  'tools[0].tools is required: an array': { tools: [{ type: 'namespace', name: 'n' }] },
  'tools[0].tools[0].name is required: a non-empty string': {
    tools: [{ type: 'namespace', name: 'n', tools: [{ type: 'function' }] }],
  },
  'tools[0].format.definition is required: a string': {
    tools: [{ type: 'custom', name: 'c', format: { type: 'grammar', syntax: 'lark' } }],
  },
  'tool_choice.mode is required: `auto` or `required`': {
    tool_choice: { type: 'allowed_tools', tools: [] },
  },
  'tool_choice must be `auto`, `none`, `required` or an object; got "any"': { tool_choice: 'any' },
  'tool_choice.name is required: a non-empty string': { tool_choice: { type: 'function' } },
  'text.format.schema is required: an object': {
    text: { format: { type: 'json_schema', name: 'n' } },
  },
  'input[0] must be an object; got "hello"': { input: ['hello'] },
  'input[0].role must be `user`, `assistant`, `system` or `developer`; got "critic"': {
    input: [{ role: 'critic', content: 'x' }],
  },
  'input[0].content is required: a string or an array': { input: [{ role: 'user' }] },
  'input[0].content[0].text is required: a string': {
    input: [{ role: 'user', content: [{ type: 'input_text' }] }],
  },
  'input[0].content[0].text must be a string; got 4': {
    input: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 4 }] }],
  },
  'input[0].content[0].image_url must be a string; got an object': {
    input: [{ role: 'user', content: [{ type: 'input_image', image_url: { url: 'x' } }] }],
  },
  'input[0].call_id is required: a non-empty string': {
    input: [{ type: 'function_call', name: 'f', arguments: '{}' }],
  },
  'input[0].arguments must be a string; got an object': {
    input: [{ type: 'function_call', call_id: 'c', name: 'f', arguments: {} }],
  },
  'input[0].output must be a string or an array; got 5': {
    input: [{ type: 'function_call_output', call_id: 'c', output: 5 }],
  },
  'input[1] refers to an item by its id, but nothing is kept between requests: send the item itself, as client libraries do with `store: false`.':
    { input: ['x', { type: 'item_reference', id: 'msg_1' }] },
  'input[0] refers to an item by its id, but nothing is kept between requests: send the item itself, as client libraries do with `store: false`.':
    { input: [{ id: 'msg_1' }] },
};

for (const [message, fields] of Object.entries(refused)) {
  test(`a body is refused when ${message}`, () => {
    const [param] = /^\S+/.exec(message)!;
    assertRefused(() => parseRequest({ ...valid, ...fields }, limits), param, message);
  });
}

test('a body that is no object is refused', () => {
  for (const body of [[], null])
    assertRefused(() => parseRequest(body, limits), null, /must be a JSON object/);
});

test('input null is missing, and a reference is found behind one to reasoning', () => {
  const cases: [input: unknown, param: string, message: RegExp][] = [
    [null, 'input', /^input is required/],
    [[{ id: 'rs_1' }, { id: 'msg_1' }], 'input[1]', /store: false/],
  ];
  for (const [input, param, message] of cases)
    assertRefused(() => parseRequest({ ...valid, input }, limits), param, message);
});

const optional = (
  'instructions stream max_output_tokens temperature top_p tools tool_choice parallel_tool_calls reasoning truncation ' +
  'previous_response_id store text metadata user include service_tier prompt_cache_key top_logprobs'
).split(' ');

test('every request of the official SDK is accepted', async (t) => {
  const accepted: Readonly<Record<string, object>> = {
    'a string': {},
    'null for every optional field': Object.fromEntries(optional.map((name) => [name, null])),
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
        { role: 'user', content: [{ type: 'input_video', input_video: {} }] },
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

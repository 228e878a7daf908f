import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  assistantTurn,
  callPart,
  resultPart,
  textPart,
  thinkingPart,
  toolTurn,
  userTurn,
} from '../../../tests/support/canonical/parts.ts';
import { assertRefused } from '../../../tests/support/assert-refused.ts';
import { emptyRequest } from '../../../tests/support/canonical/empty-request.ts';
import type { Message } from '../../canonical/request.ts';
import type { JsonObject } from '../../lib/json.ts';
import { requestFor } from '../../../tests/support/formats/chat.ts';
import { ignoredFields, readRequest } from './read-request.ts';

const read = (fields: JsonObject = {}) => readRequest(requestFor(fields));
const readMessages = (...messages: JsonObject[]): readonly Message[] => read({ messages }).messages;

test('the smallest request has only its message', () => {
  assert.deepEqual(read(), { ...emptyRequest, messages: [userTurn('Hi')] });
});

test('leading system and developer messages are the system prompt, later ones stay in their place', () => {
  const { system, messages } = read({
    messages: [
      { role: 'system', content: 'a' },
      { role: 'developer', content: [textPart('b')] },
      { role: 'user', content: 'c' },
      { role: 'system', content: 'd' },
    ],
  });
  assert.deepEqual(system, [textPart('a'), textPart('b')]);
  assert.deepEqual(
    messages.map(({ role }) => role),
    ['user', 'system'],
  );
});

test('adjacent tool results are one message, and assistant turns keep reasoning, text, refusal and calls', () => {
  const call = { id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } };
  const messages = readMessages(
    { role: 'assistant', content: '', reasoning_content: 'hm', refusal: 'no', tool_calls: [call] },
    { role: 'tool', tool_call_id: 'a', content: '1' },
    { role: 'tool', tool_call_id: 'b', content: [textPart('2')] },
    { role: 'user', content: 'x' },
  );
  assert.deepEqual(messages.slice(0, 2), [
    assistantTurn(thinkingPart('hm'), { type: 'refusal', text: 'no' }, callPart('a')),
    toolTurn(resultPart('a', textPart('1')), resultPart('b', textPart('2'))),
  ]);
});

const thinking = (fields: JsonObject) => readMessages({ role: 'assistant', ...fields })[0]!.content;

test('signed reasoning is restored whole, even when a client kept it in pieces or kept only its plain text', () => {
  const signature = { vendor: 'anthropic' as const, value: 's' };
  const detail = { type: 'reasoning.text', index: 0, format: 'anthropic-claude-v1' };
  const expected = [thinkingPart('hm', signature)];
  assert.deepEqual(
    thinking({ reasoning_details: [{ ...detail, text: 'hm', signature: 's' }] }),
    expected,
  );
  assert.deepEqual(
    thinking({
      reasoning_details: [
        { ...detail, text: 'h' },
        { ...detail, text: 'm' },
        { ...detail, signature: 's' },
      ],
    }),
    expected,
  );
  assert.deepEqual(
    thinking({
      reasoning_details: [
        { ...detail, text: 'a' },
        { ...detail, index: 1, text: 'b', signature: 's' },
      ],
    }),
    [thinkingPart('a'), thinkingPart('b', signature)],
  );
  assert.deepEqual(
    thinking({ reasoning_content: 'hm', reasoning_details: [{ ...detail, signature: 's' }] }),
    expected,
  );
  assert.deepEqual(
    thinking({
      reasoning_details: [
        { type: 'reasoning.encrypted', data: 'd', format: 'openai-responses-v1' },
      ],
    }),
    [{ type: 'thinking', text: '', signature: { vendor: 'openai', value: 'd' }, redacted: true }],
  );
  assert.deepEqual(
    thinking({ reasoning_details: [{ type: 'reasoning.encrypted', data: 'd', format: 'other' }] }),
    [],
  );
});

test('images and files are read from URLs and data URIs', () => {
  const content = [
    { type: 'image_url', image_url: { url: 'https://x.test/a.png', detail: 'low' } },
    { type: 'image_url', image_url: { url: 'data:image/PNG;charset=x;base64,AAAA' } },
    { type: 'file', file: { file_data: 'data:application/pdf;base64,BBBB', filename: 'a.pdf' } },
  ];
  assert.deepEqual(readMessages({ role: 'user', content })[0]!.content, [
    { type: 'image', source: { kind: 'url', url: 'https://x.test/a.png' }, detail: 'low' },
    { type: 'image', source: { kind: 'base64', mediaType: 'image/png', data: 'AAAA' } },
    {
      type: 'document',
      source: { kind: 'base64', mediaType: 'application/pdf', data: 'BBBB' },
      name: 'a.pdf',
    },
  ]);
});

test('parameters are read', () => {
  const schema = { type: 'object' };
  const canonical = read({
    max_tokens: 9,
    temperature: 1,
    top_p: 0.5,
    top_k: 4,
    seed: 3,
    frequency_penalty: -1,
    presence_penalty: 1,
    stop: 'END',
    user: 'ann',
    safety_identifier: 'bob',
    metadata: { a: 'b' },
    prompt_cache_key: 'k',
    parallel_tool_calls: false,
    reasoning_effort: 'xhigh',
    tools: [
      { type: 'function', function: { name: 'f' } },
      { type: 'custom', custom: { name: 'c', description: 'd', format: { type: 'text' } } },
    ],
    tool_choice: { type: 'custom', custom: { name: 'c' } },
    response_format: { type: 'json_schema', json_schema: { name: 's', schema, strict: true } },
  });
  const { messages: _messages, system: _system, ...parameters } = canonical;
  assert.deepEqual(parameters, {
    tools: [
      {
        name: 'f',
        description: null,
        parameters: { type: 'object', properties: {} },
        strict: null,
        kind: 'function',
      },
      { name: 'c', description: 'd', parameters: null, strict: null, kind: 'custom' },
    ],
    toolChoice: { type: 'tool', name: 'c' },
    parallelToolCalls: false,
    maxOutputTokens: 9,
    temperature: 1,
    topP: 0.5,
    topK: 4,
    seed: 3,
    frequencyPenalty: -1,
    presencePenalty: 1,
    stopSequences: ['END'],
    reasoning: { effort: 'xhigh', budgetTokens: null },
    outputFormat: { type: 'json-schema', name: 's', description: null, schema, strict: true },
    endUser: 'ann',
    metadata: { a: 'b' },
    promptCacheKey: 'k',
  });
});

const assistant = (fields: JsonObject) => ({ messages: [{ role: 'assistant', ...fields }] });
const user = (part: JsonObject) => ({ messages: [{ role: 'user', content: [part] }] });
const refused: Readonly<Record<string, JsonObject>> = {
  n: { n: 2 },
  logprobs: { logprobs: true },
  top_logprobs: { top_logprobs: 3 },
  logit_bias: { logit_bias: { 50256: -100 } },
  functions: { functions: [{ name: 'f' }] },
  function_call: { function_call: 'auto' },
  service_tier: { service_tier: 'scale' },
  modalities: { modalities: ['audio'] },
  'tools[0].type': { tools: [{ type: 'web_search' }], tool_choice: { type: 'web_search' } },
  'tools[0].custom.format': {
    tools: [{ type: 'custom', custom: { name: 'c', format: { type: 'grammar' } } }],
  },
  'tool_choice.type': { tool_choice: { type: 'allowed_tools' } },
  'response_format.type': { response_format: { type: 'grammar' } },
  'messages[0].role': { messages: [{ role: 'function', name: 'f', content: '' }] },
  'messages[0].function_call': assistant({ function_call: { name: 'f', arguments: '' } }),
  'messages[0].content[0].type': assistant({ content: [{ type: 'thinking' }] }),
  'messages[0].content[0].input_audio.data': user({
    type: 'input_audio',
    input_audio: { data: 'https://a.example/b.wav', format: 'wav' },
  }),
  'messages[0].content[0].file.file_id': user({ type: 'file', file: { file_id: 'file-1' } }),
  'messages[0].content[0].file.file_data': user({ type: 'file', file: { file_data: 'AAAA' } }),
  'messages[0].content[0].image_url.url': user({
    type: 'image_url',
    image_url: { url: 'ftp://x' },
  }),
};

for (const [param, fields] of Object.entries(refused)) {
  test(`refused in translation: ${param} in ${JSON.stringify(fields)}`, () => {
    assertRefused(() => read(fields), param);
  });
}

test('a field without effect is not refused', () => {
  const fields = {
    n: 1,
    logprobs: false,
    top_logprobs: 0,
    logit_bias: {},
    functions: [],
    modalities: ['text'],
    service_tier: 'auto',
  };
  assert.deepEqual(read(fields), read());
  assert.deepEqual(ignoredFields(requestFor(fields)), []);
});

test('the thinking that clients of other hosts and gateways ask for is read', () => {
  const medium = { effort: 'medium', budgetTokens: null };
  const off = { effort: 'none', budgetTokens: null };
  const on = { effort: null, budgetTokens: null };
  const budget = { effort: null, budgetTokens: 4_000 };
  const least = { effort: null, budgetTokens: 1_024 };
  const cases: [Readonly<Record<string, unknown>>, object | null, ignored?: string[]][] = [
    [{ reasoning: { effort: 'medium', exclude: true } }, medium, ['reasoning.exclude']],
    [{ reasoning: { enabled: true, exclude: false, summary: null } }, medium],
    [{ thinking: { type: 'enabled', keep: 'all' } }, on, ['thinking.keep']],
    [{ reasoning: { max_tokens: 4_000 } }, budget],
    [{ reasoning: { max_tokens: 12 } }, least],
    [{ reasoning: { effort: 'medium', max_tokens: 9 } }, medium, ['reasoning.max_tokens']],
    [{ reasoning: { enabled: true } }, medium],
    [{ reasoning: { enabled: false, effort: 'high' } }, off],
    [{ thinking: { type: 'enabled', budget_tokens: 4_000 } }, budget],
    [{ thinking: { type: 'enabled' } }, on],
    [{ thinking: { type: 'disabled' } }, off],
    [{ enable_thinking: false }, off],
    [{ chat_template_kwargs: { enable_thinking: false } }, off],
    [{ chat_template_kwargs: { thinking: true } }, on],
    [{ reasoning_effort: 'medium', reasoning: { effort: 'high' } }, medium, ['reasoning']],
    [{ reasoning: { effort: 'huge' } }, null, ['reasoning']],
    [{ reasoning: {}, thinking: null, enable_thinking: 'no' }, null, ['enable_thinking']],
  ];
  for (const [fields, expected, ignored = []] of cases) {
    assert.deepEqual(read(fields).reasoning, expected, JSON.stringify(fields));
    assert.deepEqual(ignoredFields(requestFor(fields)), ignored, JSON.stringify(fields));
  }
});

test('harmless fields without a translation are listed unless they are empty', () => {
  const fields = {
    verbosity: 'low',
    store: true,
    brand_new: 1,
    prediction: null,
    moderation: {},
    user: 'a',
    safety_identifier: 'b',
    messages: [{ role: 'user', name: 'ann', content: 'x' }],
  };
  assert.deepEqual(ignoredFields(requestFor(fields)), [
    'store',
    'brand_new',
    'safety_identifier',
    'messages.name',
  ]);
});

test('a choice among allowed tools is accepted when they are all the tools', () => {
  const tools = ['a', 'b'].map((name) => ({ type: 'function', function: { name } }));
  const allow = (allowed: unknown) =>
    read({ tools, tool_choice: { type: 'allowed_tools', allowed_tools: allowed } });
  const { tools: kept, toolChoice } = allow({
    mode: 'required',
    tools: [{ type: 'function', function: { name: 'b' } }],
  });
  assert.deepEqual([kept.map(({ name }) => name), toolChoice], [['b'], { type: 'required' }]);
  const place = 'tool_choice.allowed_tools';
  assertRefused(() => allow({ mode: 'all', tools: [] }), `${place}.mode`);
  assertRefused(() => allow({ mode: 'auto', tools: [{}] }), `${place}.tools[0]`);
});

test('a last answer that is marked as begun is a prefill', () => {
  const last = (fields: JsonObject) =>
    read({
      messages: [
        { role: 'user', content: 'Hi' },
        { role: 'assistant', content: '{', ...fields },
      ],
    });
  for (const mark of ['prefix', 'partial'])
    assert.equal(last({ [mark]: true }).isPrefilled, true, mark);
  assert.equal(last({ prefix: false }).isPrefilled, undefined);
});

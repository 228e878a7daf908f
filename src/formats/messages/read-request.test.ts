import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  pageCitation,
  resultPart,
  textPart,
  toolTurn,
  userTurn,
} from '../../../tests/support/canonical/parts.ts';
import { assertRefused } from '../../../tests/support/assert-refused.ts';
import type { ToolResultPart } from '../../canonical/request.ts';
import { clientRequest } from '../../../tests/support/formats/messages.ts';
import { ignoredFields, readRequest } from './read-request.ts';

const read = (fields: Record<string, unknown>) => readRequest(clientRequest(fields));
const user = (...content: unknown[]) => ({ messages: [{ role: 'user', content }] });
const assistant = (...content: unknown[]) => ({ messages: [{ role: 'assistant', content }] });

test('a plain request is read', () => {
  const request = read({
    system: 'Be kind.',
    temperature: 0.5,
    stop_sequences: ['END'],
    metadata: { user_id: 'u' },
  });
  assert.deepEqual(request, {
    system: [textPart('Be kind.')],
    messages: [userTurn('Hello')],
    tools: [],
    toolChoice: null,
    parallelToolCalls: null,
    maxOutputTokens: 4096,
    temperature: 0.5,
    topP: null,
    topK: null,
    seed: null,
    frequencyPenalty: null,
    presencePenalty: null,
    stopSequences: ['END'],
    reasoning: null,
    outputFormat: { type: 'text' },
    endUser: 'u',
    metadata: null,
    promptCacheKey: null,
  });
});

test('signatures are read with their vendors, Anthropic’s own byte for byte', () => {
  const { messages } = read(
    assistant(
      { type: 'thinking', thinking: 'a', signature: 'EqRk/+==' },
      { type: 'thinking', thinking: 'b', signature: 'tg1.openai.gAAA.x' },
      { type: 'thinking', thinking: 'c', signature: '' },
      { type: 'thinking', thinking: 'd', signature: 'tg1.nobody.x' },
      { type: 'redacted_thinking', data: 'tg1.google.y' },
    ),
  );
  const signatures = messages[0]!.content.map((part) =>
    'signature' in part ? part.signature : undefined,
  );
  assert.deepEqual(signatures, [
    { vendor: 'anthropic', value: 'EqRk/+==' },
    { vendor: 'openai', value: 'gAAA.x' },
    null,
    null,
    { vendor: 'google', value: 'y' },
  ]);
});

test('results become messages of their own, before the user’s other content', () => {
  const { messages } = read(
    user(
      textPart('And?'),
      { type: 'tool_result', tool_use_id: 'a', content: 'x' },
      { type: 'tool_result', tool_use_id: 'b' },
    ),
  );
  assert.deepEqual(messages, [
    toolTurn(resultPart('a', textPart('x')), resultPart('b')),
    userTurn('And?'),
  ]);
});

test('the tools that a client’s own search found are named to the model', () => {
  const found = ['Read', 'Grep'].map((name) => ({ type: 'tool_reference', tool_name: name }));
  const [message] = read(user({ type: 'tool_result', tool_use_id: 'a', content: found })).messages;
  assert.deepEqual((message!.content[0] as ToolResultPart).content, [
    textPart('This tool can be called now: Read'),
    textPart('This tool can be called now: Grep'),
  ]);
});

const plain = (value: string) => ({
  kind: 'base64',
  mediaType: 'text/plain',
  data: Buffer.from(value).toString('base64'),
});

test('documents keep their name, their context and, as text, their content', () => {
  const { messages } = read(
    user(
      {
        type: 'document',
        title: 'T',
        context: 'From 1990.',
        source: { type: 'text', media_type: 'text/plain', data: 'é' },
      },
      { type: 'document', source: { type: 'content', content: [textPart('a'), textPart('b')] } },
    ),
  );
  assert.deepEqual(messages[0]!.content, [
    textPart('From 1990.'),
    { type: 'document', source: plain('é'), name: 'T' },
    { type: 'document', source: plain('a\n\nb') },
  ]);
});

test('results of a client’s own search are documents with their address, also as a tool’s result', () => {
  const found = {
    type: 'search_result',
    source: 'https://a.example',
    title: 'T',
    content: [textPart('a'), textPart('b')],
    citations: { enabled: true },
  };
  const document = { type: 'document', source: plain('https://a.example\n\na\n\nb'), name: 'T' };
  const fields = user({ type: 'tool_result', tool_use_id: 'c', content: [found] }, found);
  const [result, turn] = read(fields).messages;
  assert.deepEqual((result!.content[0] as ToolResultPart).content, [document]);
  assert.deepEqual(turn!.content, [document]);
  assert.deepEqual(ignoredFields(clientRequest(fields)), ['messages.citations']);
});

test('what Anthropic’s tool search found is left out and listed', () => {
  const name = 'tool_search_tool_regex';
  const references = [{ type: 'tool_reference', tool_name: 'f' }];
  const fields = assistant(
    { type: 'server_tool_use', id: 's', name, input: { pattern: 'f' } },
    {
      type: 'tool_search_tool_result',
      tool_use_id: 's',
      content: { type: 'tool_search_tool_search_result', tool_references: references },
    },
    textPart('b'),
  );
  assert.deepEqual(read(fields).messages[0]!.content, [textPart('b')]);
  assert.deepEqual(ignoredFields(clientRequest(fields)), [
    'messages.content.server_tool_use',
    'messages.content.tool_search_tool_result',
  ]);
});

const reasonings: [fields: Record<string, unknown>, reasoning: unknown][] = [
  [{ thinking: { type: 'disabled' } }, { effort: 'none', budgetTokens: null }],
  [{ thinking: { type: 'enabled', budget_tokens: 2000 } }, { effort: null, budgetTokens: 2000 }],
  [
    { thinking: { type: 'enabled', budget_tokens: 2000 }, output_config: { effort: 'low' } },
    { effort: null, budgetTokens: 2000 },
  ],
  [{ thinking: { type: 'adaptive' } }, { effort: null, budgetTokens: null }],
  [
    { thinking: { type: 'adaptive' }, output_config: { effort: 'max' } },
    { effort: 'max', budgetTokens: null },
  ],
  [{ output_config: { effort: 'low' } }, { effort: 'low', budgetTokens: null }],
];

for (const [fields, reasoning] of reasonings) {
  test(`${JSON.stringify(fields)} becomes the reasoning ${JSON.stringify(reasoning)}`, () => {
    assert.deepEqual(read(fields).reasoning, reasoning);
  });
}

const unreadable: [fields: Record<string, unknown>, param: string][] = [
  [user({ type: 'thinking', thinking: 'x' }), 'messages[0].content[0].type'],
  [
    assistant({ type: 'image', source: { type: 'url', url: 'https://example.com' } }),
    'messages[0].content[0].type',
  ],
  [
    assistant({ type: 'server_tool_use', id: 'a', name: 'web_fetch', input: {} }),
    'messages[0].content[0].type',
  ],
  [user({ type: 'image', source: { type: 'orbit' } }), 'messages[0].content[0].source.type'],
  [
    user({ type: 'document', source: { type: 'content', content: [{ type: 'image' }] } }),
    'messages[0].content[0].source.content[0]',
  ],
  [{ tools: [{ type: 'bash_20250124', name: 'bash' }] }, 'tools[0].type'],
  [
    { messages: [{ role: 'system', content: [{ type: 'tool_removal' }] }] },
    'messages[0].content[0].type',
  ],
];

for (const [fields, param] of unreadable) {
  test(`${JSON.stringify(fields)} is refused in translation, by the name of ${param}`, () => {
    assertRefused(() => read(fields), param);
  });
}

test('Claude Code’s line about itself is left out and listed', () => {
  const fields = {
    system: [textPart('x-anthropic-billing-header: cc_version=2.1'), textPart('Be kind.')],
  };
  assert.deepEqual(read(fields).system, [textPart('Be kind.')]);
  assert.deepEqual(ignoredFields(clientRequest(fields)), ['system']);
});

test('known fields without a canonical form are listed by name, and unknown ones are not', () => {
  const request = clientRequest({
    context_management: { edits: [] },
    service_tier: 'auto',
    diagnostics: null,
    mcp_servers: [],
    cache_control: { type: 'ephemeral' },
    'any\nthing': 1,
    constructor: 1,
    tools: [{ name: 'a', input_schema: {}, defer_loading: true }],
  });
  assert.deepEqual(ignoredFields(request), [
    'context_management',
    'service_tier',
    'cache_control',
    'tools.defer_loading',
  ]);
  assert.deepEqual(ignoredFields(clientRequest()), []);
});

test('nested fields that only Anthropic knows are listed', () => {
  const document = {
    type: 'document',
    source: { type: 'text', data: 'x' },
    citations: { enabled: true },
  };
  const image = {
    type: 'image',
    source: { type: 'url', url: 'https://x.test/a.png' },
    transformations: { oversized_image: 'error' },
  };
  const fields = {
    messages: [
      {
        role: 'user',
        content: [document, { type: 'tool_result', tool_use_id: 'c', content: [image] }],
      },
      { role: 'system', content: 'Be brief.', output_config: { effort: 'low' } },
    ],
    thinking: { type: 'adaptive', display: 'omitted' },
  };
  const expected = [
    'thinking.display',
    'messages.citations',
    'messages.transformations',
    'messages.output_config',
  ];
  assert.deepEqual(ignoredFields(clientRequest(fields)), expected);
  const disabled = { thinking: { type: 'disabled' }, output_config: { effort: 'low' } };
  assert.deepEqual(ignoredFields(clientRequest(disabled)), ['output_config.effort']);
});

test('an instruction for one turn is removed once the next turn has come', () => {
  const note = { role: 'system', content: 'Now.', clear_at: 'next_user_message' };
  const turn = { role: 'user', content: 'a' };
  const reply = { role: 'assistant', content: 'b' };
  const roles = (...messages: unknown[]) =>
    read({ messages }).messages.map((message) => message.role);
  assert.deepEqual(roles(turn, note), ['user', 'system']);
  assert.deepEqual(roles(turn, note, reply, turn), ['user', 'assistant', 'user']);
  assert.deepEqual(roles(turn, { ...note, clear_at: 'never' }, reply, turn), [
    'user',
    'system',
    'assistant',
    'user',
  ]);
});

test('a prefilled answer is marked as a prefill', () => {
  assert.equal(read(assistant(textPart('{'))).isPrefilled, true);
  assert.equal(read({}).isPrefilled, undefined);
});

test('a schema that OpenAI supports under `strict` requests it', () => {
  const strictOf = (schema: object) => {
    const { outputFormat } = read({ output_config: { format: { type: 'json_schema', schema } } });
    return outputFormat.type === 'json-schema' && outputFormat.strict;
  };
  assert.equal(strictOf({ type: 'object', properties: {}, additionalProperties: false }), true);
  assert.equal(strictOf({ type: 'object' }), null);
});

test('a cache mark on a call and the citations of a text are read', () => {
  const { messages } = read(
    assistant(
      {
        type: 'text',
        text: 'a',
        citations: [
          { type: 'web_search_result_location', url: 'https://a.example', encrypted_index: 'E' },
        ],
      },
      { type: 'tool_use', id: 'c', name: 'f', input: {}, cache_control: { type: 'ephemeral' } },
    ),
  );
  const [cited, call] = messages[0]!.content as readonly object[] as readonly Record<
    string,
    unknown
  >[];
  assert.deepEqual(cited!.citations, [pageCitation({ reference: 'E' })]);
  assert.deepEqual(call!.cacheControl, { type: 'ephemeral' });
});

test('strict is kept for a schema that is strict elsewhere too, else left out and listed', () => {
  const closed = {
    type: 'object',
    properties: { a: {} },
    required: ['a'],
    additionalProperties: false,
  };
  const cases: [schema: object, strict: boolean | null, ignored: string[]][] = [
    [closed, true, []],
    [{ ...closed, required: [] }, null, ['tools.strict']],
  ];
  for (const [schema, strict, ignored] of cases) {
    const fields = { tools: [{ name: 'f', input_schema: schema, strict: true }] };
    assert.equal(read(fields).tools[0]?.strict, strict);
    assert.deepEqual(ignoredFields(clientRequest(fields)), ignored);
  }
});

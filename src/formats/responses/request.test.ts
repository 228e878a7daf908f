import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  assistantTurn,
  callPart,
  resultPart,
  systemTurn,
  textPart,
  thinkingPart,
  toolTurn,
  userTurn,
} from '../../../tests/support/canonical/parts.ts';
import { assertRefused } from '../../../tests/support/assert-refused.ts';
import fc from '../../../tests/support/property.ts';
import { anyRequest, requestFor, target } from '../../../tests/support/formats/responses.ts';
import { parseRequest } from './parse-request.ts';
import { ignoredFields, readRequest } from './read-request.ts';
import { writeRequest } from './write-request.ts';

test('a canonical request survives being written and read', () => {
  fc.assert(
    fc.property(anyRequest, (request) => {
      const { body, ignored } = writeRequest(request, {
        ...target,
        maxOutputTokens: request.maxOutputTokens ?? 0,
      });
      assert.deepEqual(ignored, []);
      const sent = parseRequest(JSON.parse(JSON.stringify(body)), { chatMaxTokens: null });
      assert.deepEqual(readRequest(sent), request);
    }),
  );
});

test('sampling is kept for a model that does not think, and dropped and listed for one that does', () => {
  const request = readRequest(requestFor({ temperature: 0.5, top_p: 0.9 }));
  const plain = writeRequest(request, { ...target, thinking: false });
  assert.deepEqual([plain.body.temperature, plain.body.top_p, plain.ignored], [0.5, 0.9, []]);
  const openAi = { ...target, isOpenAi: true };
  assert.equal(writeRequest(request, { ...openAi, model: 'gpt-5.4' }).body.temperature, 0.5);
  const thinking = writeRequest(request, { ...openAi, model: 'gpt-5' });
  assert.deepEqual([thinking.body.temperature, thinking.body.top_p], [undefined, undefined]);
  assert.deepEqual(thinking.ignored, ['temperature', 'top_p']);
});

test('an upstream request is never stored, always has a limit, and asks a thinking model for encrypted reasoning', () => {
  const { body } = writeRequest(readRequest(requestFor()), { ...target, maxOutputTokens: 1 });
  assert.equal(body.store, false);
  assert.equal(body.max_output_tokens, 16);
  assert.deepEqual(body.include, ['reasoning.encrypted_content']);
  const plain = writeRequest(readRequest(requestFor({ reasoning: { effort: 'high' } })), {
    ...target,
    thinking: false,
  });
  assert.equal(plain.body.include, undefined);
  assert.equal(plain.body.reasoning, undefined);
  assert.deepEqual(plain.ignored, ['reasoning_effort']);
});

test('stop sequences are emulated, because this format has none', () => {
  const request = readRequest(requestFor());
  assert.deepEqual(writeRequest({ ...request, stopSequences: ['x', ''] }, target).emulated, {
    stopSequences: ['x'],
  });
  assert.deepEqual(writeRequest(request, target).emulated, {});
});

test('what this format cannot express is refused or listed', () => {
  const request = readRequest(requestFor());
  const { body, ignored } = writeRequest(
    {
      ...request,
      topK: 1,
      seed: 2,
      frequencyPenalty: 1,
      presencePenalty: 1,
      messages: [
        assistantTurn(thinkingPart('hm', { vendor: 'anthropic', value: 'x' }), 'a'),
        {
          role: 'tool',
          content: [{ type: 'tool-result', callId: 'c', content: [], isError: true }],
        },
      ],
    },
    target,
  );
  assert.deepEqual(ignored, ['top_k', 'seed', 'frequency_penalty', 'presence_penalty', 'thinking']);
  assert.deepEqual(body.input, [
    { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'a' }] },
    { type: 'function_call_output', call_id: 'c', output: '[The tool call failed.]' },
  ]);
});

test('a thinking budget becomes the nearest effort', () => {
  const request = readRequest(requestFor());
  const effortOf = (budgetTokens: number) =>
    (
      writeRequest({ ...request, reasoning: { effort: null, budgetTokens } }, target).body
        .reasoning as { effort: string }
    ).effort;
  assert.deepEqual([0, 1_024, 8_192, 24_576].map(effortOf), ['none', 'low', 'medium', 'high']);
});

test('items become turns: all assistant items before the next result form one message', () => {
  const { system, messages } = readRequest(
    requestFor({
      instructions: 'Be terse.',
      input: [
        { role: 'developer', content: 'Use tools.' },
        { role: 'user', content: 'Weather?' },
        {
          type: 'reasoning',
          id: 'rs_1',
          summary: [{ type: 'summary_text', text: 'think' }],
          encrypted_content: 'gAAA',
        },
        { type: 'function_call', id: 'c1', call_id: 'c1', name: 'f', arguments: '{}' },
        { type: 'function_call', call_id: 'c2', name: 'f', arguments: '{}' },
        { type: 'function_call_output', call_id: 'c1', output: 'sun' },
        {
          type: 'function_call_output',
          call_id: 'c2',
          output: [{ type: 'input_text', text: 'rain' }],
        },
        { type: 'reasoning', id: 'rs_2', summary: [] },
        { role: 'system', content: 'Now answer.' },
      ],
    }),
  );
  assert.deepEqual(
    system.map((part) => part.text),
    ['Be terse.', 'Use tools.'],
  );
  assert.deepEqual(messages, [
    userTurn('Weather?'),
    assistantTurn(
      thinkingPart('think', { vendor: 'openai', value: 'gAAA' }),
      callPart('c1'),
      callPart('c2'),
    ),
    toolTurn(resultPart('c1', textPart('sun')), resultPart('c2', textPart('rain'))),
    systemTurn('Now answer.'),
  ]);
});

test('Codex: tools in an item are read, with their grammar', () => {
  const request = requestFor({
    input: [
      {
        type: 'additional_tools',
        role: 'developer',
        tools: [
          {
            type: 'custom',
            name: 'apply_patch',
            description: 'Edits.',
            format: { type: 'grammar', syntax: 'lark', definition: 'start: x' },
          },
        ],
      },
      { role: 'user', content: 'Hi' },
    ],
    tools: [{ type: 'function', name: 'shell' }],
  });
  const { tools } = readRequest(request);
  assert.deepEqual(
    tools.map(({ name, kind }) => [name, kind]),
    [
      ['shell', 'function'],
      ['apply_patch', 'custom'],
    ],
  );
  assert.equal(tools[1]?.description, 'Edits.');
  assert.deepEqual(tools[1]?.grammar, { syntax: 'lark', definition: 'start: x' });
});

const required = { tool_choice: 'required' };

test('tools that OpenAI runs are left out and listed where the model need not use them', () => {
  const own = { type: 'function', name: 'f' };
  const hosted = [
    { type: 'web_search', external_web_access: false },
    { type: 'file_search', vector_store_ids: ['vs_1'] },
    { type: 'code_interpreter', container: 'c' },
    { type: 'image_generation' },
    { type: 'mcp' },
    { type: 'tool_search' },
    { type: 'something_new' },
  ];
  const search = hosted[0]!;
  const leanest: readonly (readonly [JsonFields, names: string[], leftOut: string[]])[] = [
    ...hosted.map((tool): [JsonFields, string[], string[]] => [
      { tools: [own, tool] },
      ['f'],
      ['tools[1]'],
    ]),
    [{ tools: [search] }, [], ['tools[0]']],
    [{ tools: [search, own], ...required }, ['f'], ['tools[0]']],
    [{ tools: [own, search], tool_choice: { type: 'function', name: 'f' } }, ['f'], ['tools[1]']],
    [{ tools: [search], tool_choice: 'none' }, [], ['tools[0]']],
    [
      {
        tools: [own, search],
        tool_choice: { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'web_search' }] },
      },
      ['f'],
      ['tools[1]'],
    ],
    [
      {
        tools: [{ type: 'namespace', name: 'n', tools: [own, { type: 'mcp' }] }],
        input: [
          { role: 'user', content: 'Hi' },
          { type: 'additional_tools', tools: [search, { type: 'function', name: 'g' }] },
        ],
      },
      ['n__f', 'g'],
      ['tools[0].tools[1]', 'input[1].tools[0]'],
    ],
  ];
  for (const [fields, names, leftOut] of leanest) {
    const request = requestFor(fields);
    assert.deepEqual(
      [readRequest(request).tools.map(({ name }) => name), ignoredFields(request)],
      [names, leftOut],
      JSON.stringify(fields),
    );
  }
  const tool_choice = { type: 'allowed_tools', mode: 'auto', tools: [search] };
  const onlySearch = readRequest(requestFor({ tools: [own, search], tool_choice }));
  assert.deepEqual(onlySearch.toolChoice, { type: 'none' });
});

test('what the canonical request cannot express is refused by name', async (t) => {
  const content = (role: string, part: object) => ({ input: [{ role, content: [part] }] });
  const refused: readonly (readonly [JsonFields, string])[] = [
    [{ top_logprobs: 2 }, 'top_logprobs'],
    [{ include: ['message.output_text.logprobs'] }, 'include'],
    [{ input: [{ type: 'compaction', encrypted_content: 'x' }] }, 'input[0].type'],
    [content('user', { type: 'input_audio' }), 'input[0].content[0].input_audio'],
    [content('user', { type: 'refusal', refusal: 'x' }), 'input[0].content[0].type'],
    [
      content('assistant', { type: 'input_image', image_url: 'https://a.b' }),
      'input[0].content[0].type',
    ],
    [content('user', { type: 'input_image' }), 'input[0].content[0].image_url'],
    [
      content('user', { type: 'input_image', image_url: 'file:///etc' }),
      'input[0].content[0].image_url',
    ],
    [content('user', { type: 'input_file' }), 'input[0].content[0].file_data'],
    [{ tools: [{ type: 'web_search' }], ...required }, 'tools[0].type'],
    [
      { input: [{ type: 'additional_tools', tools: [{ type: 'web_search' }] }], ...required },
      'input[0].tools[0].type',
    ],
    [
      { tools: [{ type: 'namespace', name: 'n', tools: [{ type: 'mcp' }] }], ...required },
      'tools[0].tools[0].type',
    ],
    [
      { tools: [{ type: 'function', name: 'f' }, { type: 'mcp' }], tool_choice: { type: 'mcp' } },
      'tools[1].type',
    ],
    [
      {
        tools: [{ type: 'function', name: 'f' }, { type: 'mcp' }],
        tool_choice: { type: 'allowed_tools', mode: 'required', tools: [{ type: 'mcp' }] },
      },
      'tools[1].type',
    ],
    [{ tools: [{ type: 'local_shell' }] }, 'tools[0].type'],
    [{ tools: [{ type: 'shell', environment: { type: 'local' } }] }, 'tools[0].type'],
    [{ tools: [{ type: 'apply_patch' }] }, 'tools[0].type'],
    [{ tools: [{ type: 'tool_search' }], ...required }, 'tools[0].execution'],
    [
      { input: [{ type: 'tool_search_call', arguments: {}, execution: 'server' }] },
      'input[0].call_id',
    ],
    [
      { input: [{ type: 'tool_search_output', call_id: 'c', execution: 'server', tools: [] }] },
      'input[0].call_id',
    ],
    [{ tool_choice: { type: 'web_search_preview' } }, 'tool_choice.type'],
    [{ text: { format: { type: 'grammar' } } }, 'text.format.type'],
    [{ background: true }, 'background'],
  ];
  for (const [fields, param] of refused) {
    await t.test(JSON.stringify(fields).slice(0, 80), () => {
      assertRefused(() => readRequest(requestFor(fields)), param);
    });
  }
});

test('harmless fields that are lost in translation are listed', () => {
  const ignored = ignoredFields(
    requestFor({
      truncation: 'auto',
      previous_response_id: 'resp_1',
      store: true,
      text: { verbosity: 'low' },
      client_metadata: {},
      max_tool_calls: 3,
      tools: [{ type: 'function', name: 'p', defer_loading: true, output_schema: {} }],
      input: [
        { role: 'user', content: 'Hi' },
        { type: 'reasoning', id: 'rs_1', summary: [] },
        { type: 'web_search_call', id: 'ws_1', status: 'completed' },
      ],
    }),
  );
  assert.deepEqual(
    ignored,
    (
      'truncation previous_response_id store client_metadata max_tool_calls ' +
      'tools.defer_loading tools.output_schema input[1] input[2]'
    ).split(' '),
  );
  assert.deepEqual(
    ignoredFields(requestFor({ truncation: 'disabled', store: false, previous_response_id: null })),
    [],
  );
});

type JsonFields = Readonly<Record<string, unknown>>;

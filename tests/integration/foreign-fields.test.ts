// Checks docs/formats.md against the started program: sends a sample of its cells to upstreams of
// another format.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addressed, clients, endpoint } from '../support/endpoints.ts';
import { startGateway } from '../support/gateway.ts';
import { answerJson } from '../support/upstream.ts';
import type { UpstreamWireName } from '../support/answers.ts';
import { modelOf } from '../support/model-of.ts';

const usage = { input_tokens: 5, output_tokens: 3, total_tokens: 8 };

const gateway = await startGateway({
  models: {
    R: modelOf([{ provider: 'openai', model: 'gpt-4.1', api: 'responses' }]),
    C: modelOf([{ provider: 'local', model: 'llama-4', api: 'chat' }]),
    M: modelOf([{ provider: 'anthropic', model: 'claude-sonnet-4-5' }]),
    G: modelOf([{ provider: 'google', model: 'gemini-2.5-flash' }]),
  },
});
const { key } = await gateway.makeKey({ mode: 'live', creditUsd: 50 });
const chat = {
  choices: [{ index: 0, message: { content: 'x' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 5, completion_tokens: 3 },
};
const gemini = {
  candidates: [{ content: { parts: [{ text: 'x' }] }, finishReason: 'STOP' }],
  usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 3 },
};
gateway.upstream.on(
  '/v1/responses',
  answerJson({ id: 'r', status: 'completed', output: [], usage }),
);
gateway.upstream.on('/local/v1/chat/completions', answerJson(chat));
gateway.upstream.on(
  '/v1/messages',
  answerJson({
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    content: [{ type: 'text', text: 'x' }],
    stop_reason: 'end_turn',
    usage,
  }),
);
gateway.upstream.on('/v1beta/models/gemini-2.5-flash:generateContent', answerJson(gemini));
after(() => gateway.stop());

/** The result for a field: `ignored:<names>`, `emulated:<names>`, `400:<param>` or `carried`. */
type Cell = readonly [
  client: UpstreamWireName,
  fields: object,
  to: Readonly<Partial<Record<'R' | 'C' | 'M' | 'G', string>>>,
];

const [tool, otherTool] = ['f', 'g'].map((name) => ({
  type: 'function',
  function: { name, parameters: { type: 'object', properties: {} } },
}));
const allowed = { mode: 'auto', tools: [{ type: 'function', function: { name: 'f' } }] };
const user = { role: 'user', content: 'Hi' };
const drawn = { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } };
const responsesTool = {
  type: 'function',
  name: 'f',
  parameters: { type: 'object', properties: {} },
};

const cells: readonly Cell[] = [
  ['chat', { top_k: 5 }, { R: 'ignored:top_k' }],
  [
    'chat',
    { frequency_penalty: 1 },
    {
      R: 'ignored:frequency_penalty',
      M: 'ignored:frequency_penalty',
      G: 'ignored:frequency_penalty',
    },
  ],
  ['chat', { seed: 7 }, { R: 'ignored:seed', M: 'ignored:seed', G: 'carried' }],
  ['chat', { stop: ['', ''] }, { R: 'carried', C: 'carried', M: 'carried', G: 'carried' }],
  [
    'chat',
    { stop: ['a', ' \n'] },
    { R: 'emulated:stop', C: 'carried', M: 'emulated:stop', G: 'carried' },
  ],
  ['messages', { stop_sequences: [''] }, { R: 'carried', C: 'carried', G: 'carried' }],
  [
    'chat',
    { tools: [{ function: tool!.function }] },
    { R: 'carried', C: 'carried', M: 'carried', G: 'carried' },
  ],
  ['chat', { stop: ['a'] }, { R: 'emulated:stop', M: 'carried', G: 'carried' }],
  [
    'chat',
    { stop: ['a', 'b', 'c', 'd', 'e', 'f'] },
    { R: 'emulated:stop', M: 'carried', G: 'emulated:stop' },
  ],
  ['chat', { n: 2 }, { R: '400:n', M: '400:n', G: '400:n' }],
  ['chat', { logprobs: true }, { R: '400:logprobs', M: '400:logprobs', G: '400:logprobs' }],
  [
    'chat',
    { response_format: { type: 'json_object' } },
    { R: 'carried', M: 'emulated:response_format', G: 'carried' },
  ],
  [
    'chat',
    { verbosity: 'low' },
    { R: 'ignored:verbosity', M: 'ignored:verbosity', G: 'ignored:verbosity' },
  ],
  [
    'chat',
    { metadata: { a: 'b' } },
    { R: 'carried', M: 'ignored:metadata', G: 'ignored:metadata' },
  ],
  [
    'chat',
    { prompt_cache_key: 'k' },
    { R: 'carried', M: 'ignored:prompt_cache_key', G: 'ignored:prompt_cache_key' },
  ],
  ['chat', { store: true }, { R: 'ignored:store', M: 'ignored:store', G: 'ignored:store' }],
  [
    'chat',
    { made_up: 1 },
    { R: 'ignored:made_up', C: 'ignored:made_up', M: 'ignored:made_up', G: 'ignored:made_up' },
  ],
  ['chat', { user: 'u-1' }, { R: 'carried', M: 'carried', G: 'ignored:user' }],
  ['chat', { user: 'a@b.example' }, { R: 'carried', M: 'carried' }],
  [
    'chat',
    { messages: [{ ...user, name: 'x' }] },
    { R: 'ignored:messages.name', M: 'ignored:messages.name', G: 'ignored:messages.name' },
  ],
  [
    'chat',
    { tools: [tool, otherTool], tool_choice: { type: 'allowed_tools', allowed_tools: allowed } },
    { R: 'carried', M: 'carried', G: 'carried' },
  ],
  [
    'chat',
    { tools: [tool], tool_choice: { type: 'function', function: { name: 'no' } } },
    { R: '400:tool_choice', M: '400:tool_choice', G: '400:tool_choice' },
  ],
  [
    'chat',
    { tools: [tool], parallel_tool_calls: false },
    { R: 'carried', M: 'carried', G: 'ignored:parallel_tool_calls' },
  ],
  [
    'chat',
    { reasoning_effort: 'high' },
    { R: 'ignored:reasoning', M: 'ignored:reasoning_effort', G: 'ignored:reasoning_effort' },
  ],
  [
    'chat',
    {
      messages: [
        {
          role: 'user',
          content: [{ type: 'input_audio', input_audio: { data: 'x', format: 'wav' } }],
        },
      ],
    },
    { R: '400:messages[0].content[0].type', G: '400:messages[0].content[0].type' },
  ],
  [
    'responses',
    { text: { format: { type: 'json_object' } } },
    { C: 'carried', M: 'emulated:text.format', G: 'carried' },
  ],
  [
    'responses',
    { metadata: { a: 'b' } },
    { C: 'ignored:metadata', M: 'ignored:metadata', G: 'ignored:metadata' },
  ],
  [
    'responses',
    { prompt_cache_key: 'k' },
    { C: 'ignored:prompt_cache_key', M: 'ignored:prompt_cache_key' },
  ],
  [
    'responses',
    { previous_response_id: 'resp_1' },
    {
      C: 'ignored:previous_response_id',
      M: 'ignored:previous_response_id',
      G: 'ignored:previous_response_id',
    },
  ],
  ['responses', { store: true }, { C: 'ignored:store', G: 'ignored:store' }],
  ['responses', { truncation: 'auto' }, { C: 'ignored:truncation', M: 'ignored:truncation' }],
  [
    'responses',
    { max_tool_calls: 3 },
    { C: 'ignored:max_tool_calls', M: 'ignored:max_tool_calls' },
  ],
  ['responses', { top_logprobs: 2 }, { C: '400:top_logprobs', M: '400:top_logprobs' }],
  [
    'responses',
    { input: [{ type: 'item_reference', id: 'x' }] },
    { R: '400:input[0]', C: '400:input[0]', M: '400:input[0]' },
  ],
  [
    'responses',
    { input: [user, { type: 'item_reference', id: 'rs_1' }] },
    { R: 'ignored:input[1]', C: 'ignored:input[1]', M: 'ignored:input[1]', G: 'ignored:input[1]' },
  ],
  [
    'responses',
    { input: [{ id: 'rs_1' }, user] },
    { R: 'ignored:input[0]', C: 'ignored:input[0]', M: 'ignored:input[0]', G: 'ignored:input[0]' },
  ],
  [
    'responses',
    { input: [{ type: 'reasoning', id: 'rs_1', summary: [] }, user] },
    { C: 'ignored:input[0]', M: 'ignored:input[0]', G: 'ignored:input[0]' },
  ],
  [
    'responses',
    { background: true },
    { R: '400:background', C: '400:background', M: '400:background' },
  ],
  [
    'responses',
    { tools: [{ type: 'web_search' }] },
    { C: 'ignored:tools[0]', M: 'ignored:tools[0]', G: 'ignored:tools[0]' },
  ],
  [
    'responses',
    { tools: [{ type: 'web_search' }], tool_choice: 'required' },
    { C: '400:tools[0].type', M: '400:tools[0].type', G: '400:tools[0].type' },
  ],
  [
    'responses',
    { tools: [{ type: 'shell', environment: { type: 'local' } }] },
    { C: '400:tools[0].type', M: '400:tools[0].type', G: '400:tools[0].type' },
  ],
  [
    'responses',
    { tools: [{ type: 'hologram' }] },
    { R: 'ignored:tools[0]', C: 'ignored:tools[0]', M: 'ignored:tools[0]', G: 'ignored:tools[0]' },
  ],
  ['responses', { tools: [{ type: 'code_interpreter' }] }, { R: '400:tools[0].type' }],
  [
    'messages',
    { tools: [{ type: 'web_search_20250305', name: 'web_search' }] },
    { R: 'ignored:tools[0]', C: 'ignored:tools[0]', G: 'ignored:tools[0]' },
  ],
  [
    'messages',
    {
      tools: [{ type: 'web_search_20250305', name: 'web_search' }],
      tool_choice: { type: 'tool', name: 'web_search' },
    },
    { R: '400:tools[0].type', C: '400:tools[0].type', G: '400:tools[0].type' },
  ],
  [
    'messages',
    { tools: [{ type: 'bash_20250124', name: 'bash' }] },
    { R: '400:tools[0].type', C: '400:tools[0].type', G: '400:tools[0].type' },
  ],
  ['messages', { tools: [{ type: 'hologram_20270101' }] }, { M: 'ignored:tools[0]' }],
  [
    'messages',
    { tools: [{ type: 'code_execution_20250825', name: 'c' }] },
    { M: '400:tools[0].type' },
  ],
  [
    'chat',
    { tools: [{ type: 'web_search' }], tool_choice: 'auto', parallel_tool_calls: false },
    { R: 'ignored:tools[0]', C: 'ignored:tools[0]', M: 'ignored:tools[0]', G: 'ignored:tools[0]' },
  ],
  [
    'chat',
    { tools: [{ type: 'web_search' }], tool_choice: 'required' },
    { R: '400:tools[0].type', C: '400:tools[0].type', M: '400:tools[0].type' },
  ],
  [
    'responses',
    { tools: [{ ...responsesTool, strict: true }] },
    { C: 'carried', M: 'carried', G: 'ignored:strict' },
  ],
  [
    'responses',
    {
      input: [
        { role: 'user', content: [{ type: 'input_file', file_url: 'https://a.example/x.pdf' }] },
      ],
    },
    { C: '400:input', M: 'carried', G: 'carried' },
  ],
  [
    'messages',
    { stop_sequences: ['a'] },
    { R: 'emulated:stop_sequences', C: 'carried', G: 'carried' },
  ],
  [
    'messages',
    { stop_sequences: ['a', 'b', 'c', 'd', 'e', 'f'] },
    { R: 'emulated:stop_sequences', C: 'emulated:stop_sequences', G: 'emulated:stop_sequences' },
  ],
  [
    'chat',
    { response_format: { type: 'json_object' }, tools: [tool] },
    { M: 'emulated:response_format', G: 'emulated:response_format' },
  ],
  ['messages', { top_k: 5 }, { R: 'ignored:top_k', C: 'ignored:top_k', G: 'carried' }],
  [
    'messages',
    { messages: [user, { role: 'assistant', content: 'So' }] },
    { R: '400:messages', C: 'carried', G: 'carried' },
  ],
  ['messages', { container: 'c' }, { R: '400:container', C: '400:container', G: '400:container' }],
  [
    'messages',
    { mcp_servers: [{ type: 'url', url: 'https://a.example', name: 'a' }] },
    { R: '400:mcp_servers', C: '400:mcp_servers' },
  ],
  [
    'messages',
    { system: [{ type: 'text', text: 's', cache_control: { type: 'ephemeral' } }] },
    { R: 'ignored:cache_control', C: 'ignored:cache_control', G: 'ignored:cache_control' },
  ],
  ['messages', { metadata: { user_id: 'u' } }, { R: 'carried', C: 'carried', G: 'ignored:user' }],
  ...nestedFields([
    [
      'chat',
      { messages: [user, { role: 'assistant', content: null, images: [drawn] }, user] },
      'messages.images',
      'RMG',
    ],
    [
      'messages',
      { output_config: { task_budget: { type: 'tokens', total: 9_000 } } },
      'output_config.task_budget',
      'RCG',
    ],
    [
      'responses',
      {
        reasoning: { context: 'all_turns' },
        input: [
          {
            role: 'user',
            content: [
              { type: 'input_text', text: 'x', prompt_cache_breakpoint: { mode: 'explicit' } },
            ],
          },
          { role: 'assistant', content: 'y', phase: 'commentary' },
          { role: 'user', content: 'z' },
        ],
      },
      'reasoning.context input.phase input.content.prompt_cache_breakpoint',
      'CMG',
    ],
    [
      'gemini',
      {
        contents: [
          {
            parts: [
              {
                text: 'x',
                partMetadata: { a: 1 },
                mediaResolution: { level: 'MEDIA_RESOLUTION_LOW' },
              },
            ],
          },
          { role: 'model', parts: [{ functionCall: { name: 'f', args: {} } }] },
          { parts: [{ functionResponse: { name: 'f', response: {}, scheduling: 'SILENT' } }] },
        ],
        tools: [
          {
            functionDeclarations: [
              { name: 'f', behavior: 'BLOCKING', response: { type: 'STRING' } },
            ],
          },
        ],
        toolConfig: { retrievalConfig: { languageCode: 'de' } },
      },
      'toolConfig.retrievalConfig contents.parts.mediaResolution contents.parts.partMetadata ' +
        'contents.parts.functionResponse.scheduling tools.functionDeclarations.behavior tools.functionDeclarations.response',
      'RCM',
    ],
  ]),
  [
    'gemini',
    {
      contents: [
        { parts: [{ text: 'x' }] },
        { role: 'model', parts: [{ functionCall: { name: 'f', args: {} } }] },
        { parts: [{ functionResponse: { name: 'f', response: {}, parts: [{}] } }] },
      ],
    },
    { R: '400:contents[2].parts[0].functionResponse.parts[0]' },
  ],
];

/** Fields below the top level that are listed by their path, on each of the models. */
function nestedFields(
  rows: readonly [client: UpstreamWireName, fields: object, paths: string, models: string][],
): Cell[] {
  return rows.map(([client, fields, paths, models]) => [
    client,
    fields,
    Object.fromEntries(
      Array.from(models, (model) => [model, `ignored:${paths.split(' ').toSorted().join(', ')}`]),
    ),
  ]);
}

for (const [client, fields, to] of cells) {
  test(`${client}: ${JSON.stringify(fields).slice(0, 100)}`, async () => {
    for (const [model, expected] of Object.entries(to)) {
      const { name, path, body: bodyOf } = clients.find((one) => one.name === client)!;
      const { path: at, body } = addressed({ name, path }, bodyOf({ model, ...fields }));
      const reply = await gateway.post(at, { key, body });
      const error = reply.status === 200 ? null : reply.error;
      const ignored = listOf(reply.headers['x-service-ignored']);
      const emulated = reply.headers['x-service-emulated'];
      const done = ignored
        ? `ignored:${ignored}`
        : emulated
          ? `emulated:${String(emulated)}`
          : 'carried';
      const what = reply.status === 400 ? `400:${error?.param}` : done;
      assert.ok([200, 400].includes(reply.status), `${model}: ${reply.status} ${reply.text}`);
      if (expected.startsWith('400:'))
        assert.ok(what.startsWith(expected), `on ${model}: ${what}, not ${expected}`);
      else assert.equal(what, expected, `on ${model}: ${error?.message ?? ''}`);
    }
  });
}

/** In alphabetical order: the order has no meaning. */
function listOf(header: string | string[] | undefined): string {
  return header === undefined ? '' : String(header).split(', ').toSorted().join(', ');
}

test('beta features that are not forwarded are listed, wherever the model runs', async () => {
  const { path, body } = endpoint('messages');
  const headers = {
    'anthropic-beta':
      'context-1m-2025-08-07, interleaved-thinking-2025-05-14, Skills-2025-10-02, two words',
  };
  for (const model of ['M', 'C', 'R', 'G']) {
    const reply = await gateway.post(path, { key, headers, body: body({ model }) });
    assert.equal(reply.status, 200);
    const listed =
      'anthropic-beta.context-1m-2025-08-07, anthropic-beta.Skills-2025-10-02, anthropic-beta.two%20words';
    assert.equal(reply.headers['x-service-ignored'], listed, model);
  }
  assert.equal(
    gateway.upstream.requests.find((request) => request.headers['anthropic-beta'])?.headers[
      'anthropic-beta'
    ],
    'interleaved-thinking-2025-05-14',
  );
});

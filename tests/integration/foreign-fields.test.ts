// Checks docs/formats.md against the started program: sends a sample of its cells to upstreams of
// another format.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addressed, clients, endpoint } from '../support/endpoints.ts';
import { startGateway } from '../support/gateway.ts';
import type { UpstreamWireName } from '../support/answers.ts';
import { answerEachWire, modelsByWire } from '../support/model-of.ts';

// The hosts stand for those on the web, which fetch addresses themselves.
const passed = ['messages.content.document', 'contents.parts.fileData'];
const fetching = Object.entries(modelsByWire).map(([name, model]) => [
  name,
  { ...model, pass_fields: passed },
]);
const gateway = await startGateway({ models: Object.fromEntries(fetching) });
answerEachWire(gateway.upstream);
const { key } = await gateway.makeKey({ mode: 'live', creditUsd: 50 });
after(() => gateway.stop());

/**
 * The results for a field, by models: `ignored:<names>`, `emulated:<names>`, `400:<param>` or `carried`.
 */
type Cell = readonly [client: UpstreamWireName, fields: object, to: string];

const parameters = { type: 'object', properties: {} };
const [tool, otherTool] = ['f', 'g'].map((name) => ({
  type: 'function',
  function: { name, parameters },
}));
const allowed = { mode: 'auto', tools: [{ type: 'function', function: { name: 'f' } }] };
const user = { role: 'user', content: 'Hi' };
const drawn = { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } };
const cells: readonly Cell[] = [
  ['chat', { top_k: 5 }, 'R ignored:top_k'],
  ['chat', { frequency_penalty: 1 }, 'RMG ignored:frequency_penalty'],
  ['chat', { prompt_cache_retention: '24h' }, 'R carried; MG ignored:prompt_cache_retention'],
  ['responses', { prompt_cache_retention: '24h' }, 'CMG ignored:prompt_cache_retention'],
  ['chat', { seed: 7 }, 'RM ignored:seed; G carried'],
  ['chat', { stop: ['', ''] }, 'RCMG carried'],
  ['chat', { stop: ['a', ' \n'] }, 'RM emulated:stop; CG carried'],
  ['messages', { stop_sequences: [''] }, 'RCG carried'],
  ['chat', { tools: [{ function: tool!.function }] }, 'RCMG carried'],
  ['chat', { stop: ['a'] }, 'R emulated:stop; MG carried'],
  ['chat', { stop: ['a', 'b', 'c', 'd', 'e', 'f'] }, 'RG emulated:stop; M carried'],
  ['chat', { n: 2 }, 'RMG 400:n'],
  ['chat', { logprobs: true }, 'RMG 400:logprobs'],
  ['chat', { response_format: { type: 'json_object' } }, 'RG carried; M emulated:response_format'],
  ['chat', { verbosity: 'low' }, 'RMG ignored:verbosity'],
  ['chat', { metadata: { a: 'b' } }, 'R carried; MG ignored:metadata'],
  ['chat', { prompt_cache_key: 'k' }, 'R carried; MG ignored:prompt_cache_key'],
  ['chat', { store: true }, 'RMG ignored:store'],
  ['chat', { made_up: 1 }, 'RCMG ignored:made_up'],
  ['chat', { user: 'u-1' }, 'RM carried; G ignored:user'],
  ['chat', { user: 'a@b.example' }, 'RM carried'],
  ['chat', { messages: [{ ...user, name: 'x' }] }, 'RMG ignored:messages.name'],
  [
    'chat',
    { tools: [tool, otherTool], tool_choice: { type: 'allowed_tools', allowed_tools: allowed } },
    'RMG carried',
  ],
  [
    'chat',
    { tools: [tool], tool_choice: { type: 'function', function: { name: 'no' } } },
    'RMG 400:tool_choice',
  ],
  [
    'chat',
    { tools: [tool], parallel_tool_calls: false },
    'RM carried; G ignored:parallel_tool_calls',
  ],
  ['chat', { reasoning_effort: 'high' }, 'RMG ignored:reasoning_effort'],
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
    'RG 400:messages[0].content[0].type',
  ],
  [
    'responses',
    { text: { format: { type: 'json_object' } } },
    'CG carried; M emulated:text.format',
  ],
  ['responses', { reasoning: { effort: 'high' } }, 'MG ignored:reasoning.effort'],
  ['responses', { text: { verbosity: 'low' } }, 'CMG ignored:text.verbosity'],
  ['responses', { metadata: { a: 'b' } }, 'CMG ignored:metadata'],
  ['responses', { prompt_cache_key: 'k' }, 'CM ignored:prompt_cache_key'],
  ['responses', { previous_response_id: 'resp_1' }, 'CMG ignored:previous_response_id'],
  ['responses', { store: true }, 'CG ignored:store'],
  ['responses', { truncation: 'auto' }, 'CM ignored:truncation'],
  ['responses', { max_tool_calls: 3 }, 'CM ignored:max_tool_calls'],
  ['responses', { top_logprobs: 2 }, 'CM 400:top_logprobs'],
  ['responses', { input: [{ type: 'item_reference', id: 'x' }] }, 'RCM 400:input[0]'],
  ['responses', { input: [user, { type: 'item_reference', id: 'rs_1' }] }, 'RCMG ignored:input[1]'],
  ['responses', { input: [{ id: 'rs_1' }, user] }, 'RCMG ignored:input[0]'],
  [
    'responses',
    { input: [{ type: 'reasoning', id: 'rs_1', summary: [] }, user] },
    'CMG ignored:input[0]',
  ],
  ['responses', { background: true }, 'RCM 400:background'],
  ['responses', { tools: [{ type: 'web_search' }] }, 'CMG ignored:tools[0]'],
  [
    'responses',
    { tools: [{ type: 'web_search' }], tool_choice: 'required' },
    'CMG 400:tools[0].type',
  ],
  [
    'responses',
    { tools: [{ type: 'shell', environment: { type: 'local' } }] },
    'CMG 400:tools[0].type',
  ],
  ['responses', { tools: [{ type: 'hologram' }] }, 'RCMG ignored:tools[0]'],
  ['responses', { tools: [{ type: 'code_interpreter' }] }, 'R 400:tools[0].type'],
  [
    'messages',
    { tools: [{ type: 'web_search_20250305', name: 'web_search' }] },
    'RCG ignored:tools[0]',
  ],
  [
    'messages',
    {
      tools: [{ type: 'web_search_20250305', name: 'web_search' }],
      tool_choice: { type: 'tool', name: 'web_search' },
    },
    'RCG 400:tools[0].type',
  ],
  ['messages', { tools: [{ type: 'bash_20250124', name: 'bash' }] }, 'RCG 400:tools[0].type'],
  ['messages', { tools: [{ type: 'hologram_20270101' }] }, 'M ignored:tools[0]'],
  ['messages', { tools: [{ type: 'code_execution_20250825', name: 'c' }] }, 'M 400:tools[0].type'],
  [
    'chat',
    { tools: [{ type: 'web_search' }], tool_choice: 'auto', parallel_tool_calls: false },
    'RCMG ignored:tools[0]',
  ],
  ['chat', { tools: [{ type: 'web_search' }], tool_choice: 'required' }, 'RCM 400:tools[0].type'],
  [
    'responses',
    { tools: [{ type: 'function', name: 'f', parameters, strict: true }] },
    'CM carried; G ignored:tools.strict',
  ],
  [
    'responses',
    {
      input: [
        { role: 'user', content: [{ type: 'input_file', file_url: 'https://a.example/x.pdf' }] },
      ],
    },
    'C 400:input; MG carried',
  ],
  ['messages', { stop_sequences: ['a'] }, 'R emulated:stop_sequences; CG carried'],
  ['messages', { stop_sequences: ['a', 'b', 'c', 'd', 'e', 'f'] }, 'RCG emulated:stop_sequences'],
  [
    'chat',
    { response_format: { type: 'json_object' }, tools: [tool] },
    'MG emulated:response_format',
  ],
  ['messages', { top_k: 5 }, 'RC ignored:top_k; G carried'],
  [
    'messages',
    { messages: [user, { role: 'assistant', content: 'So' }] },
    'R 400:messages; CG carried',
  ],
  ['messages', { container: 'c' }, 'RCG 400:container'],
  [
    'messages',
    { mcp_servers: [{ type: 'url', url: 'https://a.example', name: 'a' }] },
    'RC 400:mcp_servers',
  ],
  [
    'messages',
    { system: [{ type: 'text', text: 's', cache_control: { type: 'ephemeral' } }] },
    'RCG ignored:cache_control',
  ],
  [
    'gemini',
    { generationConfig: { topK: 5, seed: 7 } },
    'R ignored:generationConfig.seed, generationConfig.topK',
  ],
  ['messages', { metadata: { user_id: 'u' } }, 'RC carried; G ignored:metadata.user_id'],
  [
    'messages',
    { thinking: { type: 'enabled', budget_tokens: 1_024 }, max_tokens: 2_000 },
    'RG ignored:thinking',
  ],
  [
    'chat',
    { messages: [user, { role: 'assistant', content: null, images: [drawn] }, user] },
    'RMG ignored:messages.images',
  ],
  [
    'messages',
    { output_config: { task_budget: { type: 'tokens', total: 9_000 } } },
    'RCG ignored:output_config.task_budget',
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
    'CMG ignored:input.content.prompt_cache_breakpoint, input.phase, reasoning.context',
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
          functionDeclarations: [{ name: 'f', behavior: 'BLOCKING', response: { type: 'STRING' } }],
        },
      ],
      toolConfig: { retrievalConfig: { languageCode: 'de' } },
    },
    'RCM ignored:contents.parts.functionResponse.scheduling, contents.parts.mediaResolution, ' +
      'contents.parts.partMetadata, toolConfig.retrievalConfig, ' +
      'tools.functionDeclarations.behavior, tools.functionDeclarations.response',
  ],
  [
    'gemini',
    {
      contents: [
        { parts: [{ text: 'x' }] },
        { role: 'model', parts: [{ functionCall: { name: 'f', args: {} } }] },
        { parts: [{ functionResponse: { name: 'f', response: {}, parts: [{}] } }] },
      ],
    },
    'R 400:contents[2].parts[0].functionResponse.parts[0]',
  ],
];

for (const [client, fields, to] of cells) {
  test(`${client}: ${JSON.stringify(fields).slice(0, 100)}`, async () => {
    const results = to.split('; ').flatMap((group) => {
      const [models = '', result = ''] = group.split(/ (.*)/);
      return Array.from(models, (model) => [model, result] as const);
    });
    for (const [model, expected] of results) {
      const { name, path, body: bodyOf } = clients.find((one) => one.name === client)!;
      const { path: at, body } = addressed({ name, path }, bodyOf({ model, ...fields }));
      const reply = await gateway.post(at, { key, body });
      const error = reply.status === 200 ? null : reply.error;
      const ignored = listOf(reply.headers['x-service-ignored']);
      const emulated = reply.headers['x-service-emulated'];
      const carried = emulated ? `emulated:${String(emulated)}` : 'carried';
      const done = ignored ? `ignored:${ignored}` : carried;
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
  const betas = gateway.upstream.requests.flatMap(
    ({ headers: sent }) => sent['anthropic-beta'] ?? [],
  );
  assert.deepEqual(betas, ['interleaved-thinking-2025-05-14']);
});

// Test mode equals live mode without the network: a test key is refused what a live key is refused,
// with the same messages, and may send what a live key may send. The live side uses the real
// provider kinds with a local upstream that plays each host.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { startGateway, upstreamKey } from '../support/gateway.ts';
import type { Reply } from '../support/http.ts';
import { chatTurns } from '../support/turns-chat.ts';
import type { Body, Turn, TurnFormat } from '../support/turn-format.ts';
import { geminiTurns } from '../support/turns-gemini.ts';
import { messagesTurns } from '../support/turns-messages.ts';
import { responsesTurns } from '../support/turns-responses.ts';
import { answerJson, answerSse, answerStatus, type Script } from '../support/upstream.ts';

const tinyInputTokens = 4_000;
const tiny = {
  context_tokens: 5_000,
  max_input_tokens: tinyInputTokens,
  max_output_tokens: 500,
  prices: { input: 1, output: 2 },
  supports: { thinking: false, streaming: true, vision: true },
};

/**
 * Catalogue models: one for every kind of host, generation and way to think, and one of each kind
 * with a small context.
 */
const models = {
  'gpt-6-luna': { provider: 'openai' },
  'gpt-4.1': { provider: 'openai' },
  'gpt-5.5-pro': { provider: 'openai' },
  'claude-haiku-4-5': { provider: 'anthropic' },
  'claude-fable-5': { provider: 'anthropic' },
  'gemini-3.6-flash': { provider: 'google' },
  'gemini-2.5-flash': { provider: 'google' },
  'deepseek-v4-pro': { provider: 'deepseek' },
  'llama-3.3-70b-versatile': { provider: 'groq' },
  'tiny-openai': { provider: 'openai' },
  'tiny-anthropic': { provider: 'anthropic' },
  'tiny-google': { provider: 'google' },
  'tiny-local': { provider: 'groq' },
} as const;
type Model = keyof typeof models;

const gateway = await startGateway(({ url }) => ({
  providers: Object.fromEntries(
    Object.entries({
      openai: 'openai',
      anthropic: 'anthropic',
      google: 'google',
      deepseek: 'openai-compatible',
      groq: 'openai-compatible',
    }).map(([name, kind]) => [name, { kind, base_url: `${url}/${name}`, api_key: upstreamKey }]),
  ),
  models: Object.fromEntries(
    Object.entries(models)
      .filter(([id]) => id.startsWith('tiny-'))
      .map(([id, { provider }]) => [id, { routes: [{ provider, model: id }], ...tiny }]),
  ),
}));
for (const [path, turns] of hostPaths()) gateway.upstream.on(path, playHost(turns));
const { key: live, account: liveAccount } = await gateway.makeKey({ mode: 'live', creditUsd: 100 });
const sandbox = (await gateway.makeKey({ account: liveAccount })).key;
after(() => gateway.stop());

function hostPaths(): [path: string, turns: TurnFormat][] {
  const gemini = Object.keys(models).filter((id) => id.includes('gemini') || id.includes('google'));
  return [
    ['/openai/responses', responsesTurns],
    ...['openai', 'deepseek', 'groq'].map((name): [string, TurnFormat] => [
      `/${name}/chat/completions`,
      chatTurns,
    ]),
    ['/anthropic/v1/messages', messagesTurns],
    [
      '/anthropic/v1/messages/count_tokens',
      { ...messagesTurns, whole: () => ({ input_tokens: 20 }) },
    ],
    ...gemini.flatMap((id) =>
      ['generateContent', 'streamGenerateContent'].map((act): [string, TurnFormat] => [
        `/google/v1beta/models/${id}:${act}`,
        geminiTurns,
      ]),
    ),
  ];
}

const hello: Turn = { thought: null, calls: [], text: 'Hello there.' };

/**
 * A host that says hello, requires a forced tool to be defined, and has no room for a long prompt
 * if its model is tiny.
 */
function playHost(turns: TurnFormat): Script {
  return (response, request) => {
    const body = request.body as Body;
    const tokens = Math.ceil(JSON.stringify(body).length / 4);
    const isTiny = `${body['model'] as string} ${request.path}`.includes('tiny-');
    if (isTiny && tokens > tinyInputTokens)
      return answerStatus(400, { body: { error: { message: overlongWords(turns, tokens) } } })(
        response,
        request,
      );
    const missing = missingTool(body);
    if (missing)
      return answerStatus(400, { body: { error: { message: `Tool '${missing}' not found.` } } })(
        response,
        request,
      );
    const isStream = body['stream'] === true || request.path.endsWith(':streamGenerateContent');
    return (isStream ? answerSse(turns.frames(hello)) : answerJson(turns.whole(hello)))(
      response,
      request,
    );
  };
}

/** The forced tool, which is not defined. */
function missingTool({ tool_choice: choice, tools }: Body): string | undefined {
  const { name, function: made = {} } = (choice ?? {}) as {
    readonly name?: string;
    readonly function?: { readonly name?: string };
  };
  const chosen = made.name ?? name;
  return chosen !== undefined && !JSON.stringify(tools).includes(JSON.stringify(chosen))
    ? chosen
    : undefined;
}

/** As each vendor words it. */
function overlongWords(turns: TurnFormat, tokens: number): string {
  if (turns === messagesTurns)
    return `prompt is too long: ${tokens} tokens > ${tinyInputTokens} maximum`;
  if (turns === geminiTurns)
    return `The input token count (${tokens}) exceeds the maximum number of tokens allowed (${tinyInputTokens}).`;
  if (turns === responsesTurns)
    return 'Your input exceeds the context window of this model. Please adjust your input and try again.';
  return `This model's maximum context length is ${tinyInputTokens} tokens. However, your messages resulted in ${tokens} tokens.`;
}

type Fields = Readonly<Record<string, unknown>>;
type Format = {
  readonly path: string;
  readonly plain: Fields;
  readonly cases: Readonly<Record<string, Fields>>;
};

const schema = {
  type: 'object',
  properties: { a: { type: 'string' } },
  required: ['a'],
  additionalProperties: false,
};
const pixel =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const pdf = Buffer.from('%PDF-1.4 a small one').toString('base64');
const long = 'word '.repeat(tinyInputTokens * 2);
const say = (content: unknown, role = 'user') => ({ role, content });
const chatTool = { type: 'function', function: { name: 'look', parameters: schema } };
const namedTool = { type: 'function', name: 'look', parameters: schema };
const claudeTool = { name: 'look', input_schema: schema };

const formats: readonly Format[] = [
  {
    path: '/v1/chat/completions',
    plain: { messages: [say('Hi')], max_tokens: 300 },
    cases: {
      plain: {},
      n: { n: 2 },
      logprobs: { logprobs: true, top_logprobs: 2 },
      logit_bias: { logit_bias: { '50256': -100 } },
      stop: { stop: ['zebra'] },
      'many stops': { stop: ['a1', 'b2', 'c3', 'd4', 'e5', 'f6'] },
      json: { response_format: { type: 'json_object' }, messages: [say('Answer in JSON.')] },
      schema: {
        response_format: { type: 'json_schema', json_schema: { name: 'a', schema, strict: true } },
      },
      'an odd format': { response_format: { type: 'grammar', grammar: 'root ::= "a"' } },
      effort: { reasoning_effort: 'low' },
      'effort none': { reasoning_effort: 'none' },
      tools: { tools: [chatTool], parallel_tool_calls: false },
      'a forced tool': { tools: [chatTool], tool_choice: 'required' },
      'a named tool': {
        tools: [chatTool],
        tool_choice: { type: 'function', function: { name: 'look' } },
      },
      'a tool that is not there': {
        tools: [chatTool],
        tool_choice: { type: 'function', function: { name: 'other' } },
      },
      'a custom tool': { tools: [{ type: 'custom', custom: { name: 'shell' } }] },
      'older functions': { functions: [{ name: 'look', parameters: schema }] },
      'a hosted tool': { tools: [{ type: 'code_interpreter' }] },
      search: { web_search_options: {} },
      prefill: { messages: [say('Hi'), say('Hello', 'assistant')] },
      'a system message only': { messages: [say('Be brief.', 'system')] },
      image: {
        messages: [
          say([{ type: 'image_url', image_url: { url: `data:image/png;base64,${pixel}` } }]),
        ],
      },
      'image of a stranger': {
        messages: [say([{ type: 'image_url', image_url: { url: 'ftp://example.com/a.png' } }])],
      },
      file: {
        messages: [
          say([
            {
              type: 'file',
              file: { filename: 'a.pdf', file_data: `data:application/pdf;base64,${pdf}` },
            },
          ]),
        ],
      },
      'a kept file': { messages: [say([{ type: 'file', file: { file_id: 'file-1' } }])] },
      audio: { modalities: ['text', 'audio'], audio: { voice: 'alloy', format: 'wav' } },
      prediction: { prediction: { type: 'content', content: 'Hello' } },
      sampling: {
        temperature: 0.5,
        top_p: 0.9,
        seed: 7,
        frequency_penalty: 0.1,
        presence_penalty: 0.1,
      },
      top_k: { top_k: 5 },
      tier: { service_tier: 'priority' },
      store: { store: true, metadata: { a: 'b' } },
      verbosity: { verbosity: 'low', user: 'me' },
      unknown: { hologram: true },
      'a tool result': {
        messages: [
          say('Hi'),
          {
            role: 'assistant',
            content: null,
            tool_calls: [
              { id: 'c1', type: 'function', function: { name: 'look', arguments: '{}' } },
            ],
          },
          { role: 'tool', tool_call_id: 'c1', content: 'seen' },
        ],
        tools: [chatTool],
      },
      overlong: { messages: [say(long)] },
    },
  },
  {
    path: '/v1/responses',
    plain: { input: 'Hi', max_output_tokens: 300 },
    cases: {
      plain: {},
      json: { text: { format: { type: 'json_object' } }, input: 'Answer in JSON.' },
      schema: { text: { format: { type: 'json_schema', name: 'a', schema, strict: true } } },
      effort: { reasoning: { effort: 'high', summary: 'auto' } },
      tools: { tools: [namedTool], parallel_tool_calls: false },
      'a forced tool': { tools: [namedTool], tool_choice: 'required' },
      'a tool that is not there': {
        tools: [namedTool],
        tool_choice: { type: 'function', name: 'other' },
      },
      'a custom tool': { tools: [{ type: 'custom', name: 'shell' }] },
      namespace: {
        tools: [{ type: 'namespace', name: 'crm', description: 'CRM', tools: [namedTool] }],
      },
      search: { tools: [{ type: 'web_search' }] },
      'file search': { tools: [{ type: 'file_search', vector_store_ids: ['vs_1'] }] },
      code: { tools: [{ type: 'code_interpreter', container: { type: 'auto' } }] },
      computer: {
        tools: [
          {
            type: 'computer_use_preview',
            display_width: 1,
            display_height: 1,
            environment: 'browser',
          },
        ],
      },
      shell: { tools: [{ type: 'local_shell' }] },
      image: {
        input: [say([{ type: 'input_image', image_url: `data:image/png;base64,${pixel}` }])],
      },
      file: {
        input: [
          say([
            {
              type: 'input_file',
              filename: 'a.pdf',
              file_data: `data:application/pdf;base64,${pdf}`,
            },
          ]),
        ],
      },
      'file by address': {
        input: [say([{ type: 'input_file', file_url: 'https://example.com/a.pdf' }])],
      },
      logprobs: { top_logprobs: 2, include: ['message.output_text.logprobs'] },
      include: { include: ['reasoning.encrypted_content'] },
      previous: { previous_response_id: 'resp_1' },
      background: { background: true },
      prompt: { prompt: { id: 'pmpt_1' } },
      truncation: { truncation: 'auto' },
      few: { max_output_tokens: 5 },
      tier: { service_tier: 'flex' },
      instructions: { instructions: 'Be brief.', input: [say('Be kind.', 'developer'), say('Hi')] },
      prefill: {
        input: [
          say('Hi'),
          { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Hello' }] },
        ],
      },
      sampling: { temperature: 0.5, top_p: 0.9, metadata: { a: 'b' }, user: 'me' },
      unknown: { hologram: true },
      overlong: { input: long },
    },
  },
  {
    path: '/v1/messages',
    plain: { messages: [say('Hi')], max_tokens: 300 },
    cases: {
      plain: {},
      stop: { stop_sequences: ['zebra'] },
      thinking: { thinking: { type: 'enabled', budget_tokens: 1_024 }, max_tokens: 2_000 },
      'thinking adaptively': { thinking: { type: 'adaptive' } },
      effort: { output_config: { effort: 'low' } },
      schema: { output_config: { format: { type: 'json_schema', schema } } },
      tools: {
        tools: [claudeTool],
        tool_choice: { type: 'auto', disable_parallel_tool_use: true },
      },
      'a forced tool': { tools: [claudeTool], tool_choice: { type: 'tool', name: 'look' } },
      'a tool that is not there': {
        tools: [claudeTool],
        tool_choice: { type: 'tool', name: 'other' },
      },
      search: { tools: [{ type: 'web_search_20250305', name: 'web_search', max_uses: 2 }] },
      fetch: { tools: [{ type: 'web_fetch_20250910', name: 'web_fetch' }] },
      bash: { tools: [{ type: 'bash_20250124', name: 'bash' }] },
      editor: { tools: [{ type: 'text_editor_20250728', name: 'str_replace_based_edit_tool' }] },
      code: { tools: [{ type: 'code_execution_20250825', name: 'code_execution' }] },
      memory: { tools: [{ type: 'memory_20250818', name: 'memory' }] },
      prefill: { messages: [say('Hi'), say('Hello', 'assistant')] },
      system: {
        system: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } }],
      },
      'an hour of cache': {
        system: [
          { type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral', ttl: '1h' } },
        ],
      },
      image: {
        messages: [
          say([
            { type: 'image', source: { type: 'base64', media_type: 'image/png', data: pixel } },
          ]),
        ],
      },
      document: {
        messages: [
          say([
            {
              type: 'document',
              source: { type: 'base64', media_type: 'application/pdf', data: pdf },
            },
          ]),
        ],
      },
      'document by address': {
        messages: [
          say([{ type: 'document', source: { type: 'url', url: 'https://example.com/a.pdf' } }]),
        ],
      },
      'a kept file': {
        messages: [say([{ type: 'image', source: { type: 'file', file_id: 'file_1' } }])],
      },
      'search results': {
        messages: [
          say([
            {
              type: 'search_result',
              source: 'a',
              title: 'A',
              content: [{ type: 'text', text: 'b' }],
            },
          ]),
        ],
      },
      top_k: { top_k: 5, temperature: 0.5 },
      tier: { service_tier: 'auto' },
      speed: { speed: 'fast' },
      container: { container: 'container_1' },
      servers: { mcp_servers: [{ type: 'url', url: 'https://example.com', name: 'a' }] },
      edits: { context_management: { edits: [{ type: 'clear_tool_uses_20250919' }] } },
      unknown: { hologram: true },
      overlong: { messages: [say(long)] },
    },
  },
];

/** What a client sees of the outcome, except the text. */
function outcomeOf(reply: Reply): object {
  const { status, headers } = reply;
  const shown = {
    status,
    ignored: headers['x-service-ignored'],
    limit: headers['x-service-output-limit'],
  };
  if (status !== 200) return { ...shown, code: reply.error['code'], param: reply.error['param'] };
  const isStream = String(headers['content-type']).startsWith('text/event-stream');
  return { ...shown, isStream, hasFailed: isStream && reply.frames.some(isFailure) };
}

function isFailure({ event, data }: Reply['frames'][number]): boolean {
  const { error, type } = (data ?? {}) as { error?: unknown; type?: string };
  return event === 'error' || type === 'response.failed' || (error !== undefined && error !== null);
}

type Row = { readonly name: string; readonly path: string; readonly body: Fields };

/**
 * Every field of every format on a third of the models, alternating whole and streamed, and long
 * prompts on all small models.
 */
function rows(): Row[] {
  return formats.flatMap(({ path, plain, cases }) =>
    Object.entries(cases).flatMap(([name, fields], place) =>
      (Object.keys(models) as Model[]).flatMap((model, index) => {
        const isOverlong = name === 'overlong' && model.startsWith('tiny-');
        if ((place + index) % 3 !== 0 && !isOverlong) return [];
        const stream = Math.floor((place + index) / 3) % 2 === 1;
        const body = { model, ...plain, ...fields, ...(stream && { stream }) };
        return [{ name: `${path} ${model} ${name}${stream ? ', streamed' : ''}`, path, body }];
      }),
    ),
  );
}

test('a test key and a live key always get the same status, code and field', async () => {
  const table = rows();
  assert.ok(table.length >= 300, String(table.length));
  const differing: object[] = [];
  const statuses = new Set<number>();
  for (const { name, path, body } of table) {
    const [one, other] = await Promise.all(
      [live, sandbox].map((key) => gateway.post(path, { key, body })),
    );
    const [expected, actual] = [outcomeOf(one!), outcomeOf(other!)];
    statuses.add(one!.status);
    if (JSON.stringify(expected) !== JSON.stringify(actual))
      differing.push({ name, live: expected, test: actual });
  }
  assert.deepEqual(differing, []);
  assert.deepEqual(statuses, new Set([200, 400]), 'both are there to be compared');
});

test('a test key gets as many choices as it requests, with log probabilities, and pays for all', async () => {
  const body = {
    model: 'gpt-4.1',
    messages: [say('sandbox: tokens=10')],
    n: 3,
    logprobs: true,
    top_logprobs: 1,
  };
  const whole = (
    await gateway.post('/v1/chat/completions', { key: sandbox, body })
  ).json<Completion>();
  assert.deepEqual(
    whole.choices.map(({ index, logprobs }) => [
      index,
      logprobs?.content.map(({ token }) => token).join('').length,
    ]),
    [0, 1, 2].map((index) => [index, 40]),
  );
  assert.equal(whole.usage?.completion_tokens, 30);
  const streamed = await gateway.post('/v1/chat/completions', {
    key: sandbox,
    body: { ...body, stream: true, stream_options: { include_usage: true } },
  });
  const chunks = streamed.frames.flatMap(({ data }) =>
    typeof data === 'object' ? [data as Completion] : [],
  );
  const texts = [0, 1, 2].map((wanted) =>
    chunks
      .flatMap(({ choices }) =>
        choices.filter(({ index }) => index === wanted).map(({ delta }) => delta?.content ?? ''),
      )
      .join(''),
  );
  assert.deepEqual(
    texts,
    whole.choices.map(({ message }) => message?.content),
  );
  assert.equal(chunks.at(-1)?.usage?.completion_tokens, 30);
});

type Choice = {
  readonly index: number;
  readonly message?: { readonly content: string };
  readonly delta?: { readonly content?: string };
  readonly logprobs?: { readonly content: readonly { readonly token: string }[] };
};
type Completion = {
  readonly choices: readonly Choice[];
  readonly usage?: { readonly completion_tokens: number } | null;
};

const searching = [
  [
    '/v1/responses',
    {
      model: 'gpt-6-luna',
      input: 'sandbox: tool=web_search cats',
      tools: [{ type: 'web_search' }],
    },
  ],
  [
    '/v1/messages',
    {
      model: 'claude-haiku-4-5',
      max_tokens: 300,
      messages: [say('sandbox: tool=web_search {"query":"cats"}')],
      tools: [{ type: 'web_search_20250305', name: 'web_search' }],
    },
  ],
] as const;

for (const [path, body] of searching) {
  for (const stream of [false, true]) {
    test(`a provider’s web search is simulated and charged, on ${path}${stream ? ', streamed' : ''}`, async () => {
      const reply = await gateway.post(path, { key: sandbox, body: { ...body, stream } });
      assert.equal(reply.status, 200, reply.text);
      assert.match(reply.text, /Result 1 for “cats”/, 'a page is cited');
      const [record] = await gateway.usage<Searched>(sandbox, reply.requestId);
      assert.deepEqual([record?.web_searches, record?.provider ?? 'sandbox'], [1, 'sandbox']);
      assert.ok(
        reply.costMicros! > 10_000,
        `a cent for the search and the tokens: ${reply.costMicros}`,
      );
      const unasked = await gateway.post(path, {
        key: sandbox,
        body: { ...body, ...withoutDirective[path], stream },
      });
      assert.ok(unasked.costMicros! < 10_000, 'no search is run unasked');
    });
  }
}
type Searched = { readonly web_searches?: number; readonly provider?: string };
const withoutDirective = {
  '/v1/responses': { input: 'cats' },
  '/v1/messages': { messages: [say('cats')] },
};

test('a long prompt is refused before any charge, and can still be counted', async () => {
  const body = { model: 'tiny-anthropic', max_tokens: 10, messages: [say(long)] };
  const refused = await gateway.post('/v1/messages', { key: sandbox, body });
  assert.deepEqual([refused.status, refused.error['code']], [400, 'context_length_exceeded']);
  const counts = await Promise.all(
    [body, { ...body, model: 'gpt-6-luna' }].map((asked) => {
      const { max_tokens: _none, ...question } = asked;
      return gateway.post('/v1/messages/count_tokens', { key: sandbox, body: question });
    }),
  );
  assert.equal(
    counts[0]!.json<{ input_tokens: number }>().input_tokens,
    Math.ceil(long.length / 4),
  );
  assert.equal(counts[1]!.status, 400, 'as with a live key, Anthropic alone counts');
});

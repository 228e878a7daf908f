// What each known host of Chat refuses or wants otherwise, played by a local upstream that is as strict
// as the host (shared facts of 2026-11-27): rich requests of all clients are taken, whole and streamed.
// The rules here are written from the hosts' side and know nothing of the rows.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { isObject, type JsonObject } from '../../src/lib/json.ts';
import { adminOf } from '../support/admin.ts';
import { answerContent } from '../support/answers.ts';
import { answerAsCohere } from '../support/cohere-answers.ts';
import { startGateway } from '../support/gateway.ts';
import { modelOf } from '../support/model-of.ts';
import { answerJson, answerStatus, type Script } from '../support/upstream.ts';
import { columnOf } from '../support/column-of.ts';

/** Returns what is wrong with a body; '' for nothing. */
type Rule = (body: JsonObject) => string;

const fields =
  (names: string): Rule =>
  (body) =>
    names
      .split(' ')
      .filter((name) => Object.hasOwn(body, name))
      .join(' ');
const only =
  (names: string): Rule =>
  (body) =>
    Object.keys(body)
      .filter((name) => !names.split(' ').includes(name))
      .join(' ');
const listOf = (body: JsonObject, name: string) => (body[name] ?? []) as JsonObject[];
const inMessages =
  (names: string): Rule =>
  (body) =>
    listOf(body, 'messages')
      .map((message) => fields(names)(message))
      .find(Boolean) ?? '';
const inFunctions =
  (names: string): Rule =>
  (body) =>
    listOf(body, 'tools')
      .map((tool) => fields(names)(tool['function'] as JsonObject))
      .find(Boolean) ?? '';
/** `named`: a choice of one tool. */
const choices =
  (words: string): Rule =>
  ({ tool_choice: choice }) => {
    const word = isObject(choice) ? (choice['allowed_tools'] ? 'some' : 'named') : choice;
    return word === undefined || words.split(' ').some((known) => known === word)
      ? ''
      : `tool_choice ${JSON.stringify(word)}`;
  };
const wants =
  (name: string): Rule =>
  (body) =>
    Object.hasOwn(body, name) ? '' : `no ${name}`;
const temperatureWithin =
  (least: number, most: number): Rule =>
  ({ temperature }) =>
    typeof temperature === 'number' && (temperature < least || temperature > most)
      ? 'temperature'
      : '';
const stringResults: Rule = (body) =>
  listOf(body, 'messages').some(
    ({ role, content }) => role === 'tool' && typeof content !== 'string',
  )
    ? 'content of a tool'
    : '';
const stringTexts: Rule = (body) =>
  listOf(body, 'messages').some(({ content }) => content !== null && typeof content !== 'string')
    ? 'content'
    : '';
/** The answer with the calls, as the host gets it. */
const answered =
  (what: string, check: (answer: JsonObject) => boolean): Rule =>
  (body) => {
    const answer = listOf(body, 'messages').find(({ role }) => role === 'assistant');
    return !answer || check(answer) ? '' : what;
  };

const alternating: Rule = (body) =>
  listOf(body, 'messages').some(
    ({ role }, index, all) => role !== 'system' && role === all[index - 1]?.['role'],
  )
    ? 'roles'
    : '';
const noJsonMode: Rule = ({ response_format: format }) =>
  isObject(format) && format['type'] === 'json_object' ? 'response_format' : '';

const forcesWithoutThinking: Rule = ({ tool_choice: choice, thinking }) =>
  (choice === 'required' || isObject(choice)) &&
  !(isObject(thinking) && thinking['type'] === 'disabled')
    ? 'a forced call while it thinks'
    : '';

const openAiWords = inMessages('refusal annotations');
/** Anthropic's, of parts, of messages and of tools. */
const marks: Rule = (body) => (JSON.stringify(body).includes('"cache_control"') ? 'a mark' : '');

const strict: Readonly<Record<string, readonly Rule[]>> = {
  groq: [
    fields('logprobs top_logprobs logit_bias'),
    inMessages('name reasoning_content reasoning_details function_call'),
    answered('no reasoning', ({ reasoning }) => reasoning === 'Thought.'),
    marks,
  ],
  cerebras: [
    fields('frequency_penalty presence_penalty logit_bias max_tokens'),
    wants('max_completion_tokens'),
    inMessages('reasoning_content'),
    answered('no reasoning', ({ reasoning }) => reasoning === 'Thought.'),
    marks,
  ],
  xai: [inMessages('name'), inFunctions('strict')],
  mistral: [
    only(
      'model temperature top_p max_tokens stream stop random_seed metadata messages response_format tools tool_choice ' +
        'presence_penalty frequency_penalty n prediction parallel_tool_calls reasoning_effort prompt_mode guardrails ' +
        'prompt_cache_key service_tier safe_prompt',
    ),
    choices('auto none any named'),
    inMessages('reasoning_content reasoning reasoning_details name audio function_call'),
    openAiWords,
    marks,
  ],
  deepseek: [
    fields('seed top_k'),
    stringTexts,
    forcesWithoutThinking,
    answered('no reasoning_content', (answer) => answer['reasoning_content'] === 'Thought.'),
  ],
  moonshotai: [
    fields('temperature top_p presence_penalty frequency_penalty seed top_k'),
    choices('auto none required'),
    forcesWithoutThinking,
    answered('no reasoning_content', (answer) => answer['reasoning_content'] === 'Thought.'),
  ],
  zai: [
    fields('frequency_penalty presence_penalty max_completion_tokens'),
    choices('auto'),
    inMessages('name'),
    inFunctions('strict'),
    wants('max_tokens'),
  ],
  minimax: [
    fields('max_tokens'),
    wants('max_completion_tokens'),
    temperatureWithin(0.01, 1),
    answered('no thoughts', ({ content }) =>
      String(content).startsWith('<think>\nThought.\n</think>'),
    ),
  ],
  alibaba: [fields('frequency_penalty')],
  cohere: [
    only(
      'model messages stream max_tokens stop_sequences temperature p k seed frequency_penalty presence_penalty tools tool_choice response_format thinking',
    ),
    choices('REQUIRED NONE'),
    inMessages('name reasoning_content refusal annotations'),
    inFunctions('strict'),
    stringResults,
    answered('no thinking', ({ content }) =>
      JSON.stringify(content).startsWith('[{"type":"thinking","thinking":"Thought."}'),
    ),
  ],
  lmstudio: [choices('auto none required'), noJsonMode],
  fireworks: [choices('auto none any named')],
  openrouter: [choices('auto none')],
  deepinfra: [choices('auto none'), stringResults],
  perplexity: [
    fields('stop seed top_k tools tool_choice stream_options'),
    openAiWords,
    marks,
    alternating,
  ],
  nvidia: [
    only(
      'model messages stream stream_options max_tokens temperature top_p stop seed tools tool_choice response_format',
    ),
    wants('max_tokens'),
  ],
};

const names = Object.keys(strict);
/** OpenRouter's Claude refuses what Anthropic's does. */
const upstreamModels: Readonly<Record<string, string>> = {
  openrouter: 'anthropic/claude-fable-5.1',
};
/** Without tools: it has none. */
const toolless = ['perplexity'];

/** The kind `cohere` adds its version itself. */
const baseOf = (name: string) => (name === 'cohere' ? `/${name}` : `/${name}/v1`);

const gateway = await startGateway(({ url }) => ({
  providers: Object.fromEntries(
    names.map((name) => [name, { base_url: `${url}${baseOf(name)}`, api_key: 'k' }]),
  ),
  models: Object.fromEntries(
    names.map((name) => [
      `a-${name}-model`,
      modelOf([{ provider: name, model: upstreamModels[name] ?? 'upstream' }], {
        supports: { thinking: true },
      }),
    ]),
  ),
}));
const { key } = await gateway.makeKey({ mode: 'live', creditUsd: 5 });
const said = { text: 'Hi', tokens: { input: 5, output: 1 } };
for (const name of names)
  gateway.upstream.on(
    `${baseOf(name)}/${name === 'cohere' ? 'v2/chat' : 'chat/completions'}`,
    refusing(strict[name]!, name === 'cohere' ? answerAsCohere(said) : answerContent('chat', said)),
  );
after(() => gateway.stop());

function refusing(rules: readonly Rule[], answer: Script): Script {
  return (response, request) => {
    const wrong = rules.map((rule) => rule(request.body as JsonObject)).filter(Boolean);
    if (wrong.length === 0) return answer(response, request);
    return answerStatus(422, { body: { detail: wrong.join(', ') } })(response, request);
  };
}

const named = { type: 'function', function: { name: 'f' } };
const schema = { type: 'object', properties: { q: { type: 'string' } } };

const cacheMark = { cache_control: { type: 'ephemeral' } };
/** What the clients' SDKs send, with an earlier answer, its call and its result. */
const requests: Readonly<Record<string, (choice: string, hasTools: boolean) => JsonObject>> = {
  '/v1/chat/completions': (choice, hasTools) => ({
    max_completion_tokens: 100,
    temperature: 0,
    top_p: 0.9,
    top_k: 20,
    seed: 7,
    stop: ['END'],
    user: 'u',
    frequency_penalty: 0.1,
    presence_penalty: 0.1,
    // Without its stop sequences the request is translated, which has no place for these.
    ...(hasTools && { logprobs: true, top_logprobs: 2, logit_bias: { 5: 1 } }),
    reasoning_effort: 'low',
    messages: [
      { role: 'developer', content: 'Be brief.' },
      { role: 'user', name: 'ann', content: 'Hello' },
      {
        role: 'assistant',
        reasoning_content: 'Thought.',
        content: hasTools ? null : 'Hm.',
        refusal: null,
        audio: null,
        function_call: null,
        annotations: [],
        ...(hasTools && { tool_calls: [calling] }),
      },
      ...(hasTools
        ? [{ role: 'tool', tool_call_id: 'abcdefghi', content: [{ type: 'text', text: 'r' }] }]
        : []),
      { role: 'user', content: [{ type: 'text', text: 'Go on.', ...cacheMark }], ...cacheMark },
    ],
    ...cacheMark,
    ...(hasTools && {
      tools: ['f', ...(choice === 'some' ? ['g'] : [])].map((name) => ({
        type: 'function',
        function: { name, strict: true, parameters: schema, ...cacheMark },
        ...cacheMark,
      })),
      tool_choice:
        choice === 'named'
          ? named
          : choice === 'some'
            ? { type: 'allowed_tools', allowed_tools: { mode: 'auto', tools: [named] } }
            : choice,
      parallel_tool_calls: false,
    }),
  }),
  '/v1/messages': (choice, hasTools) => ({
    max_tokens: 2_000,
    temperature: 0,
    top_k: 20,
    stop_sequences: ['END'],
    metadata: { user_id: 'u' },
    system: 'Be brief.',
    messages: [
      { role: 'user', content: 'Hello' },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'Thought.', signature: '' },
          hasTools
            ? { type: 'tool_use', id: 'toolu_1', name: 'f', input: { q: 'x' } }
            : { type: 'text', text: 'Hm.' },
        ],
      },
      {
        role: 'user',
        content: [
          ...(hasTools
            ? [
                {
                  type: 'tool_result',
                  tool_use_id: 'toolu_1',
                  content: [{ type: 'text', text: 'r' }],
                },
              ]
            : []),
          { type: 'text', text: 'Go on.' },
        ],
      },
    ],
    ...(hasTools && {
      tools: [{ name: 'f', input_schema: schema, strict: true }],
      tool_choice:
        choice === 'named'
          ? { type: 'tool', name: 'f' }
          : { type: choice === 'required' ? 'any' : choice },
    }),
  }),
  '/v1/responses': (choice, hasTools) => ({
    max_output_tokens: 2_000,
    temperature: 0,
    top_p: 0.9,
    safety_identifier: 'u',
    prompt_cache_key: 'c',
    reasoning: { effort: 'low' },
    instructions: 'Be brief.',
    store: false,
    input: [
      { role: 'user', content: 'Hello' },
      {
        type: 'reasoning',
        id: 'rs_1',
        summary: [],
        content: [{ type: 'reasoning_text', text: 'Thought.' }],
      },
      ...(hasTools
        ? [
            { type: 'function_call', call_id: 'call_1', name: 'f', arguments: '{"q":"x"}' },
            { type: 'function_call_output', call_id: 'call_1', output: 'r' },
          ]
        : [{ role: 'assistant', content: 'Hm.' }]),
      { role: 'user', content: 'Go on.' },
    ],
    ...(hasTools && {
      tools: [{ type: 'function', name: 'f', strict: true, parameters: schema }],
      tool_choice: choice === 'named' ? { type: 'function', name: 'f' } : choice,
      parallel_tool_calls: false,
    }),
  }),
};
const calling = {
  id: 'abcdefghi',
  type: 'function',
  function: { name: 'f', arguments: '{"q":"x"}' },
};

for (const name of names) {
  const hasTools = !toolless.includes(name);
  for (const [path, write] of Object.entries(requests)) {
    test(`${name} takes rich requests by ${path}`, async () => {
      for (const choice of hasTools ? ['auto', 'required', 'named', 'none'] : ['auto'])
        for (const stream of [false, true]) {
          const body = { model: `a-${name}-model`, stream, ...write(choice, hasTools) };
          const reply = await gateway.post(path, { key, body });
          assert.equal(reply.status, 200, `${choice} ${reply.text}`);
          assert.match(reply.text, /Hi/);
        }
    });
  }
}

test('a model that shall not think is told so as its host wants it', async () => {
  const thinking = { type: 'disabled' };
  const words = Object.fromEntries(
    ['deepseek', 'moonshotai', 'zai', 'minimax'].map((name) => [name, { thinking }]),
  );
  const asked = {
    '/v1/chat/completions': { reasoning_effort: 'none' },
    '/v1/messages': { thinking, max_tokens: 99 },
  };
  const messages = [{ role: 'user', content: 'Hello' }];
  for (const [name, told] of Object.entries({ ...words, alibaba: { enable_thinking: false } }))
    for (const [path, effort] of Object.entries(asked)) {
      const body = { model: `a-${name}-model`, messages, ...effort };
      const { asked: sent } = await gateway.recordUpstream(() => gateway.post(path, { key, body }));
      const {
        model: _,
        messages: __,
        max_tokens: ___,
        max_completion_tokens: ____,
        ...rest
      } = sent[0]!.body as JsonObject;
      assert.deepEqual(rest, told, `${name} ${path}`);
    }
});

test('tools that may not be called are not offered to a host that cannot be told so', async () => {
  for (const name of names.filter((host) => !toolless.includes(host))) {
    const body = { model: `a-${name}-model`, ...requests['/v1/chat/completions']!('some', true) };
    const { reply, asked } = await gateway.postRecorded('/v1/chat/completions', { key, body });
    assert.equal(reply.status, 200, `${name} ${reply.text}`);
    const { tools, tool_choice: choice } = asked[0]!.body as JsonObject;
    assert.equal((tools as unknown[]).length, 1, name);
    assert.ok(choice === undefined || choice === 'auto', `${name} ${JSON.stringify(choice)}`);
  }
});

test('test mode plays Cohere in its own words: a forced call, a stop sequence and a schema', async () => {
  const made = await gateway.makeKey({ mode: 'test' });
  const ask = async (asked: JsonObject) => {
    const body = { model: 'a-cohere-model', messages: [{ role: 'user', content: 'Hi' }], ...asked };
    const reply = await gateway.post('/v1/chat/completions', { key: made.key, body });
    assert.equal(reply.status, 200, reply.text);
    const answer = JSON.parse(reply.text) as {
      choices: [{ message: JsonObject; finish_reason: string }];
    };
    return answer.choices[0];
  };
  const tools = ['f', 'g'].map((name) => ({
    type: 'function',
    function: { name, parameters: schema },
  }));
  const called = await ask({ tools, tool_choice: { type: 'function', function: { name: 'g' } } });
  assert.equal(called.finish_reason, 'tool_calls');
  assert.match(JSON.stringify(called.message['tool_calls']), /"name":"g"/);
  const free = await ask({ tools, tool_choice: 'none' });
  assert.equal(free.finish_reason, 'stop');
  const [, second] = String(free.message['content']).split(' ');
  const stopped = await ask({ stop: [` ${second}`] });
  assert.ok(!String(stopped.message['content']).includes(' '), JSON.stringify(stopped));
  const format = {
    type: 'json_schema',
    json_schema: { name: 'x', schema: { ...schema, required: ['q'] } },
  };
  const filled = await ask({ response_format: format });
  assert.ok('q' in (JSON.parse(String(filled.message['content'])) as object));
});

test('the beginning of an answer is marked as its host wants it, and what the host repeats of it is not', async () => {
  const begun = { role: 'assistant', content: '{"a":' };
  const rest = { text: ' 1} and {"a": 2}', tokens: { input: 5, output: 1 } };
  const marked: Readonly<Record<string, JsonObject>> = {
    mistral: { prefix: true },
    deepseek: { prefix: true },
    moonshotai: { partial: true },
    fireworks: {},
  };
  const echoing = ({ text, tokens }: typeof rest) => ({ text: begun.content + text, tokens });
  for (const [name, mark] of Object.entries(marked)) {
    const path = `/${name}/${name === 'deepseek' ? 'beta' : 'v1'}/chat/completions`;
    const usual = refusing(strict[name]!, answerContent('chat', said));
    gateway.upstream.on(path, answerContent('chat', name === 'mistral' ? echoing(rest) : rest));
    for (const stream of [false, true]) {
      const messages = [{ role: 'user', content: 'JSON!' }, begun];
      const body = { model: `a-${name}-model`, stream, max_tokens: 100, messages };
      const { reply, asked } = await gateway.postRecorded('/v1/messages', { key, body });
      assert.equal(reply.status, 200, reply.text);
      const sent = asked[0]!.body as { messages: JsonObject[] };
      assert.deepEqual(sent.messages.at(-1), { ...begun, ...mark }, name);
      assert.equal(asked[0]!.path, path);
      const texts = stream
        ? reply.frames.map(({ data }) => (data as { delta?: { text?: string } }).delta?.text ?? '')
        : reply.json<{ content: { text: string }[] }>().content.map(({ text }) => text);
      assert.equal(texts.join(''), rest.text, `${name} ${stream}`);
      assert.equal(reply.headers['x-service-ignored'], undefined);
    }
    // A Chat client marks it itself.
    const messages = [
      { role: 'user', content: 'JSON!' },
      { ...begun, ...mark },
    ];
    const { asked } = await gateway.postRecorded('/v1/chat/completions', {
      key,
      body: { model: `a-${name}-model`, messages },
    });
    assert.deepEqual((asked[0]!.body as { messages: unknown }).messages, messages);
    assert.equal(asked[0]!.path, path);
    gateway.upstream.on(path, usual);
  }
});

test('an answer that is only the repeated beginning has no text and no output', async () => {
  const path = '/mistral/v1/chat/completions';
  const begun = 'Once upon a time, there was a king. '.repeat(20).trim();
  const whole = { id: 'x', object: 'chat.completion', created: 1, model: 'm' };
  const usual = refusing(strict['mistral']!, answerContent('chat', said));
  const messages = [
    { role: 'user', content: 'Go on.' },
    { role: 'assistant', content: begun },
  ];
  const body = { model: 'a-mistral-model', max_tokens: 100, messages };
  const choice = { index: 0, finish_reason: 'stop' };
  gateway.upstream.on(
    path,
    answerJson({
      ...whole,
      choices: [{ ...choice, message: { role: 'assistant', content: begun } }],
    }),
  );
  const { content, usage } = (await gateway.post('/v1/messages', { key, body })).json<{
    content: unknown[];
    usage: { output_tokens: number };
  }>();
  gateway.upstream.on(path, usual);
  assert.deepEqual(content, []);
  assert.ok(usage.output_tokens < 5, `${usage.output_tokens} tokens`);
});

test('a host without tools refuses them by name, for every client', async () => {
  for (const [path, write] of Object.entries(requests)) {
    const { reply, asked } = await gateway.postRecorded(path, {
      key,
      body: { model: 'a-perplexity-model', ...write('auto', true) },
    });
    assert.equal(reply.status, 400, reply.text);
    assert.match(reply.error.message, /tools/);
    assert.equal(asked.length, 0);
  }
});

type Tested = {
  readonly steps: readonly {
    readonly step: string;
    readonly works: boolean | null;
    what: string;
  }[];
  readonly models: readonly { readonly id: string }[];
};

/** Where hosts list their models elsewhere than below the address of their Chat. */
const lists: Readonly<Record<string, string>> = {
  cohere: '/cohere/v1/models',
  perplexity: '/perplexity/v1/v1/models',
};

test('the operator’s test of a provider asks as the host wants it, and where its list is', async () => {
  const admin = await adminOf(gateway);
  for (const name of names) {
    const path = lists[name] ?? `/${name}/v1/models`;
    gateway.upstream.on(path, answerJson({ data: [{ id: name }] }));
    const { steps, models } = await admin.ok<Tested>('POST', '/settings/test-provider', {
      body: { provider: name, model: 'upstream' },
    });
    const isListed = name !== 'zai';
    assert.deepEqual(
      columnOf(steps, 'works'),
      [isListed ? true : null, true, true],
      `${name} ${JSON.stringify(steps)}`,
    );
    assert.deepEqual(columnOf(models, 'id'), isListed ? [name] : []);
  }
});

test('messages in a row of one role are joined at Perplexity, and JSON mode is a schema at LM Studio', async () => {
  const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } };
  const messages = [
    { role: 'system', content: 'a' },
    { role: 'system', content: 'b' },
    { role: 'user', content: 'c' },
    { role: 'user', content: 'd' },
    { role: 'assistant', content: 'e' },
    { role: 'assistant', content: 'f' },
    { role: 'user', content: [image] },
    { role: 'user', content: 'g' },
  ];
  const send = async (host: string, given: object) => {
    const body = { model: `a-${host}-model`, messages, ...given };
    const sent = await gateway.postRecorded('/v1/chat/completions', { key, body });
    assert.equal(sent.reply.status, 200, sent.reply.text);
    return sent.asked[0]!.body as JsonObject;
  };
  assert.deepEqual((await send('perplexity', {}))['messages'], [
    ...messages.slice(0, 2),
    { role: 'user', content: 'c\n\nd' },
    { role: 'assistant', content: 'e\n\nf' },
    { role: 'user', content: [image, { type: 'text', text: 'g' }] },
  ]);
  const asked = await send('lmstudio', { response_format: { type: 'json_object' } });
  assert.deepEqual(asked['response_format'], {
    type: 'json_schema',
    json_schema: { name: 'json', schema: { type: 'object' } },
  });
  assert.deepEqual(asked['messages'], messages);
});

// Tools that only Responses has, through the started program, on upstreams that only know
// functions: the client sees no difference.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import OpenAI from 'openai';
import type { Response, ResponseInputItem, Tool } from 'openai/resources/responses/responses';
import { startGateway } from '../support/gateway.ts';
import { answerJson, answerSse, type Script, type SseFrame } from '../support/upstream.ts';

const patch = '*** Begin Patch\n+ "ä" 😀 \\ end\n*** End Patch';
const args = JSON.stringify({ input: patch }).replace('😀', '\\ud83d\\ude00');

const limits = {
  max_input_tokens: 200_000,
  max_output_tokens: 32_000,
  prices: { input: 1, output: 2 },
};
const route = (fields: object) => ({
  display_name: 'X',
  owned_by: 'x',
  routes: [{ model: 'upstream', ...fields }],
  ...limits,
});
const gateway = await startGateway({
  models: {
    'on-messages': route({ provider: 'anthropic' }),
    'on-chat': route({ provider: 'local' }),
    'on-openai-chat': route({ provider: 'openai', api: 'chat' }),
  },
});
const { key } = await gateway.makeKey({ mode: 'live', creditUsd: 100 });
const openai = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: key, maxRetries: 0 });
gateway.upstream.on('/v1/messages', playMessages);
gateway.upstream.on('/local/v1/chat/completions', playChat('function'));
gateway.upstream.on('/v1/chat/completions', playChat('custom'));
after(() => gateway.stop());

const grammar = { type: 'grammar' as const, syntax: 'lark' as const, definition: 'start: "x"' };
const tools: Tool[] = [
  {
    type: 'namespace',
    name: 'files',
    description: 'Files.',
    tools: [{ type: 'custom', name: 'patch', description: 'Edits files.', format: grammar }],
  },
];

async function ask(model: string, stream: boolean, input: ResponseInputItem[]): Promise<Response> {
  if (!stream) return openai.responses.create({ model, input, tools });
  const events = openai.responses.stream({ model, input, tools });
  let delta = '';
  let pieces = 0;
  for await (const event of events) {
    if (event.type !== 'response.custom_tool_call_input.delta') continue;
    delta += event.delta;
    pieces++;
  }
  assert.equal(delta, patch);
  assert.ok(pieces > 3, 'the input is streamed as it comes');
  return events.finalResponse();
}

const question: ResponseInputItem[] = [{ role: 'user', content: 'Go' }];

for (const [model, upstreamPath] of [
  ['on-messages', '/v1/messages'],
  ['on-chat', '/local/v1/chat/completions'],
  ['on-openai-chat', '/v1/chat/completions'],
] as const) {
  for (const stream of [false, true]) {
    test(`a custom tool of a namespace ${model}, ${stream ? 'streamed' : 'whole'}: is called, and its call is accepted back`, async () => {
      const response = await ask(model, stream, question);
      const [call] = response.output;
      assert.ok(call?.type === 'custom_tool_call');
      assert.deepEqual(
        [call.name, call.namespace, call.input, call.call_id],
        ['patch', 'files', patch, 'call_1'],
      );
      const result: ResponseInputItem = {
        type: 'custom_tool_call_output',
        call_id: call.call_id,
        output: 'done',
      };
      await ask(model, stream, [...question, ...(response.output as ResponseInputItem[]), result]);
      const sent = gateway.upstream.requests.at(-1)!;
      assert.equal(sent.path, upstreamPath);
      const body = sent.body as { tools: unknown[]; messages: unknown[] };
      assert.deepEqual(body.tools[0], sentTools[model]);
      assert.deepEqual(body.messages.slice(-2), sentHistory[model]);
    });
  }
}

const about = 'About the tools of files: Files.\n\nEdits files.';
const asked = `${about}\n\nThe input must match this lark grammar:\nstart: "x"`;
const schema = {
  type: 'object',
  properties: {
    input: { type: 'string', description: 'The whole input of the tool, as plain text.' },
  },
  required: ['input'],
};
const sentTools: Readonly<Record<string, object>> = {
  'on-messages': { name: 'files__patch', description: asked, input_schema: schema },
  'on-chat': {
    type: 'function',
    function: { name: 'files__patch', description: asked, parameters: schema },
  },
  'on-openai-chat': {
    type: 'custom',
    custom: {
      name: 'files__patch',
      description: about,
      format: { type: 'grammar', grammar: { syntax: 'lark', definition: 'start: "x"' } },
    },
  },
};
const plainCall = {
  id: 'call_1',
  type: 'function',
  function: { name: 'files__patch', arguments: JSON.stringify({ input: patch }) },
};
const customCall = { id: 'call_1', type: 'custom', custom: { name: 'files__patch', input: patch } };
const chatHistory = (call: object) => [
  { role: 'assistant', content: null, tool_calls: [call] },
  { role: 'tool', tool_call_id: 'call_1', content: 'done' },
];
const sentHistory: Readonly<Record<string, object[]>> = {
  'on-messages': [
    {
      role: 'assistant',
      content: [{ type: 'tool_use', id: 'call_1', name: 'files__patch', input: { input: patch } }],
    },
    {
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 'call_1', content: [{ type: 'text', text: 'done' }] },
      ],
    },
  ],
  'on-chat': chatHistory(plainCall),
  'on-openai-chat': chatHistory(customCall),
};

test('only a grammar that cannot be enforced is listed', async () => {
  const ignoredOn = async (model: string) => {
    const { response } = await openai.responses
      .create({ model, input: 'Go', tools })
      .withResponse();
    return response.headers.get('x-service-ignored');
  };
  assert.equal(await ignoredOn('on-messages'), 'tools.format');
  assert.equal(await ignoredOn('on-openai-chat'), null);
});

const chatGrammar = { syntax: 'regex' as const, definition: '[a-z]+' };

test('a Chat client’s custom tool also works on a Messages model', async () => {
  const { choices } = await openai.chat.completions.create({
    model: 'on-messages',
    messages: [{ role: 'user', content: 'Go' }],
    tools: [
      {
        type: 'custom',
        custom: { name: 'files__patch', format: { type: 'grammar', grammar: chatGrammar } },
      },
    ],
  });
  assert.deepEqual(choices[0]?.message.tool_calls, [customCall]);
  const [tool] = (gateway.upstream.requests.at(-1)!.body as { tools: { description: string }[] })
    .tools;
  assert.equal(tool?.description, 'The input must match this regex grammar:\n[a-z]+');
});

test('calls with repeated ids, as some hosts send, get unique ids for Anthropic', async () => {
  const called = {
    id: 'grep:0',
    type: 'function' as const,
    function: { name: 'grep', arguments: '{}' },
  };
  const turn = [
    { role: 'assistant' as const, tool_calls: [called] },
    { role: 'tool' as const, tool_call_id: called.id, content: 'x' },
  ];
  await openai.chat.completions.create({
    model: 'on-messages',
    messages: [{ role: 'user', content: 'Go' }, ...turn, ...turn],
    tools: [{ type: 'function', function: { name: 'grep' } }],
  });
  const { messages } = gateway.upstream.requests.at(-1)!.body as {
    messages: { content: { id?: string; tool_use_id?: string }[] }[];
  };
  const ids = messages.flatMap(({ content }) =>
    content.flatMap(({ id, tool_use_id: callId }) => id ?? callId ?? []),
  );
  assert.deepEqual(ids, ['grep_x3a_0', 'grep_x3a_0', 'grep_x3a_0_2', 'grep_x3a_0_2']);
});

test('a tool that OpenAI runs and that the model must use is refused by name elsewhere, with a remedy', async () => {
  const sent = gateway.upstream.requests.length;
  await assert.rejects(
    openai.responses.create({
      model: 'on-messages',
      input: 'Go',
      tools: [{ type: 'web_search' }],
      tool_choice: 'required',
    }),
    (error: unknown) => {
      assert.ok(error instanceof OpenAI.APIError);
      assert.deepEqual([error.status, error.param], [400, 'tools[0].type']);
      assert.match(error.message, /set `tool_choice` to `auto`/);
      return true;
    },
  );
  assert.equal(gateway.upstream.requests.length, sent);
});

function piecesOf(text: string): string[] {
  return text.match(/[\s\S]{1,5}/g) ?? [];
}

function playMessages(...[response, request]: Parameters<Script>): ReturnType<Script> {
  const usage = { input_tokens: 10, output_tokens: 10 };
  const head = {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'm',
    stop_sequence: null,
    usage,
  };
  const block = { type: 'tool_use', id: 'call_1', name: 'files__patch' };
  if (!(request.body as { stream?: boolean }).stream) {
    const content = [{ ...block, input: JSON.parse(args) as unknown }];
    return answerJson({ ...head, content, stop_reason: 'tool_use' })(response, request);
  }
  const frame = (type: string, fields: object = {}): SseFrame => ({
    event: type,
    data: { type, ...fields },
  });
  const deltas = piecesOf(args).map((partial) => ({
    type: 'input_json_delta',
    partial_json: partial,
  }));
  return answerSse([
    frame('message_start', { message: { ...head, content: [], stop_reason: null } }),
    frame('content_block_start', { index: 0, content_block: { ...block, input: {} } }),
    ...deltas.map((delta) => frame('content_block_delta', { index: 0, delta })),
    frame('content_block_stop', { index: 0 }),
    frame('message_delta', {
      delta: { stop_reason: 'tool_use', stop_sequence: null },
      usage: { output_tokens: 10 },
    }),
    frame('message_stop'),
  ])(response, request);
}

function playChat(kind: 'function' | 'custom'): Script {
  const text = kind === 'custom' ? patch : args;
  const field = kind === 'custom' ? 'input' : 'arguments';
  const usage = { prompt_tokens: 10, completion_tokens: 10, total_tokens: 20 };
  const head = { id: 'chatcmpl-1', created: 1, model: 'm' };
  const call = (value: string) => ({
    id: 'call_1',
    type: kind,
    [kind]: { name: 'files__patch', [field]: value },
  });
  return (response, request) => {
    if (!(request.body as { stream?: boolean }).stream) {
      const message = { role: 'assistant', content: null, tool_calls: [call(text)] };
      const choices = [{ index: 0, message, finish_reason: 'tool_calls' }];
      return answerJson({ ...head, object: 'chat.completion', choices, usage })(response, request);
    }
    const frame = (delta: object, reason: string | null = null): SseFrame => ({
      data: {
        ...head,
        object: 'chat.completion.chunk',
        choices: [{ index: 0, delta, finish_reason: reason }],
      },
    });
    return answerSse([
      frame({ role: 'assistant', tool_calls: [{ index: 0, ...call('') }] }),
      ...piecesOf(text).map((piece) =>
        frame({ tool_calls: [{ index: 0, [kind]: { [field]: piece } }] }),
      ),
      frame({}, 'tool_calls'),
      { data: { ...head, object: 'chat.completion.chunk', choices: [], usage } },
      'data: [DONE]\n\n',
    ])(response, request);
  };
}

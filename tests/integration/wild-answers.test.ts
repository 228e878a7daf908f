// Malformed provider answers: the client gets an error in its own format and is not charged.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import OpenAI from 'openai';
import { streamFrames } from '../support/answers.ts';
import { addressed, clients, endpoint } from '../support/endpoints.ts';
import { startGateway } from '../support/gateway.ts';
import { ok } from '../support/http.ts';
import { modelOf } from '../support/model-of.ts';
import { readPlainly } from '../support/plain/read-plainly.ts';
import { checkStream } from '../support/stream-rules.ts';
import { answerJson, answerSse, framesText } from '../support/upstream.ts';

const upstreamPath = '/local/v1/chat/completions';

/** Nested too deeply for V8 to write. */
const deepValue = `${'['.repeat(20_000)}${']'.repeat(20_000)}`;

const model = modelOf([{ provider: 'local', model: 'm' }], {
  max_output_tokens: 10_000,
  prices: { input: 1, output: 1 },
});
const gateway = await startGateway({
  models: {
    'on-chat': model,
    'on-messages': { ...model, routes: [{ provider: 'anthropic', model: 'm' }] },
  },
});
const { key, account } = await gateway.makeKey({ mode: 'live', creditUsd: 10 });
after(() => gateway.stop());

test('a chunk nested too deeply to be written again is a failure and free', async () => {
  const deep = `{"choices":[{"index":0,"delta":{"content":"x","odd":${deepValue}}}]}`;
  const { start, deltas } = streamFrames('chat', { text: 'Hello there', tokens: null });
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
  gateway.upstream.on(upstreamPath, async (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(framesText([...start, ...deltas]));
    await begun;
    response.end(framesText([{ data: deep }]));
  });
  const { path, body } = endpoint('chat');
  const { postedMicros } = await gateway.balance(account);
  const response = await gateway.open(path, { key, body: body({ model: 'on-chat', stream: true }) })
    .response;
  assert.equal(response.statusCode, 200);
  begin();
  const text = Buffer.concat(await response.toArray()).toString('utf8');
  assert.equal(checkStream('chat', text, { straight: true }).ending, 'error');
  assert.equal((await gateway.balance(account)).postedMicros, postedMicros);
});

test('arguments nested too deeply to be written again reach a Messages client as text', async () => {
  const text = `{"a":${deepValue}}`;
  const call = { id: 'call_1', type: 'function', function: { name: 'look', arguments: text } };
  const message = { role: 'assistant', content: null, tool_calls: [call] };
  const usage = { prompt_tokens: 5, completion_tokens: 9, total_tokens: 14 };
  gateway.upstream.on(
    upstreamPath,
    answerJson({ choices: [{ index: 0, message, finish_reason: 'tool_calls' }], usage }),
  );
  const { path, body } = endpoint('messages');
  const reply = await gateway.post(path, { key, body: body({ model: 'on-chat' }) });
  assert.equal(reply.status, 200, reply.text);
  assert.deepEqual(readPlainly('messages', false, reply.text).calls, [
    { name: 'look', arguments: text },
  ]);
});

/** Ways in which hosts break parallel calls; each in a stream and in a whole answer. */
const cities = ['Oslo', 'Rome'];
type CallOf = (city: string, place: number) => object;
const brokenCalls: Readonly<Record<string, CallOf>> = {
  'all under index 0': (city) => ({
    index: 0,
    id: `id_${city}`,
    type: 'function',
    function: fn(city),
  }),
  'all under index 0, without ids': (city) => ({
    index: 0,
    id: '',
    type: 'function',
    function: fn(city),
  }),
  'without an index': (city) => ({ id: `id_${city}`, type: 'function', function: fn(city) }),
  'without index, id and type': (city) => ({ function: fn(city) }),
  'arguments that are objects': (city, index) => ({
    index,
    id: `id_${city}`,
    type: 'function',
    function: { name: 'look', arguments: { city } },
  }),
};

function fn(city: string): object {
  return { name: 'look', arguments: JSON.stringify({ city }) };
}

for (const [name, callOf] of Object.entries(brokenCalls)) {
  test(`parallel calls of a Chat host, ${name}, reach a Chat client complete`, async () => {
    const client = new OpenAI({ apiKey: key, baseURL: `${gateway.url}/v1`, maxRetries: 0 });
    const ask = { model: 'on-chat', messages: [{ role: 'user' as const, content: 'Hi' }] };
    const calls = cities.map(callOf);
    const usage = { prompt_tokens: 5, completion_tokens: 9, total_tokens: 14 };
    const message = { role: 'assistant', content: null, tool_calls: calls };
    const chunks = calls.map((call) => ({
      choices: [
        { index: 0, delta: { role: 'assistant', tool_calls: [call] }, finish_reason: null },
      ],
    }));
    const end = { choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }], usage };
    gateway.upstream.on(
      upstreamPath,
      answerJson({ choices: [{ index: 0, message, finish_reason: 'tool_calls' }], usage }),
    );
    const whole = await client.chat.completions.create(ask);
    gateway.upstream.on(
      upstreamPath,
      answerSse([...chunks, end, '[DONE]'].map((data) => ({ data }))),
    );
    const streamed = await client.chat.completions.stream(ask).finalChatCompletion();
    for (const { choices } of [whole, streamed]) {
      const read = choices[0]!.message.tool_calls!.map((call) => {
        assert.ok(call.type === 'function');
        return call;
      });
      assert.deepEqual(
        read.map((call) => [call.function.name, JSON.parse(call.function.arguments)]),
        cities.map((city) => ['look', { city }]),
      );
      assert.equal(new Set(read.map((call) => call.id).filter((id) => id !== '')).size, 2);
    }
  });
}

const usage = { prompt_tokens: 5, completion_tokens: 9, total_tokens: 14 };
const piece = (delta: object | null, reason: string | null = null) => ({
  choices: [{ index: 0, delta, finish_reason: reason }],
});
const calling = (text: string) => ({
  tool_calls: [
    { index: 0, id: 'a', type: 'function', function: { name: 'look', arguments: text } },
  ],
});
const message = (content: readonly object[], reason: string | null) => ({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  content,
  stop_reason: reason,
  usage: { input_tokens: 5, output_tokens: 9 },
});
const block = (index: number, opened: object, ...deltas: readonly object[]) => [
  { type: 'content_block_start', index, content_block: opened },
  ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
  { type: 'content_block_stop', index },
];
const use = (id: string, input: unknown = {}) => ({ type: 'tool_use', id, name: 'look', input });
const json = (text: string) => ({ type: 'input_json_delta', partial_json: text });
const begun = { type: 'message_start', message: message([], null) };
const ended = (reason: string) => [
  { type: 'message_delta', delta: { stop_reason: reason }, usage: { output_tokens: 9 } },
  { type: 'message_stop' },
];
const [startA, jsonA, stopA] = block(0, use('a'), json('{"city":"Oslo"}'));
const [startB, jsonB, stopB] = block(1, use('b'), json('{"city":"Rome"}'));
const oslo = { name: 'look', arguments: { city: 'Oslo' } };
const rome = { name: 'look', arguments: { city: 'Rome' } };

type HostCalls = {
  readonly on: 'chat' | 'messages';
  readonly whole?: object;
  readonly events?: readonly unknown[];
  readonly calls: readonly object[];
  /** Translation alone mends it. */
  readonly isTranslated?: boolean;
};

/** Calls as hosts write them and no client can run them. */
const hostCalls: Readonly<Record<string, HostCalls>> = {
  'Chat arguments that say null': {
    on: 'chat',
    whole: { choices: [{ message: calling('null'), finish_reason: 'tool_calls' }], usage },
    events: [piece(calling('nu')), piece(calling('ll')), piece({}, 'tool_calls'), '[DONE]'],
    calls: [{ name: 'look', arguments: {} }],
    isTranslated: true,
  },
  'Chat arguments that are JSON inside a string': {
    on: 'chat',
    whole: {
      choices: [{ message: calling(JSON.stringify('{"city":"Oslo"}')), finish_reason: 'stop' }],
      usage,
    },
    events: [
      piece(calling('"{\\"city\\":')),
      piece(calling('\\"Oslo\\"}"')),
      piece({}, 'tool_calls'),
      '[DONE]',
    ],
    calls: [oslo],
    isTranslated: true,
  },
  'a call of Chat in its older form': {
    on: 'chat',
    whole: {
      choices: [
        {
          message: { function_call: { name: 'look', arguments: '{"city":"Oslo"}' } },
          finish_reason: 'function_call',
        },
      ],
      usage,
    },
    events: [
      piece({ function_call: { name: 'look', arguments: '' } }),
      piece({ function_call: { arguments: '{"city":"Oslo"}' } }),
      piece({}, 'function_call'),
      '[DONE]',
    ],
    calls: [oslo],
    isTranslated: true,
  },
  'a call of Chat in a choice beside that of its text': {
    on: 'chat',
    whole: {
      choices: [
        { index: 0, message: { content: '' }, finish_reason: 'tool_calls' },
        { index: 1, message: calling('{"city":"Oslo"}'), finish_reason: 'tool_calls' },
      ],
      usage,
    },
    calls: [oslo],
  },
  'a call of Messages whose input is JSON as text, at an ordinary end': {
    on: 'messages',
    whole: message([use('a', '{"city":"Oslo"}')], 'end_turn'),
    events: [begun, ...block(0, use('a', '{"city":"Oslo"}')), ...ended('end_turn')],
    calls: [oslo],
  },
  'a call of Messages without an input': {
    on: 'messages',
    whole: message([use('a', null)], 'tool_use'),
    events: [begun, ...block(0, use('a', null)), ...ended('end_turn')],
    calls: [{ name: 'look', arguments: {} }],
  },
  'calls of Messages whose pieces are interleaved': {
    on: 'messages',
    events: [begun, startA, startB, jsonA, jsonB, stopA, stopB, ...ended('tool_use')],
    calls: [oslo, rome],
  },
  'calls of Messages that never end': {
    on: 'messages',
    events: [begun, startA, jsonA, startB, jsonB, ...ended('tool_use')],
    calls: [oslo, rome],
  },
  'a call of Messages whose pieces name another block': {
    on: 'messages',
    events: [
      begun,
      ...block(0, { type: 'text', text: '' }),
      { ...startB, index: 1 },
      { ...jsonB, index: 0 },
      stopB,
      ...ended('tool_use'),
    ],
    calls: [rome],
    isTranslated: true,
  },
  'a call of Chat without arguments': {
    on: 'chat',
    whole: { choices: [{ index: 0, message: calling(''), finish_reason: 'tool_calls' }] },
    events: [piece({ role: 'assistant', ...calling('') }), piece({}, 'tool_calls'), '[DONE]'],
    calls: [{ name: 'look', arguments: {} }],
  },
};

for (const [name, host] of Object.entries(hostCalls)) {
  const { on, whole, events, calls, isTranslated = false } = host;
  test(`${name}: every client gets what it can run`, async () => {
    for (const client of clients) {
      if (isTranslated && client.name === on) continue;
      for (const stream of [false, true]) {
        const answer = stream ? events : whole;
        if (!answer) continue;
        const script = Array.isArray(answer)
          ? answerSse(answer.map((data) => ({ data })))
          : answerJson(answer);
        for (const path of [upstreamPath, '/v1/messages']) gateway.upstream.on(path, script);
        const sent = addressed(client, client.body({ model: `on-${on}`, stream }));
        const reply = await ok(gateway.post(sent.path, { key, body: sent.body }));
        const read = readPlainly(client.name, stream, reply.text);
        assert.deepEqual([read.calls, read.stop], [calls, 'tools'], `${client.name} ${reply.text}`);
      }
    }
  });
}

test('a chunk of usage whose choices are null gets an empty list', async () => {
  const events = [piece({ content: 'a' }), piece({}, 'stop'), { choices: null, usage }, '[DONE]'];
  gateway.upstream.on(upstreamPath, answerSse(events.map((data) => ({ data }))));
  const fields = { model: 'on-chat', stream: true, stream_options: { include_usage: true } };
  const { text } = await ok(gateway.ask(endpoint('chat'), key, fields));
  checkStream('chat', text, { straight: true, usageAsked: true });
});

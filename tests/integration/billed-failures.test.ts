// Calls that a provider bills although the client gets no answer. Each is made once, costs the
// client nothing, and is booked as the operator's loss.
import assert from 'node:assert/strict';
import { gzipSync } from 'node:zlib';
import { after, test } from 'node:test';
import {
  streamFrames,
  wholeAnswer,
  type Content,
  type UpstreamWireName,
} from '../support/answers.ts';
import { endpoint, endpoints, type Endpoint } from '../support/endpoints.ts';
import { startGateway } from '../support/gateway.ts';
import type { Reply } from '../support/http.ts';
import { modelOf } from '../support/model-of.ts';
import { TestClock } from '../support/test-clock.ts';
import {
  answerJson,
  answerSse,
  answerStatus,
  hang,
  type Script,
  type SseFrame,
} from '../support/upstream.ts';
import { rowsOf } from '../support/rows.ts';

const clock = new TestClock();
/** USD per million tokens. */
const prices = { input: 1, output: 10 };
/** 100 × $1 + 20 × $10 a million. */
const billedMicros = 300;

const content: Content = { text: '', tokens: { input: 100, output: 20 } };

type Upstream = {
  readonly name: UpstreamWireName;
  readonly route: object;
  readonly path: string;
  readonly streamPath: string;
  /** A whole answer with one tool call: 100 tokens of input and 20 of output. */
  readonly call: (name: string, args: unknown) => object;
};

const geminiPath = '/v1beta/models/upstream-model';
const upstreams: readonly Upstream[] = [
  {
    name: 'responses',
    route: { provider: 'openai', api: 'responses' },
    path: '/v1/responses',
    streamPath: '/v1/responses',
    call: (name, args) => ({
      ...wholeAnswer('responses', content),
      output: [{ type: 'function_call', id: 'fc_1', call_id: 'call_1', name, arguments: args }],
    }),
  },
  {
    name: 'chat',
    route: { provider: 'openai', api: 'chat' },
    path: '/v1/chat/completions',
    streamPath: '/v1/chat/completions',
    call: (name, args) => {
      const calls = [{ id: 'call_1', type: 'function', function: { name, arguments: args } }];
      const message = { role: 'assistant', content: null, tool_calls: calls };
      const choices = [{ index: 0, message, finish_reason: 'tool_calls' }];
      return { ...wholeAnswer('chat', content), choices };
    },
  },
  {
    name: 'messages',
    route: { provider: 'anthropic', api: 'messages' },
    path: '/v1/messages',
    streamPath: '/v1/messages',
    call: (name, args) => ({
      ...wholeAnswer('messages', content),
      content: [{ type: 'tool_use', id: 'toolu_1', name, input: args }],
      stop_reason: 'tool_use',
    }),
  },
  {
    name: 'gemini',
    route: { provider: 'google' },
    path: `${geminiPath}:generateContent`,
    streamPath: `${geminiPath}:streamGenerateContent`,
    call: (name, args) => geminiAnswer('STOP', [{ functionCall: { name, args } }]),
  },
];

function geminiAnswer(finishReason: string, parts: readonly object[]): object {
  return {
    candidates: [{ content: { role: 'model', parts }, finishReason, index: 0 }],
    usageMetadata: {
      promptTokenCount: 100,
      candidatesTokenCount: 5,
      thoughtsTokenCount: 15,
      totalTokenCount: 120,
    },
  };
}

const terms = { supports: { thinking: true }, prices, timeouts: { first_byte_ms: 1_000 } };
const model = (route: object) => modelOf([{ ...route, model: 'upstream-model' }], terms);
const gateway = await startGateway(
  {
    models: {
      ...Object.fromEntries(upstreams.map(({ name, route }) => [`to-${name}`, model(route)])),
      'to-two': {
        ...model({}),
        routes: [
          { provider: 'openai', api: 'chat', model: 'upstream-model' },
          { provider: 'anthropic', model: 'upstream-model' },
        ],
      },
    },
    retries: { max_attempts: 4 },
  },
  { clock, tuning: { backoffMs: 1, retriesMin: 1_000, failuresMax: 1_000 } },
);
after(() => gateway.stop());

type Asked = {
  readonly client: Endpoint;
  readonly upstream: Upstream;
  readonly script: Script;
  readonly stream?: boolean;
};
type Outcome = {
  readonly reply: Reply;
  /** The number of calls to the provider. */
  readonly calls: number;
  readonly costMicros: number;
  readonly lossMicros: number;
  /** The amount spent of the account's $5. */
  readonly spentMicros: number;
};

async function ask({ client, upstream, script, stream = false }: Asked): Promise<Outcome> {
  const earlier = gateway.upstream.requests.length;
  gateway.upstream.on(stream ? upstream.streamPath : upstream.path, script);
  const { key, account } = await gateway.makeKey({ mode: 'live', creditUsd: 5 });
  const body = client.body({ model: `to-${upstream.name}`, stream, [client.limitField]: 8_000 });
  const reply = await clock.skipWaits(gateway.post(client.path, { key, body }));
  const charges = await rowsOf(gateway.database, 'charges', { id: reply.requestId });
  const losses = await gateway.lossesOf(reply.requestId);
  const { availableMicros, heldMicros } = await gateway.balance(account);
  assert.equal(heldMicros, 0);
  return {
    reply,
    calls: gateway.upstream.requests.length - earlier,
    costMicros: charges.reduce((sum, charge) => sum + Number(charge.cost_micros), 0),
    lossMicros: losses.reduce((sum, loss) => sum + loss, 0),
    spentMicros: 5_000_000 - availableMicros,
  };
}

const nested = (depth: number) => {
  let value: unknown = 'deep';
  for (let level = 0; level < depth; level++) value = { a: value };
  return value;
};

function assertLost({ reply, calls, ...money }: Outcome, where: string): void {
  // A stream may already have begun.
  assert.ok(
    reply.status === 502 || reply.headers['content-type']?.startsWith('text/event-stream'),
    `${where}: ${reply.status}`,
  );
  assert.match(reply.text, /"upstream_error"|"api_error"/, where);
  assert.equal(calls, 1, where);
  assert.deepEqual(money, { costMicros: 0, lossMicros: billedMicros, spentMicros: 0 }, where);
}

const pairs = endpoints.flatMap((client) => upstreams.map((upstream) => ({ client, upstream })));
type Pair = (typeof pairs)[number];
const nameOf = ({ client, upstream }: Pair) => `${client.name} on ${upstream.name}`;
/** Chat and Responses send arguments as text, which has no depth of its own. */
const hasObjects = ({ upstream: { name } }: Pair) => name === 'messages' || name === 'gemini';
const withObjects = pairs.filter(hasObjects);

test('an answer with arguments nested a hundred levels deep is delivered and charged', async () => {
  for (const pair of withObjects) {
    const { reply, ...outcome } = await ask({
      ...pair,
      script: answerJson(pair.upstream.call('look', nested(100))),
    });
    assert.equal(reply.status, 200, `${nameOf(pair)}: ${reply.text.slice(0, 300)}`);
    const charged = { costMicros: billedMicros, lossMicros: 0, spentMicros: billedMicros };
    assert.deepEqual(outcome, { calls: 1, ...charged }, nameOf(pair));
  }
});

test('an answer nested too deeply to be read is not asked for again, and its estimated cost is a loss', async () => {
  const levels = 20_000;
  const beside = {
    'a number that no double holds': '12345678901234567890',
    'a megabyte': `"${'x'.repeat(1024 * 1024)}"`,
  };
  for (const pair of withObjects) {
    for (const [what, value] of Object.entries(beside)) {
      const deep = `${'['.repeat(levels)}${value}${']'.repeat(levels)}`;
      const answer = JSON.stringify(pair.upstream.call('look', { a: 'DEEP' })).replace(
        '"DEEP"',
        deep,
      );
      const { calls, lossMicros, spentMicros, reply } = await ask({
        ...pair,
        script: answerJson(`\n\n${answer}`),
      });
      assert.deepEqual([calls, spentMicros], [1, 0], `${nameOf(pair)}, ${what}: ${reply.text}`);
      assert.ok(lossMicros > 0, `${nameOf(pair)}, ${what}`);
    }
  }
});

const isGemini = ({ upstream }: Pair) => upstream.name === 'gemini';
const isTranslated = ({ client, upstream }: Pair) => client.name !== upstream.name;
const junk: readonly unknown[][] = [[null, 3], [null], ['text'], [[]]];
/** An answer whose parts are junk. */
const broken: Readonly<Record<UpstreamWireName, (parts: readonly unknown[]) => object[]>> = {
  messages: (parts) => [{ content: parts }],
  responses: (parts) => [
    { output: parts },
    { output: [{ type: 'message', role: 'assistant', content: parts }] },
  ],
  chat: (parts) => [
    ...[{ content: parts }, { content: null, tool_calls: parts }].map((message) => ({
      choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', ...message } }],
    })),
    { choices: parts },
  ],
  // Skipped, as in streams: nothing of it can reach a client.
  gemini: () => [],
};
const emptyEnds = [
  'MALFORMED_FUNCTION_CALL',
  'UNEXPECTED_TOOL_CALL',
  'TOO_MANY_TOOL_CALLS',
  'MISSING_THOUGHT_SIGNATURE',
  'MALFORMED_RESPONSE',
];
const callPieces = [
  { name: 'look', willContinue: true },
  { name: 'look', args: { city: 'Oslo' }, willContinue: true },
  { name: 'look', partialArgs: [{ jsonPath: '$.city', stringValue: 'Os', willContinue: true }] },
];

type LostRow = {
  /** Default: all. */
  readonly of?: (pair: Pair) => boolean;
  readonly answers: (upstream: Upstream) => readonly (object | string)[];
  readonly as: readonly ('JSON' | 'events' | 'JSON instead of a stream')[];
};
const lost: Readonly<Record<string, LostRow>> = {
  'an answer nested too deeply to be forwarded is a loss': {
    of: hasObjects,
    answers: ({ call }) => [
      JSON.stringify(call('look', { a: 'DEEP' })).replace(
        '"DEEP"',
        `${'['.repeat(20_000)}${']'.repeat(20_000)}`,
      ),
    ],
    as: ['JSON'],
  },
  'a translated call without a name is a loss': {
    of: isTranslated,
    answers: ({ call }) => [call('', '{}')],
    as: ['JSON'],
  },
  'an answer without a part that a client could read is a loss': {
    answers: ({ name, call }) =>
      junk.flatMap(broken[name]).map((fields) => ({ ...call('look', '{}'), ...fields })),
    as: ['JSON'],
  },
  'a Gemini answer that ends without content is a loss for every such finish reason': {
    of: isGemini,
    answers: () => emptyEnds.map((reason) => geminiAnswer(reason, [])),
    as: ['JSON', 'events'],
  },
  'Gemini calls whose arguments come in pieces are a loss': {
    of: isGemini,
    answers: () => callPieces.map((functionCall) => geminiAnswer('STOP', [{ functionCall }])),
    as: ['JSON', 'events'],
  },
  'JSON instead of a stream is a loss by its usage, even if it is longer than any error': {
    answers: ({ call }) => [
      call('look', '{}'),
      call('look', JSON.stringify({ text: 'x'.repeat(100_000) })),
    ],
    as: ['JSON instead of a stream'],
  },
};

for (const [name, { of = () => true, answers, as }] of Object.entries(lost)) {
  test(name, async () => {
    for (const pair of pairs.filter(of)) {
      for (const answer of answers(pair.upstream)) {
        for (const form of as) {
          const script = form === 'events' ? answerSse([{ data: answer }]) : answerJson(answer);
          const outcome = await ask({ ...pair, script, stream: form !== 'JSON' });
          const where = `${nameOf(pair)}, ${form}: ${JSON.stringify(answer).slice(0, 300)}`;
          assertLost(outcome, where);
          // A client must not take a piece of a call for the call.
          assert.doesNotMatch(outcome.reply.text, /"look"/, where);
        }
      }
    }
  });
}

test('a stream that its provider calls failed is a loss by the provider’s count, not by ours', async () => {
  // Our own count is larger.
  const { start, deltas } = streamFrames('responses', { text: 'long '.repeat(100), tokens: null });
  const usage = { input_tokens: 100, output_tokens: 20, total_tokens: 120 };
  const response = { id: 'resp_1', status: 'failed', error: { code: 'server_error' }, usage };
  const failed = { event: 'response.failed', data: { type: 'response.failed', response } };
  for (const pair of pairs.filter(({ upstream }) => upstream.name === 'responses')) {
    const script = answerSse([...start, ...deltas, failed]);
    const { calls, lossMicros, spentMicros } = await ask({ ...pair, script, stream: true });
    assert.deepEqual([lossMicros, spentMicros], [calls * billedMicros, 0], nameOf(pair));
  }
});

test('a filtered answer is delivered and charged', async () => {
  for (const pair of pairs.filter(isGemini)) {
    for (const reason of ['SAFETY', 'RECITATION', 'PROHIBITED_CONTENT', 'OTHER']) {
      const script = answerJson(geminiAnswer(reason, []));
      const { reply, costMicros, lossMicros } = await ask({ ...pair, script });
      const where = `${nameOf(pair)}: ${reason}`;
      assert.deepEqual([reply.status, costMicros, lossMicros], [200, billedMicros, 0], where);
    }
  }
});

test('an answer in a form that was not asked for is a loss', async () => {
  for (const pair of pairs) {
    const answer = JSON.stringify(pair.upstream.call('look', '{}'));
    const json = { 'content-type': 'application/json' };
    for (const [what, headers, body, isRetried] of [
      ['a stream', { 'content-type': 'text/event-stream' }, `data: ${answer}\n\n`, false],
      ['compressed', { ...json, 'content-encoding': 'gzip' }, gzipSync(answer), false],
      // The next answer may be whole.
      ['spoiled', json, answer.replace(':100', ':NaN'), true],
    ] as const) {
      const { calls, lossMicros, spentMicros } = await ask({
        ...pair,
        script: (response) => void response.writeHead(200, headers).end(body),
      });
      const where = `${nameOf(pair)}: ${what}`;
      assert.deepEqual([calls > 1, spentMicros], [isRetried, 0], where);
      assert.ok(lossMicros > 0, where);
    }
  }
  // A proxy's page is no answer of the provider.
  const page = { 'content-type': 'text/html' };
  const { lossMicros } = await ask({
    ...pairs[0]!,
    script: (response) => void response.writeHead(200, page).end('<html>'),
  });
  assert.equal(lossMicros, 0);
});

test('a Chat stream that breaks off is a loss by the usage in its last chunk', async () => {
  const usage = { prompt_tokens: 100, completion_tokens: 5_000, total_tokens: 5_100 };
  const head = { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'x', usage };
  const reason = 'insufficient_system_resource';
  for (const last of [
    { ...head, choices: [{ index: 0, delta: {}, finish_reason: reason }] },
    { ...head, choices: [], error: { message: 'overloaded' } },
  ])
    for (const pair of pairs.filter(({ upstream }) => upstream.name === 'chat')) {
      const text = { index: 0, delta: { role: 'assistant', content: 'Hi' }, finish_reason: null };
      const { calls, lossMicros } = await ask({
        ...pair,
        script: answerSse([{ data: { ...head, usage: null, choices: [text] } }, { data: last }]),
        stream: true,
      });
      // 100 tokens at $1 and 5,000 at $10 a million, for each call: nothing was sent to the client yet.
      assert.equal(lossMicros, calls * 50_100, nameOf(pair));
    }
});

test('a whole Chat answer that broke off without a word is a loss by its usage, and asked for again', async () => {
  const usage = { prompt_tokens: 100, completion_tokens: 5_000, total_tokens: 5_100 };
  const message = { role: 'assistant', content: '' };
  const choices = [{ index: 0, message, finish_reason: 'error' }];
  for (const pair of pairs.filter(({ upstream }) => upstream.name === 'chat')) {
    const { calls, lossMicros } = await ask({ ...pair, script: answerJson({ choices, usage }) });
    assert.ok(calls > 1, nameOf(pair));
    assert.equal(lossMicros, calls * 50_100, nameOf(pair));
  }
});

test('JSON instead of a stream, without output usage, is a loss by the length of its text', async () => {
  const text = JSON.stringify({ text: 'x'.repeat(4_000) });
  for (const pair of pairs) {
    const { usage, usageMetadata, ...answer } = pair.upstream.call('look', text) as Record<
      string,
      object
    >;
    const none = Object.fromEntries(
      Object.entries(usage ?? usageMetadata!).map(([name, count]) => [
        name,
        /output|completion|candidates|thoughts|total/i.test(name) ? 0 : count,
      ]),
    );
    const script = answerJson({
      ...answer,
      ...(usage ? { usage: none } : { usageMetadata: none }),
    });
    const { calls, lossMicros, spentMicros } = await ask({ ...pair, script, stream: true });
    assert.deepEqual([calls, spentMicros], [1, 0], nameOf(pair));
    // 100 tokens of input at $1 and 1,000 of output at $10 a million, and a little for the JSON
    // around it.
    assert.ok(lossMicros >= 10_100 && lossMicros < 11_000, `${nameOf(pair)}: ${lossMicros}`);
  }
});

test('a streamed call without a name, in translation, is a loss and is not retried', async () => {
  const call = { index: 0, id: 'a', function: { name: '', arguments: '{}' } };
  const item = { type: 'function_call', call_id: 'a', name: '' };
  const block = { type: 'tool_use', id: 'a', name: '', input: {} };
  const usage = { input_tokens: 100, output_tokens: 1 };
  const events = (list: Readonly<Record<string, object>>) =>
    Object.entries(list).map(([type, fields]) => ({ event: type, data: { type, ...fields } }));
  const namelessCalls: Partial<Record<UpstreamWireName, readonly SseFrame[]>> = {
    chat: [{ data: { choices: [{ index: 0, delta: { tool_calls: [call] } }] } }],
    messages: events({
      message_start: { message: { usage } },
      content_block_start: { index: 0, content_block: block },
    }),
    responses: events({
      'response.output_item.added': { output_index: 0, item },
      'response.output_item.done': { output_index: 0, item: { ...item, arguments: '{}' } },
    }),
  };
  for (const pair of pairs.filter(isTranslated)) {
    const frames = namelessCalls[pair.upstream.name];
    if (!frames) continue;
    // The first unreadable event ends a stream; later ones are not read.
    const script = answerSse([...frames, { data: '[DONE]' }]);
    const { reply, calls, lossMicros, spentMicros } = await ask({ ...pair, script, stream: true });
    assert.match(reply.text, /"upstream_error"|"api_error"/, nameOf(pair));
    assert.deepEqual([calls, spentMicros], [1, 0], `${nameOf(pair)}: ${reply.text}`);
    assert.ok(lossMicros > 0, nameOf(pair));
  }
});

test('an answer without usage that cannot be forwarded is not retried, and its estimated cost is a loss', async () => {
  for (const pair of pairs) {
    const uncounted = { usage: undefined, usageMetadata: undefined };
    const script = answerJson({ ...pair.upstream.call('look', '{}'), ...uncounted });
    const { calls, lossMicros, spentMicros } = await ask({ ...pair, script, stream: true });
    assert.deepEqual([calls, spentMicros], [1, 0], nameOf(pair));
    assert.ok(lossMicros > 0, nameOf(pair));
  }
});

test('the input of a request that times out is a loss', async () => {
  for (const pair of pairs) {
    const earlier = gateway.upstream.requests.length;
    gateway.upstream.on(pair.upstream.path, hang);
    const { key, account } = await gateway.makeKey({ mode: 'live', creditUsd: 5 });
    const asked = gateway.ask(pair.client, key, { model: `to-${pair.upstream.name}` });
    await gateway.upstream.request(earlier);
    const reply = await clock.hurry(asked);
    assert.equal(reply.status, 504, `${nameOf(pair)}: ${reply.text}`);
    const calls = gateway.upstream.requests.length - earlier;
    assert.equal((await gateway.lossesOf(reply.requestId)).length, calls, nameOf(pair));
    assert.equal((await gateway.balance(account)).availableMicros, 5_000_000);
  }
});

test('a 401 of the second route is not a loss, even if the client gets the first route’s timeout', async () => {
  const earlier = gateway.upstream.requests.length;
  gateway.upstream.on('/v1/chat/completions', hang);
  gateway.upstream.on('/v1/messages', answerStatus(401));
  const { key } = await gateway.makeKey({ mode: 'live', creditUsd: 5 });
  const asked = gateway.ask(endpoint('chat'), key, { model: 'to-two' });
  await gateway.upstream.request(earlier);
  const reply = await clock.hurry(asked);
  assert.equal(reply.status, 504, reply.text);
  const paths = gateway.upstream.requests.slice(earlier).map(({ path }) => path);
  const silences = paths.filter((path) => path.endsWith('/completions')).length;
  assert.equal(paths[1], '/v1/messages');
  assert.equal((await gateway.lossesOf(reply.requestId)).length, silences);
});

test('an endlessly nested error is handled like any other error', async () => {
  const deep = `${'['.repeat(10_000)}${']'.repeat(10_000)}`;
  for (const [status, calls] of [
    [400, 1],
    [200, 2],
  ] as const) {
    const chat = pairs.find((pair) => nameOf(pair) === 'chat on chat')!;
    const outcome = await ask({ ...chat, script: answerJson(deep, { status }) });
    assert.ok([400, 502].includes(outcome.reply.status), outcome.reply.text);
    assert.deepEqual([outcome.calls, outcome.lossMicros, outcome.spentMicros], [calls, 0, 0]);
  }
});

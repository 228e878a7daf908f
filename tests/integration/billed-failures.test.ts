// Calls that a provider bills although the client gets no answer. Each is made once, costs the
// client nothing, and is booked as the operator's loss.
import assert from 'node:assert/strict';
import { gzipSync } from 'node:zlib';
import { after, test } from 'node:test';
import { streamFrames, type UpstreamWireName } from '../support/answers.ts';
import { endpoints, type Endpoint } from '../support/endpoints.ts';
import { startGateway } from '../support/gateway.ts';
import type { Reply } from '../support/http.ts';
import { TestClock } from '../support/test-clock.ts';
import { answerJson, answerSse, answerStatus, hang, type Script } from '../support/upstream.ts';

const clock = new TestClock();
/** USD per million tokens. */
const prices = { input: 1, output: 10 };
/** 100 × $1 + 20 × $10 a million. */
const billedMicros = 300;

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
      id: 'resp_1',
      object: 'response',
      created_at: 1_790_000_000,
      status: 'completed',
      error: null,
      model: 'upstream-model',
      output: [
        {
          type: 'function_call',
          id: 'fc_1',
          call_id: 'call_1',
          status: 'completed',
          name,
          arguments: args,
        },
      ],
      usage: { input_tokens: 100, output_tokens: 20, total_tokens: 120 },
    }),
  },
  {
    name: 'chat',
    route: { provider: 'openai', api: 'chat' },
    path: '/v1/chat/completions',
    streamPath: '/v1/chat/completions',
    call: (name, args) => ({
      id: 'chatcmpl-1',
      object: 'chat.completion',
      created: 1_790_000_000,
      model: 'upstream-model',
      choices: [
        {
          index: 0,
          message: {
            role: 'assistant',
            content: null,
            tool_calls: [{ id: 'call_1', type: 'function', function: { name, arguments: args } }],
          },
          finish_reason: 'tool_calls',
        },
      ],
      usage: { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 },
    }),
  },
  {
    name: 'messages',
    route: { provider: 'anthropic', api: 'messages' },
    path: '/v1/messages',
    streamPath: '/v1/messages',
    call: (name, args) => ({
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'upstream-model',
      content: [{ type: 'tool_use', id: 'toolu_1', name, input: args }],
      stop_reason: 'tool_use',
      stop_sequence: null,
      usage: { input_tokens: 100, output_tokens: 20 },
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

const model = (route: object) => ({
  routes: [{ ...route, model: 'upstream-model' }],
  max_input_tokens: 100_000,
  max_output_tokens: 8_000,
  supports: { thinking: true },
  prices,
  timeouts: { first_byte_ms: 1_000 },
});
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
    retries: { max_attempts: 4, backoff_base_ms: 1, budget_floor: 1_000 },
    health: { failures: 1_000 },
  },
  { clock },
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
  const { read } = gateway.database;
  const charges = await read
    .selectFrom('charges')
    .select('cost_micros')
    .where('id', '=', reply.requestId)
    .execute();
  const entries = await read
    .selectFrom('entries')
    .select('loss_micros')
    .where('id', 'like', `${reply.requestId}%`)
    .execute();
  const { availableMicros, heldMicros } = await gateway.balance(account);
  assert.equal(heldMicros, 0);
  return {
    reply,
    calls: gateway.upstream.requests.length - earlier,
    costMicros: charges.reduce((sum, charge) => sum + Number(charge.cost_micros), 0),
    lossMicros: entries.reduce((sum, entry) => sum + Number(entry.loss_micros), 0),
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
const nameOf = ({ client, upstream }: Pick<Asked, 'client' | 'upstream'>) =>
  `${client.name} on ${upstream.name}`;
/** Chat and Responses send arguments as text, which has no depth of its own. */
const withObjects = pairs.filter(
  ({ upstream: { name } }) => name === 'messages' || name === 'gemini',
);

test('an answer with arguments nested a hundred levels deep is delivered and charged', async () => {
  for (const pair of withObjects) {
    const { reply, ...outcome } = await ask({
      ...pair,
      script: answerJson(pair.upstream.call('look', nested(100))),
    });
    assert.equal(reply.status, 200, `${nameOf(pair)}: ${reply.text.slice(0, 300)}`);
    const expected = {
      calls: 1,
      costMicros: billedMicros,
      lossMicros: 0,
      spentMicros: billedMicros,
    };
    assert.deepEqual(outcome, expected, nameOf(pair));
  }
});

test('an answer nested too deeply to be forwarded is a loss', async () => {
  const deep = (call: object) =>
    JSON.stringify(call).replace('"DEEP"', `${'['.repeat(20_000)}${']'.repeat(20_000)}`);
  for (const pair of withObjects)
    assertLost(
      await ask({ ...pair, script: answerJson(deep(pair.upstream.call('look', { a: 'DEEP' }))) }),
      nameOf(pair),
    );
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

test('a translated call without a name is a loss', async () => {
  for (const pair of pairs.filter(({ client, upstream }) => client.name !== upstream.name))
    assertLost(
      await ask({ ...pair, script: answerJson(pair.upstream.call('', '{}')) }),
      nameOf(pair),
    );
});

test('an answer without a part that a client could read is a loss', async () => {
  const junk: readonly unknown[][] = [[null, 3], [null], ['text'], [[]]];
  const broken: Readonly<Record<UpstreamWireName, (parts: readonly unknown[]) => object[]>> = {
    messages: (content) => [{ content }],
    responses: (parts) => [
      { output: parts },
      { output: [{ type: 'message', role: 'assistant', content: parts }] },
    ],
    chat: (parts) => [
      {
        choices: [
          { index: 0, finish_reason: 'stop', message: { role: 'assistant', content: parts } },
        ],
      },
      {
        choices: [
          {
            index: 0,
            finish_reason: 'tool_calls',
            message: { role: 'assistant', content: null, tool_calls: parts },
          },
        ],
      },
      { choices: parts },
    ],
    // Skipped, as in streams: nothing of it can reach a client.
    gemini: () => [],
  };
  for (const pair of pairs) {
    for (const parts of junk) {
      for (const fields of broken[pair.upstream.name](parts)) {
        const script = answerJson({ ...pair.upstream.call('look', '{}'), ...fields });
        assertLost(await ask({ ...pair, script }), `${nameOf(pair)}: ${JSON.stringify(fields)}`);
      }
    }
  }
});

test('a Gemini answer that ends without content is a loss for every such finish reason, whole and streamed', async () => {
  const reasons = [
    'MALFORMED_FUNCTION_CALL',
    'UNEXPECTED_TOOL_CALL',
    'TOO_MANY_TOOL_CALLS',
    'MISSING_THOUGHT_SIGNATURE',
    'MALFORMED_RESPONSE',
  ];
  for (const pair of pairs.filter(({ upstream }) => upstream.name === 'gemini')) {
    for (const reason of reasons) {
      const answer = geminiAnswer(reason, []);
      assertLost(await ask({ ...pair, script: answerJson(answer) }), `${nameOf(pair)}: ${reason}`);
      assertLost(
        await ask({ ...pair, script: answerSse([{ data: answer }]), stream: true }),
        `${nameOf(pair)}: ${reason}, streamed`,
      );
    }
  }
});

test('Gemini calls whose arguments come in pieces are a loss, whole and streamed', async () => {
  const pieces = [
    { functionCall: { name: 'look', willContinue: true } },
    { functionCall: { name: 'look', args: { city: 'Oslo' }, willContinue: true } },
    {
      functionCall: {
        name: 'look',
        partialArgs: [{ jsonPath: '$.city', stringValue: 'Os', willContinue: true }],
      },
    },
  ];
  for (const pair of pairs.filter(({ upstream }) => upstream.name === 'gemini')) {
    for (const part of pieces) {
      const answer = geminiAnswer('STOP', [part]);
      const where = `${nameOf(pair)}: ${JSON.stringify(part)}`;
      assertLost(await ask({ ...pair, script: answerJson(answer) }), where);
      const streamed = await ask({ ...pair, script: answerSse([{ data: answer }]), stream: true });
      assertLost(streamed, `${where}, streamed`);
      assert.doesNotMatch(streamed.reply.text, /"look"/, where);
    }
  }
});

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
  for (const pair of pairs.filter(({ upstream }) => upstream.name === 'gemini')) {
    for (const reason of ['SAFETY', 'RECITATION', 'PROHIBITED_CONTENT', 'OTHER']) {
      const { reply, costMicros, lossMicros } = await ask({
        ...pair,
        script: answerJson(geminiAnswer(reason, [])),
      });
      assert.deepEqual(
        [reply.status, costMicros, lossMicros],
        [200, billedMicros, 0],
        `${nameOf(pair)}: ${reason}`,
      );
    }
  }
});

test('JSON instead of a stream is a loss by its usage', async () => {
  for (const pair of pairs)
    assertLost(
      await ask({ ...pair, script: answerJson(pair.upstream.call('look', '{}')), stream: true }),
      nameOf(pair),
    );
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

test('JSON instead of a stream is a loss even if it is longer than any error', async () => {
  const long = JSON.stringify({ text: 'x'.repeat(100_000) });
  for (const pair of pairs)
    assertLost(
      await ask({ ...pair, script: answerJson(pair.upstream.call('look', long)), stream: true }),
      nameOf(pair),
    );
});

test('a streamed call without a name, in translation, is a loss and is not retried', async () => {
  const namelessCalls: Partial<Record<UpstreamWireName, readonly object[]>> = {
    chat: [
      {
        data: {
          choices: [
            {
              index: 0,
              delta: {
                tool_calls: [{ index: 0, id: 'a', function: { name: '', arguments: '{}' } }],
              },
            },
          ],
        },
      },
    ],
    messages: [
      {
        event: 'message_start',
        data: {
          type: 'message_start',
          message: { usage: { input_tokens: 100, output_tokens: 1 } },
        },
      },
      {
        event: 'content_block_start',
        data: {
          type: 'content_block_start',
          index: 0,
          content_block: { type: 'tool_use', id: 'a', name: '', input: {} },
        },
      },
    ],
    responses: [
      {
        event: 'response.output_item.added',
        data: {
          type: 'response.output_item.added',
          output_index: 0,
          item: { type: 'function_call', call_id: 'a', name: '' },
        },
      },
      {
        event: 'response.output_item.done',
        data: {
          type: 'response.output_item.done',
          output_index: 0,
          item: { type: 'function_call', call_id: 'a', name: '', arguments: '{}' },
        },
      },
    ],
  };
  for (const pair of pairs.filter(
    ({ client, upstream }) => client.name !== upstream.name && namelessCalls[upstream.name],
  )) {
    // The first unreadable event ends a stream; later ones are not read.
    const events = [...namelessCalls[pair.upstream.name]!, { data: '[DONE]' }];
    const { reply, calls, lossMicros, spentMicros } = await ask({
      ...pair,
      script: answerSse(events as never),
      stream: true,
    });
    assert.match(reply.text, /"upstream_error"|"api_error"/, nameOf(pair));
    assert.deepEqual([calls, spentMicros], [1, 0], `${nameOf(pair)}: ${reply.text}`);
    assert.ok(lossMicros > 0, nameOf(pair));
  }
});

test('an answer without usage that cannot be forwarded is not retried, and its estimated cost is a loss', async () => {
  for (const pair of pairs) {
    const {
      usage: _chat,
      usageMetadata: _gemini,
      ...answer
    } = pair.upstream.call('look', '{}') as Record<string, unknown>;
    const { calls, lossMicros, spentMicros } = await ask({
      ...pair,
      script: answerJson(answer),
      stream: true,
    });
    assert.deepEqual([calls, spentMicros], [1, 0], nameOf(pair));
    assert.ok(lossMicros > 0, nameOf(pair));
  }
});

test('the input of a request that times out is a loss', async () => {
  for (const pair of pairs) {
    const earlier = gateway.upstream.requests.length;
    gateway.upstream.on(pair.upstream.path, hang);
    const { key, account } = await gateway.makeKey({ mode: 'live', creditUsd: 5 });
    const asked = gateway.post(pair.client.path, {
      key,
      body: pair.client.body({ model: `to-${pair.upstream.name}` }),
    });
    await gateway.upstream.request(earlier);
    const reply = await clock.hurry(asked);
    assert.equal(reply.status, 504, `${nameOf(pair)}: ${reply.text}`);
    const calls = gateway.upstream.requests.length - earlier;
    const entries = await gateway.database.read
      .selectFrom('entries')
      .select('loss_micros')
      .where('id', 'like', `${reply.requestId}%`)
      .execute();
    const losses = entries
      .map((entry) => Number(entry.loss_micros))
      .filter((lossMicros) => lossMicros > 0);
    assert.equal(losses.length, calls, nameOf(pair));
    assert.equal((await gateway.balance(account)).availableMicros, 5_000_000);
  }
});

test('a 401 of the second route is not a loss, even if the client gets the first route’s timeout', async () => {
  const earlier = gateway.upstream.requests.length;
  gateway.upstream.on('/v1/chat/completions', hang);
  gateway.upstream.on('/v1/messages', answerStatus(401));
  const { key } = await gateway.makeKey({ mode: 'live', creditUsd: 5 });
  const client = endpoints.find(({ name }) => name === 'chat')!;
  const asked = gateway.ask(client, key, { model: 'to-two' });
  await gateway.upstream.request(earlier);
  const reply = await clock.hurry(asked);
  assert.equal(reply.status, 504, reply.text);
  const paths = gateway.upstream.requests.slice(earlier).map(({ path }) => path);
  const silences = paths.filter((path) => path.endsWith('/completions')).length;
  const entries = await gateway.database.read
    .selectFrom('entries')
    .select('loss_micros')
    .where('id', 'like', `${reply.requestId}%`)
    .execute();
  assert.equal(paths[1], '/v1/messages');
  assert.equal(entries.filter((entry) => Number(entry.loss_micros) > 0).length, silences);
});

test('an endlessly nested error is handled like any other error', async () => {
  const deep = `${'['.repeat(10_000)}${']'.repeat(10_000)}`;
  for (const [status, calls] of [
    [400, 1],
    [200, 2],
  ] as const) {
    const [chat] = pairs.filter(
      ({ client, upstream }) => client.name === 'chat' && upstream.name === 'chat',
    );
    const outcome = await ask({ ...chat!, script: answerJson(deep, { status }) });
    assert.ok([400, 502].includes(outcome.reply.status), outcome.reply.text);
    assert.deepEqual([outcome.calls, outcome.lossMicros, outcome.spentMicros], [calls, 0, 0]);
  }
});

// `POST /v1/messages/count_tokens` over real HTTP: what the upstream is sent, how its failures are
// reported, and that it is free.
import assert from 'node:assert/strict';
import { after, beforeEach, test } from 'node:test';
import Anthropic, { BadRequestError } from '@anthropic-ai/sdk';
import { pngHead } from '../support/images/png-head.ts';
import { startGateway, upstreamKey, type KeyOptions } from '../support/gateway.ts';
import type { Reply } from '../support/http.ts';
import { TestClock } from '../support/test-clock.ts';
import { answerJson, answerStatus, hang, thenReset, type Script } from '../support/upstream.ts';

const path = '/v1/messages/count_tokens';
const estimateHeader = 'x-service-token-count';

const clock = new TestClock();

const limits = { max_input_tokens: 100_000, max_output_tokens: 8_000 };
const prices = { input: 3, output: 15 };
const gateway = await startGateway(
  (upstream) => ({
    images: { allowed_hosts: [new URL(upstream.url).host] },
    providers: {
      second: {
        kind: 'anthropic',
        base_url: `${upstream.url}/second`,
        api_key: 'sk-ant-second-key-0001',
      },
      unreachable: { kind: 'anthropic', base_url: 'http://127.0.0.1:9', api_key: upstreamKey },
    },
    models: {
      'two-homes': {
        routes: [
          { provider: 'openai', model: 'elsewhere' },
          { provider: 'anthropic', model: 'first-home' },
          { provider: 'second', model: 'second-home' },
        ],
        supports: { thinking: true },
        prices,
        ...limits,
      },
      'no-home': { routes: [{ provider: 'unreachable', model: 'm' }], prices, ...limits },
    },
  }),
  { clock },
);
const testKey = gateway.program.firstTestKey;
const liveKey = (await gateway.makeKey({ mode: 'live', creditUsd: 5 })).key;
after(() => gateway.stop());
beforeEach(() => gateway.upstream.on(path, answerJson({ input_tokens: 4_321 })));

const hello = { model: 'claude-haiku-4-5', messages: [{ role: 'user', content: 'Hello!' }] };
const png = pngHead(400, 200).toString('base64');

function count(body: object, key = liveKey, headers: Record<string, string> = {}): Promise<Reply> {
  return gateway.post(path, { key, body, headers });
}

function countOf(reply: Reply): number {
  assert.equal(reply.status, 200, reply.text);
  return (JSON.parse(reply.text) as { input_tokens: number }).input_tokens;
}

function errorOf(reply: Reply) {
  const { type, error } = JSON.parse(reply.text) as {
    type: string;
    error: { type: string; code: string; message: string; param?: string };
  };
  assert.equal(type, 'error');
  return { status: reply.status, ...error };
}

test('an account without balance gets ten provider counts a minute, then our estimate', async () => {
  const { key, account } = await gateway.makeKey({ mode: 'live' });
  const { key: second } = await gateway.makeKey({ mode: 'live', account });
  const { asked } = await gateway.recordUpstream(async () => {
    for (let time = 0; time < 12; time++) {
      const reply = await count(hello, time % 2 === 0 ? key : second);
      assert.equal(reply.headers[estimateHeader], time < 10 ? undefined : 'estimate');
      assert.equal(countOf(reply) === 4_321, time < 10);
    }
    return count(hello, liveKey);
  });
  assert.equal(asked.length, 11, 'an account with a balance is not limited');
  await clock.advance(60_000);
  assert.equal(countOf(await count(hello, key)), 4_321);
});

test('the upstream gets only fields that it accepts, and its count is the answer', async () => {
  const body = {
    model: 'claude-haiku-4-5-20251001',
    messages: [
      {
        role: 'user',
        content: [{ type: 'text', text: 'Look', cache_control: { type: 'ephemeral' } }],
      },
      {
        role: 'assistant',
        content: [{ type: 'tool_use', id: 'a', name: 'look', input: { deep: { of: 'course' } } }],
      },
      {
        role: 'user',
        content: [
          {
            type: 'tool_result',
            tool_use_id: 'a',
            content: [
              { type: 'image', source: { type: 'base64', media_type: 'image/png', data: png } },
            ],
          },
        ],
      },
    ],
    system: [{ type: 'text', text: 'Be brief.' }],
    tools: [{ name: 'look', input_schema: { type: 'object' } }],
    tool_choice: { type: 'auto', disable_parallel_tool_use: true },
    thinking: { type: 'enabled', budget_tokens: 2_048 },
  };
  const { reply, asked } = await gateway.recordUpstream(() =>
    count(body, liveKey, { 'anthropic-beta': 'token-counting-2024-11-01, skills-2025-10-02' }),
  );
  assert.equal(countOf(reply), 4_321);
  assert.deepEqual(Object.keys(JSON.parse(reply.text) as object), ['input_tokens']);
  assert.equal(asked.length, 1);
  assert.deepEqual(asked[0]?.body, { ...body, model: 'claude-haiku-4-5' });
  const { headers } = asked[0];
  assert.equal(headers['x-api-key'], upstreamKey);
  assert.equal(headers['anthropic-beta'], 'token-counting-2024-11-01');
  assert.equal(reply.headers['x-service-ignored'], 'anthropic-beta.skills-2025-10-02');
  assert.ok(!JSON.stringify(headers).includes(liveKey));
  assert.equal(reply.headers[estimateHeader], undefined);
  assert.equal(reply.headers['request-id'], reply.headers['x-request-id']);
});

test('fields that only affect the answer are left out and listed', async () => {
  const { reply, asked } = await gateway.recordUpstream(() =>
    count({ ...hello, max_tokens: 100, stream: true, temperature: 0.5, top_k: null }),
  );
  assert.equal(countOf(reply), 4_321);
  assert.deepEqual(asked[0]?.body, hello);
  assert.equal(reply.headers['x-service-ignored'], 'max_tokens, stream, temperature');
});

test('counting is free, writes no usage record and needs no balance', async () => {
  const { key, account } = await gateway.makeKey({ mode: 'live', creditUsd: 1 });
  countOf(await count(hello, key));
  countOf(await count(hello));
  const { availableMicros, inputTokens } = await gateway.balance(account);
  assert.deepEqual([availableMicros, inputTokens], [1_000_000, 0]);
  const usage = await gateway.get('/v1/usage', { key });
  assert.deepEqual(JSON.parse(usage.text), { data: [], next_cursor: null });
});

const refused: [
  what: string,
  body: object,
  status: number,
  fields: { code: string; param?: string; message: RegExp },
][] = [
  [
    'no messages',
    { model: 'claude-haiku-4-5' },
    400,
    { code: 'invalid_request', param: 'messages', message: /messages is required/ },
  ],
  [
    'a bad field',
    { ...hello, thinking: { type: 'enabled' } },
    400,
    {
      code: 'invalid_request',
      param: 'thinking.budget_tokens',
      message: /budget_tokens is required/,
    },
  ],
  ['no object', [], 400, { code: 'invalid_request', message: /must be an object/ }],
  [
    'an unknown model',
    { ...hello, model: 'nobody' },
    404,
    { code: 'model_not_found', param: 'model', message: /"nobody"/ },
  ],
  [
    'a model of another vendor',
    { ...hello, model: 'gpt-5-mini' },
    400,
    {
      code: 'invalid_request',
      param: 'model',
      message: /Anthropic's models only, and 'gpt-5-mini'/,
    },
  ],
  [
    'state kept at the provider',
    { ...hello, container: 'container_1' },
    400,
    { code: 'invalid_request', param: 'container', message: /not available here/ },
  ],
  [
    'a file of the operator',
    {
      ...hello,
      messages: [
        {
          role: 'user',
          content: [{ type: 'document', source: { type: 'file', file_id: 'file_1' } }],
        },
      ],
    },
    400,
    {
      code: 'invalid_request',
      param: 'messages[0].content[0].source.file_id',
      message: /not available here/,
    },
  ],
];

for (const mode of ['live', 'test'] as const) {
  for (const [what, body, status, { code, param, message }] of refused) {
    test(`${mode}: ${what} is refused, and nothing is sent upstream`, async () => {
      const { reply, asked } = await gateway.recordUpstream(() =>
        count(body, mode === 'live' ? liveKey : testKey),
      );
      const error = errorOf(reply);
      assert.deepEqual(
        { status: error.status, code: error.code, param: error.param },
        { status, code, param },
      );
      assert.match(error.message, message);
      assert.equal(asked.length, 0);
    });
  }
}

test('counting needs a key that allows the model', async () => {
  const without = await gateway.post(path, { body: hello });
  assert.deepEqual([without.status, errorOf(without).type], [401, 'authentication_error']);
  const { key } = await gateway.makeKey({ mode: 'live', models: ['claude-opus-5'] });
  assert.equal(errorOf(await count(hello, key)).code, 'model_not_allowed_for_key');
  assert.equal((await gateway.get(path, { key: liveKey })).status, 405);
});

test('counting uses requests per minute, not tokens per minute', async () => {
  const limited: KeyOptions = { mode: 'live', requestsPerMinute: 2, tokensPerMinute: 1 };
  const { key } = await gateway.makeKey(limited);
  const long = { ...hello, messages: [{ role: 'user', content: 'word '.repeat(5_000) }] };
  const first = await count(long, key);
  countOf(first);
  assert.equal(first.headers['x-ratelimit-remaining-requests'], '1');
  countOf(await count(long, key));
  const third = await count(long, key);
  assert.deepEqual([errorOf(third).status, errorOf(third).type], [429, 'rate_limit_error']);
});

const failures: [what: string, script: Script][] = [
  ['overload', answerStatus(529)],
  ['an internal error of the upstream', answerStatus(500)],
  [
    'a refused credential',
    answerStatus(401, { body: { error: { message: `bad key ${upstreamKey}` } } }),
  ],
  ['a rate limit', answerStatus(429, { retryAfter: '9' })],
  ['no such endpoint', answerStatus(404)],
  ['a broken connection', thenReset(null)],
  ['no JSON', answerJson('<html>')],
  ['no count', answerJson({ tokens: 7 })],
  ['an absurd count', answerJson({ input_tokens: -1 })],
];

for (const [what, script] of failures) {
  test(`${what} returns our own estimate, marked as such`, async () => {
    gateway.upstream.on(path, script);
    const reply = await count({
      ...hello,
      messages: [{ role: 'user', content: 'x'.repeat(4_000) }],
    });
    assert.ok(Math.abs(countOf(reply) - 1_000) < 30, reply.text);
    assert.equal(reply.headers[estimateHeader], 'estimate');
  });
}

test('an upstream that is unreachable or does not answer leads to an estimate quickly', async () => {
  assert.equal((await count({ ...hello, model: 'no-home' })).headers[estimateHeader], 'estimate');
  gateway.upstream.on(path, hang);
  const next = gateway.upstream.requests.length;
  const reply = count(hello);
  await gateway.upstream.request(next);
  await clock.advance(5_000);
  assert.equal((await reply).headers[estimateHeader], 'estimate');
});

test('an upstream refusal is a 400 with its message, without secrets', async () => {
  const words = `messages.0: too deep, says org_a1b2c3d4e5f6 with ${upstreamKey} at https://api.example.com/x`;
  for (const status of [400, 413, 422]) {
    gateway.upstream.on(
      path,
      answerStatus(status, {
        body: { type: 'error', error: { type: 'invalid_request_error', message: words } },
      }),
    );
    const error = errorOf(await count(hello));
    assert.deepEqual(
      [error.status, error.type, error.code],
      [400, 'invalid_request_error', 'invalid_request'],
    );
    assert.match(error.message, /messages\.0: too deep/);
    for (const secret of [upstreamKey, 'a1b2c3', 'example.com'])
      assert.ok(!error.message.includes(secret), error.message);
  }
});

test("only the model's Anthropic routes are tried, in order", async () => {
  const body = { ...hello, model: 'two-homes' };
  const first = await gateway.recordUpstream(() => count(body));
  assert.deepEqual(
    first.asked.map((request) => [request.path, (request.body as { model: string }).model]),
    [[path, 'first-home']],
  );
  gateway.upstream.on(path, answerStatus(503));
  gateway.upstream.on(`/second${path}`, answerJson({ input_tokens: 99 }));
  const second = await gateway.recordUpstream(() => count(body));
  assert.equal(countOf(second.reply), 99);
  assert.equal(second.reply.headers[estimateHeader], undefined);
  assert.deepEqual(
    second.asked.map((request) => [request.path, request.headers['x-api-key']]),
    [
      [path, upstreamKey],
      [`/second${path}`, 'sk-ant-second-key-0001'],
    ],
  );
});

const ofUser = (...content: object[]) => ({ ...hello, messages: [{ role: 'user', content }] });
const byUrl = (type: string, url: string) => ({ type, source: { type: 'url', url } });

const behindCall = (...content: object[]) => ({
  ...ofUser(),
  messages: [
    { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'f', input: {} }] },
    { role: 'user', content },
  ],
});

test('an image by URL is fetched once, and the upstream gets it as base64', async () => {
  const served = pngHead(400, 200);
  gateway.upstream.on('/pictures/cat.png', (response) => void response.end(served));
  const image = byUrl('image', `${gateway.upstream.url}/pictures/cat.png`);
  const result = { type: 'tool_result', tool_use_id: 'a', content: [image] };
  const { reply, asked } = await gateway.recordUpstream(() =>
    count(behindCall(result, image, { type: 'text', text: 'Look' })),
  );
  assert.equal(countOf(reply), 4_321);
  assert.equal(reply.headers[estimateHeader], undefined);
  assert.deepEqual(
    asked.map((request) => [request.method, request.path]),
    [
      ['GET', '/pictures/cat.png'],
      ['POST', path],
    ],
  );
  const inlined = {
    type: 'image',
    source: { type: 'base64', media_type: 'image/png', data: served.toString('base64') },
  };
  assert.deepEqual(
    asked[1]!.body,
    behindCall({ ...result, content: [inlined] }, inlined, { type: 'text', text: 'Look' }),
  );
});

test("an image URL into the operator's network, or to nowhere, is a 400 that names it, and nothing is sent upstream", async () => {
  gateway.upstream.on('/pictures/page', answerJson('<html>'));
  const urls: [url: string, problem: RegExp][] = [
    ['http://127.0.0.1/secret.png', /public address/],
    ['http://127.0.0.1:9/secret.png', /port 80 or 443/],
    ['file:///etc/passwd', /http:\/\/ or https:\/\//],
    [`${gateway.upstream.url}/pictures/none.png`, /status 404/],
    [`${gateway.upstream.url}/pictures/page`, /is not a .* image/],
  ];
  for (const [url, problem] of urls) {
    const { reply, asked } = await gateway.recordUpstream(() =>
      count(ofUser({ type: 'text', text: 'Look' }, byUrl('image', url))),
    );
    const error = errorOf(reply);
    assert.deepEqual(
      [error.status, error.code, error.param],
      [400, 'invalid_request', 'messages[0].content[1].source.url'],
      url,
    );
    assert.match(error.message, problem);
    assert.ok(asked.every((request) => request.path !== path));
  }
});

test('a document URL is neither fetched nor sent to the upstream, which would refuse it', async () => {
  const { reply, asked } = await gateway.recordUpstream(() =>
    count(ofUser(byUrl('document', `${gateway.upstream.url}/secret.pdf`))),
  );
  assert.equal(reply.headers[estimateHeader], 'estimate');
  assert.ok(countOf(reply) > 1_000);
  assert.equal(asked.length, 0);
});

test('an estimate counts images by their size', async () => {
  gateway.upstream.on(path, answerStatus(529));
  const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: png } };
  const withImage = countOf(
    await count({ ...hello, messages: [{ role: 'user', content: [image] }] }),
  );
  assert.ok(
    withImage >= 15 * 8 && withImage < 15 * 8 + 30,
    `400 × 200 pixels are 120 tokens; got ${withImage}`,
  );
});

const billed: [what: string, fields: object][] = [
  ['text', {}],
  [
    'a system prompt and directives',
    { system: 'Be brief.', messages: [{ role: 'user', content: 'Hi\nsandbox: tokens=3' }] },
  ],
  [
    'tools, calls, results, thinking and images',
    {
      system: [{ type: 'text', text: 'Sì.' }],
      thinking: { type: 'enabled', budget_tokens: 1_024 },
      tools: [
        {
          name: 'look',
          description: 'Looks',
          input_schema: { type: 'object', properties: { at: { type: 'string' } } },
        },
      ],
      tool_choice: { type: 'auto' },
      messages: [
        {
          role: 'user',
          content: [{ type: 'image', source: { type: 'url', url: 'https://example.com/cat.png' } }],
        },
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'Hm', signature: 'x' },
            { type: 'tool_use', id: 'a', name: 'look', input: { at: '猫' } },
          ],
        },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 'a', content: 'A cat' },
            { type: 'text', text: 'So?' },
          ],
        },
      ],
    },
  ],
];

for (const [what, fields] of billed) {
  test(`in test mode the count of ${what} equals the later bill`, async () => {
    const body = { ...hello, ...fields };
    const reply = await count(body, testKey);
    assert.equal(reply.headers['x-service-mode'], 'test');
    assert.equal(reply.headers[estimateHeader], undefined);
    const answer = await gateway.post('/v1/messages', {
      key: testKey,
      body: { ...body, max_tokens: 4_000 },
    });
    assert.equal(answer.status, 200, answer.text);
    const { usage } = JSON.parse(answer.text) as { usage: { input_tokens: number } };
    assert.equal(countOf(reply), usage.input_tokens);
  });
}

test('the official SDK counts in both modes and gets typed errors', async () => {
  const client = (apiKey: string) => new Anthropic({ baseURL: gateway.url, apiKey, maxRetries: 0 });
  const params: Anthropic.MessageCountTokensParams = {
    model: 'claude-haiku-4-5',
    messages: [{ role: 'user', content: 'Hello!' }],
  };
  assert.deepEqual(await client(liveKey).messages.countTokens(params), { input_tokens: 4_321 });
  assert.deepEqual(await client(testKey).messages.countTokens(params), { input_tokens: 2 });
  const betas = await client(liveKey).beta.messages.countTokens({
    ...params,
    betas: ['token-counting-2024-11-01'],
  });
  assert.equal(betas.input_tokens, 4_321);
  await assert.rejects(
    client(liveKey).messages.countTokens({ ...params, model: 'gpt-5-mini' }),
    BadRequestError,
  );
});

test('a client that leaves stops the upstream', async () => {
  gateway.upstream.on(path, hang);
  const index = gateway.upstream.requests.length;
  const { request } = gateway.open(path, { key: liveKey, body: hello });
  request.on('error', () => {});
  const asked = await gateway.upstream.request(index);
  request.destroy();
  assert.equal(await asked.ended, 'aborted');
});

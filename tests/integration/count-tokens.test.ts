// `POST /v1/messages/count_tokens` and `POST /v1/responses/input_tokens` over real HTTP: what each
// vendor is sent, how its failures are reported, and that both are free.
import assert from 'node:assert/strict';
import { after, beforeEach, test } from 'node:test';
import Anthropic, { BadRequestError } from '@anthropic-ai/sdk';
import OpenAI, { BadRequestError as OpenaiBadRequestError } from 'openai';
import { pngHead } from '../support/images/png-head.ts';
import { startGateway, upstreamKey, type KeyOptions } from '../support/gateway.ts';
import type { Reply } from '../support/http.ts';
import { modelOf } from '../support/model-of.ts';
import { TestClock } from '../support/test-clock.ts';
import { answerJson, answerStatus, hang, thenReset, type Script } from '../support/upstream.ts';
import { columnOf } from '../support/column-of.ts';

const messagesPath = '/v1/messages/count_tokens';
const responsesPath = '/v1/responses/input_tokens';
const estimateHeader = 'x-service-token-count';

const clock = new TestClock();

const terms = { supports: { thinking: true }, prices: { input: 3, output: 15 } };
const model = (...routes: object[]) => modelOf(routes, terms);
const local = { provider: 'local', model: 'm' };
const gateway = await startGateway(
  (upstream) => ({
    images: { allowed_hosts: [new URL(upstream.url).host] },
    providers: {
      second: {
        kind: 'anthropic',
        base_url: `${upstream.url}/second`,
        api_key: 'sk-ant-second-key-0001',
      },
    },
    models: {
      'two-homes': model(
        { provider: 'openai', model: 'elsewhere' },
        { provider: 'anthropic', model: 'first-home' },
        { provider: 'second', model: 'second-home' },
      ),
      house: model(local),
    },
  }),
  { clock },
);
const testKey = gateway.program.firstTestKey;
const liveKey = (await gateway.makeKey({ mode: 'live', creditUsd: 5 })).key;
after(() => gateway.stop());

type Way = {
  readonly name: string;
  readonly path: string;
  readonly model: string;
  readonly upstreamPath: string;
  readonly answer: object;
};
const anthropic = {
  model: 'claude-haiku-4-5',
  upstreamPath: messagesPath,
  answer: { input_tokens: 4_321 },
};
const openai: Way = {
  name: 'input_tokens by OpenAI',
  path: responsesPath,
  model: 'gpt-6-luna',
  upstreamPath: responsesPath,
  answer: { object: 'response.input_tokens', input_tokens: 4_321 },
};
const google: Way = {
  name: 'input_tokens by Google',
  path: responsesPath,
  model: 'gemini-2.5-pro',
  upstreamPath: '/v1beta/models/gemini-2.5-pro:countTokens',
  answer: { totalTokens: 4_321, promptTokensDetails: [{ modality: 'TEXT', tokenCount: 4_321 }] },
};
const countTokens: Way = { ...anthropic, name: 'count_tokens', path: messagesPath };
const vendors: readonly Way[] = [
  openai,
  { ...anthropic, name: 'input_tokens by Anthropic', path: responsesPath },
  google,
];
const ways = [countTokens, ...vendors];
beforeEach(() => {
  for (const { upstreamPath, answer } of ways)
    gateway.upstream.on(upstreamPath, answerJson(answer));
});

const hello = { model: 'claude-haiku-4-5', messages: [{ role: 'user', content: 'Hello!' }] };
const png = pngHead(400, 200).toString('base64');

function count(body: object, key = liveKey, headers: Record<string, string> = {}): Promise<Reply> {
  return gateway.post(messagesPath, { key, body, headers });
}

function countInput(body: object, key = liveKey): Promise<Reply> {
  return gateway.post(responsesPath, { key, body });
}

/** Counts a text on the way's model. */
function countText(way: Way, text = 'Hi', key = liveKey): Promise<Reply> {
  return gateway.post(way.path, { key, body: bodyOf(way, text) });
}

function bodyOf(way: Way, text: string): object {
  return way.path === responsesPath
    ? { model: way.model, input: text }
    : { model: way.model, messages: [{ role: 'user', content: text }] };
}

/** The two endpoints mark an estimate in the same header, and input_tokens in its body too. */
function countOf(reply: Reply): number {
  assert.equal(reply.status, 200, reply.text);
  const { object, input_tokens: tokens, estimated, ...rest } = reply.json();
  assert.deepEqual(rest, {});
  if (object !== undefined) {
    assert.equal(object, 'response.input_tokens');
    assert.equal(estimated, reply.headers[estimateHeader] === undefined ? undefined : true);
  }
  return Number(tokens);
}

function isEstimate(reply: Reply): boolean {
  return reply.headers[estimateHeader] === 'estimate';
}

test('an account without balance gets ten provider counts a minute over both endpoints, then our estimate', async () => {
  const { key, account } = await gateway.makeKey({ mode: 'live' });
  const { key: second } = await gateway.makeKey({ mode: 'live', account });
  const { asked } = await gateway.recordUpstream(async () => {
    for (let time = 0; time < 12; time++) {
      const by = time % 2 === 0 ? key : second;
      const reply = await countText(time % 3 === 0 ? openai : countTokens, 'Hi', by);
      assert.equal(isEstimate(reply), time >= 10);
      assert.equal(countOf(reply) === 4_321, time < 10);
    }
    return count(hello, liveKey);
  });
  assert.equal(asked.length, 11, 'an account with a balance is not limited');
  await clock.advance(60_000);
  for (const way of ways.slice(0, 2)) assert.equal(countOf(await countText(way, 'Hi', key)), 4_321);
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

test('counting is free and writes no usage record', async () => {
  const { key, account } = await gateway.makeKey({ mode: 'live', creditUsd: 1 });
  for (const way of ways) countOf(await countText(way, 'Hi', key));
  const { availableMicros, inputTokens } = await gateway.balance(account);
  assert.deepEqual([availableMicros, inputTokens], [1_000_000, 0]);
  assert.deepEqual(await gateway.usage(key), []);
});

const tools = [
  {
    type: 'function',
    name: 'look',
    description: 'Looks',
    parameters: { type: 'object', properties: {} },
    strict: false,
  },
];
const { instructions, input, ...onlyOfAnswer } = {
  instructions: 'Be brief.',
  input: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hello!' }] }],
  temperature: 0.5,
  max_output_tokens: 50,
  stream: true,
  metadata: { a: 'b' },
};
const rich = { instructions, input, tools, ...onlyOfAnswer };

test('each vendor counts for its models, and gets only fields that its endpoint accepts', async () => {
  for (const { name, model: id, upstreamPath } of vendors) {
    const { reply, asked } = await gateway.recordUpstream(() => countInput({ model: id, ...rich }));
    assert.deepEqual([countOf(reply), isEstimate(reply)], [4_321, false], name);
    assert.deepEqual(columnOf(asked, 'path'), [upstreamPath]);
  }
  const [ofOpenai, ofAnthropic, ofGoogle] = gateway.upstream.requests.slice(-3);
  assert.deepEqual(ofOpenai!.body, { model: 'gpt-6-luna', instructions, input, tools });
  assert.equal(ofOpenai!.headers['authorization'], `Bearer ${upstreamKey}`);
  const { messages, ...more } = ofAnthropic!.body as Record<string, unknown>;
  assert.ok(JSON.stringify(messages).includes('Hello!'));
  assert.deepEqual(Object.keys(more).toSorted(), ['model', 'system', 'tools']);
  assert.equal(more['model'], 'claude-haiku-4-5');
  assert.equal(ofAnthropic!.headers['anthropic-version'], '2023-06-01');
  const { generateContentRequest: whole, ...rest } = ofGoogle!.body as {
    generateContentRequest: Record<string, unknown>;
  };
  assert.deepEqual(rest, {});
  assert.equal(whole['model'], 'models/gemini-2.5-pro');
  assert.deepEqual(whole['contents'], [{ role: 'user', parts: [{ text: 'Hello!' }] }]);
  assert.ok(whole['systemInstruction'] && whole['tools']);
});

test('without a provider that counts, the estimate is marked as such and nothing is sent', async () => {
  const asking = () => countInput({ model: 'house', input: 'x'.repeat(4_000) });
  const { reply, asked } = await gateway.recordUpstream(asking);
  assert.ok(Math.abs(countOf(reply) - 1_000) < 30, reply.text);
  assert.ok(isEstimate(reply));
  assert.equal(asked.length, 0);
});

const claude = { model: 'claude-haiku-4-5' };
const gpt = { model: 'gpt-6-luna' };
const file = { type: 'document', source: { type: 'file', file_id: 'file_1' } };
type Refused = [what: string, body: object, param: string | undefined, message: RegExp];
const refused: readonly (readonly [path: string, rows: readonly Refused[]])[] = [
  [
    messagesPath,
    [
      ['no messages', claude, 'messages', /messages is required/],
      [
        'a bad field',
        { ...hello, thinking: { type: 'enabled' } },
        'thinking.budget_tokens',
        /budget_tokens is required/,
      ],
      ['no object', [], undefined, /must be an object/],
      ['an unknown model', { ...hello, model: 'nobody' }, 'model', /"nobody"/],
      [
        'a model of another vendor',
        { ...hello, ...gpt },
        'model',
        /Anthropic's models only, and 'gpt-6-luna'.*POST \/v1\/responses\/input_tokens counts for every model/,
      ],
      [
        'state kept at the provider',
        { ...hello, container: 'container_1' },
        'container',
        /not available here/,
      ],
      [
        'a file of the operator',
        { ...hello, messages: [{ role: 'user', content: [file] }] },
        'messages[0].content[0].source.file_id',
        /not available here/,
      ],
    ],
  ],
  [
    responsesPath,
    [
      ['no input', gpt, 'input', /input/],
      ['no model', { input: 'Hi' }, 'model', /model/],
      ['an unknown model', { model: 'nobody', input: 'Hi' }, 'model', /nobody/],
      ...[gpt, claude].map(({ model: id }): Refused => [
        `state kept at the provider of ${id}`,
        { model: id, input: 'Hi', conversation: 'conv_1' },
        'conversation',
        /conversation/,
      ]),
    ],
  ],
];

for (const [path, rows] of refused) {
  for (const [what, body, param, message] of rows) {
    test(`${path}: ${what} is refused with either key, and nothing is sent upstream`, async () => {
      for (const key of [liveKey, testKey]) {
        const { reply, asked } = await gateway.postRecorded(path, { key, body });
        const expected =
          what === 'an unknown model' ? [404, 'model_not_found'] : [400, 'invalid_request'];
        assert.deepEqual([reply.status, reply.error.code], expected, reply.text);
        assert.equal(reply.error.param ?? undefined, param);
        assert.match(reply.error.message, message);
        assert.equal(asked.length, 0);
      }
    });
  }
}

test('counting needs a key that allows the model', async () => {
  const { key } = await gateway.makeKey({ mode: 'live', models: ['gpt-4o'] });
  for (const way of ways) {
    assert.equal((await gateway.post(way.path, { body: bodyOf(way, 'Hi') })).status, 401);
    const reply = await countText(way, 'Hi', key);
    assert.equal(reply.error.code, 'model_not_allowed_for_key', way.name);
    assert.equal((await gateway.get(way.path, { key: liveKey })).status, 405);
  }
});

test('counting has a limit of its own over both endpoints, beside requests and tokens per minute', async () => {
  const limited: KeyOptions = { mode: 'test', requestsPerMinute: 1, tokensPerMinute: 1 };
  const { key } = await gateway.makeKey(limited);
  const both = [countTokens, openai];
  const replies = await Promise.all(
    Array.from({ length: 620 }, (_, index) =>
      countText(both[index % 2]!, 'word '.repeat(100), key),
    ),
  );
  const refusals = replies.filter(({ status }) => status === 429);
  assert.equal(refusals.length, 20);
  assert.ok(replies.every(({ status }) => status === 200 || status === 429));
  for (const { error, headers } of refusals) {
    // Messages has the details beside the message.
    const { limit, maximum } = (error['details'] ?? error) as Record<string, unknown>;
    assert.deepEqual([limit, maximum], ['token_counts_per_minute', 600]);
    assert.match(error.message, /may send 600 token counts a minute/);
    assert.equal(headers['x-ratelimit-remaining-requests'], '0');
  }
});

test('a key that may send no requests may not count either', async () => {
  const { key } = await gateway.makeKey({ mode: 'live', requestsPerMinute: 0 });
  for (const way of [countTokens, openai])
    assert.equal((await countText(way, 'Hi', key)).status, 429, way.name);
});

const secretError = { error: { message: `bad key ${upstreamKey}` } };
const failures: [what: string, script: Script][] = [
  ['overload', answerStatus(529)],
  ['an internal error of the upstream', answerStatus(500)],
  ['a refused credential', answerStatus(401, { body: secretError })],
  ['a rate limit', answerStatus(429, { retryAfter: '9' })],
  ['no such endpoint', answerStatus(404)],
  ['a broken connection', thenReset(null)],
  ['no JSON', answerJson('<html>')],
  ['no count', answerJson({ tokens: 7 })],
  ['an absurd count', answerJson({ input_tokens: -1, totalTokens: -1 })],
];
for (const way of ways) {
  for (const [what, script] of failures) {
    test(`${way.name}: ${what} returns our own estimate, marked as such`, async () => {
      gateway.upstream.on(way.upstreamPath, script);
      const reply = await countText(way, 'x'.repeat(4_000));
      assert.ok(Math.abs(countOf(reply) - 1_000) < 30, reply.text);
      assert.ok(isEstimate(reply));
    });
  }

  test(`${way.name}: an upstream that does not answer leads to an estimate quickly, and stops when the client leaves`, async () => {
    gateway.upstream.on(way.upstreamPath, hang);
    const next = gateway.upstream.requests.length;
    const reply = countText(way);
    await gateway.upstream.request(next);
    await clock.advance(5_000);
    assert.ok(isEstimate(await reply));
    const body = bodyOf(way, 'Hi');
    const { request } = gateway.open(way.path, { key: liveKey, body });
    request.on('error', () => {});
    const asked = await gateway.upstream.request(next + 1);
    request.destroy();
    assert.equal(await asked.ended, 'aborted');
  });

  test(`${way.name}: an upstream refusal is a 400 with its message, without secrets`, async () => {
    const message = `messages.0: too deep, says org_a1b2c3d4e5f6 with ${upstreamKey} at https://api.example.com/x`;
    const body = { type: 'error', error: { type: 'invalid_request_error', message } };
    for (const status of [400, 413, 422]) {
      gateway.upstream.on(way.upstreamPath, answerStatus(status, { body }));
      const reply = await countText(way);
      assert.deepEqual([reply.status, reply.error.code], [400, 'invalid_request'], reply.text);
      assert.match(reply.error.message, /messages\.0: too deep/);
      for (const secret of [upstreamKey, 'a1b2c3', 'example.com'])
        assert.ok(!reply.text.includes(secret), reply.text);
    }
  });
}

test("only the model's Anthropic routes are tried, in order", async () => {
  const body = { ...hello, model: 'two-homes' };
  const first = await gateway.recordUpstream(() => count(body));
  assert.deepEqual(
    first.asked.map((request) => [request.path, (request.body as { model: string }).model]),
    [[messagesPath, 'first-home']],
  );
  gateway.upstream.on(messagesPath, answerStatus(503));
  gateway.upstream.on(`/second${messagesPath}`, answerJson({ input_tokens: 99 }));
  const second = await gateway.recordUpstream(() => count(body));
  assert.equal(countOf(second.reply), 99);
  assert.equal(second.reply.headers[estimateHeader], undefined);
  assert.deepEqual(
    second.asked.map((request) => [request.path, request.headers['x-api-key']]),
    [
      [messagesPath, upstreamKey],
      [`/second${messagesPath}`, 'sk-ant-second-key-0001'],
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
      ['POST', messagesPath],
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
  const urls: [url: string, problem: RegExp][] = [
    ['http://127.0.0.1/secret.png', /public address/],
    [`${gateway.upstream.url}/pictures/none.png`, /status 404/],
  ];
  for (const [url, problem] of urls) {
    const { reply, asked } = await gateway.recordUpstream(() =>
      count(ofUser({ type: 'text', text: 'Look' }, byUrl('image', url))),
    );
    const { status, error } = reply;
    assert.deepEqual(
      [status, error.code, error.param],
      [400, 'invalid_request', 'messages[0].content[1].source.url'],
      url,
    );
    assert.match(error.message, problem);
    assert.ok(asked.every((request) => request.path !== messagesPath));
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
  gateway.upstream.on(messagesPath, answerStatus(529));
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
  await assert.rejects(
    client(liveKey).messages.countTokens({ ...params, model: 'gpt-6-luna' }),
    BadRequestError,
  );
});

test('an image URL is fetched for Anthropic, and a failed fetch is a 400 that names the input', async () => {
  gateway.upstream.on('/pictures/cat.png', (response) => void response.end(pngHead(400, 200)));
  const withImage = (url: string) => ({
    model: 'claude-haiku-4-5',
    input: [{ role: 'user', content: [{ type: 'input_image', image_url: url }] }],
  });
  const { reply, asked } = await gateway.recordUpstream(() =>
    countInput(withImage(`${gateway.upstream.url}/pictures/cat.png`)),
  );
  assert.equal(countOf(reply), 4_321);
  assert.match(JSON.stringify(asked.at(-1)!.body), /"type":"base64","media_type":"image\/png"/);
  const { status, error } = await countInput(withImage('http://127.0.0.1/secret.png'));
  assert.deepEqual([status, error.code, error['param']], [400, 'invalid_request', 'input']);
  assert.match(error.message, /image in `input` .*public address/);
});

test("in test mode every vendor's count equals its later bill", async () => {
  for (const { model: id } of vendors) {
    const said = { model: id, instructions: 'Sì.', input: 'Hello, 世界!', tools };
    const body = { ...said, max_output_tokens: 200 };
    const reply = await countInput(body, testKey);
    assert.equal(reply.headers['x-service-mode'], 'test');
    const answer = await gateway.post('/v1/responses', { key: testKey, body });
    assert.equal(answer.status, 200, answer.text);
    const { usage } = answer.json<{ usage: { input_tokens: number } }>();
    assert.equal(countOf(reply), usage.input_tokens, id);
  }
});

test('the official SDK counts for every vendor and gets typed errors', async () => {
  for (const apiKey of [liveKey, testKey]) {
    const client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey, maxRetries: 0 });
    for (const { model: id } of vendors) {
      const counted = await client.responses.inputTokens.count({ model: id, input: 'Hello!' });
      assert.equal(counted.object, 'response.input_tokens');
      assert.equal(counted.input_tokens, apiKey === liveKey ? 4_321 : 2, id);
    }
    await assert.rejects(
      client.responses.inputTokens.count({ model: 'gpt-6-luna' }),
      OpenaiBadRequestError,
    );
  }
});

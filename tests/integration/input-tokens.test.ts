// `POST /v1/responses/input_tokens` over real HTTP: what each vendor is sent, the answer when none
// counts, and that it is free.
import assert from 'node:assert/strict';
import { after, beforeEach, test } from 'node:test';
import OpenAI, { BadRequestError } from 'openai';
import { pngHead } from '../support/images/png-head.ts';
import { startGateway, upstreamKey } from '../support/gateway.ts';
import type { Reply } from '../support/http.ts';
import { TestClock } from '../support/test-clock.ts';
import { answerJson, answerStatus, hang, thenReset, type Script } from '../support/upstream.ts';

const path = '/v1/responses/input_tokens';
const estimateHeader = 'x-service-token-count';

type Count = { readonly object: string; readonly input_tokens: number; readonly estimated?: true };

const clock = new TestClock();

const vendors = {
  openai: {
    model: 'gpt-5-mini',
    path,
    answer: { object: 'response.input_tokens', input_tokens: 4_321 },
  },
  anthropic: {
    model: 'claude-haiku-4-5',
    path: '/v1/messages/count_tokens',
    answer: { input_tokens: 4_321 },
  },
  google: {
    model: 'gemini-2.5-pro',
    path: '/v1beta/models/gemini-2.5-pro:countTokens',
    answer: { totalTokens: 4_321, promptTokensDetails: [{ modality: 'TEXT', tokenCount: 4_321 }] },
  },
} as const;

const limits = { max_input_tokens: 100_000, max_output_tokens: 8_000 };
const prices = { input: 3, output: 15 };
const gateway = await startGateway(
  (upstream) => ({
    images: { allowed_hosts: [new URL(upstream.url).host] },
    models: {
      house: { routes: [{ provider: 'local', model: 'm' }], prices, ...limits },
      'house-first': {
        routes: [
          { provider: 'local', model: 'm' },
          { provider: 'anthropic', model: 'second-home' },
        ],
        prices,
        ...limits,
      },
    },
  }),
  { clock },
);
const testKey = gateway.program.firstTestKey;
const liveKey = (await gateway.makeKey({ mode: 'live', creditUsd: 5 })).key;
after(() => gateway.stop());
beforeEach(() => {
  for (const vendor of Object.values(vendors))
    gateway.upstream.on(vendor.path, answerJson(vendor.answer));
});

function count(body: object, key = liveKey): Promise<Reply> {
  return gateway.post(path, { key, body });
}

function countOf(reply: Reply): Count {
  assert.equal(reply.status, 200, reply.text);
  const counted = reply.json<Count>();
  assert.equal(counted.object, 'response.input_tokens');
  assert.equal(counted.estimated, reply.headers[estimateHeader] === undefined ? undefined : true);
  return counted;
}

const tools = [
  {
    type: 'function',
    name: 'look',
    description: 'Looks',
    parameters: { type: 'object', properties: {} },
    strict: false,
  },
];
const rich = {
  instructions: 'Be brief.',
  input: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hello!' }] }],
  tools,
  temperature: 0.5,
  max_output_tokens: 50,
  stream: true,
  metadata: { a: 'b' },
};

test('OpenAI counts for its models, and gets only fields that its endpoint accepts', async () => {
  const { reply, asked } = await gateway.recordUpstream(() =>
    count({ model: 'openai/gpt-5-mini', ...rich }),
  );
  assert.deepEqual(countOf(reply), { object: 'response.input_tokens', input_tokens: 4_321 });
  assert.equal(reply.headers[estimateHeader], undefined);
  const { instructions, input } = rich;
  assert.deepEqual(
    asked.map((request) => [request.path, request.body]),
    [[path, { model: 'gpt-5-mini', instructions, input, tools }]],
  );
  assert.equal(asked[0]!.headers['authorization'], `Bearer ${upstreamKey}`);
});

test('Anthropic counts for its models, without fields that only affect the answer', async () => {
  const { reply, asked } = await gateway.recordUpstream(() =>
    count({ model: 'claude-haiku-4-5', ...rich }),
  );
  assert.equal(countOf(reply).input_tokens, 4_321);
  assert.equal(asked.length, 1);
  assert.equal(asked[0]!.path, vendors.anthropic.path);
  const body = asked[0]!.body as Record<string, unknown>;
  assert.deepEqual(Object.keys(body).toSorted(), ['messages', 'model', 'system', 'tools']);
  assert.deepEqual(
    [body['model'], JSON.stringify(body['messages']).includes('Hello!')],
    ['claude-haiku-4-5', true],
  );
  assert.equal(asked[0]!.headers['anthropic-version'], '2023-06-01');
});

test('Google counts for its models, the whole request', async () => {
  const { reply, asked } = await gateway.recordUpstream(() =>
    count({ model: 'gemini-2.5-pro', ...rich }),
  );
  assert.equal(countOf(reply).input_tokens, 4_321);
  assert.deepEqual(
    asked.map((request) => request.path),
    [vendors.google.path],
  );
  const { generateContentRequest: whole, ...rest } = asked[0]!.body as {
    generateContentRequest: Record<string, unknown>;
  };
  assert.deepEqual(rest, {});
  assert.equal(whole['model'], 'models/gemini-2.5-pro');
  assert.deepEqual(whole['contents'], [{ role: 'user', parts: [{ text: 'Hello!' }] }]);
  assert.ok(whole['systemInstruction'] && whole['tools']);
});

test('without a provider that counts, the estimate is marked as such and nothing is sent', async () => {
  const { reply, asked } = await gateway.recordUpstream(() =>
    count({ model: 'house', input: 'x'.repeat(4_000) }),
  );
  const counted = countOf(reply);
  assert.ok(Math.abs(counted.input_tokens - 1_000) < 30, reply.text);
  assert.equal(counted.estimated, true);
  assert.equal(reply.headers[estimateHeader], 'estimate');
  assert.equal(asked.length, 0);
});

test('of several providers the first that can count is used', async () => {
  const { reply, asked } = await gateway.recordUpstream(() =>
    count({ model: 'house-first', input: 'Hi' }),
  );
  assert.equal(countOf(reply).input_tokens, 4_321);
  assert.deepEqual(
    asked.map((request) => [request.path, (request.body as { model: string }).model]),
    [[vendors.anthropic.path, 'second-home']],
  );
});

const failures: [what: string, script: Script][] = [
  ['overload', answerStatus(529)],
  [
    'a refused credential',
    answerStatus(401, { body: { error: { message: `bad key ${upstreamKey}` } } }),
  ],
  ['no such endpoint', answerStatus(404)],
  ['a broken connection', thenReset(null)],
  ['no count', answerJson({ tokens: 7 })],
  ['an absurd count', answerJson({ input_tokens: -1, totalTokens: -1 })],
];
for (const [name, { model, path: upstreamPath }] of Object.entries(vendors)) {
  for (const [what, script] of failures) {
    test(`${name}: ${what} returns our own estimate`, async () => {
      gateway.upstream.on(upstreamPath, script);
      const counted = countOf(await count({ model, input: 'x'.repeat(4_000) }));
      assert.ok(Math.abs(counted.input_tokens - 1_000) < 30);
      assert.equal(counted.estimated, true);
    });
  }

  test(`${name}: an upstream refusal is a 400 with its message, without secrets`, async () => {
    const words = `input is too long, says org_a1b2c3d4e5f6 with ${upstreamKey}`;
    gateway.upstream.on(upstreamPath, answerStatus(400, { body: { error: { message: words } } }));
    const { status, error, text } = await count({ model, input: 'Hi' });
    assert.deepEqual([status, error.code], [400, 'invalid_request']);
    assert.match(error.message, /input is too long/);
    assert.ok(!text.includes(upstreamKey) && !text.includes('a1b2c3'), text);
  });
}

test('an upstream that does not answer leads to an estimate quickly, and stops when the client leaves', async () => {
  gateway.upstream.on(path, hang);
  const slow = gateway.upstream.requests.length;
  const reply = count({ model: 'gpt-5-mini', input: 'Hi' });
  await gateway.upstream.request(slow);
  await clock.advance(5_000);
  assert.equal(countOf(await reply).estimated, true);
  const left = gateway.upstream.requests.length;
  const { request } = gateway.open(path, {
    key: liveKey,
    body: { model: 'gpt-5-mini', input: 'Hi' },
  });
  request.on('error', () => {});
  const asked = await gateway.upstream.request(left);
  request.destroy();
  assert.equal(await asked.ended, 'aborted');
});

test('counting is free, writes no usage record, and is limited without balance like count_tokens', async () => {
  const { key, account } = await gateway.makeKey({ mode: 'live' });
  const body = { model: 'gpt-5-mini', input: 'Hi' };
  for (let time = 0; time < 12; time++) {
    const counted =
      time % 2 === 0
        ? await count(body, key)
        : await gateway.post('/v1/messages/count_tokens', {
            key,
            body: { model: 'claude-haiku-4-5', messages: [{ role: 'user', content: 'Hi' }] },
          });
    assert.equal(counted.headers[estimateHeader], time < 10 ? undefined : 'estimate');
  }
  await clock.advance(60_000);
  assert.equal(countOf(await count(body, key)).input_tokens, 4_321);
  assert.deepEqual((await gateway.get('/v1/usage', { key })).json(), {
    data: [],
    next_cursor: null,
  });
  assert.equal((await gateway.balance(account)).inputTokens, 0);
});

const refused: [what: string, body: object, status: number, code: string, param: string | null][] =
  [
    ['no input', { model: 'gpt-5-mini' }, 400, 'invalid_request', 'input'],
    ['no model', { input: 'Hi' }, 400, 'invalid_request', 'model'],
    ['an unknown model', { model: 'nobody', input: 'Hi' }, 404, 'model_not_found', 'model'],
    [
      'state kept at the provider',
      { model: 'gpt-5-mini', input: 'Hi', conversation: 'conv_1' },
      400,
      'invalid_request',
      'conversation',
    ],
    [
      'state kept at another provider',
      { model: 'claude-haiku-4-5', input: 'Hi', conversation: 'conv_1' },
      400,
      'invalid_request',
      'conversation',
    ],
  ];
for (const mode of ['live', 'test'] as const) {
  for (const [what, body, status, code, param] of refused) {
    test(`${mode}: ${what} is refused, and nothing is sent upstream`, async () => {
      const { reply, asked } = await gateway.recordUpstream(() =>
        count(body, mode === 'live' ? liveKey : testKey),
      );
      assert.deepEqual(
        [reply.status, reply.error.code, reply.error['param']],
        [status, code, param],
        reply.text,
      );
      assert.equal(asked.length, 0);
    });
  }
}

test('counting needs a key that allows the model, and its limits apply', async () => {
  assert.equal(
    (await gateway.post(path, { body: { model: 'gpt-5-mini', input: 'Hi' } })).status,
    401,
  );
  const { key } = await gateway.makeKey({
    mode: 'live',
    models: ['gpt-5-mini'],
    requestsPerMinute: 1,
  });
  assert.equal(
    (await count({ model: 'claude-haiku-4-5', input: 'Hi' }, key)).error.code,
    'model_not_allowed_for_key',
  );
  countOf(await count({ model: 'gpt-5-mini', input: 'Hi' }, key));
  assert.equal((await count({ model: 'gpt-5-mini', input: 'Hi' }, key)).status, 429);
  assert.equal((await gateway.get(path, { key: liveKey })).status, 405);
});

test('fields that a provider does not accept are left out and listed', async () => {
  const reply = await count({
    model: 'claude-haiku-4-5',
    input: 'Hi',
    previous_response_id: 'resp_1',
    truncation: 'auto',
  });
  assert.equal(countOf(reply).input_tokens, 4_321);
  assert.match(String(reply.headers['x-service-ignored']), /previous_response_id/);
});

test('an image URL is fetched for Anthropic, and a failed fetch is a 400 that names the input', async () => {
  gateway.upstream.on('/pictures/cat.png', (response) => void response.end(pngHead(400, 200)));
  const withImage = (url: string) => ({
    model: 'claude-haiku-4-5',
    input: [{ role: 'user', content: [{ type: 'input_image', image_url: url }] }],
  });
  const { reply, asked } = await gateway.recordUpstream(() =>
    count(withImage(`${gateway.upstream.url}/pictures/cat.png`)),
  );
  assert.equal(countOf(reply).input_tokens, 4_321);
  assert.match(JSON.stringify(asked.at(-1)!.body), /"type":"base64","media_type":"image\/png"/);
  const { status, error } = await count(withImage('http://127.0.0.1/secret.png'));
  assert.deepEqual([status, error.code, error['param']], [400, 'invalid_request', 'input']);
  assert.match(error.message, /image in `input` .*public address/);
});

test("in test mode every vendor's count equals its later bill", async () => {
  for (const { model } of Object.values(vendors)) {
    const body = {
      model,
      instructions: 'Sì.',
      input: 'Hello, 世界!',
      tools,
      max_output_tokens: 200,
    };
    const reply = await count(body, testKey);
    assert.equal(reply.headers['x-service-mode'], 'test');
    const answer = await gateway.post('/v1/responses', { key: testKey, body });
    assert.equal(answer.status, 200, answer.text);
    assert.equal(
      countOf(reply).input_tokens,
      answer.json<{ usage: { input_tokens: number } }>().usage.input_tokens,
      model,
    );
  }
});

test('the official SDK counts for every vendor and gets typed errors', async () => {
  for (const apiKey of [liveKey, testKey]) {
    const client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey, maxRetries: 0 });
    for (const { model } of Object.values(vendors)) {
      const counted = await client.responses.inputTokens.count({ model, input: 'Hello!' });
      assert.equal(counted.object, 'response.input_tokens');
      assert.equal(counted.input_tokens, apiKey === liveKey ? 4_321 : 2, model);
    }
    await assert.rejects(
      client.responses.inputTokens.count({ model: 'gpt-5-mini' }),
      BadRequestError,
    );
  }
});

test("count_tokens stays with Anthropic's models, and names this endpoint for the others", async () => {
  const body = { model: 'gpt-5-mini', messages: [{ role: 'user', content: 'Hi' }] };
  for (const key of [liveKey, testKey]) {
    const { status, text } = await gateway.post('/v1/messages/count_tokens', { key, body });
    assert.equal(status, 400);
    assert.match(text, /POST \/v1\/responses\/input_tokens counts for every model/);
  }
});

// What Claude Code asks of a gateway beside an answer: notices of caps, its spending, a place for its
// telemetry, and errors that it stops at.
import assert from 'node:assert/strict';
import { after, beforeEach, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { micros } from '../../src/lib/money.ts';
import { columnOf } from '../support/column-of.ts';
import { endpoint } from '../support/endpoints.ts';
import { type KeyOptions, startGateway } from '../support/gateway.ts';
import type { Reply } from '../support/http.ts';
import { modelOf } from '../support/model-of.ts';
import { TestClock } from '../support/test-clock.ts';
import { answerJson, answerStatus } from '../support/upstream.ts';

const clock = new TestClock();
const model = (provider: string) =>
  modelOf([{ provider, model: 'm' }], { max_input_tokens: 200_000 });
const gateway = await startGateway(
  {
    models: {
      'on-messages': model('anthropic'),
      'on-responses': model('openai'),
      'on-chat': model('local'),
      'on-gemini': model('google'),
    },
  },
  { clock },
);
after(() => gateway.stop());

const liveKey = (options: KeyOptions = {}) => gateway.makeKey({ creditUsd: 5, ...options });
const messages = endpoint('messages');
const answer = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'claude-haiku-4-5',
  content: [{ type: 'text', text: 'Hi' }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  // $0.01 at $5 a million.
  usage: { input_tokens: 0, output_tokens: 2_000 },
};
const costMicros = 10_000;
const whole = { max_tokens: 2_000 };
beforeEach(() => gateway.upstream.on(messages.upstreamPath, answerJson(answer)));

const prefix = 'anthropic-ratelimit-unified-';
function notices({ headers }: Reply): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers)
      .filter(([name]) => name.startsWith('anthropic-ratelimit-'))
      .map(([name, value]) => [name.replace(prefix, ''), String(value)]),
  );
}
const secondsAt = (text: string) => String(Date.parse(text) / 1_000);
const midnight = () => new Date(new Date(clock.nowMs()).setUTCHours(24, 0, 0, 0)).toISOString();

test('an answer says how much of the fullest cap is used', async () => {
  const caps = { dailyCapMicros: micros(51_000), monthlyCapMicros: micros(900_000) };
  const { key } = await liveKey(caps);
  const reset = secondsAt(midnight());
  const common = { 'representative-claim': 'overage', reset, 'overage-reset': reset };
  const warned = { status: 'allowed_warning', 'overage-status': 'allowed_warning' };
  const allowed = { ...common, status: 'allowed', 'overage-status': 'allowed' };
  const expected = [
    ...['0.19', '0.39', '0.58'].map((used) => ({ ...allowed, 'overage-utilization': used })),
    { ...common, ...warned, 'overage-utilization': '0.78', 'overage-surpassed-threshold': '0.75' },
  ];
  // None is used yet: of equal caps the one that resets last.
  const first = notices(await gateway.ask(messages, key, whole));
  assert.equal(first['overage-utilization'], '0.00');
  assert.notEqual(first['reset'], reset);
  for (const [index, wanted] of expected.entries())
    assert.deepEqual(notices(await gateway.ask(messages, key, whole)), wanted, String(index));
  const spent = await gateway.ask(messages, key, whole);
  assert.equal(spent.status, 429);
});

test('a streamed answer has the notice, and other formats and keys without a cap have none', async () => {
  const capped = await gateway.makeKey({ dailyCapMicros: micros(5_000_000) });
  const streamed = await gateway.ask(messages, capped.key, { stream: true });
  assert.equal(notices(streamed)['status'], 'allowed', streamed.text);
  assert.deepEqual(notices(await gateway.ask(endpoint('chat'), capped.key)), {});
  const free = await gateway.makeKey({});
  assert.deepEqual(notices(await gateway.ask(messages, free.key)), {});
});

test('the provider’s own limits never reach the client', async () => {
  gateway.upstream.on(messages.upstreamPath, (response, request) => {
    response.setHeader('anthropic-ratelimit-unified-status', 'rejected');
    response.setHeader('anthropic-ratelimit-requests-remaining', '3');
    return answerJson(answer)(response, request);
  });
  const { key } = await liveKey();
  const reply = await gateway.ask(messages, key, whole);
  assert.deepEqual([reply.status, notices(reply)], [200, {}]);
});

test('the refusal at a cap says so in the headers that the client stops at', async () => {
  const caps = [
    ['daily', { dailyCapMicros: micros(costMicros) }, midnight()],
    ['monthly', { monthlyCapMicros: micros(costMicros) }, nextMonth()],
  ] as const;
  for (const [period, cap, resetsAt] of caps) {
    const { key } = await liveKey(cap);
    const reply = await gateway.ask(messages, key, { max_tokens: 60_000 });
    assert.deepEqual([reply.status, reply.error.type], [429, 'billing_error']);
    assert.ok(reply.error.message.includes(resetsAt), reply.error.message);
    assert.deepEqual(notices(reply), {
      status: 'rejected',
      reset: secondsAt(resetsAt),
      'overage-reset': secondsAt(resetsAt),
      'overage-utilization': '1',
      'overage-surpassed-threshold': '1',
      'overage-period': period,
      'overage-disabled-reason': 'org_spend_cap_reached',
    });
    assert.deepEqual(notices(await gateway.ask(endpoint('chat'), key, { max_tokens: 99_999 })), {});
  }
});

test('the spending of a key is told in cents, with the cap that the headers describe', async () => {
  const caps = { dailyCapMicros: micros(50_000), monthlyCapMicros: micros(900_000) };
  const { key } = await liveKey(caps);
  for (let times = 0; times < 2; times++) await gateway.ask(messages, key, whole);
  const reply = await gateway.get('/api/oauth/usage?skip_spend=1', { key });
  assert.equal(reply.headers['cache-control'], 'no-store');
  const row = { kind: 'spend', severity: 'normal' };
  const usage = { is_enabled: true, currency: 'USD' };
  assert.deepEqual(reply.json(), {
    extra_usage: { ...usage, monthly_limit: 5, used_credits: 2, utilization: 40 },
    limits: [
      { ...row, group: 'daily', percent: 40, resets_at: midnight(), is_active: true },
      { ...row, group: 'monthly', percent: 2, resets_at: nextMonth(), is_active: false },
    ],
  });
  const { key: free } = await liveKey();
  await gateway.ask(messages, free, whole);
  assert.deepEqual((await gateway.get('/api/oauth/usage', { key: free })).json(), {
    extra_usage: { ...usage, monthly_limit: null, used_credits: 1, utilization: null },
    limits: [],
  });
});

test('thirty-one counts at once use none of the requests a minute, nor of the requests at once', async () => {
  const count = '/v1/messages/count_tokens';
  gateway.upstream.on(count, answerJson({ input_tokens: 3 }));
  const { key } = await liveKey({ requestsPerMinute: 2, concurrentRequests: 1 });
  const { max_tokens: _, ...body } = messages.body() as { max_tokens: number };
  const sent = Array.from({ length: 31 }, () => gateway.post(count, { key, body }));
  assert.deepEqual(new Set(columnOf(await Promise.all(sent), 'status')), new Set([200]));
  const reply = await gateway.ask(messages, key, whole);
  assert.deepEqual([reply.status, reply.headers['x-ratelimit-remaining-requests']], [200, '1']);
});

test('telemetry is accepted with a key, in any form, and a body that is too large is refused', async () => {
  const { key } = await gateway.makeKey({});
  const sent = { resourceMetrics: [] };
  for (const path of ['/v1/metrics', '/v1/logs', '/v1/traces']) {
    const json = await gateway.post(path, { key, body: sent });
    assert.deepEqual([json.status, json.json()], [200, {}]);
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/x-protobuf' };
    const post = (body: Uint8Array<ArrayBuffer>, more = {}) =>
      fetch(gateway.url + path, { method: 'POST', headers: { ...headers, ...more }, body });
    const binary = await post(gzipSync('x'), { 'content-encoding': 'gzip' });
    assert.deepEqual([binary.status, await binary.text()], [200, '']);
    assert.equal((await post(new Uint8Array(4 * 1_024 * 1_024 + 1))).status, 413);
    assert.equal((await gateway.post(path, { body: sent })).status, 401);
  }
});

test('it is greeted without a key, and what is missing ends at once', async () => {
  assert.equal((await gateway.get('/api/hello')).status, 200);
  assert.equal((await gateway.get('/api/hello', { method: 'HEAD' })).status, 200);
  const { key } = await gateway.makeKey({});
  assert.equal((await gateway.get('/managed/settings', { key })).status, 404);
  const missing = await gateway.post('/v1/messages/cache_touch', { key, body: {} });
  const { status, error, headers } = missing;
  assert.deepEqual([status, error.type], [501, 'not_supported']);
  assert.equal(headers['x-should-retry'], 'false');
  const wrong = await gateway.ask(messages, 'tg_live_wrong');
  assert.deepEqual([wrong.status, wrong.headers['x-should-retry']], [401, 'false']);
});

/** What it reads in a refusal, to compact the conversation, to lower a limit, or to leave a feature out. */
const words = [
  'prompt is too long: 208310 tokens > 200000 maximum',
  'input length and `max_tokens` exceed context limit: 190000 + 32000 > 200000, decrease input length or `max_tokens` and try again',
  'max_tokens: 64000 > 32000, which is the maximum allowed number of output tokens for m',
  'Unexpected value(s) `x-2026-01-01` for the `anthropic-beta` header.',
  'output_config.effort: Extra inputs are not permitted',
  'The long context beta is not yet available for this subscription.',
  'messages.3.content.0: Invalid `signature` in `thinking` block',
  'Input is too long for requested model.',
  'Too much media: 3 document pages + 120 images > 100',
];
const type = 'invalid_request_error';
const places = [
  ['on-messages', '/v1/messages', { type }],
  ['on-responses', '/v1/responses', { type, param: null, code: null }],
  ['on-chat', '/local/v1/chat/completions', { type }],
  ['on-gemini', '/v1beta/models/m:generateContent', { code: 400, status: 'INVALID_ARGUMENT' }],
] as const;

for (const [name, path, error] of places)
  test(`the words that it acts on arrive unchanged from a provider of ${name}`, async () => {
    const { key } = await liveKey();
    const streamed = path.replace(':generateContent', ':streamGenerateContent');
    for (const message of words)
      for (const stream of [false, true]) {
        const body = {
          ...(name === 'on-messages' && { type: 'error' }),
          error: { ...error, message },
        };
        gateway.upstream.on(stream ? streamed : path, answerStatus(400, { body }));
        const reply = await gateway.ask(messages, key, { model: name, stream });
        const { status, error: got } = reply;
        assert.deepEqual([status, got.type, got.message], [400, type, message]);
      }
  });

test('where another provider finds the prompt too long, it reads that in the words that it knows', async () => {
  const { key } = await liveKey();
  const message =
    'The input token count (1200000) exceeds the maximum of tokens allowed (1048576).';
  const told = `prompt is too long: 1200000 tokens > 1048576 maximum. ${message}`;
  for (const [name, path, error] of places.slice(1)) {
    gateway.upstream.on(path, answerStatus(400, { body: { error: { ...error, message } } }));
    const reply = await gateway.ask(messages, key, { model: name });
    assert.deepEqual([reply.status, reply.error.type, reply.error.message], [400, type, told]);
  }
});

function nextMonth(): string {
  const now = new Date(clock.nowMs());
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1)).toISOString();
}

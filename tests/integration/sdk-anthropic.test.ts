// The official `@anthropic-ai/sdk` against the started program: in test mode, and with a live key
// through the local upstream. The package sends `apiKey` as a Bearer token, and a newer version
// header than the one pinned upstream.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import Anthropic, {
  APIError,
  AuthenticationError,
  BadRequestError,
  InternalServerError,
  NotFoundError,
  PermissionDeniedError,
  RateLimitError,
} from '@anthropic-ai/sdk';
import { zeroMicros } from '../../src/lib/money.ts';
import { answerContent } from '../support/answers.ts';
import { startGateway, upstreamKey, type KeyOptions } from '../support/gateway.ts';
import { answerStatus } from '../support/upstream.ts';

const gateway = await startGateway();
const sandbox = clientOf(gateway.program.firstTestKey);
const live = await newClient({ mode: 'live', creditUsd: 5 });
after(() => gateway.stop());

const sandboxText = 'You said: Hello!\n\nThis is the sandbox: no model ran.';
const hello = request('Hello!');

const paris = { text: 'Paris is the capital.', tokens: { input: 9, cacheRead: 3, output: 5 } };
const ways: Readonly<
  Record<string, readonly [Anthropic, text: string, usage: Partial<Anthropic.Usage>]>
> = {
  'in test mode': [sandbox, sandboxText, { input_tokens: 2, output_tokens: 13 }],
  'with a live key': [
    live,
    paris.text,
    { input_tokens: 9, cache_read_input_tokens: 3, output_tokens: 5 },
  ],
};

for (const [way, [client, text, usage]] of Object.entries(ways))
  test(`messages have text, usage and stop reason ${way}, whole and streamed`, async () => {
    gateway.upstream.on('/v1/messages', answerContent('messages', paris));
    const stream = client.messages.stream(hello);
    let streamed = '';
    stream.on('text', (delta) => (streamed += delta));
    for (const message of [await client.messages.create(hello), await stream.finalMessage()]) {
      assert.deepEqual([message.type, message.role], ['message', 'assistant']);
      // The catalogue's id, not the provider's dated one.
      assert.equal(message.model, 'claude-haiku-4-5');
      assert.deepEqual([textOf(message), message.stop_reason], [text, 'end_turn']);
      assert.partialDeepStrictEqual(message.usage, usage);
    }
    assert.equal(streamed, text);
  });

test('thinking is a separate block before the text, whole and streamed', async () => {
  const body = request('Hello!\nsandbox: think=The user greets me.');
  const enabled = { type: 'enabled', budget_tokens: 1_024 } as const;
  const asked = { ...body, max_tokens: 2_000, thinking: enabled };
  const whole = await sandbox.messages.create(asked);
  const streamed = await sandbox.messages.stream(asked).finalMessage();
  for (const message of [whole, streamed]) {
    const [thinking, text] = message.content;
    assert.ok(thinking?.type === 'thinking' && text?.type === 'text');
    assert.equal(thinking.thinking, 'The user greets me.');
    assert.equal(text.text, sandboxText);
  }
});

test('models.list and models.retrieve read the catalogue', async () => {
  const page = await sandbox.models.list();
  assert.equal(page.hasNextPage(), false);
  const listed = page.data.find(({ id }) => id === 'claude-haiku-4-5');
  assert.equal(listed?.display_name, 'Claude Haiku 4.5');
  assert.equal(listed.type, 'model');
  assert.equal(listed.created_at, '2025-10-15T00:00:00Z');
  assert.deepEqual({ ...(await sandbox.models.retrieve('claude-haiku-4-5')) }, listed);
});

test('models.list reads every page by itself, in both directions', async () => {
  const whole = await sandbox.models.list();
  assert.equal(whole.hasNextPage(), false);
  const ids = whole.data.map(({ id }) => id);
  const forward = [];
  for await (const { id } of sandbox.models.list({ limit: 7 })) forward.push(id);
  assert.deepEqual(forward, ids);
  const pages = [];
  for await (const page of (
    await sandbox.models.list({ limit: 10, before_id: ids[25]! })
  ).iterPages())
    pages.push(page.data.map(({ id }) => id));
  assert.deepEqual(pages, [ids.slice(15, 25), ids.slice(5, 15), ids.slice(0, 5)]);
});

test('a page of models by hand: its fields, and a 400 that names a wrong parameter', async () => {
  type List = { readonly data: readonly { readonly id: string }[] };
  const get = (query: string) => gateway.get(`/v1/models${query}`);
  const ids = (await get('')).json<List>().data.map(({ id }) => id);
  const page = (await get(`?limit=2&after_id=${ids[0]}`)).json<List>();
  assert.deepEqual(
    { ...page, data: page.data.map(({ id }) => id) },
    {
      object: 'list',
      data: ids.slice(1, 3),
      has_more: true,
      first_id: ids[1],
      last_id: ids[2],
    },
  );
  assert.equal((await get('?limit=1000')).json<List>().data.length, ids.length);
  assert.equal((await get(`?after_id=${ids[4]}`)).json<List>().data.length, 20);
  for (const [query, param] of [
    ['?limit=0', 'limit'],
    ['?limit=1001', 'limit'],
    ['?limit=1.5', 'limit'],
    ['?limit=', 'limit'],
    ['?limit=2&limit=3', 'limit'],
    ['?after_id=no-such-model', 'after_id'],
    ['?after_id=', 'after_id'],
    [`?after_id=${ids[0]}&after_id=${ids[1]}`, 'after_id'],
    ['?before_id=no-such-model&limit=3', 'before_id'],
    [`?after_id=${ids[0]}&before_id=${ids[5]}`, 'before_id'],
  ] as const) {
    const reply = await get(query);
    assert.deepEqual([reply.status, reply.error.param], [400, param], query);
    assert.match(reply.error.message, new RegExp(`\`${param}\``), query);
  }
});

test('a live request reaches the provider with its credential and the pinned version, and says its cost', async () => {
  gateway.upstream.on('/v1/messages', answerContent('messages', paris));
  const next = gateway.upstream.requests.length;
  const { response } = await live.messages.create(hello).withResponse();
  const sent = await gateway.upstream.request(next);
  assert.equal(sent.headers['x-api-key'], upstreamKey);
  assert.equal(sent.headers.authorization, undefined);
  assert.equal(sent.headers['anthropic-version'], '2023-06-01');
  // (9 × $1 + 3 × $0.10 + 5 × $5) a million, rounded up.
  assert.equal(response.headers.get('x-service-cost-micros'), '35');
  assert.equal(response.headers.get('request-id'), response.headers.get('x-request-id'));
});

test('each refusal is the typed error of its status, in the shape of Messages', async (t) => {
  const rated = await newClient({ requestsPerMinute: 1 });
  await rated.messages.create(hello);
  const capped = await newClient({ monthlyCapMicros: zeroMicros });
  const restricted = await newClient({ models: ['gpt-4o'] });
  const poor = await newClient({ mode: 'live' });
  gateway.upstream.on('/v1/messages', answerStatus(529));
  const table: readonly (readonly [
    client: Anthropic,
    kind: ErrorClass,
    status: number,
    type: string,
    code: string,
    fields?: object,
  ])[] = [
    [
      clientOf('tg_live_wrong'),
      AuthenticationError,
      401,
      'authentication_error',
      'invalid_api_key',
    ],
    [restricted, PermissionDeniedError, 403, 'permission_error', 'model_not_allowed_for_key'],
    [sandbox, NotFoundError, 404, 'not_found_error', 'model_not_found', { model: 'no-such-model' }],
    [sandbox, BadRequestError, 400, 'invalid_request_error', 'invalid_request', { temperature: 2 }],
    [poor, APIError, 402, 'billing_error', 'insufficient_balance'],
    [rated, RateLimitError, 429, 'rate_limit_error', 'rate_limit_exceeded'],
    [capped, RateLimitError, 429, 'billing_error', 'key_monthly_limit_reached'],
    [live, InternalServerError, 503, 'api_error', 'upstream_unavailable'],
  ];
  for (const [client, kind, status, type, code, fields] of table) {
    await t.test(`${status} ${code}`, async () => {
      const error = await failing(client, kind, fields);
      const body = bodyOf(error);
      assert.deepEqual([error.status, error.type, body.error.code], [status, type, code]);
      assert.deepEqual([body.type, body.request_id], ['error', error.requestID]);
      assert.match(error.requestID ?? '', /^req_/);
      if (client === capped) assert.equal(error.headers?.get('x-should-retry'), 'false');
      if (client === rated) assert.ok(Number(error.headers?.get('retry-after')) >= 1);
    });
  }
});

test('a stream that breaks off throws', async () => {
  const stream = sandbox.messages.stream(request('sandbox: cut_after=3'));
  await assert.rejects(stream.finalMessage(), (error: unknown) => {
    assert.ok(error instanceof APIError);
    assert.equal(bodyOf(error).error.code, 'upstream_error');
    assert.equal(bodyOf(error).error.documentation_url, '/docs/errors#upstream_error');
    return true;
  });
});

type ErrorClass = new (...args: never[]) => APIError;

function request(content: string): Anthropic.MessageCreateParamsNonStreaming {
  return { model: 'claude-haiku-4-5', max_tokens: 300, messages: [{ role: 'user', content }] };
}

function clientOf(apiKey: string): Anthropic {
  return new Anthropic({ baseURL: gateway.url, apiKey, maxRetries: 0 });
}

async function newClient(options: KeyOptions): Promise<Anthropic> {
  return clientOf((await gateway.makeKey(options)).key);
}

function textOf(message: Anthropic.Message): string {
  return message.content.map((block) => (block.type === 'text' ? block.text : '')).join('');
}

/** The error of a small request; must have the expected class. */
async function failing(client: Anthropic, expected: ErrorClass, fields: object = {}) {
  const error: unknown = await client.messages.create({ ...hello, ...fields }).then(
    () => assert.fail('the request succeeded'),
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof expected, String(error));
  const { code, documentation_url: page } = bodyOf(error).error;
  assert.equal(page, `/docs/errors#${code}`);
  return error;
}

function bodyOf(error: APIError) {
  return error.error as {
    type: string;
    error: { type: string; code: string; documentation_url: string };
    request_id: string;
  };
}

// The specification's chapters on headers, authentication, events, errors, limits and versions.
import assert from 'node:assert/strict';
import { micros, zeroMicros } from '../../src/lib/money.ts';
import { signIn } from '../support/dashboard.ts';
import type { KeyOptions } from '../support/gateway.ts';
import type { Reply } from '../support/http.ts';
import {
  answers,
  cachesForWeek,
  chat,
  dayMs,
  imagesPath,
  isCount,
  isText,
  type Json,
  listOf,
  messages,
  replaysForDay,
  responses,
  searchPath,
  type Sections,
  type SpecService,
  type Proof,
  takesMaxTokens,
  takesTemperature,
} from './spec-service.ts';

/** The cost of one test-key request, in microdollars. */
const anyCharge = micros(1);

/** Sends requests until one is refused; the key has a cap that a few requests fill. */
async function spendUntilRefused(service: SpecService, key: string): Promise<Reply> {
  for (let count = 0; ; count++) {
    assert.ok(count < 20, 'the cap never holds');
    const reply = await service.chat({}, { key });
    if (reply.status !== 200) return reply;
  }
}

function midnightAfter(nowMs: number): number {
  return (Math.floor(nowMs / dayMs) + 1) * dayMs;
}

function firstOfNextMonth(nowMs: number): number {
  const now = new Date(nowMs);
  return Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1);
}

/**
 * Proves that a key with a spent cap is refused until that moment, and other keys of its account
 * are not.
 */
async function holdsUntil(
  service: SpecService,
  cap: KeyOptions,
  code: string,
  endOf: (nowMs: number) => number,
): Promise<void> {
  const { clock, gateway } = service;
  const { key, account } = await gateway.makeKey({ mode: 'test', ...cap });
  await answers(spendUntilRefused(service, key), 429, code);
  await answers(service.chat({}, { key: await service.newKey({ account }) }), 200);
  const endMs = endOf(clock.nowMs());
  clock.jumpTo(endMs - 1_000);
  await answers(service.chat({}, { key }), 429, code);
  clock.jumpTo(endMs + 1_000);
  await answers(service.chat({}, { key }), 200);
}

/** Room for one request's hold, and little more. */
const smallCap = micros(125);
const daily: Proof = (service) =>
  holdsUntil(service, { dailyCapMicros: smallCap }, 'key_daily_limit_reached', midnightAfter);
const monthly: Proof = (service) =>
  holdsUntil(
    service,
    { monthlyCapMicros: smallCap },
    'key_monthly_limit_reached',
    firstOfNextMonth,
  );

const allowedModels: Proof = async (service) => {
  const { key, account } = await service.gateway.makeKey({ models: ['gpt-4o'] });
  const ask = (withKey: string, model: string) => service.chat({ model }, { key: withKey });
  await answers(ask(key, 'gpt-4o'), 200);
  await answers(ask(key, 'gpt-6-luna'), 403, 'model_not_allowed_for_key');
  await answers(ask(await service.newKey({ account }), 'gpt-6-luna'), 200);
};

/** Sends the same request twice. */
async function isCached(
  service: SpecService,
  { fields = {}, header }: { fields?: object; header?: 'true' | 'false' },
): Promise<boolean> {
  const key = await service.newKey();
  const headers: Record<string, string> = header === undefined ? {} : { 'x-service-cache': header };
  const ask = () => service.chat(fields, { key, headers });
  await ask();
  const { headers: replyHeaders, costMicros } = await ask();
  assert.equal(costMicros === 0, replyHeaders['x-service-cache'] === 'hit');
  return costMicros === 0;
}

async function hasOrder(
  service: SpecService,
  kind: 'text' | 'call' | 'reasoning',
  expected: readonly string[],
): Promise<void> {
  const types = (await service.events(kind)).events.map(({ type }) =>
    String(type).replace('response.', ''),
  );
  const known = types.filter((type) => expected.includes(type));
  const once = known.filter((type, place) => type !== known[place - 1]);
  assert.deepEqual(once.slice(0, expected.length), expected);
}

/** Proves that the event has these fields, whose statement begins with its type. */
function eventFields(
  kind: 'text' | 'call' | 'reasoning',
  events: Readonly<Record<string, readonly string[]>>,
): Record<string, Proof> {
  const proofs = Object.entries(events).map(([statement, names]): [string, Proof] => [
    statement,
    async (service) => {
      const event = await service.event(kind, statement.split(' | ')[0]!);
      for (const name of names)
        assert.ok(name.endsWith('_index') ? isCount(event[name]) : isText(event[name]), name);
    },
  ]);
  return Object.fromEntries(proofs);
}

export const rules: Sections = {
  'Request and response headers (all charged endpoints)': {
    'Authorization | request | `Bearer <API_KEY>`': async (service) =>
      assert.ok(isText((await service.completion())['id'])),
    'Content-Type | request | `application/json`': async (service) => {
      const headers = { 'content-type': 'text/plain' };
      await answers(service.chat({}, { headers }), 415);
    },
    'Idempotency-Key | request | any unique string; a repeat with the same key returns the stored response without charge':
      async (service) => {
        const key = await service.newKey();
        for (const name of ['a', 'x'.repeat(255), '6f1c-…'.replace('…', '~!@#$%^&*()')]) {
          const ask = () => service.chat({}, { key, headers: { 'idempotency-key': name } });
          const [first, second] = [await ask(), await ask()];
          assert.equal(first.status, 200);
          assert.deepEqual(second.json()['id'], first.json()['id']);
          assert.equal(second.costMicros, 0);
        }
      },
    'X-Service-Cache | request | `true` enables cache for non-zero temperature; `false` disables cache always':
      async (service) => {
        assert.equal(
          await isCached(service, { fields: { temperature: 0.7 }, header: 'true' }),
          true,
        );
        assert.equal(
          await isCached(service, { fields: { temperature: 0 }, header: 'false' }),
          false,
        );
      },
    'X-Service-Cache | response | `hit` for a cache hit; `idempotent-replay` for a key-based replay':
      async (service) => {
        const key = await service.newKey();
        const ask = (name?: string) =>
          service.chat(
            { temperature: 0 },
            { key, headers: name === undefined ? {} : { 'idempotency-key': name } },
          );
        await ask('first');
        const origins = [await ask('first'), await ask()].map(
          ({ headers }) => headers['x-service-cache'],
        );
        assert.deepEqual(origins, ['idempotent-replay', 'hit']);
      },
    'X-Service-Cost-Micros | response | cost of this request in microdollars (1,000,000 = $1), on every successful response':
      async (service) => {
        const { record, reply } = await service.usage();
        assert.equal(
          Number(reply.headers['x-service-cost-micros']),
          Number(record['cost_cents']) * 10_000,
        );
        for (const [path, body] of [
          [responses.path, responses.body()],
          [messages.path, messages.body()],
          [imagesPath, { model: 'gpt-image-flare', prompt: 'a fox', size: '64x64' }],
          [searchPath, { query: 'cats' }],
        ] as const) {
          assert.ok(
            Number((await service.post(path, body)).headers['x-service-cost-micros']) > 0,
            path,
          );
        }
        const streamed = await service.chat({ stream: true });
        assert.ok(
          Number(streamed.trailers['x-service-cost-micros']) > 0,
          'after a stream, as a trailer',
        );
      },
    'X-Service-Balance-Cents | response | balance after the charge, in cents': async (service) => {
      const key = await service.newKey();
      const { headers } = await service.chat({}, { key });
      assert.equal(
        Number(headers['x-service-balance-cents']),
        (await service.get('/v1/balance', key)).json()['balance_cents'],
      );
    },
    'The word Service in these header names stands for the service-specific part of the name.':
      async (service) =>
        assert.ok('x-service-cost-micros' in (await service.usage()).reply.headers),
  },
  Authentication: {
    'Authenticate with an API key in the header `Authorization: Bearer <API_KEY>`.': async (
      service,
    ) => answers(service.get('/v1/balance', service.testKey), 200),
    'The Responses endpoint also accepts the key in the query parameter `api_key=<API_KEY>`.':
      async (service) => {
        const ask = async (path: string, body: object) =>
          (await service.postAsStranger(`${path}?api_key=${service.testKey}`, body)).status;
        assert.equal(await ask(responses.path, responses.body()), 200);
        assert.equal(await ask(chat.path, chat.body()), 401);
      },
    'Authorization is required for: image generation, usage, balance, web search, and the charged model endpoints.':
      async (service) => {
        for (const path of ['/v1/usage', '/v1/balance']) await answers(service.get(path), 401);
        for (const path of [imagesPath, searchPath, responses.path, chat.path, messages.path]) {
          await answers(service.postAsStranger(path, {}), 401);
        }
      },
    'It is optional for `GET /v1/models/info`.': async (service) =>
      answers(service.get('/v1/models/info'), 200),
    'A missing or wrong key gives 401.': async (service) => {
      const body = chat.body();
      await answers(service.postAsStranger(chat.path, body), 401);
      for (const key of ['wrong', service.testKey.slice(0, -1), `${service.testKey}x`]) {
        await answers(service.post(chat.path, body, { key }), 401, 'invalid_api_key');
      }
    },
    'Keys are managed in a dashboard; each key has its own caps and allowed models (see Limits).':
      async (service) => {
        const owner = await signIn(service.gateway);
        const controls = { daily_cap_micros: 0, models: ['gpt-6-luna'] };
        const make = (fields: object) =>
          owner.post(`/accounts/${owner.account}/keys`, { mode: 'test', name: 'One', ...fields });
        const [capped, free] = [await make(controls), await make({})].map(
          (reply) => reply.json<{ secret: string }>().secret,
        );
        await answers(service.chat({}, { key: capped! }), 429, 'key_daily_limit_reached');
        await answers(service.chat({}, { key: free! }), 200);
      },
  },
  Events: {
    'The service sends server-sent events when `stream` is true.': async (service) => {
      for (const { path, body } of [responses, chat, messages]) {
        const { headers } = await service.post(path, body({ stream: true }));
        assert.match(String(headers['content-type']), /^text\/event-stream/);
      }
    },
  },
  'Responses stream': {
    ...eventFields('text', {
      'response.content_part.added | output_index, content_index | text part started': [
        'output_index',
        'content_index',
      ],
      'response.output_text.delta | output_index, content_index, delta (string) | text fragment': [
        'output_index',
        'content_index',
        'delta',
      ],
      'response.content_part.done | output_index, content_index | part finished': [
        'output_index',
        'content_index',
      ],
      'response.output_item.done | output_index | item finished': ['output_index'],
    }),
    ...eventFields('call', {
      'response.function_call_arguments.delta | argument fragments | tool call streaming': [
        'delta',
      ],
    }),
    ...eventFields('reasoning', {
      'response.reasoning_text.delta | reasoning fragments | reasoning streaming': ['delta'],
    }),
    'Each event has an `event:` line equal to the payload field `type`, and a `data:` line with a JSON object.':
      async (service) => {
        for (const kind of ['text', 'call', 'reasoning'] as const) {
          const { reply } = await service.events(kind);
          const events = reply.frames.filter(({ comment }) => comment === null);
          assert.ok(
            events.length > 0 &&
              events.every(({ event, data }) => event === (data as Json)['type']),
          );
        }
      },
    'response.created | response {id, status `in_progress`} | stream start': async (service) => {
      const { events } = await service.events('text');
      const response = events[0]!['response'] as Json;
      assert.equal(events[0]!['type'], 'response.created');
      assert.equal(response['status'], 'in_progress');
      assert.equal(isText(response['id']), true);
    },
    'response.output_item.added | output_index, item {type} | item started (message, function_call or reasoning)':
      async (service) => {
        const typeIn = async (kind: 'text' | 'call' | 'reasoning') => {
          const { output_index: index, item } = await service.event(
            kind,
            'response.output_item.added',
          );
          return [index, (item as Json)['type']];
        };
        assert.deepEqual(await typeIn('text'), [0, 'message']);
        assert.deepEqual(await typeIn('call'), [0, 'function_call']);
        assert.deepEqual(await typeIn('reasoning'), [0, 'reasoning']);
      },
    'response.completed | response {id, status `completed`} | stream end': async (service) => {
      const { events } = await service.events('text');
      const [first, last] = [events[0]!['response'] as Json, events.at(-1)!['response'] as Json];
      assert.equal(events.at(-1)!['type'], 'response.completed');
      assert.equal(last['status'], 'completed');
      assert.deepEqual(last['id'], first['id']);
    },
    'response.function_call_arguments.done |  | arguments complete': async (service) => {
      const { arguments: text } = await service.event(
        'call',
        'response.function_call_arguments.done',
      );
      assert.deepEqual(JSON.parse(String(text)), { city: 'Paris' });
    },
    'Order for a text answer: created, output_item.added, content_part.added, one or more output_text.delta, content_part.done, output_item.done, completed.':
      (service) =>
        hasOrder(service, 'text', [
          'created',
          'output_item.added',
          'content_part.added',
          'output_text.delta',
          'content_part.done',
          'output_item.done',
          'completed',
        ]),
    'A tool call streams: output_item.added (function_call item), argument deltas, arguments done, output_item.done.':
      (service) =>
        hasOrder(service, 'call', [
          'output_item.added',
          'function_call_arguments.delta',
          'function_call_arguments.done',
          'output_item.done',
        ]),
    'Reasoning streams: output_item.added (reasoning item), reasoning_text.delta.': (service) =>
      hasOrder(service, 'reasoning', ['output_item.added', 'reasoning_text.delta']),
  },
  'Chat Completions stream': {
    'Each line is `data: <JSON>` with fields id and choices[{index, delta{content}}], ended by the line `data: [DONE]`.':
      async (service) => {
        const { text } = await service.chat({ stream: true });
        const lines = text.split('\n').filter((line) => line !== '');
        assert.ok(
          lines.every((line) => line.startsWith('data: ')),
          text,
        );
        assert.equal(lines.at(-1), 'data: [DONE]');
        const chunks = lines
          .slice(0, -1)
          .map(
            (line) => JSON.parse(line.slice('data: '.length)) as { id: string; choices: Json[] },
          );
        assert.equal(new Set(chunks.map(({ id }) => id)).size, 1);
        const deltas = chunks.flatMap(({ choices }) => choices);
        assert.ok(deltas.every(({ index }) => index === 0));
        assert.match(
          deltas.map(({ delta }) => (delta as { content?: string }).content ?? '').join(''),
          /This is the sandbox/,
        );
      },
  },
  Errors: {
    'The Responses endpoint returns `{error:{message (string), type (string)}}`, for example type `model_not_found`.':
      async (service) => {
        const { error } = (
          await service.post(responses.path, responses.body({ model: 'no-such-model' }))
        ).json<{
          error: Json;
        }>();
        assert.deepEqual([isText(error['message']), error['type']], [true, 'model_not_found']);
      },
    '400 |  | malformed request; on image generation, missing prompt or missing images for an edit model':
      async (service) => {
        for (const [path, body] of [
          [chat.path, '{"model":'],
          [imagesPath, { model: 'gpt-image-flare' }],
          [imagesPath, { model: 'gpt-image-flare-edit', prompt: 'a fox' }],
        ] as const) {
          await answers(service.gateway.post(path, { key: service.testKey, body }), 400);
        }
      },
    '401 |  | missing or wrong API key': async (service) =>
      answers(service.get('/v1/balance', 'wrong'), 401),
    '402 | insufficient_balance | not enough funds': async (service) => {
      const key = await service.newKey({ mode: 'live' });
      for (const { path, body } of [responses, chat, messages]) {
        await answers(service.post(path, body(), { key }), 402, 'insufficient_balance');
      }
    },
    "403 | model_not_allowed_for_key | model is not in the key's allowed list": allowedModels,
    '404 | model_not_found | unknown model id': async (service) => {
      for (const { path, body } of [responses, chat, messages]) {
        await answers(service.post(path, body({ model: 'no-such-model' })), 404, 'model_not_found');
      }
    },
    '422 | idempotency_conflict | same Idempotency-Key sent with a different body': async (
      service,
    ) => {
      const key = await service.newKey();
      const ask = (text: string) =>
        service.chat(
          { messages: [{ role: 'user', content: text }] },
          { key, headers: { 'idempotency-key': 'one' } },
        );
      await ask('Hello!');
      await answers(ask('Bye!'), 422, 'idempotency_conflict');
    },
    "429 | key_daily_limit_reached | the key's daily cap is reached": async (service) => {
      const key = await service.newKey({ dailyCapMicros: zeroMicros });
      await answers(service.chat({}, { key }), 429, 'key_daily_limit_reached');
    },
    "429 | key_monthly_limit_reached | the key's monthly cap is reached": async (service) => {
      const key = await service.newKey({ monthlyCapMicros: zeroMicros });
      await answers(service.chat({}, { key }), 429, 'key_monthly_limit_reached');
    },
    '429 |  | request rate limit exceeded': async (service) => {
      const key = await service.newKey({ requestsPerMinute: 1 });
      await answers(service.chat({}, { key }), 200);
      await answers(service.chat({}, { key }), 429, 'rate_limit_exceeded');
    },
    'Per-key checks (allowed models, caps) run before the model is called; a request rejected by them is not charged.':
      async (service) => {
        const { gateway } = service;
        const controls = [
          { models: ['gpt-4o'] },
          { dailyCapMicros: zeroMicros },
          { monthlyCapMicros: zeroMicros },
        ];
        const calls = gateway.upstream.requests.length;
        for (const control of controls) {
          const key = await service.newKey({ mode: 'live', creditUsd: 5, ...control });
          assert.ok((await service.chat({}, { key })).status > 400);
          assert.deepEqual(listOf(await service.get('/v1/usage', key)), []);
        }
        assert.equal(gateway.upstream.requests.length, calls);
      },
    'Errors are never cached.': async (service) => {
      const key = await service.newKey();
      const ask = (text: string) =>
        service.chat({ temperature: 0, messages: [{ role: 'user', content: text }] }, { key });
      for (let count = 0; count < 2; count++) {
        const { status, headers } = await ask('Hello!\nsandbox: status=500');
        assert.ok(status >= 500);
        assert.equal(headers['x-service-cache'], undefined);
      }
    },
  },
  Limits: {
    'max_tokens | Chat Completions | 2048': takesMaxTokens,
    'temperature range | Chat Completions | 0 to 2': takesTemperature(chat, 2),
    'temperature range | Messages | 0 to 1': takesTemperature(messages, 1),
    'limit | usage | 1 to 100, default 20': async (service) => {
      const statusOf = async (limit: number) =>
        (await service.get(`/v1/usage?limit=${limit}`, service.testKey)).status;
      assert.deepEqual(
        [await statusOf(0), await statusOf(1), await statusOf(100), await statusOf(101)],
        [400, 200, 200, 400],
      );
    },
    'daily spend cap | per key | configurable per key; resets at 00:00 UTC': daily,
    'monthly spend cap | per key | configurable per key': monthly,
    'allowed models | per key | configurable list': allowedModels,
    'idempotent stored response lifetime | Idempotency-Key | 24 hours': replaysForDay,
    'cache retention | content cache | 7 days': cachesForWeek,
    'Caps and the model list apply per key, not per balance; other keys of the same account keep working.':
      async (service) => {
        const { key, account } = await service.gateway.makeKey({
          dailyCapMicros: zeroMicros,
          models: ['gpt-4o'],
        });
        const other = await service.newKey({ account });
        assert.ok((await service.chat({}, { key })).status > 400);
        assert.ok((await service.chat({}, { key: other })).costMicros! >= anyCharge);
      },
    'An identical request (same model, same body) with temperature 0 is served from cache without charge, on by default.':
      async (service) =>
        assert.equal(await isCached(service, { fields: { temperature: 0 } }), true),
    'With any other temperature, the cache is used only when `X-Service-Cache: true` is sent.':
      async (service) => {
        for (const fields of [{}, { temperature: 0.5 }]) {
          assert.equal(await isCached(service, { fields }), false);
          assert.equal(await isCached(service, { fields, header: 'true' }), true);
        }
      },
    '`X-Service-Cache: false` disables the cache in every case.': async (service) => {
      for (const temperature of [0, 0.5])
        assert.equal(await isCached(service, { fields: { temperature }, header: 'false' }), false);
    },
    'The cache is per account; streaming and non-streaming responses are stored separately.':
      async (service) => {
        const [one, other] = [await service.newKey(), await service.newKey()];
        const ask = async (key: string, stream: boolean) =>
          (await service.chat({ temperature: 0, stream }, { key })).headers['x-service-cache'];
        const origins = [
          await ask(one, false),
          await ask(one, true),
          await ask(other, false),
          await ask(one, false),
          await ask(one, true),
        ];
        assert.deepEqual(origins, [undefined, undefined, undefined, 'hit', 'hit']);
      },
  },
  Versioning: {
    'All endpoints live under the path prefix `/v1`.': async (service) => {
      for (const path of [responses.path, chat.path, messages.path, imagesPath, searchPath]) {
        assert.ok(path.startsWith('/v1/'));
        await answers(service.post(path.replace('/v1', ''), {}), 404);
      }
    },
  },
};

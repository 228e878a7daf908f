// The cost of a request is in the usage at the end of its answer, where SDKs read it: streamed and
// whole, in every format, on the straight path and translated. The gateway's own cost is never
// there.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import OpenAI from 'openai';
import {
  answerContent,
  streamFrames,
  wholeAnswer,
  type Content,
  type UpstreamWireName,
} from '../support/answers.ts';
import { endpoint, endpoints, type Endpoint } from '../support/endpoints.ts';
import { startGateway } from '../support/gateway.ts';
import type { Reply } from '../support/http.ts';
import { modelOf } from '../support/model-of.ts';
import { answerJson, answerSse, type Script, type SseFrame } from '../support/upstream.ts';

const chat = endpoint('chat');
type Json = Readonly<Record<string, unknown>>;

const prices = { input: 3, output: 15 };
const supports = { thinking: false, streaming: true, vision: false };
const modelBy = (provider: string, fields: object = {}) =>
  modelOf([{ provider, model: 'upstream-model', ...fields }], { prices, supports });
const gateway = await startGateway({
  models: {
    'by-responses': modelBy('openai', { api: 'responses' }),
    'by-chat': modelBy('openai', { api: 'chat' }),
    'by-messages': modelBy('anthropic'),
    'by-gemini': modelBy('google'),
  },
});
after(() => gateway.stop());

const newKey = async () => (await gateway.makeKey({ mode: 'live', creditUsd: 5 })).key;

const content: Content = { text: 'one two three four', tokens: { input: 101, output: 20 } };
/** 101 × $3 + 20 × $15 a million. */
const costMicros = 603;

/** Each provider's path, whole and streamed. */
const upstreams: Readonly<Record<UpstreamWireName, readonly string[]>> = {
  responses: ['/v1/responses'],
  chat: ['/v1/chat/completions'],
  messages: ['/v1/messages'],
  gemini: [
    '/v1beta/models/upstream-model:generateContent',
    '/v1beta/models/upstream-model:streamGenerateContent',
  ],
};

/** Price fields of OpenRouter, xAI, DeepInfra and Vercel's gateway. */
const ownCost = {
  cost: 0.95,
  cost_details: { upstream_inference_cost: 19 },
  cost_in_usd_ticks: 37_756_000,
  estimated_cost: 0.5,
  market_cost: '0.7',
};

/** Adds these fields to every usage, at any depth. */
function withOwnCost<Value>(value: Value): Value {
  return JSON.parse(JSON.stringify(value), (name, inner: unknown) =>
    name === 'usage' && inner !== null ? { ...(inner as Json), ...ownCost } : inner,
  ) as Value;
}

function priced(wire: UpstreamWireName): Script {
  const { start, deltas, end } = streamFrames(wire, content);
  const frames: SseFrame[] = [...start, ...deltas, ...end].map(withOwnCost);
  const [whole, stream] = [answerJson(withOwnCost(wholeAnswer(wire, content))), answerSse(frames)];
  return (response, request) =>
    ((request.body as Json)['stream'] === true ? stream : whole)(response, request);
}

/** Requests usage in the format's own way, without the header that requests comments. */
type Asked = { key: string; model: string; stream: boolean; headers?: Record<string, string> };
function ask(at: Endpoint, { key, model, stream, ...more }: Asked) {
  const options = at.name === 'chat' && stream ? { stream_options: { include_usage: true } } : {};
  return gateway.post(at.path, { key, body: at.body({ model, stream, ...options }), ...more });
}

/** Every usage of an answer, in order. */
function usagesIn(reply: Reply, stream: boolean): Json[] {
  const bodies = stream
    ? reply.frames.map(({ data }) => data).filter((data) => typeof data === 'object')
    : [reply.json()];
  const found: Json[] = [];
  JSON.stringify(bodies, (name, inner: unknown) => {
    if (name === 'usage' && inner) found.push(inner as Json);
    return inner;
  });
  return found;
}

function costNames(usage: Json): string[] {
  return Object.keys(usage).filter((name) => /cost/i.test(name));
}

for (const at of endpoints) {
  for (const wire of ['responses', 'chat', 'messages', 'gemini'] as const) {
    for (const stream of [false, true]) {
      test(`${at.name} by ${wire}, ${stream ? 'streamed' : 'whole'}: only the last usage has the cost, equal to the header`, async () => {
        for (const path of upstreams[wire])
          gateway.upstream.on(
            path,
            wire === 'gemini' ? answerContent(wire, content) : priced(wire),
          );
        const key = await newKey();
        const reply = await ask(at, { key, model: `by-${wire}`, stream });
        assert.equal(reply.status, 200, reply.text);
        assert.equal(reply.costMicros, costMicros);
        const usages = usagesIn(reply, stream);
        const last = usages.pop()!;
        assert.deepEqual(costNames(last), ['cost']);
        assert.equal(last['cost'], costMicros / 1_000_000);
        assert.deepEqual(usages.flatMap(costNames), []);
        assert.match(reply.text, /"cost":0\.000603\b/);
      });
    }
  }
}

test('a cost is written as the shortest decimal, whatever its size', async () => {
  const { key } = await gateway.makeKey({ mode: 'live', creditUsd: 100 });
  for (const [input, text] of [
    [1, '0.000018'],
    [5, '0.00003'],
    [2_329, '0.007002'],
    [2_325, '0.00699'],
  ] as const) {
    gateway.answer(chat, { text: 'one', tokens: { input, output: 1 } });
    for (const stream of [false, true]) {
      const reply = await ask(chat, { key, model: 'by-chat', stream });
      const { cost } = usagesIn(reply, stream).at(-1)!;
      assert.equal(JSON.stringify(cost), text);
      assert.ok(reply.text.includes(`"cost":${text}}`), reply.text);
      assert.equal(cost, reply.costMicros! / 1_000_000);
    }
  }
});

test('a Chat stream has only data lines, with the usage last before its end', async () => {
  const key = await newKey();
  for (const wire of ['chat', 'messages'] as const) {
    gateway.upstream.on(upstreams[wire][0]!, priced(wire));
    const reply = await ask(chat, { key, model: `by-${wire}`, stream: true });
    const lines = reply.text.split('\n').filter((line) => line !== '');
    assert.ok(lines.every((line) => line.startsWith('data: ')));
    assert.equal(lines.at(-1), 'data: [DONE]');
    const [usage, ...earlier] = lines
      .slice(0, -1)
      .map((line) => JSON.parse(line.slice('data: '.length)) as Json)
      .toReversed();
    assert.deepEqual(usage!['choices'], []);
    assert.equal((usage!['usage'] as Json)['cost'], costMicros / 1_000_000);
    // As OpenAI says.
    assert.ok(earlier.every((chunk) => chunk['usage'] === null));
  }
});

test('a Chat client that does not request usage gets none in any chunk', async () => {
  const key = await newKey();
  for (const wire of ['chat', 'messages'] as const) {
    gateway.upstream.on(upstreams[wire][0]!, priced(wire));
    const reply = await gateway.ask(chat, key, { model: `by-${wire}`, stream: true });
    assert.equal(reply.costMicros, costMicros);
    assert.ok(!reply.text.includes('usage'), reply.text);
    for (const { data } of reply.frames.slice(0, -1))
      assert.notDeepEqual((data as Json)['choices'], []);
  }
});

test('a replay and a hit are the first answer with a cost of 0, on every code path', async () => {
  for (const at of endpoints) {
    gateway.upstream.on(at.upstreamPath, priced(at.name));
    const key = await newKey();
    for (const stream of [false, true]) {
      const wishes: Record<string, string>[] = [
        { 'idempotency-key': `cost-${stream}` },
        { 'x-service-cache': 'true' },
      ];
      for (const headers of wishes) {
        const asked = { key, model: `by-${at.name}`, stream, headers };
        const first = await ask(at, asked);
        assert.equal(first.costMicros, costMicros);
        const free = first.text.replace('"cost":0.000603', '"cost":0');
        assert.notEqual(free, first.text);
        // From the third request on, shorter paths answer.
        for (let time = 0; time < 4; time++) {
          const again = await ask(at, asked);
          assert.equal(again.text, free, `${at.name} ${stream} ${time}`);
          assert.equal(again.costMicros, 0);
          assert.ok(again.headers['x-service-cache']);
        }
      }
    }
  }
});

test('the cost is a comment only for clients that request comments, and the header must be true or false', async () => {
  for (const at of endpoints) {
    gateway.upstream.on(at.upstreamPath, priced(at.name));
    const key = await newKey();
    const commentsWith = async (headers: Record<string, string>) => {
      const reply = await ask(at, { key, model: `by-${at.name}`, stream: true, headers });
      assert.equal(reply.status, 200, reply.text);
      return reply.frames.flatMap(({ comment }) => comment ?? []);
    };
    assert.deepEqual(await commentsWith({}), []);
    assert.deepEqual(await commentsWith({ 'x-service-stream-comments': 'false' }), []);
    assert.deepEqual(await commentsWith({ 'x-service-stream-comments': 'true' }), [
      `cost_micros=${costMicros} balance_cents=499`,
    ]);
    const headers = { 'x-service-stream-comments': 'yes' };
    const refused = await ask(at, { key, model: `by-${at.name}`, stream: true, headers });
    assert.equal(refused.status, 400);
    assert.match(refused.text, /X-Service-Stream-Comments/);
  }
});

test('a stream that is one JSON array has no comment', async () => {
  gateway.upstream.on(chat.upstreamPath, priced('chat'));
  const key = await newKey();
  const reply = await gateway.post('/v1beta/models/by-chat:streamGenerateContent', {
    key,
    headers: { 'x-service-stream-comments': 'true' },
    body: { contents: [{ parts: [{ text: 'Hi' }] }] },
  });
  assert.ok(reply.json<object[]>().length > 1, reply.text);
});

test('the comment is not stored: a replay has none', async () => {
  gateway.upstream.on(chat.upstreamPath, priced('chat'));
  const key = await newKey();
  const headers = { 'x-service-stream-comments': 'true', 'idempotency-key': 'commented' };
  const first = await ask(chat, { key, model: 'by-chat', stream: true, headers });
  const again = await ask(chat, { key, model: 'by-chat', stream: true, headers });
  assert.match(first.text, /^: cost_micros=603 /m);
  assert.equal(
    again.text,
    first.text.replace(/^: cost_micros=.*\n\n/m, '').replace('"cost":0.000603', '"cost":0'),
  );
});

test('an answer that ends at its length limit has its cost', async () => {
  const at = endpoint('responses');
  const incomplete = (value: object) =>
    JSON.parse(
      JSON.stringify(value)
        .replaceAll(
          '"status":"completed","error":null,"incomplete_details":null',
          '"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"}',
        )
        .replaceAll('response.completed', 'response.incomplete'),
    ) as object;
  const { start, deltas, end } = streamFrames('responses', content);
  const cut = end.map((frame) => incomplete(frame as object) as SseFrame);
  gateway.upstream.on(at.upstreamPath, answerSse([...start, ...deltas, ...cut]));
  const key = await newKey();
  const reply = await ask(at, { key, model: 'by-responses', stream: true });
  assert.match(reply.text, /event: response\.incomplete\n.*"cost":0\.000603\b/);
});

test("OpenAI's SDK reads the cost of Chat and of Responses, streamed and whole", async () => {
  const key = await newKey();
  const client = new OpenAI({ apiKey: key, baseURL: `${gateway.url}/v1`, maxRetries: 0 });
  gateway.upstream.on('/v1/chat/completions', priced('chat'));
  gateway.upstream.on('/v1/responses', priced('responses'));
  const messages = [{ role: 'user' as const, content: 'Hello!' }];
  const asked = { model: 'by-chat', messages, stream_options: { include_usage: true } };
  const chunks = await Array.fromAsync(
    await client.chat.completions.create({ ...asked, stream: true }),
  );
  const completion = await client.chat.completions.stream(asked).finalChatCompletion();
  const whole = await client.chat.completions.create({ model: 'by-chat', messages });
  const events = await Array.fromAsync(
    await client.responses.create({ model: 'by-responses', input: 'Hello!', stream: true }),
  );
  const last = events.at(-1)!;
  assert.ok(last.type === 'response.completed');
  const response = await client.responses
    .stream({ model: 'by-responses', input: 'Hello!' })
    .finalResponse();
  const wholeResponse = await client.responses.create({ model: 'by-responses', input: 'Hello!' });
  const usages = [
    chunks.at(-1)!.usage,
    completion.usage,
    whole.usage,
    last.response.usage,
    response.usage,
    wholeResponse.usage,
  ];
  assert.deepEqual(
    usages.map((usage) => (usage as unknown as Json)['cost']),
    Array(6).fill(costMicros / 1_000_000),
  );
  assert.equal(completion.choices[0]!.message.content, content.text);
  assert.equal(response.output_text, content.text);
});

// The playground's endpoints: the public ones for signed-in users, with the account's key that the
// path names.
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { readEventStream } from '../../dashboard/api/event-stream.ts';
import { chatFormats } from '../../dashboard/api/chat-formats/registry.ts';
import {
  defaultSettings,
  noAnswer,
  type Answer,
  type ChatFormat,
  type ChatRequest,
  type Message,
} from '../../dashboard/api/chat-formats/types.ts';
import { microsFromUsd } from '../../src/lib/money.ts';
import { signIn } from '../support/dashboard.ts';
import { endpoints } from '../support/endpoints.ts';
import { startGateway } from '../support/gateway.ts';
import { ok, type Reply } from '../support/http.ts';
import { taskSamples } from '../support/task-samples.ts';

const gateway = await startGateway({
  models: Object.fromEntries(
    taskSamples.map(({ type, prices }) => [
      `a-${type}`,
      { type, prices, routes: [{ provider: 'local', model: 'm' }] },
    ]),
  ),
});
const member = await signIn(gateway, { role: 'member' });
after(() => gateway.stop());

const pathOf = (key: { readonly id: string }, path: string, account = member.account) =>
  `/accounts/${account}/keys/${key.id}${path}`;

/** A body that every endpoint accepts, including image generation. */
const requests = [
  ...endpoints.map(({ path, body }) => ({ path, body: body() })),
  { path: '/v1/images/generations', body: { model: 'flux-2', prompt: 'A cat' } },
];

for (const { path, body, headers: own = {} } of [
  ...requests.map((request) => ({ ...request, headers: {} })),
  ...taskSamples.map((task) => ({ path: task.path, ...task.request(`a-${task.type}`, 'Hello') })),
])
  test(`${path} runs with a key of the account, which is charged as usual`, async () => {
    const key = await gateway.makeKey({ account: member.account });
    const sent = { body: body!, headers: { ...own, 'x-service-cache': 'false' } };
    const { costMicros } = await ok(gateway.post(path, { key: key.key, ...sent }));
    const reply = await ok(member.send('POST', pathOf(key, path), sent));
    assert.equal(reply.costMicros, costMicros);
    assert.equal((await gateway.usage(key.key, reply.requestId)).length, 1);
  });

for (const { path, body } of requests) {
  describe(path, () => {
    test("a cap or model list refuses as for the key's own requests, in the endpoint's error format", async () => {
      const capped = await gateway.makeKey({
        account: member.account,
        dailyCapMicros: microsFromUsd(0),
      });
      const listed = await gateway.makeKey({ account: member.account, models: ['gpt-4o'] });
      for (const key of [capped, listed]) {
        const own = await gateway.post(path, { key: key.key, body });
        const reply = await member.post(pathOf(key, path), body);
        assert.ok(reply.status === 403 || reply.status === 429, reply.text);
        assert.equal(reply.status, own.status);
        assert.equal(withoutIds(reply), withoutIds(own));
      }
    });

    test("another account's key is not found; a revoked, disabled or expired key is refused", async () => {
      const foreign = await gateway.makeKey();
      assert.equal((await member.post(pathOf(foreign, path), body)).status, 404);
      assert.equal((await member.post(pathOf(foreign, path, foreign.account), body)).status, 404);
      assert.equal((await member.post(pathOf({ id: 'key_none' }, path), body)).status, 404);
      const old = await gateway.makeKey({ account: member.account, expiresAtMs: 1 });
      const admin = await signIn(gateway, { role: 'admin', account: member.account });
      const [revoked, disabled] = [await gateway.makeKey(admin), await gateway.makeKey(admin)];
      await ok(admin.post(`/accounts/${admin.account}/keys/${revoked.id}/revoke`));
      await ok(admin.post(`/accounts/${admin.account}/keys/${disabled.id}/disable`));
      for (const key of [old, revoked, disabled]) {
        const reply = await member.post(pathOf(key, path), body);
        assert.equal(reply.status, 401, reply.text);
        assert.equal(reply.error.code, 'invalid_api_key');
      }
    });

    test('without a session nothing runs, even with a key in the header; nor does a request from another site', async () => {
      const key = await gateway.makeKey({ account: member.account });
      const url = `/dashboard-api${pathOf(key, path)}`;
      const reply = await gateway.post(url, { key: key.key, body });
      assert.equal(reply.status, 401);
      assert.equal(reply.error.code, 'not_signed_in');
      const foreign = await member.send('POST', pathOf(key, path), {
        body,
        headers: { origin: 'https://elsewhere.example' },
      });
      assert.equal(foreign.status, 403);
    });
  });
}

test('a key in the header changes nothing', async () => {
  const [key, other] = [
    await gateway.makeKey({ account: member.account }),
    await gateway.makeKey(),
  ];
  const headers = { authorization: `Bearer ${other.key}`, 'x-api-key': 'tg_live_nonsense' };
  const reply = await ok(
    member.send('POST', pathOf(key, '/v1/responses'), { body: requests[0]!.body, headers }),
  );
  assert.equal((await gateway.usage(key.key, reply.requestId)).length, 1);
});

describe('the fields that the page reads', () => {
  const ask: ChatRequest = {
    ...defaultSettings,
    model: 'gpt-6-luna',
    messages: [{ role: 'user', text: 'sandbox: think=Let me see.\nHello, "you"!' }],
    system: 'Be brief.',
    maxTokens: 300,
    effort: 'low',
  };
  const weather = {
    name: 'get_weather',
    description: 'Weather.',
    parameters: { type: 'object', properties: { city: { type: 'string' } } },
  };
  const picture = {
    kind: 'image',
    name: 'dot.png',
    mediaType: 'image/png',
    data: 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  } as const;

  for (const format of Object.values(chatFormats)) {
    test(`${format.name}: whole and streamed answers have the same reasoning, tokens and cost`, async () => {
      const whole = await answerTo(format, { ...ask, stream: false });
      const streamed = await answerTo(format, ask);
      for (const answer of [whole, streamed]) {
        assert.match(answer.text, /You said: Hello, "you"!/);
        assert.equal(answer.reasoning, 'Let me see.');
        assert.ok(answer.inputTokens! > 0 && answer.outputTokens! > 0 && answer.costMicros! > 0);
      }
      assert.deepEqual({ ...streamed, echo: [] }, { ...whole, echo: [] });
    });

    test(`${format.name}: parallel calls are answered by their results, streamed or not`, async () => {
      const question = `Weather?
sandbox: tool=get_weather {"city":"Paris"}
sandbox: tool=get_weather {"city":"Oslo"}`;
      for (const stream of [true, false]) {
        const asked = { role: 'user', text: question } as const;
        const settings = { ...ask, stream, tools: [weather] };
        const called = await answerTo(format, { ...settings, messages: [asked] });
        assert.deepEqual(
          called.calls.map(({ name, arguments: text }) => [name, JSON.parse(text)]),
          [
            ['get_weather', { city: 'Paris' }],
            ['get_weather', { city: 'Oslo' }],
          ],
        );
        const history: readonly Message[] = [
          asked,
          { role: 'assistant', format: format.name, ...called },
          {
            role: 'tool',
            results: called.calls.map(({ id }, index) => ({ callId: id, output: `${index} °C` })),
          },
        ];
        const answered = await answerTo(format, { ...settings, messages: history });
        assert.match(answered.text, /get_weather returned: 0 °C[^]*1 °C/);
        // The history of one format is understood by the others.
        for (const other of Object.values(chatFormats)) {
          const next = { role: 'user', text: 'Thank you' } as const;
          const messages = [
            ...history,
            { role: 'assistant', format: format.name, ...answered },
            next,
          ] as const;
          assert.match((await answerTo(other, { ...settings, messages })).text, /Thank you/);
        }
      }
    });

    test(`${format.name}: images and text files are sent, and a schema shapes the answer`, async () => {
      const attachments = [picture, { kind: 'text', name: 'a.txt', text: 'the content' }] as const;
      const seen = await answerTo(format, {
        ...ask,
        messages: [{ role: 'user', text: 'What is this?', attachments }],
      });
      assert.match(seen.text, /the content[^]*with 1 image/);
      const schema = {
        type: 'object',
        properties: { city: { type: 'string' } },
        required: ['city'],
        additionalProperties: false,
      };
      const shaped = await answerTo(format, {
        ...ask,
        messages: [{ role: 'user', text: 'A city, please' }],
        schema: { name: 'place', schema, strict: true },
      });
      assert.deepEqual(JSON.parse(shaped.text), { city: 'text' });
      const forced = await answerTo(format, {
        ...ask,
        messages: [{ role: 'user', text: 'Hello' }],
        tools: [weather],
        toolChoice: { name: 'get_weather' },
      });
      assert.equal(forced.calls[0]?.name, 'get_weather');
    });

    test(`${format.name}: a stream that fails in the middle says why`, async () => {
      const messages = [{ role: 'user', text: 'sandbox: cut_after=2\nHello, you there!' }] as const;
      const { error } = await answerTo(format, { ...ask, messages });
      assert.match(error!.message, /\w/);
    });
  }

  async function answerTo(format: ChatFormat, request: ChatRequest): Promise<Answer> {
    const key = await gateway.makeKey({ account: member.account });
    const reply = await ok(member.post(pathOf(key, format.path), format.writeBody(request)));
    if (!request.stream) return format.readAnswer(reply.json());
    let answer = noAnswer;
    for await (const { event = '', data } of readEventStream(new Response(reply.text).body!))
      if (data !== '[DONE]') answer = format.readEvent(answer, event, JSON.parse(data));
    return answer;
  }
});

test('a large image in a message is not too large for the playground', async () => {
  const key = await gateway.makeKey({ account: member.account });
  const data = Buffer.alloc(8 * 1024 * 1024, 1).toString('base64');
  const file = { filename: 'a.txt', file_data: `data:text/plain;base64,${data}` };
  const content = [{ type: 'input_file', ...file }];
  const body = { model: 'gpt-6-luna', input: [{ role: 'user', content }] };
  const reply = await member.post(pathOf(key, '/v1/responses'), body);
  assert.notEqual(reply.status, 413, reply.text.slice(0, 500));
});

function withoutIds({ text, requestId }: Reply): string {
  return text.replaceAll(requestId, 'req');
}

test('a cached answer still requires a session', async () => {
  const key = await gateway.makeKey({ account: member.account });
  const { path, body } = endpoints[0]!;
  const asked = body({ temperature: 0 });
  for (let time = 0; time < 5; time++) await ok(member.post(pathOf(key, path), asked));
  const stranger = await gateway.post(`/dashboard-api${pathOf(key, path)}`, {
    headers: { origin: new URL(gateway.url).origin },
    body: asked,
  });
  assert.equal(stranger.status, 401, stranger.text);
});

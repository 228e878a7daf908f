// The playground's endpoints: the public ones for signed-in users, with the account's key that the
// path names.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { readEventStream } from '../../dashboard/api/event-stream.ts';
import { applyDelta, chatFormats, type AnswerDelta } from '../../dashboard/api/chat-formats.ts';
import { microsFromUsd } from '../../src/lib/money.ts';
import { signIn, type DashboardClient } from '../support/dashboard.ts';
import { endpoints } from '../support/endpoints.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import type { Reply } from '../support/http.ts';

let gateway: TestGateway;
let member: DashboardClient;

before(async () => {
  gateway = await startGateway();
  member = await signIn(gateway, { role: 'member' });
});
after(() => gateway.stop());

const pathOf = (key: { readonly id: string }, path: string, account = member.account) =>
  `/accounts/${account}/keys/${key.id}${path}`;

/** A body that every endpoint accepts, including image generation. */
const requests = [
  ...endpoints.map(({ path, body }) => ({ path, body: body() })),
  { path: '/v1/images/generations', body: { model: 'flux-2', prompt: 'A cat' } },
];

for (const { path, body } of requests) {
  describe(path, () => {
    test('a member runs it with a key of the account, which is charged as usual', async () => {
      const key = await gateway.makeKey({ account: member.account });
      const own = await gateway.post(path, { key: key.key, body });
      const reply = await member.post(pathOf(key, path), body);
      assert.equal(reply.status, 200, reply.text);
      assert.equal(reply.costMicros, own.costMicros);
      const usage = await gateway.get(`/v1/usage?request_id=${reply.requestId}`, { key: key.key });
      assert.equal(usage.json<{ data: unknown[] }>().data.length, 1);
    });

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
      assert.equal(
        (await admin.post(`/accounts/${admin.account}/keys/${revoked.id}/revoke`)).status,
        200,
      );
      assert.equal(
        (await admin.post(`/accounts/${admin.account}/keys/${disabled.id}/disable`)).status,
        200,
      );
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
  const reply = await member.send('POST', pathOf(key, '/v1/responses'), {
    body: requests[0]!.body,
    headers,
  });
  assert.equal(reply.status, 200);
  const usage = await gateway.get(`/v1/usage?request_id=${reply.requestId}`, { key: key.key });
  assert.equal(usage.json<{ data: unknown[] }>().data.length, 1);
});

describe('the fields that the page reads', () => {
  const ask = {
    model: 'gpt-5-mini',
    messages: [{ role: 'user', text: 'sandbox: think=Let me see.\nHello, "you"!' }],
    system: 'Be brief.',
    maxTokens: 300,
    temperature: null,
    effort: 'low',
  } as const;
  for (const format of Object.values(chatFormats)) {
    test(`${format.name}: whole and streamed answers have the same reasoning, tokens and cost`, async () => {
      const key = await gateway.makeKey({ account: member.account });
      const whole = await member.post(
        pathOf(key, format.path),
        format.writeBody({ ...ask, stream: false }),
      );
      assert.equal(whole.status, 200, whole.text);
      const streamed = await member.post(
        pathOf(key, format.path),
        format.writeBody({ ...ask, stream: true }),
      );
      let answer: AnswerDelta = {};
      for await (const { event = '', data } of readEventStream(new Response(streamed.text).body!)) {
        if (data !== '[DONE]')
          answer = applyDelta(answer, format.readEvent(event, JSON.parse(data)));
      }
      assert.deepEqual(answer, { ...answer, ...applyDelta({}, format.readAnswer(whole.json())) });
      assert.match(answer.text!, /You said: Hello, "you"!/);
      assert.equal(answer.reasoning, 'Let me see.');
      assert.ok(answer.inputTokens! > 0 && answer.outputTokens! > 0);
      assert.equal(answer.costMicros, whole.costMicros);
    });

    test(`${format.name}: a stream that fails in the middle says why`, async () => {
      const key = await gateway.makeKey({ account: member.account });
      const messages = [{ role: 'user', text: 'sandbox: cut_after=2\nHello, you there!' }] as const;
      const reply = await member.post(
        pathOf(key, format.path),
        format.writeBody({ ...ask, messages, stream: true }),
      );
      let answer: AnswerDelta = {};
      for await (const { event = '', data } of readEventStream(new Response(reply.text).body!)) {
        if (data !== '[DONE]')
          answer = applyDelta(answer, format.readEvent(event, JSON.parse(data)));
      }
      assert.ok(answer.error, reply.text);
      assert.match(answer.error.message, /\w/);
    });
  }
});

function withoutIds({ text, requestId }: Reply): string {
  return text.replaceAll(requestId, 'req');
}

test('a cached answer still requires a session', async () => {
  const key = await gateway.makeKey({ account: member.account });
  const { path, body } = endpoints[0]!;
  const asked = body({ temperature: 0 });
  for (let time = 0; time < 5; time++)
    assert.equal((await member.post(pathOf(key, path), asked)).status, 200);
  const stranger = await gateway.post(`/dashboard-api${pathOf(key, path)}`, {
    headers: { origin: new URL(gateway.url).origin },
    body: asked,
  });
  assert.equal(stranger.status, 401, stranger.text);
});

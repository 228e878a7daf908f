// An account's export of its own traces: what its receiver gets, who may change what, and where
// prompts and answers go.
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { answerContent } from '../support/answers.ts';
import { adminOf } from '../support/admin.ts';
import { type DashboardClient, signIn } from '../support/dashboard.ts';
import { endpoints } from '../support/endpoints.ts';
import {
  startOtlpReceiver,
  type OtlpReceiver,
  type ReceivedSpan,
} from '../support/otlp-receiver.ts';
import { endpointOf, startTwoRoutes } from '../support/two-routes.ts';
import { SleeplessClock } from '../support/test-clock.ts';
import { until, untilNoticed } from '../support/until.ts';
import { answerStatus } from '../support/upstream.ts';
import { ok } from '../support/http.ts';
import { rowsOf, setRows } from '../support/rows.ts';
import { columnOf } from '../support/column-of.ts';

const tokens = { input: 40, output: 12 };
const prompt = 'marker-of-the-prompt';
const answered = 'marker-of-the-answer';
const headerKey = 'key-of-the-account';

type Customer = {
  readonly owner: DashboardClient;
  readonly account: string;
  readonly key: string;
  readonly receiver: OtlpReceiver;
};

const clock = new SleeplessClock();
const operator = await startOtlpReceiver({ clock });
const receivers = await Promise.all(Array.from({ length: 32 }, () => startOtlpReceiver({ clock })));
const free = [...receivers];
const allowed_hosts = receivers.map(({ url }) => new URL(url).host);
const two = await startTwoRoutes(
  { telemetry: { endpoint: operator.url, allowed_hosts }, images: { allowed_hosts: [] } },
  { clock, env: { OTEL_METRIC_EXPORT_INTERVAL: '1000' } },
);
after(async () => {
  await two.stop();
  await Promise.all([operator, ...receivers].map((receiver) => receiver.close()));
});

/** An account with a receiver of its own, and whatever else it sets. */
async function customer(settings: object = {}): Promise<Customer> {
  const owner = await signIn(two.gateway);
  const { account } = owner;
  const receiver = free.pop()!;
  const { key } = await two.gateway.makeKey({ account, mode: 'live', creditUsd: 50 });
  const headers = { Authorization: headerKey };
  await set(owner, { endpoint: receiver.url, headers, ...settings });
  return { owner, account, key, receiver };
}

async function set(by: DashboardClient, body: object): Promise<void> {
  await ok(by.patch(`/accounts/${by.account}/telemetry`, body));
}

const shown = async ({ owner, account }: Customer) =>
  (await owner.get(`/accounts/${account}/telemetry`)).json();

const say = (text: string, fields: object = {}) => {
  const messages = [{ role: 'user', content: text }];
  return endpointOf('chat').body({ model: 'one-chat', messages, ...fields });
};

for (const { name, path, body } of endpoints) {
  for (const stream of [false, true]) {
    test(`${name}, stream ${stream}: an account gets its request, the calls and the money, and nothing of the operator's`, async () => {
      const { key, account, receiver } = await customer();
      two.play(name, [answerStatus(500)], [answerContent(name, { text: 'yes', tokens })]);
      const asked = body({ model: `two-${name}`, stream });
      const reply = await ok(two.gateway.post(path, { key, body: asked }));
      const trace = await receiver.requestTrace(reply.requestId);
      const { request, calls, holds, settlements, steps } = trace;
      const { costMicros } = await two.booked(reply);
      for (const { attributes } of [request, ...settlements]) {
        assert.equal(attributes['tollgate.cost.micros'], costMicros);
        assert.equal(attributes['tollgate.cost.usd'], costMicros / 1e6);
      }
      assert.equal(request.attributes['tollgate.account.id'], account);
      assert.equal(request.attributes['tollgate.mode'], 'live');
      assert.equal(holds.length, 1);
      assert.ok(calls.some(({ attributes }) => attributes['error.type'] === '500'));
      assertNothingOfTheOperator([request, ...steps]);
      const operators = await operator.requestTrace(reply.requestId);
      assert.deepEqual(operators.request.spanId, request.spanId);
      assert.ok('tollgate.upstream_cost.micros' in operators.request.attributes);
    });
  }
}

function assertNothingOfTheOperator(spans: readonly ReceivedSpan[]): void {
  const names = spans.flatMap(({ attributes }) => Object.keys(attributes));
  for (const name of ['tollgate.upstream_cost.micros', 'tollgate.loss.micros', 'server.address'])
    assert.equal(names.includes(name), false, name);
}

test('an account gets its test requests too, and none of another account', async () => {
  const [mine, other] = [await customer(), await customer()];
  const { key } = await two.gateway.makeKey({ account: mine.account, mode: 'test' });
  const body = say('hello', { model: 'gpt-6-luna' });
  const tested = await ok(two.gateway.post('/v1/chat/completions', { key, body }));
  two.play('chat', [answerContent('chat', { text: 'yes', tokens })]);
  const sent = { key: other.key, body: say('hello') };
  const theirs = await two.gateway.post('/v1/chat/completions', sent);
  const { request } = await mine.receiver.requestTrace(tested.requestId);
  assert.equal(request.attributes['tollgate.mode'], 'test');
  await other.receiver.requestTrace(theirs.requestId);
  assert.equal(mine.receiver.text().includes(other.account), false);
  assert.equal(other.receiver.text().includes(mine.account), false);
  assert.equal(mine.receiver.upstream.requests[0]!.headers['authorization'], headerKey);
});

describe('prompts and answers', () => {
  const message = (role: string, content: string) => ({ role, parts: [{ type: 'text', content }] });
  const said = { ...message('assistant', answered), finish_reason: 'stop' };
  const outputOf = (attributes: ReceivedSpan['attributes']) =>
    JSON.parse(String(attributes['gen_ai.output.messages'])) as unknown;

  /** Sends the markers by every way in, and returns when the operator has the last request. */
  async function sendEverything({ key, account }: Customer): Promise<readonly string[]> {
    const ids: string[] = [];
    const { key: testKey } = await two.gateway.makeKey({ account, mode: 'test' });
    const post = async (path: string, body: object, headers = {}, by = key) => {
      const reply = await two.gateway.post(path, { key: by, body, headers });
      ids.push(reply.requestId);
      return reply;
    };
    for (const { name, path, body } of endpoints) {
      for (const stream of [false, true])
        for (const script of [
          answerContent(name, { text: answered, tokens }),
          answerStatus(400, { body: { error: { message: `bad ${prompt}` } } }),
          answerStatus(500, { body: { error: { message: `broken ${answered}` } } }),
        ]) {
          two.play(name, [script]);
          await post(path, { ...body({ model: `one-${name}`, stream }), ...promptOf(name) });
        }
      await post(path, { ...body({ model: prompt }), model: 7 });
      await post(path, { ...body({ model: 'no-such-model' }), ...promptOf(name) });
      await post(path, { ...body({ model: `one-${name}` }), [prompt]: prompt });
      await post(path, promptOf(name));
    }
    two.play('chat', [answerContent('chat', { text: answered, tokens })]);
    const named = { 'idempotency-key': `content-${key}` };
    for (let time = 0; time < 2; time++) await post('/v1/chat/completions', say(prompt), named);
    const cached = { 'x-service-cache': 'true' };
    for (let time = 0; time < 2; time++)
      await post('/v1/chat/completions', say(prompt, { seed: 3 }), cached);
    await post('/v1/images/generations', { model: 'no-such-model', prompt });
    for (const by of [key, testKey]) {
      await post('/v1/images/generations', { model: 'gpt-image-flare', prompt }, {}, by);
      await post('/v1/web-search', { query: prompt }, {}, by);
      await post('/v1/chat/completions', say(prompt, { model: 'gpt-6-luna' }), {}, by);
    }
    const messages = [{ role: 'user', content: prompt }];
    await post('/v1/messages/count_tokens', { model: 'one-messages', messages });
    await two.gateway.get(`/v1/${prompt}?q=${prompt}`, { key });
    await operator.requestTrace(ids.at(-1)!);
    return ids;
  }

  const promptOf = (name: string): object =>
    name === 'responses'
      ? { input: prompt, instructions: prompt }
      : {
          messages: [{ role: 'user', content: prompt }],
          ...(name === 'messages' && { system: prompt }),
        };

  test('are in no telemetry, unless an owner has asked for it', async () => {
    const mine = await customer();
    const ids = await sendEverything(mine);
    for (const id of ids) await mine.receiver.requestTrace(id);
    for (const receiver of [operator, mine.receiver]) {
      assert.ok(receiver.text().includes(ids[0]!));
      assert.doesNotMatch(receiver.text(), /marker-of-the/);
      assert.equal(receiver.text().includes(mine.key), false);
    }
  });

  test('are in the traces of the account whose owner has asked for it, and in no others', async () => {
    const [mine, other] = [await customer({ include_content: true }), await customer()];
    await sendEverything(other);
    const ids = await sendEverything(mine);
    for (const id of ids) await mine.receiver.requestTrace(id);
    for (const receiver of [operator, other.receiver])
      assert.doesNotMatch(receiver.text(), /marker-of-the/);
    const spans = mine.receiver.spans();
    const asked = spans.filter(({ attributes }) => 'gen_ai.input.messages' in attributes);
    assert.ok(asked.length > 20);
    for (const { attributes } of asked) {
      const input = JSON.parse(String(attributes['gen_ai.input.messages'])) as object[];
      const status = attributes['http.response.status_code'];
      if (status === 200) assert.ok(JSON.stringify(input).includes(prompt));
      const isLive = attributes['tollgate.mode'] === 'live' && !attributes['error.type'];
      if (status === 200 && isLive && attributes['gen_ai.operation.name'] === 'chat')
        assert.deepEqual(outputOf(attributes), [said]);
    }
    const instructed = spans.filter(({ attributes }) =>
      String(attributes['gen_ai.system_instructions']).includes(prompt),
    );
    assert.ok(instructed.some(({ name }) => name === 'POST /v1/responses'));
    assert.ok(instructed.some(({ name }) => name === 'POST /v1/messages'));
    const names = new Set(columnOf(asked, 'name'));
    for (const name of ['POST /v1/images/generations', 'POST /v1/web-search'])
      assert.ok(names.has(name), name);
  });

  test('are those of the client when its format is translated', async () => {
    const [mine, other] = [await customer({ include_content: true }), await customer()];
    for (const { name } of endpoints)
      two.play(name, [answerContent(name, { text: answered, tokens })]);
    const pairs = endpoints.flatMap((client) => {
      const others = endpoints.filter(({ name }) => name !== client.name);
      return others.flatMap(({ name: upstream }) =>
        [false, true].map((stream) => ({ client, upstream, stream })),
      );
    });
    const send = ({ client, upstream, stream }: (typeof pairs)[number], key: string) => {
      const asked = client.body({ model: `one-${upstream}`, stream });
      return two.gateway.post(client.path, { key, body: { ...asked, ...promptOf(client.name) } });
    };
    const replies = await Promise.all(pairs.map((pair) => send(pair, mine.key)));
    const silent = await Promise.all(pairs.map((pair) => send(pair, other.key)));
    for (const [index, { client }] of pairs.entries()) {
      const reply = replies[index]!;
      assert.equal(reply.status, 200, reply.text);
      const { attributes } = (await mine.receiver.requestTrace(reply.requestId)).request;
      const read = (name: string) => JSON.parse(String(attributes[`gen_ai.${name}`])) as unknown;
      assert.deepEqual(read('input.messages'), [message('user', prompt)]);
      assert.deepEqual(outputOf(attributes), [said]);
      if (client.name !== 'chat')
        assert.deepEqual(read('system_instructions'), [{ type: 'text', content: prompt }]);
    }
    const ways = ['streamGenerateContent', 'streamGenerateContent?alt=sse', 'generateContent'];
    for (const [index, { name }] of endpoints.entries()) {
      const path = `/v1beta/models/one-${name}:${ways[index % ways.length]!}`;
      const body = { contents: [{ parts: [{ text: prompt }] }] };
      const { requestId } = await two.gateway.post(path, { key: mine.key, body });
      const { attributes } = (await mine.receiver.requestTrace(requestId)).request;
      assert.deepEqual(outputOf(attributes), [said]);
    }
    for (const { requestId } of silent) await other.receiver.requestTrace(requestId);
    for (const receiver of [operator, other.receiver])
      assert.doesNotMatch(receiver.text(), /marker-of-the/);
  });

  test('are cut when they are long, and the newest words are kept', async () => {
    const mine = await customer({ include_content: true });
    two.play('chat', [answerContent('chat', { text: 'x'.repeat(200_000), tokens })]);
    for (const stream of [false, true]) {
      const messages = [
        { role: 'user', content: 'o'.repeat(100_000) },
        { role: 'assistant', content: 'well' },
        { role: 'user', content: prompt },
      ];
      const sent = { key: mine.key, body: say('', { stream, messages }) };
      const reply = await two.gateway.post('/v1/chat/completions', sent);
      const { request } = await mine.receiver.requestTrace(reply.requestId);
      const { attributes } = request;
      assert.equal(attributes['tollgate.content_cut'], true);
      const input = String(attributes['gen_ai.input.messages']);
      assert.match(input, new RegExp(prompt));
      assert.ok(input.length < 66_000);
      const output = String(attributes['gen_ai.output.messages']);
      assert.ok(output.length > 60_000 && output.length < 66_000, String(output.length));
    }
  });

  test('can be switched on by an owner only, and are off with another address or other headers', async () => {
    const mine = await customer({ include_content: true });
    const path = `/accounts/${mine.account}/telemetry`;
    const admin = await signIn(two.gateway, { account: mine.account, role: 'admin' });
    const member = await signIn(two.gateway, { account: mine.account, role: 'member' });
    assert.equal((await member.get(path)).status, 403);
    assert.equal((await member.patch(path, { sampling_ratio: 0 })).status, 403);
    assert.equal((await admin.patch(path, { include_content: true })).status, 403);
    await ok(admin.patch(path, { sampling_ratio: 0.5 }));
    assert.equal((await shown(mine))['include_content'], true);
    const elsewhere = { endpoint: `${mine.receiver.url}/elsewhere` };
    for (const change of [{ headers: { 'x-key': 'of the admin' } }, elsewhere]) {
      await ok(admin.patch(path, change));
      assert.equal((await shown(mine))['include_content'], false);
      await ok(mine.owner.patch(path, { include_content: true }));
    }
    assert.deepEqual((await shown(mine))['header_names'], []);
    const operators = await adminOf(two.gateway);
    const refused = await operators.send('PATCH', path, { body: { include_content: true } });
    assert.equal(refused.status, 403);
    await operators.ok('PATCH', path, { body: { include_content: false } });
    assert.equal((await shown(mine))['include_content'], false);
  });
});

test('header values are never shown, stored or logged as they are, and changes are audited', async () => {
  const mine = await customer();
  const text = JSON.stringify(await shown(mine));
  assert.match(text, /"header_names":\["authorization"\]/);
  const rows = await rowsOf(two.gateway.database, 'account_telemetry');
  const log = await rowsOf(two.gateway.database, 'audit_log', { account_id: mine.account });
  assert.deepEqual(columnOf(log, 'action'), ['account.telemetry']);
  for (const where of [text, JSON.stringify(rows), JSON.stringify(log), two.gateway.program.output])
    assert.equal(where.includes(headerKey), false);
});

test('a gateway that has a key in memory follows a change by itself', async () => {
  const mine = await customer();
  const ask = () => two.gateway.post('/v1/chat/completions', { key: mine.key, body: say('hi') });
  two.play('chat', [answerContent('chat', { text: 'yes', tokens })]);
  await mine.receiver.requestTrace((await ask()).requestId);
  const other = free.pop()!;
  await set(mine.owner, { endpoint: other.url });
  await untilNoticed(clock, async () => {
    await ask();
    return other.spans().length > 0;
  });
  await set(mine.owner, { endpoint: null });
  // Requests of a moment may still be under way.
  const count = async () => {
    const seen = other.spans().length;
    await operator.requestTrace((await ask()).requestId);
    return other.spans().length === seen;
  };
  await untilNoticed(clock, count);
});

test('a change drops what waits, so nothing goes where it was not meant to go', async () => {
  const mine = await customer();
  two.play('chat', [answerContent('chat', { text: 'yes', tokens })]);
  const reply = await two.gateway.post('/v1/chat/completions', { key: mine.key, body: say('hi') });
  await until(() => two.gateway.program.output.includes(`"request_id":"${reply.requestId}"`));
  const own = { account_id: mine.account };
  await setRows(two.gateway.database, 'account_telemetry', own, { version: 99 });
  const dropped = await untilNoticed(clock, async () => {
    const { dropped_spans: count } = await shown(mine);
    return Number(count) > 0 && count;
  });
  assert.equal(dropped, 4);
  assert.deepEqual(mine.receiver.upstream.requests, []);
});

test('the admin API and the settings page show the same', async () => {
  const mine = await customer({ sampling_ratio: 0.25 });
  const admin = await adminOf(two.gateway);
  const path = `/accounts/${mine.account}/telemetry`;
  assert.deepEqual(await admin.ok('GET', path), await shown(mine));
  await admin.ok('PATCH', path, { body: { endpoint: null } });
  assert.equal((await shown(mine))['endpoint'], null);
  assert.equal((await admin.send('GET', '/accounts/acc_none/telemetry')).status, 404);
});

describe('bad settings are refused with the field and the remedy', () => {
  const cases: readonly (readonly [object, RegExp])[] = [
    [{ endpoint: 'collector:4318' }, /`endpoint` is no address/],
    [{ endpoint: 'ftp://example.com' }, /is no address/],
    [{ endpoint: 'http://example.com' }, /https:/],
    [{ endpoint: 'https://user:word@example.com' }, /user name/],
    [{ endpoint: 'https://example.com?key=1' }, /leave out/],
    [{ endpoint: 'https://example.com:4317' }, /port 443 or 4318/],
    [{ endpoint: 'https://127.0.0.1' }, /public address/],
    [{ endpoint: 'https://2130706433' }, /public address/],
    [{ endpoint: 'https://169.254.169.254' }, /public address/],
    [{ endpoint: 'https://[::ffff:127.0.0.1]' }, /public address/],
    [{ endpoint: 'https://[::1]' }, /public address/],
    [{ headers: { 'x-key': 'a\r\nhost: b' } }, /printable/],
    [{ headers: { 'x-key\r\nhost': 'b' } }, /names/],
    [{ headers: { 'x-key': 'ü' } }, /printable/],
    [{ headers: { Host: 'b' } }, /must not set `Host`/],
    [{ headers: { 'transfer-encoding': 'chunked' } }, /must not set/],
    [{ headers: { 'x-key': 'a', 'X-Key': 'b' } }, /twice/],
    [{ sampling_ratio: 1.5 }, /sampling_ratio/],
  ];
  for (const [body, problem] of cases)
    test(JSON.stringify(body), async () => {
      const owner = await signIn(two.gateway);
      const reply = await owner.patch(`/accounts/${owner.account}/telemetry`, body);
      assert.equal(reply.status, 400);
      assert.match(reply.text, problem);
      assert.doesNotMatch(reply.text, /user:word/);
    });
});

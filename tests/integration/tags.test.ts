// Tags of requests over HTTP: the header, `metadata` and end users, in the usage list, the
// dashboard's list and the export.
import assert from 'node:assert/strict';
import type { RequestRecord, RequestTotals } from '../../src/management/contract/requests.ts';
import { verify } from '../../src/domain/ledger/reports/verify.ts';
import { after, before, test, testOn } from '../support/both-stores.ts';
import { signIn, type DashboardClient } from '../support/dashboard.ts';
import { endpoint } from '../support/endpoints.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { numberedAnswers } from '../support/numbered-answers.ts';
import type { RunningApp } from '../support/running-app.ts';
import { TestClock } from '../support/test-clock.ts';

let gateway: TestGateway<RunningApp>;
let member: DashboardClient;
let key: string;

before(async () => {
  gateway = await startGateway({ tags: { end_users: true } }, { clock: new TestClock() });
  member = await signIn(gateway, { role: 'member' });
  ({ key } = await gateway.makeKey({ account: member.account }));
});
after(() => gateway.stop());

const chat = (fields: object = {}) => ({
  model: 'gpt-6-luna',
  messages: [{ role: 'user', content: 'Hello' }],
  ...fields,
});
type Sent = { readonly tags?: string; readonly fields?: object; readonly headers?: object };

async function ask({ tags, fields, headers }: Sent) {
  const reply = await gateway.post('/v1/chat/completions', {
    key,
    body: chat(fields),
    headers: { ...headers, ...(tags !== undefined && { 'x-service-tags': tags }) },
  });
  assert.equal(reply.status, 200, reply.text);
  return { id: reply.headers['x-request-id'] as string, reply };
}

type UsagePage = {
  readonly data: readonly { readonly request_id: string; readonly tags?: readonly string[] }[];
};
const usage = async (query: object) =>
  (
    await gateway.get(`/v1/usage?${new URLSearchParams({ ...query }).toString()}`, { key })
  ).json<UsagePage>().data;
const path = (rest: string) => `/accounts/${member.account}/${rest}`;
const listed = async (query: string) => {
  const reply = await member.get(path(`requests?mode=test&${query}`));
  assert.equal(reply.status, 200, reply.text);
  return reply.json<{ data: readonly RequestRecord[] }>().data;
};

test('tags of a request are in its usage record, and filter the list', async () => {
  const tagged = await ask({ tags: 'project=alpha, nightly' });
  const plain = await ask({});
  const [first, second] = await usage({ limit: 2 });
  assert.deepEqual([first!.request_id, first!.tags], [plain.id, undefined]);
  assert.deepEqual([second!.request_id, second!.tags], [tagged.id, ['nightly', 'project=alpha']]);
  assert.deepEqual(
    (await usage({ tag: 'project=alpha' })).map(({ request_id: id }) => id),
    [tagged.id],
  );
  assert.deepEqual(await usage({ tag: 'project=beta' }), []);
  const [record] = await listed(new URLSearchParams({ tag: 'project=alpha' }).toString());
  assert.deepEqual([record!.request_id, record!.tags], [tagged.id, ['nightly', 'project=alpha']]);
  const totals = await member.get(path('requests/totals?mode=test&tag=nightly'));
  const { charged } = totals.json<RequestTotals>();
  assert.deepEqual([charged!.requests, charged!.cost_micros], [1, record!.cost_micros]);
});

testOn('sqlite', 'metadata and end users of every format count', async () => {
  const model = 'claude-haiku-4-5';
  const messages = chat().messages;
  for (const [url, body, tags] of [
    ['/v1/chat/completions', chat({ metadata: { team: 'a' }, user: 'u1' }), ['team=a', 'user=u1']],
    ['/v1/chat/completions', chat({ safety_identifier: 'u2' }), ['user=u2']],
    ['/v1/responses', { model, input: 'Hi', metadata: { team: 'b', note: 'x y' } }, ['team=b']],
    ['/v1/messages', { model, messages, max_tokens: 9, metadata: { user_id: 'u3' } }, ['user=u3']],
  ] as const) {
    assert.equal((await gateway.post(url, { key, body })).status, 200);
    const [newest] = await usage({ limit: 1 });
    assert.deepEqual(newest!.tags, tags, url);
  }
  for (const [url, body] of [
    ['/v1/images/generations', { model: 'flux-2', prompt: 'A cat' }],
    ['/v1/web-search', { query: 'cats' }],
  ] as const) {
    const headers = { 'x-service-tags': 'kind=pieces' };
    assert.equal((await gateway.post(url, { key, body, headers })).status, 200);
    assert.deepEqual((await usage({ limit: 1 }))[0]!.tags, ['kind=pieces'], url);
  }
});

testOn('sqlite', 'a wrong header is a 400 that names it, and nothing is charged', async () => {
  const earlier = await usage({ limit: 100 });
  const headers = { 'x-service-tags': 'project alpha' };
  const reply = await gateway.post('/v1/chat/completions', { key, body: chat(), headers });
  assert.equal(reply.status, 400);
  assert.equal(reply.json<{ error: { param: string } }>().error.param, 'X-Service-Tags');
  assert.deepEqual(await usage({ limit: 100 }), earlier);
});

test('tags of requests that are refused before they are admitted are not stored', async () => {
  const limited = await gateway.makeKey({ account: member.account, requestsPerMinute: 1 });
  const narrow = await gateway.makeKey({ account: member.account, models: ['gpt-5.6-luna'] });
  const headers = { 'x-service-tags': 'refused=admitted' };
  const send = async (secret: string, fields: object, status: number) => {
    const body = chat(fields);
    const reply = await gateway.post('/v1/chat/completions', { key: secret, body, headers });
    assert.equal(reply.status, status, reply.text);
  };
  await send(limited.key, {}, 200);
  headers['x-service-tags'] = 'refused=early';
  await send(key, { model: 'no-such-model' }, 404);
  await send(key, { temperature: 'hot' }, 400);
  await send(narrow.key, {}, 403);
  await send(limited.key, {}, 429);
  await gateway.program.app.gateway.observe.activity.flush();
  const { read } = gateway.database;
  const tags = await read.selectFrom('activity_tag_days').select('tag').execute();
  assert.ok(
    tags.every(({ tag }) => tag !== 'refused=early'),
    JSON.stringify(tags),
  );
  const logged = await read.selectFrom('request_log').select('tags').execute();
  assert.ok(logged.some(({ tags: kept }) => kept?.includes('refused=admitted')));
  assert.ok(logged.every(({ tags: kept }) => !kept?.includes('refused=early')));
});

test('a cached or repeated answer has the tags of its own request, and the books agree', async () => {
  const fields = { temperature: 0, messages: [{ role: 'user', content: 'Cached' }] };
  const first = await ask({ fields, tags: 'run=one' });
  const hit = await ask({ fields, tags: 'run=two' });
  assert.equal(hit.reply.headers['x-service-cache'], 'hit');
  const named = { headers: { 'idempotency-key': 'k' } };
  await ask({ ...named, tags: 'run=three' });
  const replay = await ask({ ...named, tags: 'run=four' });
  assert.equal(replay.reply.headers['x-service-cache'], 'idempotent-replay');
  await gateway.program.app.gateway.observe.activity.flush();
  for (const [tag, id, outcome] of [
    ['run=one', first.id, 'complete'],
    ['run=two', hit.id, 'cached'],
    ['run=four', replay.id, 'replayed'],
  ] as const) {
    const records = await listed(new URLSearchParams({ tag }).toString());
    assert.deepEqual(
      records.map((record) => [record.request_id, record.outcome]),
      [[id, outcome]],
    );
  }
  const result = await verify(gateway.database.read);
  assert.ok(result.ok, JSON.stringify(result));
});

test('the export has the tags, and filters by one', async () => {
  await ask({ tags: 'export=yes, b=2' });
  const reply = await member.get(path('usage.csv?mode=test&tag=export%3Dyes'));
  const [head, row, ...rest] = reply.text.trim().split('\r\n');
  assert.ok(head!.endsWith(',tags,client'), head);
  assert.ok(row!.includes(',"b=2, export=yes",'), row);
  assert.deepEqual(rest, []);
});

testOn('sqlite', 'tags go neither to the log nor to the provider', async () => {
  const live = await gateway.makeKey({ mode: 'live', creditUsd: 5 });
  const chatEndpoint = endpoint('chat');
  gateway.upstream.on(chatEndpoint.upstreamPath, numberedAnswers(chatEndpoint));
  const { reply, asked } = await gateway.recordUpstream(() =>
    gateway.post(chatEndpoint.path, {
      key: live.key,
      body: chatEndpoint.body(),
      headers: { 'x-service-tags': 'secret-project=hush' },
    }),
  );
  assert.equal(reply.status, 200);
  assert.equal(asked.length, 1);
  const { headers, body } = asked[0]!;
  assert.ok(!JSON.stringify([headers, body]).includes('hush'), 'the provider saw a tag');
  assert.ok(gateway.program.output.includes(reply.requestId));
  assert.ok(!gateway.program.output.includes('hush'), 'the log has a tag');
});

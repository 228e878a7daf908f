// Bodies of requests and answers that a key keeps: what is stored, who reads it, and what never
// happens because of it.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { after, describe, test } from 'node:test';
import { sql } from 'kysely';
import { isPostgresUrl, sqlitePathOf } from '../../src/db/database.ts';
import { adminOf } from '../support/admin.ts';
import { answerContent, streamFrames } from '../support/answers.ts';
import { type DashboardClient, signIn } from '../support/dashboard.ts';
import { endpoint, endpoints } from '../support/endpoints.ts';
import { metricsToken, startGateway, type KeyOptions } from '../support/gateway.ts';
import { rowOf, rowsOf } from '../support/rows.ts';
import { jsonOf, ok, type Reply } from '../support/http.ts';
import { TestClock } from '../support/test-clock.ts';
import { until } from '../support/until.ts';
import { answerInParts } from '../support/upstream.ts';

const limit = 4_096;
const dayMs = 86_400_000;
const marker = 'marker-of-the-prompt';
const chat = endpoint('chat');
const tokens = { input: 40, output: 12 };
const said = 'marker-of-the-answer';

const clock = new TestClock();
const gateway = await startGateway(
  {
    bodies: { days_max: 5 },
    metrics: { token: metricsToken },
  },
  { clock, tuning: { keptBodyBytes: limit } },
);
gateway.answer(chat, { text: said, tokens });
after(() => gateway.stop());

type Kept = {
  readonly text: string;
  readonly bytes: number;
  readonly cut: boolean;
} | null;
type Bodies = {
  readonly kept: {
    readonly request: Kept;
    readonly answer: Kept;
    readonly streamed: boolean;
    readonly expires_at: string;
  } | null;
  readonly reason: string | null;
};

const bodiesPath = (by: { readonly account: string }, requestId: string) =>
  `/accounts/${by.account}/requests/${requestId}/bodies`;

async function keeper(controls: KeyOptions = {}) {
  const owner = await signIn(gateway);
  const options = { mode: 'live', creditUsd: 5, bodyDays: 3, ...controls } as const;
  const made = await gateway.makeKey({ account: owner.account, ...options });
  return { owner, ...made };
}

/** Writes what waits. */
async function settle(): Promise<void> {
  await gateway.program.app.gateway.observe.bodies.flush();
  await gateway.program.app.gateway.observe.activity.flush();
}

async function read(owner: DashboardClient, requestId: string): Promise<Bodies> {
  await settle();
  return jsonOf<Bodies>(owner.get(bodiesPath(owner, requestId)));
}

const saying = (text: string) => chat.body({ messages: [{ role: 'user', content: text }] });

const ask = (key: string, body: object = saying(marker), headers = {}) =>
  gateway.post(chat.path, { key, body, headers });

const countRows = async (accountId: string) => {
  const { rows } = await sql<{ requests: number | string }>`
    select count(*) as requests from kept_bodies where account_id = ${accountId}`.execute(
    gateway.database.read,
  );
  return Number(rows[0]!.requests);
};

/** Everything that the database holds, as bytes. */
async function rawDatabase(): Promise<Buffer> {
  const { url } = gateway.database;
  if (!isPostgresUrl(url)) {
    const path = sqlitePathOf(url);
    return Buffer.concat(
      [path, `${path}-wal`].filter((file) => existsSync(file)).map((file) => readFileSync(file)),
    );
  }
  const tables = await gateway.database.read.introspection.getTables();
  const parts: Buffer[] = [];
  for (const { name } of tables) {
    const { rows } = await sql<object>`select * from ${sql.table(name)}`.execute(
      gateway.database.read,
    );
    for (const value of rows.flatMap((row) => Object.values(row)))
      parts.push(Buffer.isBuffer(value) ? value : Buffer.from(String(value)));
  }
  return Buffer.concat(parts);
}

test('by default nothing of a request is stored', async () => {
  const { owner, key, account } = await keeper({ bodyDays: null });
  const reply = await ok(ask(key, saying('a-secret-that-nobody-keeps')));
  assert.deepEqual(await read(owner, reply.requestId), { kept: null, reason: 'key-off' });
  assert.equal(await countRows(account), 0);
  assert.equal((await rawDatabase()).includes('a-secret-that-nobody-keeps'), false);
});

test('a key that keeps bodies shows them to owners and admins, and they are encrypted', async () => {
  const { owner, key, account } = await keeper();
  const reply = await ask(key);
  const body = JSON.stringify(saying(marker));
  const admin = await signIn(gateway, { account, role: 'admin' });
  for (const who of [owner, admin]) {
    const { kept } = await read(who, reply.requestId);
    assert.deepEqual(kept?.request, { text: body, bytes: body.length, cut: false });
    assert.deepEqual(kept?.answer, { text: reply.text, bytes: reply.text.length, cut: false });
    assert.equal(kept?.streamed, false);
    assert.equal(Date.parse(kept?.expires_at ?? '') > clock.nowMs() + 2.9 * dayMs, true);
  }
  assert.equal(await countRows(account), 1);
  const raw = await rawDatabase();
  for (const text of [marker, said]) assert.equal(raw.includes(text), false, text);
  assert.equal(gateway.program.output.includes(marker), false, 'nor in the log');
});

test('others see nothing: members and viewers, another account, another request', async () => {
  const { key, owner, account } = await keeper();
  const { requestId } = await ask(key);
  await settle();
  for (const role of ['member', 'viewer'] as const) {
    const other = await signIn(gateway, { account, role });
    const refused = await other.get(bodiesPath(other, requestId));
    assert.deepEqual([refused.status, refused.text.includes(marker)], [403, false], role);
  }
  const stranger = await signIn(gateway, { operator: true });
  assert.equal((await stranger.get(bodiesPath(stranger, requestId))).status, 404);
  assert.equal((await stranger.get(bodiesPath(owner, requestId))).status, 404);
  assert.equal((await owner.get(bodiesPath(owner, 'req_none'))).status, 404);
});

test('a row that was moved to another request or account does not open', async () => {
  const { owner, key } = await keeper();
  const [one, other] = [await ask(key), await ask(key, saying('another'))];
  await settle();
  const { read: db, write } = gateway.database;
  const row = await db
    .selectFrom('kept_bodies')
    .selectAll()
    .where('request_id', '=', one.requestId)
    .executeTakeFirstOrThrow();
  const { request, answer } = row;
  await write
    .updateTable('kept_bodies')
    .set({ request, answer })
    .where('request_id', '=', other.requestId)
    .execute();
  assert.deepEqual(await read(owner, other.requestId), { kept: null, reason: 'unreadable' });
});

for (const { name, path, body, upstreamPath } of endpoints)
  test(`${name}: a stream is kept as its client got it`, async () => {
    const { owner, key } = await keeper();
    gateway.upstream.on(upstreamPath, answerContent(name, { text: 'one two three', tokens }));
    const reply = await ok(gateway.post(path, { key, body: body({ stream: true }) }));
    const { kept } = await read(owner, reply.requestId);
    assert.equal(kept?.answer?.text, reply.text);
    assert.equal(kept?.streamed, true);
    gateway.answer(chat, { text: said, tokens });
  });

test('refused, failed, replayed and cached requests are kept too', async () => {
  const { owner, key } = await keeper();
  const wrongModel = await ask(key, chat.body({ model: 'no-such-model' }));
  const malformed = await gateway.post(chat.path, { key, body: `{"${marker}` });
  const headers = { 'idempotency-key': 'order-1' };
  const again = () => ask(key, undefined, headers);
  const [first, replayed] = [await again(), await again()];
  const same = { ...saying('cached'), temperature: 0 };
  const [, cached] = [await ask(key, same), await ask(key, same)];
  const scoped = await keeper({ scopes: ['usage'] });
  const refused = await ask(scoped.key);
  assert.deepEqual(
    [wrongModel, malformed, first, replayed, cached, refused].map(({ status }) => status),
    [404, 400, 200, 200, 200, 403],
  );
  for (const reply of [wrongModel, malformed, first, replayed, cached]) {
    const { kept } = await read(owner, reply.requestId);
    assert.equal(kept?.answer?.text, reply.text);
  }
  assert.equal((await read(owner, malformed.requestId)).kept?.request?.text, `{"${marker}`);
  const { kept } = await read(scoped.owner, refused.requestId);
  assert.deepEqual([kept?.request, kept?.answer?.text], [null, refused.text]);
});

test('a longer body is cut at a whole character, and says so', async () => {
  const { owner, key } = await keeper();
  const body = saying('€'.repeat(limit));
  const long = answerContent('chat', { text: '😀'.repeat(limit), tokens });
  gateway.upstream.on(chat.upstreamPath, long);
  const { requestId, text } = await ask(key, body);
  gateway.answer(chat, { text: said, tokens });
  const { kept } = await read(owner, requestId);
  for (const [part, whole] of [
    [kept?.request, JSON.stringify(body)],
    [kept?.answer, text],
  ] as const) {
    assert.equal(part?.cut, true);
    assert.equal(part?.bytes, Buffer.byteLength(whole));
    assert.ok(whole.startsWith(part.text), 'a start without a broken character');
    const length = Buffer.byteLength(part.text);
    assert.ok(length <= limit && length > limit - 4, String(length));
  }
});

test('of a form the texts are kept, and of its files their sizes', async () => {
  const { owner, key } = await keeper({ mode: 'test' });
  const form = new FormData();
  form.set('model', 'gpt-image-flare');
  form.set('prompt', 'A boat');
  form.set('image', new Blob([Buffer.from('no image')]), 'a.png');
  const sent = new Request('http://none', { method: 'POST', body: form });
  const reply = await gateway.post('/v1/images/edits', {
    key,
    headers: { 'content-type': sent.headers.get('content-type')! },
    body: Buffer.from(await sent.arrayBuffer()).toString('latin1'),
  });
  const { kept } = await read(owner, reply.requestId);
  assert.match(kept?.request?.text ?? '', /"prompt": "A boat"[^]*"image": "\(a file of 8 bytes\)"/);
});

test('of audio the type is kept, also of a replay', async () => {
  const { owner, key } = await keeper({ mode: 'test' });
  const body = { model: 'gemini-3.8-flash-tts', input: 'Hello', voice: 'Kore' };
  const headers = { 'idempotency-key': 'spoken' };
  for (const _ of ['new', 'replayed']) {
    const reply = await ok(gateway.post('/v1/audio/speech', { key, body, headers }));
    const { kept } = await read(owner, reply.requestId);
    assert.equal(kept?.answer?.text, '{"answer":"audio/wav"}');
  }
});

test('a client that leaves in mid-stream finds what it got', async () => {
  const { owner, key } = await keeper();
  const { start, deltas, end } = streamFrames('chat', { text: 'one two three', tokens });
  const parts = answerInParts([...start, ...deltas], end);
  gateway.upstream.on(chat.upstreamPath, parts.script);
  const { request, response } = gateway.open(chat.path, {
    key,
    body: chat.body({ stream: true }),
  });
  const stream = await response;
  const [first] = (await once(stream, 'data')) as [Buffer];
  request.destroy();
  const requestId = String(stream.headers['x-request-id']);
  await until(async () => {
    await settle();
    return gateway.database.read
      .selectFrom('kept_bodies')
      .select('request_id')
      .where('request_id', '=', requestId)
      .executeTakeFirst();
  });
  parts.release();
  gateway.answer(chat, { text: said, tokens });
  await until(async () => (await owner.get(bodiesPath(owner, requestId))).status === 200);
  const { kept } = await read(owner, requestId);
  assert.ok(kept?.answer?.text.startsWith(first.toString()));
  assert.equal(kept?.answer?.text.includes('[DONE]'), false);
});

describe('who switches it on', () => {
  test('an owner; an admin may only switch it off; both are audited', async () => {
    const { owner, id, account } = await keeper({ bodyDays: null });
    const admin = await signIn(gateway, { account, role: 'admin' });
    const path = `/accounts/${account}/keys/${id}`;
    assert.equal((await admin.patch(path, { body_days: 2 })).error.code, 'not_permitted');
    const create = { mode: 'test', name: 'New', body_days: 1 };
    assert.equal((await admin.post(`/accounts/${account}/keys`, create)).status, 403);
    assert.equal((await owner.patch(path, { body_days: 2 })).json()['body_days'], 2);
    assert.equal((await admin.patch(path, { name: 'Renamed' })).json()['body_days'], 2);
    assert.equal((await admin.patch(path, { body_days: null })).json()['body_days'], null);
    const rows = await gateway.database.read
      .selectFrom('audit_log')
      .select(['action', 'before', 'after'])
      .where('subject', '=', id)
      .orderBy('created_at_ms')
      .orderBy('id')
      .execute();
    const changes = rows.filter(({ after: now }) => now?.includes('body_days'));
    assert.deepEqual(
      changes.map(({ action, before: was, after: now }) => [action, was, now]),
      [
        ['key.update', '{"body_days":null}', '{"body_days":2}'],
        ['key.update', '{"body_days":2}', '{"body_days":null}'],
      ],
    );
  });

  test('too many days are a 400 that names the field and the most', async () => {
    const { owner, id, account } = await keeper();
    for (const days of [6, 0, 1.5, '3']) {
      const reply = await owner.patch(`/accounts/${account}/keys/${id}`, { body_days: days });
      assert.equal(reply.status, 400, String(days));
      assert.equal(reply.error['param'], 'body_days');
    }
    const reply = await owner.patch(`/accounts/${account}/keys/${id}`, { body_days: 6 });
    assert.match(reply.error.message, /from 1 to 5 \(`bodies\.days_max`\)/);
  });

  test('the admin API and the command line set it', async () => {
    const { id, account } = await keeper({ bodyDays: null });
    const admin = await adminOf(gateway);
    const set = await admin.ok('PATCH', `/keys/${id}`, { body: { body_days: 4 } });
    assert.equal(set['body_days'], 4);
    const cli = (...args: string[]) => gateway.program.cli(...args);
    assert.equal((await cli('keys', 'update', id, '--keep-bodies', '1'))['body_days'], 1);
    assert.equal((await cli('keys', 'update', id, '--keep-bodies', 'none'))['body_days'], null);
    await assert.rejects(
      cli('keys', 'create', '--account', account, '--mode', 'test', '--keep-bodies', '9'),
      /--keep-bodies must be a whole number of days from 1 to 5/,
    );
  });
});

describe('what removes them', () => {
  test('their days, however many rows there are', async () => {
    const { owner, key, account } = await keeper({ bodyDays: 2 });
    const { requestId } = await ask(key);
    await settle();
    const row = await rowOf(gateway.database, 'kept_bodies', { request_id: requestId });
    const copies = Array.from({ length: 450 }, (_, index) => ({ ...row, request_id: `r${index}` }));
    for (let start = 0; start < copies.length; start += 50)
      await gateway.database.write
        .insertInto('kept_bodies')
        .values(copies.slice(start, start + 50))
        .execute();
    await clock.advance(60_000);
    assert.equal(await countRows(account), 451, 'not yet');
    clock.jumpTo(row.expires_at_ms + 1);
    assert.deepEqual(await read(owner, requestId), { kept: null, reason: 'expired' });
    await clock.advanceUntil(async () => (await countRows(account)) === 0, { stepMs: 60_000 });
  });

  const erasures: readonly (readonly [string, (owner: DashboardClient) => Promise<Reply>])[] = [
    [
      'the account stops storing answers',
      (owner) => owner.patch(`/accounts/${owner.account}/settings`, { retain_responses: false }),
    ],
    [
      'the operator erases its stored answers',
      async ({ account }) =>
        (await signIn(gateway, { operator: true })).post(`/operator/accounts/${account}/purge`),
    ],
  ];
  for (const [name, erase] of erasures)
    test(name, async () => {
      const { owner, key, account } = await keeper();
      const others = await keeper();
      const { requestId } = await ask(key);
      const foreign = await ask(others.key);
      await settle();
      const late = await ask(key);
      const reply = await erase(owner);
      assert.equal(reply.status, 200, reply.text);
      assert.equal(await countRows(account), 0);
      // This one waited in memory.
      await settle();
      for (const id of [requestId, late.requestId])
        assert.match((await read(owner, id)).reason ?? '', /^(?:erased|account-off)$/);
      await clock.advanceUntil(async () => (await countRows(account)) === 0, { stepMs: 60_000 });
      assert.ok((await read(others.owner, foreign.requestId)).kept, 'others keep theirs');
    });

  test('not the end of their key', async () => {
    const { owner, key, id, account } = await keeper();
    const { requestId } = await ask(key);
    await settle();
    await owner.post(`/accounts/${account}/keys/${id}/revoke`);
    assert.ok((await read(owner, requestId)).kept);
  });

  test('an account that stores nothing keeps none, whatever its keys say', async () => {
    const { owner, key, account } = await keeper();
    await owner.patch(`/accounts/${account}/settings`, { retain_responses: false });
    const { requestId } = await ask(key);
    assert.deepEqual(await read(owner, requestId), { kept: null, reason: 'account-off' });
    assert.equal(await countRows(account), 0);
    const defaults = (await owner.get(`/accounts/${account}/key-defaults`)).json();
    assert.deepEqual(defaults['bodies'], {
      days_max: 5,
      body_limit_bytes: limit,
      retained: false,
    });
  });
});

test('a store that fails changes no answer and no charge, and bodies are written when it works again', async () => {
  const { owner, key, account } = await keeper();
  await sql`alter table kept_bodies rename to kept_elsewhere`.execute(gateway.database.write);
  const earlier = await gateway.balance(account);
  const reply = await ok(ask(key));
  await assert.rejects(gateway.program.app.gateway.observe.bodies.flush());
  assert.ok((await gateway.balance(account)).postedMicros < earlier.postedMicros);
  await sql`alter table kept_elsewhere rename to kept_bodies`.execute(gateway.database.write);
  assert.equal((await read(owner, reply.requestId)).kept?.answer?.text, reply.text);
});

test('without memory bodies are dropped and counted, and requests are answered', async (t) => {
  const own = await startGateway(
    { metrics: { token: metricsToken } },
    { tuning: { keptBodyBytes: 8_388_608 } },
  );
  t.after(() => own.stop());
  const { key } = await own.makeKey({ bodyDays: 1 });
  await sql`alter table kept_bodies rename to kept_elsewhere`.execute(own.database.write);
  const body = { ...chat.body({ model: 'gpt-6-luna' }), metadata: {} };
  const large = JSON.stringify(body) + ' '.repeat(7_000_000);
  for (let sent = 0; sent < 6; sent++) {
    await ok(own.post(chat.path, { key, body: large }));
  }
  const { total } = own.program.app.gateway.observe.bodies;
  assert.deepEqual(total, { kept: 0, dropped: 2 });
  const metrics = (await own.get('/metrics', { key: metricsToken })).text;
  assert.match(metrics, /tollgate_kept_bodies_total\{outcome="dropped"\} 2/);
  await sql`alter table kept_elsewhere rename to kept_bodies`.execute(own.database.write);
  await own.program.app.gateway.observe.bodies.flush();
  assert.deepEqual(total, { kept: 4, dropped: 2 });
  await ok(own.post(chat.path, { key, body: large }));
  await own.program.app.gateway.observe.bodies.flush();
  assert.deepEqual(total, { kept: 5, dropped: 2 }, 'there is room again');
});

test('the operator switches it off for all', async (t) => {
  const own = await startGateway({ bodies: { enabled: false } });
  t.after(() => own.stop());
  const owner = await signIn(own);
  const made = await own.makeKey({ account: owner.account, bodyDays: 1 });
  const reply = await own.post(chat.path, {
    key: made.key,
    body: chat.body({ model: 'gpt-6-luna' }),
  });
  await own.program.app.gateway.observe.bodies.flush();
  const shown = await owner.get(bodiesPath(owner, reply.requestId));
  assert.deepEqual(shown.json(), { kept: null, reason: 'disabled' });
  const rows = await rowsOf(own.database, 'kept_bodies');
  assert.deepEqual(rows, []);
  const set = await owner.patch(`/accounts/${owner.account}/keys/${made.id}`, { body_days: 2 });
  assert.match(set.error.message, /no bodies are kept here/);
  const defaults = (await owner.get(`/accounts/${owner.account}/key-defaults`)).json();
  assert.equal(defaults['bodies'], null);
});

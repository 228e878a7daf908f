// SQLite while it cannot be written: the disk is really full, or another process holds the write
// lock. Running requests keep their answers, new ones get a clear refusal, and everything recovers
// without help.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { sqlitePathOf } from '../../src/db/database.ts';
import { connectSqlite } from '../../src/db/sqlite/connection.ts';
import { answerContent, streamFrames } from '../support/answers.ts';
import { columnOf } from '../support/column-of.ts';
import { signIn } from '../support/dashboard.ts';
import { endpoint, endpoints } from '../support/endpoints.ts';
import { startGateway } from '../support/gateway.ts';
import { imagePaths, openaiDraws } from '../support/image-upstreams.ts';
import { rowsOf } from '../support/rows.ts';
import { mountSmallDisk, noSmallDisk } from '../support/small-disk.ts';
import { checkStream } from '../support/stream-rules.ts';
import { TestClock } from '../support/test-clock.ts';
import { until } from '../support/until.ts';
import { answerInParts, answerJson, holdBack } from '../support/upstream.ts';

const chat = endpoint('chat');
const content = { text: 'one two three', tokens: { input: 100, output: 20 } };
/** gpt-6-luna: 100 × $0.1 + 20 × $0.5 a million. */
const costMicros = 20;
const creditMicros = 5_000_000;
/** Longer than new requests wait for the disk. */
const newWorkTimeoutMs = 11_000;

const sales = [
  ...endpoints.map(({ name, path, upstreamPath, body }) => ({
    path,
    upstreamPath,
    body: body(),
    script: answerContent(name, content),
  })),
  {
    path: '/v1/images/generations',
    upstreamPath: imagePaths.generations,
    body: { model: 'gpt-image-flare', prompt: 'A cat' },
    script: openaiDraws(),
  },
  {
    path: '/v1/web-search',
    upstreamPath: '/brave/web/search',
    body: { query: 'cats' },
    script: answerJson({ web: { results: [{ title: 'Cats', url: 'https://cats.example/' }] } }),
  },
];

for (const trouble of ['full disk', 'lock'] as const) {
  test(`during a ${trouble} of more than ten seconds whole answers and new requests get a 503, free`, async (t) => {
    const books = await startBooks(t, trouble);
    if (!books) return t.skip(noSmallDisk);
    const { gateway, clock } = books;
    const { key, account } = await gateway.makeKey({ mode: 'live', creditUsd: 5 });
    const running = [];
    const releases = [];
    for (const { path, upstreamPath, body, script } of sales) {
      const held = holdBack(script);
      gateway.upstream.on(upstreamPath, held.script);
      const asked = gateway.upstream.requests.length;
      running.push(gateway.post(path, { key, body }));
      releases.push(held.release);
      await gateway.upstream.request(asked);
    }

    const end = books.begin();
    for (const release of releases) release();
    const readiness = await until(books.notReady);
    assert.equal(readiness.json().status, 'the books cannot be written');
    const refused = gateway.ask(chat, key);
    const answered = Promise.all([...running, refused]);
    await clock.skipWaits(Promise.race([answered, clock.sleep(newWorkTimeoutMs)]));
    for (const [index, reply] of (await clock.skipWaits(answered)).entries()) {
      const { status, headers, error } = reply;
      assert.deepEqual(
        [status, headers['retry-after'], error.code],
        [503, '1', 'upstream_unavailable'],
        `${sales[index]?.path}: ${reply.text}`,
      );
      assert.match(
        error.message,
        /cannot read or write its own database at the moment\. Nothing was charged; retry shortly/,
      );
    }

    end();
    await books.untilReleased(account);
    assert.equal((await gateway.balance(account)).postedMicros, creditMicros);
    const losses = await books.lossesOf(account);
    assert.equal(losses.filter((loss) => loss > 0).length, sales.length);
    await until(async () => (await gateway.get('/readyz')).status === 200);
  });

  test(`a whole answer that ends during a ${trouble} of some seconds is charged and sent`, async (t) => {
    const books = await startBooks(t, trouble);
    if (!books) return t.skip(noSmallDisk);
    const { gateway, clock } = books;
    const { key, account } = await gateway.makeKey({ mode: 'live', creditUsd: 5 });
    const held = holdBack(answerContent('chat', content));
    gateway.upstream.on(chat.upstreamPath, held.script);
    const running = gateway.ask(chat, key);
    await gateway.upstream.request(0);
    const end = books.begin();
    held.release();
    await until(books.notReady);
    await clock.advance(5_000);
    end();
    const reply = await clock.skipWaits(running);
    assert.deepEqual([reply.status, reply.costMicros], [200, costMicros]);
    assert.equal((await gateway.balance(account)).postedMicros, creditMicros - costMicros);
  });
}

test('a stream that cannot be charged in time ends with its format’s error event, is free, and becomes a loss', async (t) => {
  const books = await startBooks(t, 'full disk');
  if (!books) return t.skip(noSmallDisk);
  const { gateway, clock } = books;
  for (const { name, path, upstreamPath, body } of endpoints) {
    const { key, account } = await gateway.makeKey({ mode: 'live', creditUsd: 5 });
    const { start, deltas, end } = streamFrames(name, content);
    const parts = answerInParts([...start, ...deltas], end);
    gateway.upstream.on(upstreamPath, parts.script);
    const asked = gateway.upstream.requests.length;
    const streaming = gateway.post(path, { key, body: body({ stream: true }) });
    await gateway.upstream.request(asked);

    const over = books.begin();
    parts.release();
    await until(books.notReady);
    await clock.advance(newWorkTimeoutMs);
    const reply = await clock.skipWaits(streaming);
    assert.equal(reply.status, 200);
    assert.equal(checkStream(name, reply.text, { straight: true }).ending, 'error', reply.text);
    assert.match(reply.text, /Nothing was charged/);
    assert.equal(reply.costMicros, null);

    over();
    await books.untilReleased(account);
    assert.equal((await gateway.balance(account)).postedMicros, creditMicros);
    const [loss] = await books.lossesOf(account);
    assert.ok(loss! > 0, 'the provider bills it');
  }
});

test('a failed request gets its error at once, although its hold can only be released later', async (t) => {
  const books = await startBooks(t, 'full disk');
  if (!books) return t.skip(noSmallDisk);
  const { gateway, clock } = books;
  const { key, account } = await gateway.makeKey({ mode: 'live', creditUsd: 5 });
  const held = holdBack(
    (response) => void response.writeHead(400).end('{"error":{"message":"no such thing"}}'),
  );
  gateway.upstream.on(chat.upstreamPath, held.script);
  const running = gateway.ask(chat, key);
  await gateway.upstream.request(0);
  const end = books.begin();
  held.release();
  await until(books.notReady);
  await clock.advance(newWorkTimeoutMs);
  assert.equal((await clock.skipWaits(running)).status, 400);
  end();
  await books.untilReleased(account);
});

test('all other writes fail with a clear error on a full disk, and work again after it', async (t) => {
  const books = await startBooks(t, 'full disk');
  if (!books) return t.skip(noSmallDisk);
  const { gateway, clock } = books;
  const { key } = await gateway.makeKey({ mode: 'live', creditUsd: 5 });
  gateway.answer(chat, content);
  const owner = await signIn(gateway, { role: 'owner' });
  const newKey = () =>
    owner.post(`/accounts/${owner.account}/keys`, { mode: 'test', name: 'another' });
  const keyed = (number: number) =>
    gateway.post(chat.path, {
      key,
      body: chat.body({ temperature: 0 }),
      headers: { 'idempotency-key': `order-${number}`, 'x-service-cache': 'true' },
    });
  const end = books.begin();
  const replies = [await clock.skipWaits(keyed(1)), await newKey()];
  replies.push(await owner.post('/auth/password-reset', { email: 'somebody@example.com' }));
  const wrong = { email: owner.email, password: 'wrong password' };
  replies.push(await owner.post('/auth/sign-in', wrong));
  for (const { status, text } of replies) {
    assert.equal(status, 503, text);
    assert.match(text, /upstream_unavailable/);
  }
  assert.equal((await owner.get('/session')).status, 200, 'reads go on');
  // Background writes (activity, expiry of cache and claims, revisions) all run meanwhile.
  await clock.advance(65_000);
  assert.equal((await gateway.get('/healthz')).status, 200);

  end();
  assert.equal((await newKey()).status, 200);
  const reply = await clock.skipWaits(keyed(1));
  assert.deepEqual([reply.status, reply.costMicros], [200, costMicros], reply.text);
});

type Trouble = 'full disk' | 'lock';

/** null: this machine cannot mount one. */
async function startBooks(t: TestContext, trouble: Trouble) {
  const disk = trouble === 'full disk' ? mountSmallDisk() : null;
  if (trouble === 'full disk' && !disk) return null;
  const clock = new TestClock();
  const place = disk && { databaseUrl: `sqlite:${join(disk.folder, 'tollgate.db')}` };
  const gateway = await startGateway(
    ({ url }) => ({
      providers: { brave: { base_url: `${url}/brave`, api_key: 'brave-key' } },
      log: { level: 'error' },
    }),
    { clock, ...place },
  );
  t.after(async () => {
    disk?.free();
    await gateway.stop().finally(() => disk?.unmount());
  });
  return {
    gateway,
    clock,
    untilReleased: (account: string) =>
      until(async () => {
        await clock.advance(1_000);
        return (await gateway.balance(account)).heldMicros === 0;
      }),
    lossesOf: async (account: string) => {
      const ofLedger = { kind: 'release', ledger_id: `${account}:live` } as const;
      const rows = await rowsOf(gateway.database, 'entries', ofLedger);
      return columnOf(rows, 'loss_micros').map(Number);
    },
    notReady: async () => {
      const reply = await gateway.get('/readyz');
      return reply.status === 503 && reply;
    },
    /** Returns a function that ends it. */
    begin: (): (() => void) => {
      disk?.fill();
      return disk ? disk.free : lock(sqlitePathOf(gateway.program.databaseUrl));
    },
  };
}

function lock(path: string): () => void {
  const other = connectSqlite(path, { readOnly: false });
  other.exec('begin immediate');
  return () => other.close();
}

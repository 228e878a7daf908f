// Idempotency-Keys and the cache across several gateways on one PostgreSQL database: a request runs once,
// whichever gateway gets it, and cached answers and purges are shared.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { answerContent, streamFrames } from '../support/answers.ts';
import { endpoint } from '../support/endpoints.ts';
import type { TestGateway } from '../support/gateway.ts';
import { hooksOfFile } from '../support/file-hooks.ts';
import { open, send, type Reply } from '../support/http.ts';
import { noticeKeyChanges } from '../support/notice-key-changes.ts';
import { asReplayed, numberedAnswers } from '../support/numbered-answers.ts';
import { rowsOf } from '../support/rows.ts';
import { startReplicas } from '../support/replicas.ts';
import type { RunningApp } from '../support/running-app.ts';
import { TestClock } from '../support/test-clock.ts';
import { until, whileTimePasses } from '../support/until.ts';
import { behind, framesText, type Script } from '../support/upstream.ts';
import { scaled } from '../support/volume.ts';

const chat = endpoint('chat');
const duplicates = scaled(240, 1_000);
/** As many connections as the test's client opens to three gateways. */
const atOnceMax = 300;
const content = { text: 'one two three', tokens: { input: 100, output: 20 } };
const answer = answerContent('chat', content);

type Named = { readonly key: string; readonly name: string; readonly stream?: boolean };

const sent = ({ key, name, stream = false }: Named) => ({
  key,
  headers: { 'idempotency-key': name },
  body: chat.body({ stream }),
});
const ask = (replica: RunningApp, named: Named) => send(replica.url + chat.path, sent(named));

const hooks = hooksOfFile();
const clock = new TestClock();
const { replicas, setup, upstream } = await startReplicas(hooks, { count: 3, clock });

for (const stream of [false, true]) {
  test(`of ${duplicates} ${stream ? 'streams' : 'requests'} at once on three gateways one runs and is charged`, async () => {
    const { key, account } = await setup.makeKey({ mode: 'live', creditUsd: 5 });
    const earlier = upstream.requests.length;
    const gate = Promise.withResolvers<void>();
    upstream.on(chat.upstreamPath, behind(gate.promise, answer));
    const asked = Promise.all(
      Array.from({ length: duplicates }, (_, index) =>
        ask(replicas[index % 3]!, { key, name: 'order-1', stream }),
      ),
    );
    const running = () => replicas.reduce((sum, { app }) => sum + app.gateway.runs.count, 0);
    await until(() => running() === Math.min(duplicates, atOnceMax));
    gate.resolve();
    const replies = await whileTimePasses(clock, asked);
    assert.ok(replies.every(({ status }) => status === 200));
    assert.equal(new Set(replies.map(({ text }) => asReplayed(text))).size, 1);
    assert.equal(replies.filter((reply) => reply.costMicros !== 0).length, 1);
    assert.equal(upstream.requests.length - earlier, 1);
    const charges = await setup.database.read
      .selectFrom('charges')
      .select('cost_micros')
      .where('ledger_id', '=', `${account}:live`)
      .execute();
    assert.equal(charges.length, 1);
    assert.equal((await setup.balance(account)).postedMicros, 5_000_000 - charges[0]!.cost_micros);
  });
}

const askCacheable = (replica: RunningApp, key: string, headers: Record<string, string> = {}) =>
  send(replica.url + chat.path, { key, headers, body: chat.body({ temperature: 0 }) });
const noticeChanges = () =>
  noticeKeyChanges(setup, { clock, urls: replicas.map(({ url }) => url) });
const cacheOf = ({ headers }: Reply) => headers['x-service-cache'];

test('all gateways share cached answers until the account is purged', async () => {
  upstream.on(chat.upstreamPath, numberedAnswers(chat));
  const { key, account } = await setup.makeKey({ mode: 'live', creditUsd: 5 });
  const first = await askCacheable(replicas[0]!, key);
  for (const replica of replicas) {
    const reply = await askCacheable(replica, key);
    assert.equal(cacheOf(reply), 'hit');
    assert.equal(reply.text, asReplayed(first.text));
  }
  await replicas[0]!.cli('accounts', 'purge', account);
  await noticeChanges();
  const earlier = upstream.requests.length;
  const again = await askCacheable(replicas[2]!, key);
  assert.equal(cacheOf(again), undefined);
  for (const replica of replicas)
    assert.equal((await askCacheable(replica, key)).text, asReplayed(again.text));
  assert.equal(upstream.requests.length - earlier, 1);
});

test('an account without retention has no cache, and its Idempotency-Keys store only the outcome', async () => {
  upstream.on(chat.upstreamPath, numberedAnswers(chat));
  const { id, key, account } = await setup.makeKey({ mode: 'live', creditUsd: 5 });
  const named = { 'idempotency-key': 'order-1' };
  await askCacheable(replicas[0]!, key, named);
  for (const replica of replicas)
    assert.equal(cacheOf(await askCacheable(replica, key, named)), 'idempotent-replay');
  await replicas[1]!.cli('accounts', 'update', account, '--retain-responses', 'off');
  await noticeChanges();
  const earlier = upstream.requests.length;
  for (const replica of replicas) {
    assert.equal(
      (await askCacheable(replica, key, named)).error.code,
      'idempotency_body_not_retained',
    );
    assert.equal(
      cacheOf(await askCacheable(replica, key, { 'x-service-cache': 'true' })),
      undefined,
    );
  }
  assert.equal(upstream.requests.length - earlier, 3);
  await askCacheable(replicas[0]!, key, { 'idempotency-key': 'order-2' });
  assert.equal(
    (await askCacheable(replicas[0]!, key, { 'idempotency-key': 'order-2' })).error.code,
    'idempotency_body_not_retained',
  );
  const cached = await rowsOf(setup.database, 'cached_responses', { account_id: account });
  assert.equal(cached.length, 0);
  const answers = await rowsOf(setup.database, 'idempotent_responses', { key_id: id });
  assert.deepEqual(
    answers.map(({ body }) => body),
    [null, null],
  );
});

test('when a gateway stalls, another runs its request after the lease ends, and the first charges nothing', async (t) => {
  const [going, stopped] = [new TestClock(), new TestClock()];
  const own = await startReplicas(t, { count: 3, clock: [stopped, going, going] });
  const [paused, other, third] = own.replicas as [RunningApp, RunningApp, RunningApp];
  const { key, account } = await own.setup.makeKey({ mode: 'live', creditUsd: 5 });
  const resumed = Promise.withResolvers<void>();
  const late = beginThen(resumed.promise);
  own.upstream.on(chat.upstreamPath, late, late, answer);
  const [whole, stream] = [
    { key, name: 'order-1', stream: false },
    { key, name: 'order-2', stream: true },
  ];
  const lateWhole = ask(paused, whole);
  const lateStream = await open(paused.url + chat.path, sent(stream)).response;
  let lateText = '';
  lateStream.on('data', (piece: Buffer) => (lateText += piece.toString()));
  await until(() => lateText.includes('"content":" two"') && own.upstream.requests.length === 2);
  try {
    const asked = Promise.all([ask(other, whole), ask(other, stream)]);
    await until(() => other.app.gateway.runs.count === 2);
    for (let seconds = 10; seconds <= 30; seconds += 10) {
      await going.advance(10_000);
      await looksSeveralTimes(own.setup, going);
      assert.equal(own.upstream.requests.length, 2, `${seconds} seconds of a lease of 40`);
    }
    await going.advance(20_000);
    const replies = await whileTimePasses(going, asked);
    assert.deepEqual(
      replies.map(({ status }) => status),
      [200, 200],
    );
    assert.ok(replies.every(({ costMicros }) => costMicros! > 0));

    stopped.jumpTo(going.nowMs());
    resumed.resolve();
    const lateReply = await lateWhole;
    assert.deepEqual(
      [lateReply.status, lateReply.error.code],
      [503, 'upstream_unavailable'],
      lateReply.text,
    );
    assert.match(lateReply.error.message, /has taken its place/);
    if (!lateStream.readableEnded) await once(lateStream, 'end');
    assert.match(lateText, /"content":" two"[^]*upstream_unavailable/);
    assert.doesNotMatch(lateText, /\[DONE\]|"cost"/);

    for (const replica of [paused, third]) {
      const replays = await Promise.all([ask(replica, whole), ask(replica, stream)]);
      assert.deepEqual(
        replays.map(({ text, costMicros }) => [text, costMicros]),
        replies.map(({ text }) => [asReplayed(text), 0]),
      );
    }
    assert.equal(own.upstream.requests.length, 4);
    const costs = replies.reduce((sum, { costMicros }) => sum + costMicros!, 0);
    await own.setup.assertLeft(account, 5_000_000 - costs);
    assert.deepEqual(await lossesOf(own.setup, account), [true, true]);
  } finally {
    resumed.resolve();
  }
});

/**
 * A waiting request polls the database every 250 ms of its clock; the database answers in real
 * time.
 */
async function looksSeveralTimes({ database }: TestGateway, going: TestClock): Promise<void> {
  for (let time = 0; time < 10; time++) {
    await going.advance(250);
    await database.read.selectFrom('idempotent_responses').select('state').execute();
  }
}

/** Sends part of a stream at once, and the rest, or a whole answer, when the time has come. */
function beginThen(come: Promise<void>): Script {
  const { start, deltas, end } = streamFrames('chat', content);
  return async (response, request) => {
    if ((request.body as { stream?: boolean }).stream !== true) {
      await come;
      return answer(response, request);
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(framesText([...start, ...deltas]));
    await come;
    response.end(framesText(end));
  };
}

/**
 * For each request that another one's key kept from being charged: true when the operator had a
 * loss, which is booked at its expiry.
 */
async function lossesOf({ database }: TestGateway, account: string): Promise<boolean[]> {
  const entries = await database.read
    .selectFrom('entries')
    .select(({ fn }) => ['id', fn.sum<number | string>('loss_micros').as('loss')])
    .where('ledger_id', '=', `${account}:live`)
    .where('kind', 'in', ['expire', 'release'])
    .groupBy('id')
    .execute();
  return entries.map(({ loss }) => Number(loss) > 0);
}

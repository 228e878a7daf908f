// The cache across several gateways on one PostgreSQL database: shared answers, shared purges.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { endpoint } from '../support/endpoints.ts';
import { hooksOfFile } from '../support/file-hooks.ts';
import { send, type Reply } from '../support/http.ts';
import { noticeKeyChanges } from '../support/notice-key-changes.ts';
import { numberedAnswers, asReplayed } from '../support/numbered-answers.ts';
import type { RunningApp } from '../support/running-app.ts';
import { startReplicas } from '../support/replicas.ts';
import { TestClock } from '../support/test-clock.ts';
import { rowsOf } from '../support/rows.ts';

const chat = endpoint('chat');
const clock = new TestClock();

const hooks = hooksOfFile();
const { replicas, setup, upstream } = await startReplicas(hooks, { count: 3, clock });

const ask = (replica: RunningApp, key: string, headers: Record<string, string> = {}) =>
  send(replica.url + chat.path, { key, headers, body: chat.body({ temperature: 0 }) });
const noticeChanges = () =>
  noticeKeyChanges(setup, { clock, urls: replicas.map(({ url }) => url) });
const cacheOf = ({ headers }: Reply) => headers['x-service-cache'];

test('all gateways share cached answers until the account is purged', async () => {
  upstream.on(chat.upstreamPath, numberedAnswers(chat));
  const { key, account } = await setup.makeKey({ mode: 'live', creditUsd: 5 });
  const first = await ask(replicas[0]!, key);
  for (const replica of replicas) {
    const reply = await ask(replica, key);
    assert.equal(cacheOf(reply), 'hit');
    assert.equal(reply.text, asReplayed(first.text));
  }
  await replicas[0]!.cli('accounts', 'purge', account);
  await noticeChanges();
  const earlier = upstream.requests.length;
  const again = await ask(replicas[2]!, key);
  assert.equal(cacheOf(again), undefined);
  for (const replica of replicas)
    assert.equal((await ask(replica, key)).text, asReplayed(again.text));
  assert.equal(upstream.requests.length - earlier, 1);
});

test('an account without retention has no cache, and its Idempotency-Keys store only the outcome', async () => {
  upstream.on(chat.upstreamPath, numberedAnswers(chat));
  const { key, account } = await setup.makeKey({ mode: 'live', creditUsd: 5 });
  const named = { 'idempotency-key': 'order-1' };
  await ask(replicas[0]!, key, named);
  for (const replica of replicas)
    assert.equal(cacheOf(await ask(replica, key, named)), 'idempotent-replay');
  await replicas[1]!.cli('accounts', 'update', account, '--retain-responses', 'off');
  await noticeChanges();
  const earlier = upstream.requests.length;
  for (const replica of replicas) {
    assert.equal((await ask(replica, key, named)).error.code, 'idempotency_body_not_retained');
    assert.equal(cacheOf(await ask(replica, key, { 'x-service-cache': 'true' })), undefined);
  }
  assert.equal(upstream.requests.length - earlier, 3);
  await ask(replicas[0]!, key, { 'idempotency-key': 'order-2' });
  assert.equal(
    (await ask(replicas[0]!, key, { 'idempotency-key': 'order-2' })).error.code,
    'idempotency_body_not_retained',
  );
  const cached = await rowsOf(setup.database, 'cached_responses', { account_id: account });
  assert.equal(cached.length, 0);
  const bodies = await setup.database.read
    .selectFrom('idempotent_responses')
    .select('body')
    .where('body', 'is not', null)
    .execute();
  assert.equal(bodies.length, 0);
});

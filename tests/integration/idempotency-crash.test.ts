// Idempotency-Keys and the response cache after their process is killed: unfinished requests may run
// again, finished ones keep their answers.
import assert from 'node:assert/strict';
import { after, before, test } from '../support/both-stores.ts';
import { endpoint } from '../support/endpoints.ts';
import { startGatewayProgram, type TestGateway } from '../support/gateway.ts';
import { numberedAnswers, asReplayed } from '../support/numbered-answers.ts';
import type { Program } from '../support/program.ts';
import { currentStore } from '../support/test-store.ts';
import { hang } from '../support/upstream.ts';

const chat = endpoint('chat');
let gateway: TestGateway<Program>;

before(async () => {
  gateway = await startGatewayProgram();
});
after(() => gateway.stop());

test('a killed process frees the Idempotency-Key and charges nothing, and finished answers are replayed and cached', async () => {
  const { key, account } = await gateway.makeKey({ mode: 'live', creditUsd: 5 });
  const sent = { key, headers: { 'idempotency-key': 'order-1' }, body: chat.body() };
  gateway.upstream.on(chat.upstreamPath, hang, numberedAnswers(chat));
  gateway.open(chat.path, sent);
  await gateway.upstream.request(0);
  await gateway.program.kill();
  // No other process can see whether the owner lives, so its lease must end, which takes 40
  // seconds.
  if (currentStore() === 'postgres')
    await gateway.database.write.deleteFrom('hold_owners').execute();
  await gateway.program.start();
  assert.equal((await gateway.balance(account)).postedMicros, 5_000_000);
  const first = await gateway.post(chat.path, sent);
  assert.equal(first.status, 200);
  const cacheable = () => gateway.ask(chat, key, { temperature: 0 });
  const cached = await cacheable();
  await gateway.program.kill();
  await gateway.program.start();
  const replay = await gateway.post(chat.path, sent);
  assert.deepEqual([replay.status, replay.text], [200, asReplayed(first.text)]);
  assert.equal(replay.headers['x-service-cache'], 'idempotent-replay');
  const hit = await cacheable();
  assert.deepEqual([hit.status, hit.text, hit.costMicros], [200, asReplayed(cached.text), 0]);
  assert.equal(hit.headers['x-service-cache'], 'hit');
  assert.equal(gateway.upstream.requests.length, 3);
  assert.equal((await gateway.usage(key)).length, 2);
});

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
  const named = (name: string) => ({
    key,
    headers: { 'idempotency-key': name },
    body: chat.body(),
  });
  const cacheable = () => gateway.ask(chat, key, { temperature: 0 });
  gateway.upstream.on(chat.upstreamPath, numberedAnswers(chat));
  const [finished, cached] = [await gateway.post(chat.path, named('order-1')), await cacheable()];
  const { postedMicros } = await gateway.balance(account);
  gateway.upstream.on(chat.upstreamPath, hang, numberedAnswers(chat));
  gateway.open(chat.path, named('order-2'));
  await gateway.upstream.request(2);
  await gateway.program.kill();
  // No other process can see whether the owner lives, so its lease must end, which takes 40
  // seconds.
  if (currentStore() === 'postgres')
    await gateway.database.write.deleteFrom('hold_owners').execute();
  await gateway.program.start();
  assert.equal((await gateway.balance(account)).postedMicros, postedMicros);
  assert.equal((await gateway.post(chat.path, named('order-2'))).status, 200);
  const replay = await gateway.post(chat.path, named('order-1'));
  assert.deepEqual([replay.status, replay.text], [200, asReplayed(finished.text)]);
  assert.equal(replay.headers['x-service-cache'], 'idempotent-replay');
  const hit = await cacheable();
  assert.deepEqual([hit.status, hit.text, hit.costMicros], [200, asReplayed(cached.text), 0]);
  assert.equal(hit.headers['x-service-cache'], 'hit');
  assert.equal(gateway.upstream.requests.length, 4);
  assert.equal((await gateway.usage(key)).length, 3);
});

// The response cache after its process is killed.
import assert from 'node:assert/strict';
import { after, before, test } from '../support/both-stores.ts';
import { endpoint } from '../support/endpoints.ts';
import { startGatewayProgram, type TestGateway } from '../support/gateway.ts';
import { numberedAnswers, asReplayed } from '../support/numbered-answers.ts';
import type { Program } from '../support/program.ts';

const chat = endpoint('chat');
let gateway: TestGateway<Program>;

before(async () => {
  gateway = await startGatewayProgram();
});
after(() => gateway.stop());

test('a charged answer is in the cache after a kill', async () => {
  gateway.upstream.on(chat.upstreamPath, numberedAnswers(chat));
  const { key } = await gateway.makeKey({ mode: 'live', creditUsd: 5 });
  const ask = () => gateway.ask(chat, key, { temperature: 0 });
  const first = await ask();
  await gateway.program.kill();
  await gateway.program.start();
  const hit = await ask();
  assert.deepEqual([hit.status, hit.text, hit.costMicros], [200, asReplayed(first.text), 0]);
  assert.equal(hit.headers['x-service-cache'], 'hit');
  assert.equal(gateway.upstream.requests.length, 1);
});

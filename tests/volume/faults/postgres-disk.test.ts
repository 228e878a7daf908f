// A full disk under PostgreSQL; tests/integration/disk.test.ts does the same for SQLite.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answerContent, streamFrames } from '../../support/answers.ts';
import { endpoint, endpoints } from '../../support/endpoints.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import type { Reply } from '../../support/http.ts';
import { startPostgres } from '../../support/postgres.ts';
import { mountSmallDisk, noSmallDisk } from '../../support/small-disk.ts';
import { TestClock } from '../../support/test-clock.ts';
import { until } from '../../support/until.ts';
import { answerInParts, holdBack } from '../../support/upstream.ts';
import { rowsOf } from '../../support/rows.ts';

const chat = endpoint('chat');
const content = { text: 'one two three', tokens: { input: 100, output: 20 } };
/** gpt-6-luna: 100 × $0.1 + 20 × $0.5 a million. */
const costMicros = 20;
const creditMicros = 5_000_000;

test('on a full PostgreSQL disk running requests are answered and charged once there is room, and new ones get a 503', async (t) => {
  const disk = mountSmallDisk({ megabytes: 256 });
  if (!disk) return t.skip(noSmallDisk);
  const server = await startPostgres({ parent: disk.folder });
  const clock = new TestClock();
  const gateway = await startGateway(
    { log: { level: 'error' } },
    { clock, databaseUrl: await server.createDatabase() },
  );
  t.after(async () => {
    disk.free();
    await gateway.stop().finally(disk.unmount);
  });
  const { key, account } = await gateway.makeKey({ mode: 'live', creditUsd: 5 });
  const { key: otherKey } = await gateway.makeKey({ mode: 'live', creditUsd: 5 });
  const running = await startRunning(gateway, key);
  const whole = holdBack(answerContent('chat', content));
  gateway.upstream.on(chat.upstreamPath, whole.script, answerContent('chat', content));
  const asked = gateway.upstream.requests.length;
  const answering = gateway.post(chat.path, { key, body: chat.body() });
  await gateway.upstream.request(asked);
  const replying = [answering, ...running.map(({ reply }) => reply)];
  let delivered = 0;
  for (const reply of replying) void reply.then(() => delivered++);
  /** The database answers in real time, while retries wait by the clock. */
  const inTime = async <Value>(promise: Promise<Value>): Promise<Value> => {
    let isPending = true;
    const settle = () => (isPending = false);
    promise.then(settle, settle);
    await until(async () => {
      await clock.advance(50);
      return !isPending;
    });
    return promise;
  };

  disk.fill();
  // The last pages of the tables may have room for a hold, whose charge must then wait.
  const isFailing = async () => (await gateway.get('/readyz')).status === 503;
  const filling: Promise<Reply>[] = [];
  const refused: Reply[] = [];
  await until(async () => {
    const reply = gateway.post(chat.path, { key: otherKey, body: chat.body() });
    filling.push(reply);
    void reply.then((answer) => answer.status === 503 && refused.push(answer));
    await clock.advance(500);
    return refused.length > 0;
  });
  const { headers, error } = refused[0]!;
  assert.deepEqual([headers['retry-after'], error.code], ['1', 'upstream_unavailable']);
  whole.release();
  for (const { parts } of running) parts.release();
  for (let turn = 0; turn < 20; turn++) await clock.advance(500);
  assert.ok(await isFailing());
  assert.equal(delivered, 0, 'an answer was sent before its charge was durable');

  disk.free();
  const replies = await inTime(Promise.all(replying));
  for (const reply of replies)
    assert.deepEqual([reply.status, reply.costMicros !== null], [200, true], reply.text);
  await inTime(Promise.all(filling));
  await until(async () => {
    await clock.advance(500);
    return (await gateway.balance(account)).heldMicros === 0 && !(await isFailing());
  });
  const costs = replies.reduce((sum, reply) => sum + reply.costMicros!, 0);
  assert.equal((await gateway.balance(account)).postedMicros, creditMicros - costs);
  const charges = await rowsOf(gateway.database, 'charges', { ledger_id: `${account}:live` });
  assert.equal(charges.length, replies.length, 'each once');
  assert.equal(replies[0]!.costMicros, costMicros);
});

/** One stream of each format that lacks only its end. */
async function startRunning(gateway: TestGateway, key: string) {
  const running = [];
  for (const { name, path, upstreamPath, body } of endpoints) {
    const { start, deltas, end } = streamFrames(name, content);
    const parts = answerInParts([...start, ...deltas], end);
    gateway.upstream.on(upstreamPath, parts.script);
    const asked = gateway.upstream.requests.length;
    const reply = gateway.post(path, { key, body: body({ stream: true }) });
    await gateway.upstream.request(asked);
    running.push({ parts, reply });
  }
  return running;
}

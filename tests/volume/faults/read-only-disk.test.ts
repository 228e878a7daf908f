// A file system that turns read-only under a running gateway's SQLite file, as ext4 does after an
// error. ext4 cannot become writable again under open files: the gateway is stopped, the file
// system checked and mounted again, and the gateway started.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { answerContent, streamFrames } from '../../support/answers.ts';
import { openDatabase } from '../../../src/db/database.ts';
import { readBalance } from '../../../src/domain/ledger/reports/queries.ts';
import { endpoint, endpoints, type Endpoint } from '../../support/endpoints.ts';
import { mountFragileDisk } from '../../support/fragile-disk.ts';
import { startGatewayProgram } from '../../support/gateway.ts';
import { noSmallDisk } from '../../support/small-disk.ts';
import { checkStream } from '../../support/stream-rules.ts';
import { until } from '../../support/until.ts';
import { answerInParts, holdBack } from '../../support/upstream.ts';

const chat = endpoint('chat');
const content = { text: 'one two three', tokens: { input: 100, output: 20 } };
/** gpt-6-luna: 100 × $0.1 + 20 × $0.5 a million. */
const costMicros = 20;
const creditMicros = 5_000_000;

test('a read-only file system causes no wrong charge, alerts the operator, and a remount restores service', async (t) => {
  const books = await startBooks(t);
  if (!books) return t.skip(noSmallDisk);
  const { disk, gateway, ask, startStream } = books;
  gateway.upstream.on(chat.upstreamPath, answerContent('chat', content));
  assert.equal((await ask()).costMicros, costMicros);
  const streams = [];
  for (const each of endpoints) streams.push({ ...(await startStream(each)), name: each.name });
  const whole = holdBack(answerContent('chat', content));
  gateway.upstream.on(chat.upstreamPath, whole.script, answerContent('chat', content));
  const asked = gateway.upstream.requests.length;
  const answering = ask();
  await gateway.upstream.request(asked);

  disk.breakDown();
  whole.release();
  for (const { release } of streams) release();
  await until(async () => (await gateway.get('/readyz')).status === 503);
  const refused = await ask();
  assert.equal(refused.status, 503);
  assert.equal(refused.headers['retry-after'], '1');
  assert.equal(refused.error.code, 'upstream_unavailable');
  for (const { name, reply } of streams) {
    const { text, costMicros: cost } = await reply;
    assert.equal(checkStream(name, text, { straight: true }).ending, 'error', text);
    assert.match(text, /Nothing was charged/);
    assert.equal(cost, null);
  }
  assert.match(
    gateway.program.output,
    /is read-only\. Look for the reason in the system log\. .* stop the gateway, check the file system, remount it/,
  );
  assert.equal((await gateway.get('/healthz')).status, 200);
  assert.equal(await gateway.program.terminate(), 0);
  const { status, error } = await answering;
  assert.equal(status, 503);
  assert.match(error.message, /Nothing was charged/);

  await books.repair();
  assert.equal((await gateway.get('/readyz')).status, 200);
  assert.equal((await ask()).costMicros, costMicros);
  assert.deepEqual(await books.balance(), {
    postedMicros: creditMicros - 2 * costMicros,
    heldMicros: 0,
  });
});

test('answers that a read-only file refuses are free, and the process goes on when it is writable again', async (t) => {
  const books = await startBooks(t);
  if (!books) return t.skip(noSmallDisk);
  const { disk, gateway, ask, startStream } = books;
  const { reply: streaming, release } = await startStream(chat);
  const whole = holdBack(answerContent('chat', content));
  gateway.upstream.on(chat.upstreamPath, whole.script, answerContent('chat', content));
  const asked = gateway.upstream.requests.length;
  const answering = ask();
  await gateway.upstream.request(asked);

  const permit = disk.refuseWrites(`${disk.folder}/tollgate.db-wal`);
  release();
  whole.release();
  assert.match((await streaming).text, /Nothing was charged/);
  assert.equal((await gateway.get('/readyz')).status, 503);
  assert.equal((await ask()).status, 503);
  assert.equal((await answering).status, 503);
  permit();
  await until(async () => (await gateway.get('/readyz')).status === 200);
  assert.equal((await ask()).costMicros, costMicros);
  // Another thread than the one that is ready may still have to give the stream's hold back.
  await until(async () => (await books.balance()).heldMicros === 0);
  assert.equal((await books.balance()).postedMicros, creditMicros - costMicros);
});

test('a stream whose charge reached the disk despite a failed flush is not reported as free', async (t) => {
  const books = await startBooks(t);
  if (!books) return t.skip(noSmallDisk);
  const { disk, gateway, ask, startStream } = books;
  gateway.upstream.on(chat.upstreamPath, answerContent('chat', content));
  // The log has wrapped around once, so later writes reuse existing blocks.
  for (let request = 0; request < earlier; request++) assert.equal((await ask()).status, 200);
  const { reply, release } = await startStream(chat);
  const answer = reply.catch(() => null);

  disk.refuseNewBlocks();
  release();
  await until(async () => (await gateway.get('/readyz')).status === 503);
  assert.equal((await ask()).status, 503);
  assert.equal(await gateway.program.terminate(), 0);
  const isFree = (await answer)?.text.includes('Nothing was charged') ?? false;

  await books.repair();
  const { postedMicros, heldMicros } = await books.balance();
  const isCharged = postedMicros !== creditMicros - earlier * costMicros;
  t.diagnostic(
    `the stream was ${isCharged ? '' : 'not '}charged, and ${isFree ? '' : 'not '}told that it is free`,
  );
  assert.equal(heldMicros, 0);
  assert.equal(isCharged && isFree, false);
});

const earlier = 150;

async function startBooks(t: TestContext) {
  const disk = mountFragileDisk();
  if (!disk) return null;
  const config = { log: { level: 'error' }, server: { threads: 2, shutdown_timeout_ms: 1_000 } };
  const gateway = await startGatewayProgram(config, {
    databaseUrl: `sqlite:${join(disk.folder, 'tollgate.db')}`,
  });
  t.after(() => gateway.stop().finally(disk.unmount));
  const { key, account } = await gateway.makeKey({ mode: 'live', creditUsd: 5 });
  // The test's own connection would block the remount.
  await gateway.database.close();
  return {
    disk,
    gateway,
    repair: async () => {
      disk.repair();
      await gateway.program.start();
    },
    balance: async () => {
      const database = openDatabase(gateway.program.databaseUrl);
      const { postedMicros, heldMicros } = (await readBalance(database.read, `${account}:live`))!;
      await database.close();
      return { postedMicros, heldMicros };
    },
    ask: () => gateway.post(chat.path, { key, body: chat.body() }),
    /** A stream that lacks only its end. */
    startStream: async ({ name, path, upstreamPath, body }: Endpoint) => {
      const { start, deltas, end } = streamFrames(name, content);
      const parts = answerInParts([...start, ...deltas], end);
      gateway.upstream.on(upstreamPath, parts.script);
      const asked = gateway.upstream.requests.length;
      const reply = gateway.post(path, { key, body: body({ stream: true }) });
      await gateway.upstream.request(asked);
      return { reply, release: parts.release };
    },
  };
}

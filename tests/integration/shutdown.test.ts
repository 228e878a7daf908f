// Shutdown: open requests finish, those still running at the deadline end free of charge, and the
// books are consistent.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { Client } from 'pg';
import { openConfig } from '../../src/config/load.ts';
import { loadSecrets } from '../../src/config/secret.ts';
import { openLogOn } from '../../src/lib/json-log.ts';
import { startThreads } from '../../src/threads/start-threads.ts';
import { streamFrames } from '../support/answers.ts';
import { root } from '../support/built-program.ts';
import { endpoint, endpoints } from '../support/endpoints.ts';
import { startGateway, startGatewayProgram, type TestGateway } from '../support/gateway.ts';
import { Reply } from '../support/http.ts';
import { TestClock } from '../support/test-clock.ts';
import { useStore } from '../support/test-store.ts';
import { until } from '../support/until.ts';
import { answerInParts, framesText, hang, thenHang } from '../support/upstream.ts';

const chat = endpoint('chat');
const content = {
  text: 'one two three four five six seven eight',
  tokens: { input: 100, output: 20 },
};
/** gpt-6-luna: 100 × $0.1 + 20 × $0.5 a million. */
const costMicros = 20;
/** How often idle connections are closed. */
const sweepMs = 20;

test('a gateway that stops refuses new requests and finishes open ones, without waiting for idle connections', async (t) => {
  const { gateway, clock, stop } = await start(t);
  const { key, account } = await gateway.makeKey({ mode: 'live', creditUsd: 5 });
  const answer = longAnswer();
  gateway.upstream.on(chat.upstreamPath, answer.script);
  const stream = await openStream(gateway, key);

  const stopping = stop();
  await portClosed(gateway);
  answer.release();
  assertComplete(await stream.rest());
  await clock.advance(sweepMs);
  await until(stopping.hasEnded);
  await assertPaid(gateway, account);
});

test('a stop ends in time while the database hangs', async (t) => {
  useStore('postgres');
  t.after(() => useStore('sqlite'));
  const { gateway, clock, stop } = await start(t);
  const { key } = await gateway.makeKey({ mode: 'live', creditUsd: 5 });
  const failed = await gateway.post(chat.path, { key, body: { model: 'none', messages: [] } });
  assert.equal(failed.status, 400);
  const locker = new Client({ connectionString: gateway.database.url });
  await locker.connect();
  t.after(() => locker.end());
  await locker.query('begin; lock table request_log, activity_days in access exclusive mode');

  const startMs = clock.elapsedMs();
  const stopping = stop();
  await clock.advanceUntil(stopping.hasEnded);
  // As docs/operations.md says.
  assert.ok(clock.elapsedMs() - startMs <= 50_000);
});

test('the main thread of several stops in time while the database hangs', async (t) => {
  useStore('postgres');
  t.after(() => useStore('sqlite'));
  const { gateway, clock } = await start(t);
  const { env, dataDir } = gateway.program;
  const reader = openConfig({ env, cwd: dataDir });
  const config = reader.withSaved({});
  const secrets = loadSecrets(env, dataDir, { isShared: true });
  const output = { write: () => {}, flush: () => {} };
  const { log } = openLogOn('silent', output);
  const [onLedgerFailure, onThreadFailure] = [assert.fail, assert.fail];
  const failures = { onLedgerFailure, onThreadFailure };
  const app = await startThreads([], { config, reader, secrets, log, output, clock, ...failures });
  const locker = new Client({ connectionString: gateway.database.url });
  await locker.connect();
  t.after(() => locker.end());
  await locker.query('begin; lock table settings_versions in access exclusive mode');
  // The gateway and the other process look for settings.
  const waiting = 'select from pg_locks where not granted and relation = $1::regclass::oid';
  await until(async () => {
    await clock.advance(1_000);
    return (await locker.query(waiting, ['settings_versions'])).rowCount === 2;
  });

  let hasEnded = false;
  void app.stop().then(() => (hasEnded = true));
  await clock.advanceUntil(() => hasEnded, { stepMs: 1_000, withinMs: 11_000 });
});

test('a request on an open connection of a gateway that stops is refused and free', async (t) => {
  const { gateway, clock, stop } = await start(t);
  const { key, account } = await gateway.makeKey({ mode: 'live', creditUsd: 5 });
  const answer = longAnswer();
  gateway.upstream.on(chat.upstreamPath, answer.script);
  const { socket, text } = dial(gateway);
  socket.write(rawRequest(key, chat.body({ stream: true })));
  await once(socket, 'data');

  const stopping = stop();
  await portClosed(gateway);
  socket.write(rawRequest(key, chat.body({ stream: true })));
  answer.release();
  await once(socket, 'close');
  await clock.advance(sweepMs);
  await until(stopping.hasEnded);
  assert.match(text(), /data: \[DONE\][^]*HTTP\/1\.1 503 [^]*"code":"upstream_unavailable"/);
  assert.equal(gateway.upstream.requests.length, 1);
  await assertPaid(gateway, account);
});

test('a load balancer that polls readiness has time to notice: requests are accepted until the port closes', async (t) => {
  const delayMs = 5_000;
  const { gateway, clock, stop } = await start(t, { shutdown_delay_ms: delayMs });
  const { key } = await gateway.makeKey({ mode: 'live', creditUsd: 5 });
  gateway.answer(chat, content);
  const before = await gateway.ask(chat, key);
  assert.deepEqual([before.status, before.headers.connection], [200, 'keep-alive']);
  assert.equal((await gateway.get('/readyz')).status, 200);

  const stopping = stop();
  for (const waitMs of [0, delayMs - 1]) {
    await clock.advance(waitMs);
    const ready = await gateway.get('/readyz');
    assert.deepEqual([ready.status, ready.json()['status']], [503, 'draining']);
    const reply = await gateway.ask(chat, key);
    assert.deepEqual(
      [reply.status, reply.headers.connection],
      [200, 'close'],
      'its connection is not used again',
    );
  }
  await clock.advance(1);
  await portClosed(gateway);
  await clock.advance(sweepMs);
  await until(stopping.hasEnded);
});

test('a request whose body is still arriving when the gateway stops is answered', async (t) => {
  const { gateway, clock, stop } = await start(t);
  const { key, account } = await gateway.makeKey({ mode: 'live', creditUsd: 5 });
  gateway.answer(chat, content);
  const { socket, text } = dial(gateway);
  const request = rawRequest(key, chat.body({ stream: true }), ['Expect: 100-continue']);
  socket.write(request.slice(0, -20));
  // "100 Continue": the gateway has read the headers.
  await once(socket, 'data');

  const stopping = stop();
  await portClosed(gateway);
  socket.write(request.slice(-20));
  await until(() => /\r\n0\r\n[^]*\r\n\r\n$/.test(text()));
  await clock.advance(sweepMs);
  await until(stopping.hasEnded);
  assert.match(text(), /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 [^]*data: \[DONE\]/);
  await assertPaid(gateway, account);
});

test('requests still running at the deadline end with an error in their format, free of charge', async (t) => {
  const timeoutMs = 30_000;
  const { gateway, clock, stop } = await start(t, { shutdown_timeout_ms: timeoutMs });
  const { key, account } = await gateway.makeKey({ mode: 'live', creditUsd: 5 });
  for (const { name, upstreamPath } of endpoints)
    gateway.upstream.on(upstreamPath, beginThenHang(name));
  const streams = await Promise.all(
    endpoints.map(({ path, body }) =>
      openStream(gateway, key, { path, body: body({ stream: true }) }),
    ),
  );
  gateway.upstream.on(chat.upstreamPath, hang);
  const next = gateway.upstream.requests.length;
  const whole = gateway.ask(chat, key);
  await gateway.upstream.request(next);
  assert.ok((await gateway.balance(account)).heldMicros > 0);

  const { runs } = gateway.program.app.gateway;
  const stopping = stop();
  await portClosed(gateway);
  await clock.advance(timeoutMs - 1);
  assert.deepEqual([runs.count, runs.isEnding], [4, false]);
  await clock.advance(1);
  assert.ok(runs.isEnding);
  const [responses, chats, messages] = await Promise.all(streams.map((stream) => stream.rest()));
  assert.match(responses!.text, /event: response\.failed\ndata: .*upstream_unavailable.*\n\n$/);
  assert.match(chats!.text, /data: \{"error":\{.*"code":"upstream_unavailable".*\n\n$/);
  assert.match(messages!.text, /event: error\ndata: .*"code":"upstream_unavailable".*\n\n$/);
  for (const reply of [responses!, chats!, messages!]) assert.equal(reply.costMicros, null);
  const reply = await whole;
  assert.equal(reply.status, 503);
  assert.equal(reply.error.code, 'upstream_unavailable');
  assert.equal(reply.headers['retry-after'], '1');
  await clock.advance(sweepMs);
  await until(stopping.hasEnded);

  await gateway.assertLeft(account, 5_000_000);
});

test('SIGTERM lets an open stream finish and exits with 0; a second one exits at once with 1', async (t) => {
  const gateway = await startGatewayProgram({ server: { threads: 2 } });
  t.after(() => gateway.stop());
  const { key, account } = await gateway.makeKey({ mode: 'live', creditUsd: 5 });
  const answer = longAnswer();
  gateway.upstream.on(chat.upstreamPath, answer.script);
  const stream = await openStream(gateway, key);
  const ended = gateway.program.terminate();
  await portClosed(gateway);
  answer.release();
  assertComplete(await stream.rest());
  assert.equal(await ended, 0);
  await assertPaid(gateway, account);
  assert.match(gateway.program.output, /"stopping"/);
  assert.match(gateway.program.output, /"msg":"stopped"/, 'the last lines of the log are written');

  await gateway.program.start();
  gateway.upstream.on(chat.upstreamPath, beginThenHang('chat'));
  await openStream(gateway, key);
  const { pid } = gateway.program;
  const killed = gateway.program.terminate();
  let code: number | null | undefined;
  void killed.then((status) => (code = status));
  await portClosed(gateway);
  await until(() => {
    // Within a second they count as the first signal.
    if (code === undefined) process.kill(pid, 'SIGTERM');
    return code !== undefined;
  });
  assert.equal(code, 1);

  await gateway.program.start();
  assert.equal((await gateway.balance(account)).heldMicros, 0, 'the next start releases its hold');
  assert.equal(await gateway.program.terminate(), 0, 'a program that does nothing ends');
});

// npm and the command forward a signal that the whole group already got, so the program gets it two
// or three times. smoke.test.ts sends SIGTERM to npm.
const command = [process.execPath, join(root, 'bin', 'tollgate.mjs'), 'serve'];
for (const [signal, argv] of [
  ['SIGINT', ['npm', 'start']],
  ['SIGINT', command],
  ['SIGTERM', command],
] as const)
  test(`${signal} to the whole process group of \`${argv.slice(-2).join(' ')}\` lets an open stream finish`, async (t) => {
    const gateway = await startGatewayProgram({ server: { threads: 2 } }, { argv });
    t.after(() => gateway.stop());
    const { key, account } = await gateway.makeKey({ mode: 'live', creditUsd: 5 });
    const answer = longAnswer();
    gateway.upstream.on(chat.upstreamPath, answer.script);
    const stream = await openStream(gateway, key);
    const ended = gateway.program.signalGroup(signal);
    await portClosed(gateway);
    answer.release();
    assertComplete(await stream.rest());
    await ended;
    await assertPaid(gateway, account);
  });

/** `stop`: as SIGTERM does. */
async function start(t: TestContext, server: object = {}) {
  const clock = new TestClock();
  const gateway = await startGateway({ server }, { clock });
  t.after(() => gateway.stop());
  const stop = () => {
    const ending: { code?: number | null } = {};
    void gateway.program.terminate().then((code) => (ending.code = code));
    return { hasEnded: () => ending.code === 0 };
  };
  return { gateway, clock, stop };
}

/** A stream whose second half waits to be released. */
function longAnswer() {
  const { start: head, deltas, end } = streamFrames('chat', content);
  return answerInParts([...head, ...deltas.slice(0, 4)], [...deltas.slice(4), ...end]);
}

function assertComplete(reply: Reply): void {
  assert.ok(reply.text.endsWith('data: [DONE]\n\n'), reply.text.slice(-300));
  assert.match(reply.text, /"content":" eight"/);
  assert.equal(reply.costMicros, costMicros);
}

async function assertPaid(gateway: TestGateway, account: string): Promise<void> {
  await gateway.assertLeft(account, 5_000_000 - costMicros);
}

function dial(gateway: TestGateway) {
  const { hostname, port } = new URL(gateway.url);
  const socket = connect(Number(port), hostname);
  let received = '';
  socket.on('data', (piece) => (received += piece.toString()));
  return { socket, text: () => received };
}

function rawRequest(key: string, body: object, fields: readonly string[] = []): string {
  const text = JSON.stringify(body);
  const head = [
    `POST ${chat.path} HTTP/1.1`,
    'Host: x',
    `Authorization: Bearer ${key}`,
    'Content-Type: application/json',
  ];
  return [...head, ...fields, `Content-Length: ${Buffer.byteLength(text)}`, '', text].join('\r\n');
}

/** A stream whose first bytes have arrived. */
async function openStream(
  gateway: TestGateway,
  key: string,
  { path, body } = { path: chat.path, body: chat.body({ stream: true }) },
) {
  const response = await gateway.open(path, { key, body }).response;
  const pieces: Buffer[] = [];
  response.on('data', (piece: Buffer) => pieces.push(piece));
  // A connection that closes before the answer's end shows in the text.
  response.on('error', () => {});
  const ended = new Promise((resolve) => response.once('close', resolve));
  await once(response, 'data');
  return {
    rest: async () => {
      await ended;
      return new Reply(response, Buffer.concat(pieces).toString('utf8'));
    },
  };
}

/** Waits until new connections are refused. */
async function portClosed({ url }: TestGateway): Promise<void> {
  const { hostname, port } = new URL(url);
  const isRefused = () =>
    new Promise<boolean>((resolve) => {
      const socket = connect(Number(port), hostname);
      socket.on('connect', () => {
        socket.destroy();
        resolve(false);
      });
      socket.on('error', () => resolve(true));
    });
  await until(isRefused);
}

function beginThenHang(name: 'responses' | 'chat' | 'messages') {
  const { start: head, deltas } = streamFrames(name, content);
  return thenHang(framesText([...head, ...deltas.slice(0, 2)]));
}

// An overloaded gateway: running requests finish, new ones get a 503 and may retry, health checks
// are answered, and it recovers by itself. `npm run test:all -- memory` fills a real process.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { test, type TestContext } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { answerContent, streamFrames } from '../support/answers.ts';
import { builtProgram } from '../support/built-program.ts';
import { endpoint, endpoints } from '../support/endpoints.ts';
import {
  metricsToken,
  startGateway,
  startGatewayProgram,
  type TestGateway,
} from '../support/gateway.ts';
import type { Tuning } from '../../src/config/tuning.ts';
import { TestClock } from '../support/test-clock.ts';
import { until } from '../support/until.ts';
import { answerInParts } from '../support/upstream.ts';

const chat = endpoint('chat');
const content = { text: 'one two three', tokens: { input: 10, output: 3 } };
/** How often the gateway measures its load. */
const sampleMs = 100;

/** A clock on which the event loop lags by `lateMs` in total. */
class LateClock extends TestClock {
  lateMs = 0;
  override readonly elapsedMs = (): number => this.nowMs() + this.lateMs;
}

type Started = {
  readonly gateway: TestGateway;
  readonly key: string;
  readonly release: () => void;
};

/** Holds all upstream answers until `release` is called. */
async function start(
  t: TestContext,
  { tuning, ...overload }: { readonly tuning?: Partial<Tuning> } & Record<string, unknown>,
  clock: TestClock,
): Promise<Started> {
  const config = { overload, metrics: { token: metricsToken } };
  const gateway = await startGateway(config, { clock, tuning });
  t.after(() => gateway.stop());
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  for (const { name, upstreamPath } of endpoints) {
    const answer = answerContent(name, content);
    gateway.upstream.on(upstreamPath, async (response, request) => {
      await released;
      await answer(response, request);
    });
  }
  const { key } = await gateway.makeKey({ mode: 'live', creditUsd: 5 });
  return { gateway, key, release };
}

/**
 * Opens a stream on each endpoint. Once all have reached the upstream, returns a function that
 * waits for their ends.
 */
async function openStreams({ gateway, key }: Started): Promise<() => Promise<void>> {
  const replies = Promise.all(
    endpoints.map(({ path, body }) => gateway.post(path, { key, body: body({ stream: true }) })),
  );
  await gateway.upstream.request(endpoints.length - 1);
  return async () => {
    for (const { text } of await replies)
      assert.match(text, /three[^]*(\[DONE\]|response\.completed|message_stop)/);
  };
}

async function refusesEverything({ gateway, key }: Started): Promise<void> {
  for (const { path, body, name } of endpoints) {
    const reply = await gateway.post(path, { key, body: body({ stream: true }) });
    const types = { messages: 'overloaded_error', chat: 'server_error', responses: 'overloaded' };
    assert.deepEqual(
      [reply.status, reply.error.code, reply.error.type],
      [503, 'overloaded', types[name]],
    );
    assert.match(String(reply.headers['retry-after']), /^[123]$/);
  }
}

async function servesAgain({ gateway, key }: Started): Promise<void> {
  const reply = await gateway.ask(chat, key);
  assert.equal(reply.status, 200, reply.text);
}

async function tellsOperators({ gateway }: Started, reason: string): Promise<void> {
  const [live, ready, metrics] = await Promise.all([
    gateway.get('/healthz'),
    gateway.get('/readyz', { key: metricsToken }),
    gateway.get('/metrics', { key: metricsToken }),
  ]);
  assert.deepEqual(
    [live.status, ready.status, ready.json()['overloaded'], metrics.status],
    [200, 200, reason, 200],
  );
  assert.match(metrics.text, new RegExp(`tollgate_overloaded\\{reason="${reason}"\\} 1`));
  assert.match(
    gateway.program.output,
    new RegExp(`"reason":"${reason}","msg":"overloaded: new requests are refused`),
  );
}

test('a lagging event loop refuses new requests until it has caught up', async (t) => {
  const clock = new LateClock();
  const started = await start(t, { lag_ms: 30 }, clock);
  const endWell = await openStreams(started);
  for (let sample = 0; sample < 5; sample++) {
    clock.lateMs += 40;
    await clock.advance(sampleMs);
  }
  await refusesEverything(started);
  await tellsOperators(started, 'lag');
  started.release();
  await endWell();
  await clock.advance(5 * sampleMs);
  await servesAgain(started);
  assert.match(started.gateway.program.output, /no longer overloaded/);
});

test('memory near its limit refuses new requests until it is free again', async (t) => {
  const clock = new TestClock();
  // Tests before it in the process leave memory behind.
  const { heapUsed, external } = process.memoryUsage();
  const limit = 150_000_000 + 2 * (heapUsed + external);
  const started = await start(t, { memory_bytes: limit }, clock);
  const endWell = await openStreams(started);
  const held: Buffer[] = [Buffer.alloc(limit, 1)];
  await clock.advance(sampleMs);
  await refusesEverything(started);
  await tellsOperators(started, 'memory');
  await clock.advance(11_000);
  assert.equal(
    (await started.gateway.get('/readyz')).status,
    503,
    'it cannot help itself: others should have its work',
  );
  started.release();
  await endWell();
  held.pop();
  // The gateway checks for garbage every 5 s meanwhile.
  await until(async () => {
    await clock.advance(5_000);
    return (await started.gateway.get('/readyz')).status === 200;
  });
  await servesAgain(started);
});

test('tests that wait for minutes give their memory back when others need it', async (t) => {
  const clock = new TestClock();
  const { heapUsed, external } = process.memoryUsage();
  const limit = 150_000_000 + 2 * (heapUsed + external);
  const { gateway } = await start(t, { memory_bytes: limit }, clock);
  const { key } = await gateway.makeKey();
  const prompt = 'sandbox: delay_ms=543000';
  const ask = { model: 'gpt-4.1', messages: [{ role: 'user', content: prompt }] };
  const slow = [
    gateway.post(chat.path, { key, body: ask }),
    gateway.post(chat.path, { key, body: { ...ask, stream: true } }),
    gateway.post('/v1/images/generations', { key, body: { model: 'gpt-image-flare', prompt } }),
  ];
  await until(() => clock.dueIn(543_000) === slow.length);
  const held: Buffer[] = [Buffer.alloc(limit, 1)];
  await clock.advance(sampleMs);
  for (const { status, error } of await Promise.all(slow))
    assert.deepEqual([status, error.code], [503, 'overloaded']);
  held.pop();
});

test('connections that use up the open files of the process end neither it nor a running request', async (t) => {
  const filesMax = 150;
  const argv = ['sh', '-c', `ulimit -n ${filesMax} && exec "$0" "$@"`, process.execPath];
  const gateway = await startGatewayProgram(
    { server: { threads: 1 } },
    { argv: [...argv, builtProgram(), 'serve'] },
  );
  t.after(() => gateway.stop());
  const { key } = await gateway.makeKey({ mode: 'live', creditUsd: 5 });
  const { start: head, deltas, end } = streamFrames('chat', content);
  const answer = answerInParts([...head, deltas[0]!], [...deltas.slice(1), ...end]);
  gateway.upstream.on(chat.upstreamPath, answer.script);
  const stream = gateway.ask(chat, key, { stream: true });
  await gateway.upstream.request(0);
  const { hostname, port } = new URL(gateway.url);
  const asking = connect(Number(port), hostname);
  await once(asking, 'connect');

  const idle = Array.from({ length: 2 * filesMax }, () => connect(Number(port), hostname));
  for (const socket of idle) socket.on('error', () => {});
  const files = `/proc/${gateway.program.pid}/fd`;
  await until(() => readdirSync(files).length >= filesMax - 1);
  asking.write('GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n');
  const [refusal] = (await once(asking, 'data')) as [Buffer];
  assert.match(refusal.toString(), /^HTTP\/1\.1 500 /);
  await setTimeout(3 * sampleMs);
  answer.release();
  assert.match((await stream).text, /three[^]*\[DONE\]/);

  for (const socket of [asking, ...idle]) socket.destroy();
  await until(async () => (await gateway.get('/openapi.json')).status === 200);
});

/** Sends the head of a request that announces `bytes`, and all of the body but its end. */
async function stall(gateway: TestGateway, key: string, body: string): Promise<Socket> {
  const socket = connect(Number(new URL(gateway.url).port), '127.0.0.1').setEncoding('utf8');
  await once(socket, 'connect');
  socket.write(
    `POST ${chat.path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer ${key}\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body.slice(0, -1)}`,
  );
  return socket;
}

async function arrivingBytes(gateway: TestGateway): Promise<number> {
  const { text } = await gateway.get('/metrics', { key: metricsToken });
  return Number(/^tollgate_arriving_body_bytes (\d+)$/m.exec(text)![1]);
}

const padded = (characters: number) =>
  JSON.stringify(chat.body({ metadata: { a: 'x'.repeat(characters) } }));

test('stalled uploads of one key give way to every other account, the largest first', async (t) => {
  const started = await start(t, { tuning: { arrivingBytes: 1_000_000 } }, new TestClock());
  started.release();
  const { gateway, key } = started;
  const { key: other } = await gateway.makeKey({ mode: 'live', creditUsd: 5 });
  const sizes = [310_000, 309_000, 160_000, 220_000];
  const sockets: Socket[] = [];
  let sent = 0;
  for (const size of sizes) {
    const body = padded(size);
    sent += body.length - 1;
    sockets.push(await stall(gateway, key, body));
  }
  await until(async () => (await arrivingBytes(gateway)) === sent);
  const refusal = once(sockets[0]!, 'data');
  for (const size of [1_000, 300_000, 1_000, 100_000]) {
    const reply = await gateway.post(chat.path, { key: other, body: padded(size) });
    assert.equal(reply.status, 200, `${size}: ${reply.text}`);
  }
  assert.match(String(await refusal), /^HTTP\/1\.1 503 [^]*retry-after: [123][^]*overloaded/i);
  const rest = sockets.slice(1).map(async (socket) => {
    socket.write('}');
    return (await socket.toArray()).join('');
  });
  for (const answer of await Promise.all(rest)) assert.match(answer, /^HTTP\/1\.1 200 /);
  assert.equal(await arrivingBytes(gateway), 0);
});

test('a small body that comes whole takes no room from an upload', async (t) => {
  const started = await start(t, { tuning: { arrivingBytes: 60_000 } }, new TestClock());
  started.release();
  const { gateway, key } = started;
  const { key: other } = await gateway.makeKey({ mode: 'live', creditUsd: 5 });
  const upload = padded(59_000);
  const socket = await stall(gateway, key, upload);
  await until(async () => (await arrivingBytes(gateway)) === upload.length - 1);
  const reply = await gateway.post(chat.path, { key: other, body: padded(2_000) });
  assert.equal(reply.status, 200, reply.text);
  socket.write('}');
  assert.match((await socket.toArray()).join(''), /^HTTP\/1\.1 200 /);
});

test('many bodies of one key at once are accepted while there is room', async (t) => {
  const started = await start(t, { tuning: { arrivingBytes: 6_000_000 } }, new TestClock());
  started.release();
  const { gateway, key } = started;
  const body = padded(250_000);
  const replies = await Promise.all(
    Array.from({ length: 20 }, () => gateway.post(chat.path, { key, body })),
  );
  assert.deepEqual(new Set(replies.map(({ status }) => status)), new Set([200]));
  assert.equal(await arrivingBytes(gateway), 0);
});

test('a body that its client or the gateway gives up frees its room', async (t) => {
  const started = await start(t, {}, new TestClock());
  const { gateway, key } = started;
  const broken = await stall(gateway, key, padded(50_000));
  const halved = await stall(gateway, key, padded(50_000));
  await until(async () => (await arrivingBytes(gateway)) > 100_000);
  broken.destroy();
  halved.end();
  assert.match((await halved.toArray()).join(''), /^HTTP\/1\.1 400 /);
  await until(async () => (await arrivingBytes(gateway)) === 0);
});

test('large answers beyond their limit wait for each other, and each is charged once', async (t) => {
  const tuning = { answerBytes: 1_024 };
  const { gateway, key, release } = await start(t, { tuning }, new TestClock());
  const long = 'long '.repeat(400_000);
  gateway.upstream.on(
    chat.upstreamPath,
    answerContent('chat', { text: long, tokens: { input: 10, output: 3 } }),
  );
  release();
  const replies = await Promise.all(Array.from({ length: 8 }, () => gateway.ask(chat, key)));
  for (const { status, text, costMicros } of replies) {
    assert.deepEqual([status, costMicros], [200, 3]);
    assert.ok(text.length > long.length);
  }
  assert.equal(gateway.upstream.requests.length, 8);
});

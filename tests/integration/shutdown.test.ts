// The end of the program: SIGTERM lets open requests finish, ends the rest free of charge when the time is up, and leaves whole books.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test, type TestContext } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { answerContent, streamFrames } from '../support/answers.ts';
import { endpoint, endpoints } from '../support/endpoints.ts';
import { startGatewayProgram, type TestGateway } from '../support/gateway.ts';
import type { Program } from '../support/program.ts';
import { Reply } from '../support/http.ts';
import { until } from '../support/until.ts';
import { hang, type Script } from '../support/upstream.ts';

const chat = endpoint('chat');
const content = { text: 'one two three four five six seven eight', tokens: { input: 100, output: 20 } };
/** Of gpt-5-mini: 100 × $0.25 + 20 × $2 a million. */
const costMicros = 65;

test('after SIGTERM the program takes no new work, finishes what is open, and ends with 0', async (t) => {
  const gateway = await start(t, {});
  const { key, account } = await gateway.makeKey({ mode: 'live', creditUsd: 5 });
  gateway.upstream.on(chat.upstreamPath, answerContent('chat', content, { paceMs: 100 }));
  const stream = await openStream(gateway, key);

  const ended = gateway.program.terminate();
  await notReady(gateway);
  const reply = await stream.rest();
  const endMs = performance.now();
  assert.ok(reply.text.endsWith('data: [DONE]\n\n'), reply.text.slice(-300));
  assert.equal(reply.costMicros, costMicros);
  assert.match(reply.text, /"content":" eight"/);
  assert.equal(await ended, 0);
  assert.ok(performance.now() - endMs < 2_000, 'it does not wait for connections that nobody uses any more');

  const { availableMicros, heldMicros } = await gateway.balance(account);
  assert.deepEqual([availableMicros, heldMicros], [5_000_000 - costMicros, 0]);
  assert.match(gateway.program.output, /"stopping"/);
  assert.match(gateway.program.output, /"msg":"stopped"/, 'the last lines of the log are written');
});

test('a request that comes on an open connection after SIGTERM is refused, and free', async (t) => {
  const gateway = await start(t, {});
  const { key, account } = await gateway.makeKey({ mode: 'live', creditUsd: 5 });
  gateway.upstream.on(chat.upstreamPath, answerContent('chat', content, { paceMs: 100 }));
  const { hostname, port } = new URL(gateway.url);
  const socket = connect(Number(port), hostname);
  let text = '';
  socket.on('data', (piece) => (text += piece.toString()));
  socket.write(rawRequest(key, chat.body({ stream: true })));
  await once(socket, 'data');

  const ended = gateway.program.terminate();
  await notReady(gateway);
  // The port closes a turn later.
  await setTimeout(50);
  socket.write(rawRequest(key, chat.body({ stream: true })));
  await once(socket, 'close');
  assert.equal(await ended, 0);
  assert.match(text, /data: \[DONE\][^]*HTTP\/1\.1 503 [^]*"code":"upstream_unavailable"/);
  assert.equal(gateway.upstream.requests.length, 1);
  assert.equal((await gateway.balance(account)).availableMicros, 5_000_000 - costMicros);
});

test('whoever asks for readiness is given time to notice: requests are taken until the port closes', async (t) => {
  const delayMs = 800;
  const gateway = await start(t, { server: { shutdown_delay_ms: delayMs } });
  const { key } = await gateway.makeKey({ mode: 'live', creditUsd: 5 });
  gateway.upstream.on(chat.upstreamPath, answerContent('chat', content));
  const before = await gateway.post(chat.path, { key, body: chat.body() });
  assert.deepEqual([before.status, before.headers.connection], [200, 'keep-alive']);
  assert.equal((await gateway.get('/readyz')).status, 200);

  const startMs = performance.now();
  const ended = gateway.program.terminate();
  await notReady(gateway);
  while (performance.now() - startMs < delayMs * 0.7) {
    const reply = await gateway.post(chat.path, { key, body: chat.body() });
    assert.deepEqual([reply.status, reply.headers.connection], [200, 'close'], 'its connection is not used again');
    assert.equal((await gateway.get('/readyz')).json()['status'], 'draining');
  }
  assert.equal(await ended, 0);
  const tookMs = performance.now() - startMs;
  assert.ok(tookMs >= delayMs && tookMs < delayMs + 2_000, `${tookMs} ms`);
});

test('a request whose body is still on its way at SIGTERM has been accepted, and is answered', async (t) => {
  const gateway = await start(t, {});
  const { key, account } = await gateway.makeKey({ mode: 'live', creditUsd: 5 });
  gateway.upstream.on(chat.upstreamPath, answerContent('chat', content, { paceMs: 50 }));
  const { hostname, port } = new URL(gateway.url);
  const socket = connect(Number(port), hostname);
  let text = '';
  socket.on('data', (piece) => (text += piece.toString()));
  const request = rawRequest(key, chat.body({ stream: true }));
  socket.write(request.slice(0, -20));
  await setTimeout(200);

  const ended = gateway.program.terminate();
  await notReady(gateway);
  await setTimeout(300);
  socket.write(request.slice(-20));
  await once(socket, 'close');
  assert.equal(await ended, 0);
  assert.match(text, /^HTTP\/1\.1 200 [^]*data: \[DONE\]/);
  const { availableMicros, heldMicros } = await gateway.balance(account);
  assert.deepEqual([availableMicros, heldMicros], [5_000_000 - costMicros, 0]);
});

test('what still runs when the time is up ends with the error of its format, free of charge', async (t) => {
  const gateway = await start(t, { server: { shutdown_timeout_ms: 300 } });
  const { key, account } = await gateway.makeKey({ mode: 'live', creditUsd: 5 });
  for (const { name, upstreamPath } of endpoints) gateway.upstream.on(upstreamPath, beginThenHang(name));
  const streams = await Promise.all(
    endpoints.map(({ path, body }) => openStream(gateway, key, { path, body: body({ stream: true }) })),
  );
  gateway.upstream.on(chat.upstreamPath, hang);
  const next = gateway.upstream.requests.length;
  const whole = gateway.post(chat.path, { key, body: chat.body() });
  await gateway.upstream.request(next);
  assert.ok((await gateway.balance(account)).heldMicros > 0);

  assert.equal(await gateway.program.terminate(), 0);
  const [responses, chats, messages] = await Promise.all(streams.map((stream) => stream.rest()));
  assert.match(responses!.text, /event: response\.failed\ndata: .*upstream_unavailable.*\n\n$/);
  assert.match(chats!.text, /data: \{"error":\{.*"code":"upstream_unavailable".*\n\n$/);
  assert.match(messages!.text, /event: error\ndata: .*"code":"upstream_unavailable".*\n\n$/);
  for (const reply of [responses!, chats!, messages!]) assert.equal(reply.costMicros, null);
  const reply = await whole;
  assert.equal(reply.status, 503);
  assert.equal(reply.error.code, 'upstream_unavailable');
  assert.equal(reply.headers['retry-after'], '1');

  const { availableMicros, heldMicros } = await gateway.balance(account);
  assert.deepEqual([availableMicros, heldMicros], [5_000_000, 0]);
});

test('a second signal does not wait, and an idle program ends at once', async (t) => {
  const gateway = await start(t, {});
  const { key } = await gateway.makeKey({ mode: 'live', creditUsd: 5 });
  gateway.upstream.on(chat.upstreamPath, beginThenHang('chat'));
  await openStream(gateway, key);
  const { pid } = gateway.program;
  const ended = gateway.program.terminate();
  await notReady(gateway);
  process.kill(pid, 'SIGTERM');
  assert.equal(await ended, 1);
  // What it held is given back by the next start.
  await gateway.program.start();
  assert.equal((await gateway.get('/v1/balance', { key })).json()['balance_cents'], 500);
  const startMs = performance.now();
  assert.equal(await gateway.program.terminate(), 0);
  assert.ok(performance.now() - startMs < 3_000);
});

async function start(t: TestContext, config: object): Promise<TestGateway<Program>> {
  const gateway = await startGatewayProgram({ ...config });
  t.after(() => gateway.stop());
  return gateway;
}

function rawRequest(key: string, body: object): string {
  const text = JSON.stringify(body);
  const head = [`POST ${chat.path} HTTP/1.1`, 'Host: x', `Authorization: Bearer ${key}`, 'Content-Type: application/json'];
  return [...head, `Content-Length: ${Buffer.byteLength(text)}`, '', text].join('\r\n');
}

/** A stream whose first bytes have come. */
async function openStream(
  gateway: TestGateway,
  key: string,
  { path, body } = { path: chat.path, body: chat.body({ stream: true }) },
) {
  const response = await gateway.open(path, { key, body }).response;
  const pieces: Buffer[] = [];
  response.on('data', (piece: Buffer) => pieces.push(piece));
  // The end of the connection without the end of the answer shows in the text.
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

/** Within moments: load balancers must stop sending before the program stops taking. */
async function notReady(gateway: TestGateway): Promise<void> {
  await until(async () => {
    const status = await gateway.get('/readyz').then(
      (reply) => reply.status,
      () => 'closed',
    );
    return status === 503 || status === 'closed';
  }, 5_000);
}

function beginThenHang(name: 'responses' | 'chat' | 'messages'): Script {
  const { start: head, deltas } = streamFrames(name, content);
  return (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const frame of [...head, ...deltas.slice(0, 2)]) {
      if (typeof frame === 'string') response.write(frame);
      else response.write(`event: ${frame.event ?? 'message'}\ndata: ${JSON.stringify(frame.data)}\n\n`);
    }
  };
}

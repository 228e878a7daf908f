// Responses over WebSocket under pressure: slow readers and writers, little memory, a shutdown, and
// several threads.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test, type TestContext } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import type { Tuning } from '../../src/config/tuning.ts';
import { largeBytes } from '../../src/server/large-bodies.ts';
import { sweepMs } from '../../src/server/websocket/sockets.ts';
import { streamFrames } from '../support/answers.ts';
import {
  metricsToken,
  startGateway,
  startGatewayProgram,
  type TestGateway,
} from '../support/gateway.ts';
import { ResponsesSocket, type SocketFrame } from '../support/responses-socket.ts';
import { serverSocketOf } from '../support/server-socket.ts';
import { TestClock } from '../support/test-clock.ts';
import { until } from '../support/until.ts';
import { answerInParts, answerSse, framesText } from '../support/upstream.ts';

const content = { text: 'one two three four', tokens: { input: 100, output: 20 } };
const { start, deltas, end } = streamFrames('responses', content);
const answer = answerSse([...start, ...deltas, ...end]);
const model = 'gpt-6-luna';
const ask = { model, input: 'Hello', max_output_tokens: 100 };
const stallMs = 60_000;

async function startWith(
  t: TestContext,
  { tuning, ...config }: { readonly tuning?: Partial<Tuning> } & Record<string, unknown> = {},
) {
  const clock = new TestClock();
  const gateway = await startGateway(
    { metrics: { token: metricsToken }, ...config },
    { clock, ...(tuning && { tuning }) },
  );
  let isStopped = false;
  const stop = () => {
    isStopped = true;
    return gateway.stop();
  };
  t.after(() => isStopped || stop());
  gateway.upstream.on('/v1/responses', answer);
  const { key, account } = await gateway.makeKey({ mode: 'live', creditUsd: 5 });
  const open = async () => {
    const socket = await ResponsesSocket.open(gateway.url, { key });
    t.after(() => socket.raw.terminate());
    return socket;
  };
  return { gateway, clock, key, account, open, stop };
}

function costMicros({ response }: SocketFrame): number {
  return Math.round(response!.usage.cost * 1e6);
}

async function arrivingBytes(gateway: TestGateway): Promise<number> {
  const { text } = await gateway.get('/metrics', { key: metricsToken });
  return Number(/^tollgate_arriving_body_bytes (\d+)$/m.exec(text)![1]);
}

test('a client that reads nothing stops its provider, and counts as gone after a minute', async (t) => {
  const { gateway, clock, open, account } = await startWith(t, { tuning: { stallMs } });
  const many = Array.from({ length: 80_000 }, () => deltas[0]!);
  const parts = answerInParts([...start, ...many], end);
  gateway.upstream.on('/v1/responses', parts.script);
  const socket = await open();
  socket.send({ type: 'response.create', ...ask, max_output_tokens: 100_000 });
  await socket.next();
  socket.raw.pause();
  const request = await gateway.upstream.request(0);
  let sent = -1;
  await until(async () => {
    const before = sent;
    sent = request.bytesSent();
    await new Promise((resolve) => setTimeout(resolve, 100));
    return sent === before;
  });
  assert.ok(sent < framesText(many).length / 2, `${sent} bytes were read`);
  await clock.advance(stallMs);
  parts.release();
  // The charge is written in real time.
  await until(async () => {
    await clock.advance(100);
    return gateway.program.app.gateway.runs.count === 0;
  });
  socket.raw.resume();
  await socket.closed();
  const { availableMicros, heldMicros } = await gateway.balance(account);
  assert.ok(availableMicros < 5_000_000, 'the answer is charged');
  assert.equal(heldMicros, 0);
});

test('a client that sends and reads nothing cannot fill the memory with refusals', async (t) => {
  const { gateway, open } = await startWith(t);
  const parts = answerInParts(start, [...deltas, ...end]);
  gateway.upstream.on('/v1/responses', parts.script);
  const socket = await open();
  socket.send({ type: 'response.create', ...ask });
  await socket.next();
  socket.send({ type: 'response.create', ...ask });
  socket.raw.pause();
  const connection = serverSocketOf(socket.tcp!);
  let mostUnsent = 0;
  for (let sent = 0; sent < 400 && !connection.destroyed; sent++) {
    for (let frames = 0; frames < 400; frames++) socket.send('{}');
    await setImmediate();
    mostUnsent = Math.max(mostUnsent, connection.writableLength);
  }
  assert.ok(mostUnsent < 4 * 1024 * 1024, `${mostUnsent} bytes waited`);
  await until(() => connection.destroyed);
  parts.release();
  await until(() => gateway.program.app.gateway.runs.count === 0);
});

/** Its last event is larger than what the system buffers. */
const largeAnswer = answerSse(
  [...start, ...deltas, ...end].map((frame) => {
    if (typeof frame === 'string' || frame !== end.at(-1)) return frame;
    const data = frame.data as { response?: object };
    return {
      ...frame,
      data: { ...data, response: { ...data.response, padding: 'x'.repeat(2e7) } },
    };
  }),
);

test('a client that never reads a whole answer is cut off, whatever it sends meanwhile', async (t) => {
  const { gateway, clock, open, account } = await startWith(t, { tuning: { stallMs } });
  gateway.upstream.on('/v1/responses', largeAnswer);
  const socket = await open();
  const connection = serverSocketOf(socket.tcp!);
  socket.send({ type: 'response.create', ...ask });
  await socket.next();
  socket.raw.pause();
  await until(() => gateway.program.app.gateway.runs.count === 0);
  for (let sweeps = 0; sweeps < 30 && !connection.destroyed; sweeps++) {
    socket.raw.pong();
    await new Promise((resolve) => socket.tcp!.write('', resolve));
    await new Promise((resolve) => setTimeout(resolve, 20));
    await clock.advance(sweepMs);
  }
  assert.ok(connection.destroyed);
  const { availableMicros, heldMicros } = await gateway.balance(account);
  assert.ok(availableMicros < 5_000_000, 'the answer is charged');
  assert.equal(heldMicros, 0);
});

test('a slow reader of a large event is not cut off while it reads', async (t) => {
  const { gateway, clock, open } = await startWith(t, { tuning: { stallMs } });
  gateway.upstream.on('/v1/responses', largeAnswer);
  const socket = await open();
  socket.send({ type: 'response.create', ...ask });
  await socket.next();
  socket.raw.pause();
  await until(() => gateway.program.app.gateway.runs.count === 0);
  for (let sweeps = 0; sweeps < 4; sweeps++) {
    socket.raw.pong();
    await new Promise((resolve) => socket.tcp!.write('', resolve));
    await clock.advance(sweepMs);
  }
  socket.raw.resume();
  assert.equal((await socket.last()).type, 'response.completed');
});

test('a frame whose client has left before its turn runs nothing', async (t) => {
  const { gateway, account, open } = await startWith(t);
  const before = await Promise.all(Array.from({ length: 8 }, open));
  const leaver = await open();
  const connection = serverSocketOf(leaver.tcp!);
  // Large enough to wait for their turns among the large bodies.
  const input = 'x'.repeat(2 * largeBytes);
  const frame = JSON.stringify({ type: 'response.create', ...ask, input });
  let missing = frame.length;
  connection.on('data', ({ length }: Buffer) => {
    missing -= length;
    // Its head is longer than this.
    if (missing < -8) connection.destroy();
  });
  const answered = before.map((socket) => socket.create({ ...ask, input }));
  leaver.send(frame);
  await Promise.all([leaver.closed(), ...answered]);
  assert.equal((await before[0]!.create({ ...ask, input })).type, 'response.completed');
  assert.equal(gateway.upstream.requests.length, before.length + 1);
  assert.equal((await gateway.balance(account)).heldMicros, 0);
});

test('a refused upgrade leaves no connection behind, though its client keeps its end open', async (t) => {
  const { gateway } = await startWith(t);
  const port = Number(new URL(gateway.url).port);
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  t.after(() => socket.destroy());
  await once(socket, 'connect');
  await setImmediate();
  const connection = serverSocketOf(socket);
  socket.write(
    'GET /v1/responses HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n' +
      'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n',
  );
  socket.resume();
  await once(socket, 'end');
  await until(() => connection.destroyed);
});

test('responses are kept while there is memory: older ones give way, and are asked for again', async (t) => {
  const { open } = await startWith(t, { tuning: { arrivingBytes: 2_500_000 } });
  const large = { ...ask, input: 'x'.repeat(800_000) };
  const [first, second] = [await open(), await open()];
  const one = (await first.create(large)).response!.id;
  const two = (await second.create(large)).response!.id;
  const gone = await first.create({ ...ask, previous_response_id: one });
  assert.equal(gone.error!.code, 'previous_response_not_found');
  const goesOn = await second.create({ ...ask, previous_response_id: two });
  assert.equal(goesOn.type, 'response.completed');
});

test('a refused frame cannot have a long conversation read again', async (t) => {
  const { open } = await startWith(t);
  const socket = await open();
  for (const [characters, isKept] of [
    [largeBytes, false],
    [1_000, true],
  ] as const) {
    const input = 'x'.repeat(characters);
    const { id } = (await socket.create({ ...ask, input })).response!;
    const goesOn = { ...ask, previous_response_id: id };
    // It names no response, so it costs what it brings.
    await socket.create({ ...ask, model: 'no-such-model' });
    assert.equal((await socket.create({ ...goesOn, model: 'no-such-model' })).status, 404);
    const { type, error } = await socket.create(goesOn);
    if (isKept) assert.equal(type, 'response.completed');
    else assert.equal(error!.code, 'previous_response_not_found');
  }
});

test('a frame counts among the arriving bodies, and must arrive in time', async (t) => {
  const { gateway, clock, open } = await startWith(t, {
    server: { arrival_timeout_ms: 20_000 },
  });
  const socket = await open();
  // A frame of 100 kB, of which half comes.
  const frame = Buffer.alloc(50_000 + 8, 0x20);
  frame.set([0x81, 0xfe, 0xc3, 0x50, 0, 0, 0, 0]);
  socket.tcp!.write(frame.subarray(0, 25_000));
  await until(async () => (await arrivingBytes(gateway)) >= 25_000);
  const closed = socket.closed();
  await clock.advance(sweepMs);
  assert.equal((await socket.next()).error!.code, 'request_timeout');
  assert.equal(await closed, 1008);
  await until(async () => (await arrivingBytes(gateway)) === 0);
});

test('frames that stall give way when others need the room', async (t) => {
  const { gateway, open } = await startWith(t, { tuning: { arrivingBytes: 400_000 } });
  const slow = await open();
  const head = Buffer.alloc(350_000, 0x20);
  head.set([0x81, 0xff, 0, 0, 0, 0, 0, 0x0f, 0, 0, 0, 0, 0, 0]);
  slow.tcp!.write(head);
  await until(async () => (await arrivingBytes(gateway)) >= 350_000);
  const other = await open();
  const frame = await other.create({ ...ask, input: 'x'.repeat(200_000) });
  assert.equal(frame.type, 'response.completed');
  assert.equal((await slow.next()).error!.code, 'overloaded');
  assert.equal(await slow.closed(), 1013);
  await until(async () => (await arrivingBytes(gateway)) === 0);
});

test('the pieces of a frame count with the memory that each takes', async (t) => {
  const { gateway, open } = await startWith(t);
  const { tcp } = await open();
  const connection = serverSocketOf(tcp!);
  const head = [0x81, 0xff, 0, 0, 0, 0, 0, 0x0f, 0, 0, 0, 0, 0, 0];
  for (const byte of [...head, ...Array.from({ length: 100 }, () => 0x20)]) {
    const read = once(connection, 'data');
    tcp!.write(Buffer.of(byte));
    await read;
  }
  assert.ok((await arrivingBytes(gateway)) > 100 * 100);
});

test('a gateway that stops ends idle connections at once, and lets running responses end', async (t) => {
  const { gateway, clock, account, open, stop } = await startWith(t);
  const parts = answerInParts([...start, ...deltas.slice(0, 1)], [...deltas.slice(1), ...end]);
  gateway.upstream.on('/v1/responses', parts.script);
  const [idle, running] = [await open(), await open()];
  running.send({ type: 'response.create', ...ask });
  while ((await running.next()).type !== 'response.output_text.delta');
  running.send({ type: 'response.create', ...ask });
  // It waits from here on.
  running.raw.ping();
  await once(running.raw, 'pong');
  const program = gateway.program.app.stop();
  assert.equal(await idle.closed(), 1001);
  parts.release();
  const done = await running.last();
  assert.equal(done.type, 'response.completed');
  const refused = await running.last();
  assert.deepEqual([refused.status, refused.error!.code], [503, 'upstream_unavailable']);
  assert.equal(await running.closed(), 1001);
  await clock.hurry(program);
  assert.equal(gateway.upstream.requests.length, 1);
  const { availableMicros, heldMicros } = await gateway.balance(account);
  assert.deepEqual([5_000_000 - availableMicros, heldMicros], [costMicros(done), 0]);
  await stop().catch(() => {});
});

test('every HTTP thread has connections, and a conversation stays on its own', async (t) => {
  const gateway = await startGatewayProgram({
    server: { threads: 3 },
  });
  t.after(() => gateway.stop());
  gateway.upstream.on('/v1/responses', answer);
  const { key, account } = await gateway.makeKey({ mode: 'live', creditUsd: 5 });
  const sockets = await Promise.all(
    Array.from({ length: 9 }, () => ResponsesSocket.open(gateway.url, { key })),
  );
  const costs = await Promise.all(
    sockets.map(async (socket) => {
      const first = await socket.create(ask);
      const next = { ...ask, previous_response_id: first.response!.id };
      const second = await socket.create(next);
      assert.equal(second.type, 'response.completed');
      return costMicros(first) + costMicros(second);
    }),
  );
  const paidMicros = costs.reduce((sum, cost) => sum + cost, 0);
  const { heldMicros, availableMicros } = await gateway.balance(account);
  assert.deepEqual([5_000_000 - availableMicros, heldMicros], [paidMicros, 0]);
  await Promise.all(sockets.map((socket) => socket.close()));
});

test('an upgrade behind a request on the same connection ends the connection, and nothing else', async (t) => {
  const { gateway, key } = await startWith(t);
  const parts = answerInParts(start, [...deltas, ...end]);
  gateway.upstream.on('/v1/responses', parts.script);
  const socket = connect(Number(new URL(gateway.url).port), '127.0.0.1');
  await once(socket, 'connect');
  const body = JSON.stringify({ ...ask, stream: true });
  const head = `Host: x\r\nAuthorization: Bearer ${key}\r\n`;
  socket.write(
    `POST /v1/responses HTTP/1.1\r\n${head}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}` +
      `GET /v1/responses HTTP/1.1\r\n${head}Connection: Upgrade\r\nUpgrade: websocket\r\n` +
      'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n',
  );
  socket.resume();
  await once(socket, 'close');
  parts.release();
  assert.equal((await gateway.get('/v1/balance', { key })).status, 200);
});

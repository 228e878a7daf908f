import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { test, type TestContext } from 'node:test';
import Fastify from 'fastify';
import { TestClock } from '../../tests/support/test-clock.ts';
import { until } from '../../tests/support/until.ts';
import { BodyRoom } from './body-room.ts';
import { countWhole, limitPipelining } from './lingering-close.ts';

const mib = 1024 * 1024;

/** Answers at once, and at `/late` twice as much when the test says. */
async function serve(t: TestContext, room: BodyRoom, answer: Buffer) {
  const late = {
    asked: Promise.withResolvers<ServerResponse>(),
    answered: Promise.withResolvers<void>(),
    sent: Promise.withResolvers<void>(),
  };
  const app = Fastify({ logger: false });
  app.decorate('unread', room);
  app.addHook('onRequest', limitPipelining);
  app.addHook('onSend', countWhole);
  const counted: number[] = [];
  app.addHook('onSend', (request, _reply, _payload, next) => {
    counted.push(room.bytes);
    next();
    if (request.url === '/late') late.sent.resolve();
  });
  app.get('/', async () => answer);
  app.get('/late', async (_request, reply) => {
    late.asked.resolve(reply.raw);
    await late.answered.promise;
    return Buffer.concat([answer, answer]);
  });
  await app.listen({ host: '127.0.0.1', port: 0 });
  t.after(() => app.close());
  const { port } = app.server.address() as AddressInfo;
  const open = (text: string) => {
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => {}).write(text);
    t.after(() => socket.destroy());
    return socket;
  };
  return { port, open, late, counted };
}

test('whole answers that slow clients do not read share their memory, and the next one is sent', async (t) => {
  // The system takes some megabytes by itself.
  const room = new BodyRoom(64 * mib, new TestClock());
  const answer = Buffer.alloc(24 * mib, 'x');
  const { port, open } = await serve(t, room, answer);
  const slow = Array.from({ length: 6 }, () => open('GET / HTTP/1.1\r\nhost: x\r\n\r\n'));
  await Promise.all(slow.map((socket) => once(socket, 'readable')));
  assert.ok(room.bytes > 24 * mib && room.bytes <= 64 * mib, `${room.bytes} bytes wait`);
  const read = await fetch(`http://127.0.0.1:${port}/`);
  assert.equal((await read.arrayBuffer()).byteLength, answer.length);
  for (const socket of slow) socket.destroy();
  await until(() => room.bytes === 0);
});

test('an answer to a client that has left before it counts for nothing', async (t) => {
  const room = new BodyRoom(64 * mib, new TestClock());
  const { open, late } = await serve(t, room, Buffer.alloc(5 * mib, 'x'));
  const socket = open('GET / HTTP/1.1\r\nhost: x\r\n\r\nGET /late HTTP/1.1\r\nhost: x\r\n\r\n');
  const response = await late.asked.promise;
  socket.destroy();
  await until(() => response.destroyed && room.bytes === 0);
  late.answered.resolve();
  await late.sent.promise;
  assert.equal(room.bytes, 0);
});

test('short answers count when several wait on one connection', async (t) => {
  const room = new BodyRoom(64 * mib, new TestClock());
  const short = Buffer.alloc(60 * 1024, 'x');
  const { open, counted } = await serve(t, room, short);
  const get = 'GET / HTTP/1.1\r\nhost: x\r\n\r\n';
  open(get);
  await until(() => counted.length === 1);
  open(get.repeat(3));
  await until(() => counted.length === 4);
  assert.equal(counted[0], 0);
  assert.ok(
    counted.slice(1, 3).every((bytes) => bytes >= short.length),
    String(counted),
  );
  await until(() => room.bytes === 0);
});

test('the connection is closed when an answer gives way that waits behind another', async (t) => {
  const room = new BodyRoom(64 * mib, new TestClock());
  const { open, late } = await serve(t, room, Buffer.alloc(24 * mib, 'x'));
  late.answered.resolve();
  const socket = open('GET / HTTP/1.1\r\nhost: x\r\n\r\nGET /late HTTP/1.1\r\nhost: x\r\n\r\n');
  const response = await late.asked.promise;
  await late.sent.promise;
  await until(() => response.closed);
  assert.equal(room.bytes, 0);
  socket.destroy();
});

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import { test } from 'node:test';
import Fastify from 'fastify';
import { TestClock } from '../../tests/support/test-clock.ts';
import { until } from '../../tests/support/until.ts';
import { BodyRoom } from './body-room.ts';
import { countUnread } from './lingering-close.ts';

test('whole answers that slow clients do not read share their memory, and the next one is sent', async (t) => {
  const mib = 1024 * 1024;
  // The system takes some megabytes by itself.
  const room = new BodyRoom(64 * mib, new TestClock());
  const app = Fastify({ logger: false });
  app.addHook('onSend', (request, reply, payload, next) => {
    countUnread(room, { request, reply, payload });
    next();
  });
  const answer = Buffer.alloc(24 * mib, 'x');
  app.get('/', async () => answer);
  await app.listen({ host: '127.0.0.1', port: 0 });
  t.after(() => app.close());
  const { port } = app.server.address() as AddressInfo;
  const slow = Array.from({ length: 6 }, () => {
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => {}).write('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
    t.after(() => socket.destroy());
    return socket;
  });
  await Promise.all(slow.map((socket) => once(socket, 'readable')));
  assert.ok(room.bytes > 24 * mib && room.bytes <= 64 * mib, `${room.bytes} bytes wait`);
  const read = await fetch(`http://127.0.0.1:${port}/`);
  assert.equal((await read.arrayBuffer()).byteLength, answer.length);
  for (const socket of slow) socket.destroy();
  await until(() => room.bytes === 0);
});

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { test, type TestContext } from 'node:test';
import Fastify from 'fastify';
import { TestClock } from '../../tests/support/test-clock.ts';
import { until } from '../../tests/support/until.ts';
import type { Client, ClientStream } from '../gateway/client.ts';
import { BodyRoom } from './body-room.ts';
import { httpClient } from './http-client.ts';

const stallMs = 60_000;
type OpenOptions = {
  readonly version?: string;
  readonly clock?: TestClock;
  readonly unread?: BodyRoom;
};
const large = 'x'.repeat(50_000_000);

/**
 * A server whose only path is answered by `answer`, and a connection that has sent a request and
 * reads nothing yet.
 */
async function open(
  t: TestContext,
  answer: (client: Client) => void,
  options: OpenOptions = {},
): Promise<Socket> {
  const { version = '1.1', clock = new TestClock() } = options;
  const { unread = new BodyRoom(1e9, clock) } = options;
  const app = Fastify({ logger: false }).decorate('unread', unread);
  app.get('/', async (_request, reply) => {
    answer(httpClient(reply, { stallMs, clock }));
    return reply;
  });
  await app.listen({ host: '127.0.0.1', port: 0 });
  const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1').pause();
  socket.on('error', () => {});
  t.after(() => {
    socket.destroy();
    return app.close();
  });
  socket.write(`GET / HTTP/${version}\r\nHost: test\r\n\r\n`);
  const [connection] = (await once(app.server, 'connection')) as [Socket];
  t.after(() => connection.destroy());
  Object.assign(socket, { connection });
  return socket;
}

function serverSide(socket: Socket): Socket {
  return (socket as Socket & { connection: Socket }).connection;
}

test('a stream that its client does not read ends with the client gone', async (t) => {
  const clock = new TestClock();
  let isGone = false;
  const answer = (client: Client) => {
    client.onGone(() => (isGone = true));
    void client.startStream({}, []).write(large);
  };
  await open(t, answer, { clock });
  await until(() => clock.dueIn(stallMs) > 0);
  assert.equal(isGone, false);
  await clock.advanceUntil(() => isGone, { stepMs: stallMs });
});

test('of long parts of streams that clients do not read, those of whoever holds most give way', async (t) => {
  const clock = new TestClock();
  const unread = new BodyRoom(1.5 * large.length, clock);
  const sends: ((stream: ClientStream) => unknown)[] = [
    (stream) => stream.write(large),
    (stream) => stream.end(large, {}),
  ];
  const sockets = await Promise.all(
    sends.map((send) => open(t, (client) => send(client.startStream({}, [])), { clock, unread })),
  );
  await until(() => sockets.some((socket) => serverSide(socket).destroyed));
  assert.equal(unread.bytes, large.length);
  for (const socket of sockets) socket.destroy();
  await until(() => unread.bytes === 0);
});

test('a client of HTTP/1.0, which knows no trailers, gets its stream without them', async (t) => {
  const answer = (client: Client) =>
    client.startStream({}, ['x-cost']).end('data: [DONE]\n\n', { 'x-cost': '1' });
  const received = await text(await open(t, answer, { version: '1.0' }));
  assert.match(received, /^HTTP\/1\.1 200 /);
  assert.doesNotMatch(received, /trailer/i);
  assert.ok(received.endsWith('\r\n\r\ndata: [DONE]\n\n'));
});

async function sendTwo(stream: ClientStream, event: string): Promise<void> {
  await stream.write(event);
  stream.end('data: [DONE]\n\n', {});
}

test('a large event that is taken slowly but steadily is sent whole', async (t) => {
  const clock = new TestClock();
  const answer = (client: Client) => void sendTwo(client.startStream({}, []), large);
  const socket = await open(t, answer, { clock });
  let read = 0;
  let ticks = 0;
  for await (const piece of socket) {
    read += (piece as Buffer).length;
    if (read >= large.length) break;
    // The whole event takes several times the stall limit, but each tick reads more than the kernel
    // holds.
    if (read < (ticks + 1) * 8_000_000) continue;
    ticks += 1;
    await clock.advance(stallMs * 0.9);
  }
  assert.ok(read >= large.length, `cut off after ${read} bytes`);
});

test('no keep-alive is written while earlier data waits for the client', async (t) => {
  const opened = Promise.withResolvers<ClientStream>();
  const answer = (client: Client) => {
    const stream = client.startStream({}, []);
    stream.keepAlive(': keep-alive\n\n');
    void stream.write(large);
    opened.resolve(stream);
  };
  const socket = await open(t, answer);
  const stream = await opened.promise;
  // The kernel takes what fits; the rest waits in the socket.
  await until(() => serverSide(socket).writableLength > 0);
  const waiting = serverSide(socket).writableLength;
  for (let count = 0; count < 1_000; count++) stream.keepAlive(': keep-alive\n\n');
  assert.equal(serverSide(socket).writableLength, waiting);
  const [received] = (await once(socket.resume(), 'data')) as [Buffer];
  assert.match(String(received), /: keep-alive\n\n/, 'there was room for the first');
});

// Connections on which requests come that are known by all of their bytes (src/server/known/byte-lane.ts), as they are on the wire: in
// pieces, several at once, from clients that read late, or never.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { TestContext } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { after, before, describe, test } from '../support/both-stores.ts';
import { endpoint } from '../support/endpoints.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { noticeKeyChanges } from '../support/notice-key-changes.ts';
import { numberedAnswers } from '../support/numbered-answers.ts';
import { TestClock } from '../support/test-clock.ts';
import { until, whileTimePasses } from '../support/until.ts';

const chat = endpoint('chat');
const bodyOf = (fields: object = {}) => JSON.stringify(chat.body({ temperature: 0, ...fields }));

/** A key that the gateway has heard of: what it has learned by then is forgotten with the change of keys. */
async function newKey(gateway: TestGateway, clock: TestClock, creditUsd: number): Promise<string> {
  const { key } = await gateway.makeKey({ mode: 'live', creditUsd });
  await noticeKeyChanges(gateway, { clock });
  return key;
}

/** Time for the gateway, which is in this process, to read what was sent. */
async function takeTurns(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await setImmediate();
}

function headOf(key: string, body: string, { extra = '', version = '1.1' } = {}): string {
  return (
    `POST ${chat.path} HTTP/${version}\r\nhost: here\r\ncontent-type: application/json\r\n` +
    `content-length: ${Buffer.byteLength(body)}\r\nauthorization: Bearer ${key}\r\n${extra}\r\n`
  );
}

type Connection = {
  readonly socket: Socket;
  /** All that has come. */
  readonly read: () => string;
};

async function connected({ url }: TestGateway): Promise<Connection> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname).setNoDelay(true);
  await once(socket, 'connect');
  let text = '';
  socket.on('data', (piece: Buffer) => (text += piece.toString()));
  socket.on('error', () => {});
  return { socket, read: () => text };
}

/** A connection on which this request, which is answered whole, has become known by its bytes; `read` tells what comes from then on. */
async function taught(gateway: TestGateway, request: string): Promise<Connection> {
  const { socket, read } = await connected(gateway);
  for (let count = 1; !isByBytes(read()); count++) {
    assert.ok(count < 15, 'it never is known by its bytes');
    socket.write(request);
    await until(() => answersIn(read()) === count && read().endsWith('}'));
  }
  const taughtLength = read().length;
  return { socket, read: () => read().slice(taughtLength) };
}

/** Whether the last of these answers is one to a request that was known by its bytes: its date is written last. */
function isByBytes(text: string): boolean {
  return /\r\nDate: [^\r]*\r\n\r\n/.test(text.slice(text.lastIndexOf('HTTP/1.1 ')));
}

function countOf(text: string, pattern: RegExp): number {
  return text.match(pattern)?.length ?? 0;
}

const answersIn = (text: string) => countOf(text, /HTTP\/1\.1 200 OK/g);
/** The shorter ways write the names of headers as they are configured. */
const hitsIn = (text: string) => countOf(text, /X-Service-Cache: hit/g);

describe('on the wire', () => {
  const body = bodyOf();
  let gateway: TestGateway;
  let key: string;
  const clock = new TestClock();
  before(async () => {
    gateway = await startGateway({ log: { level: 'info' } }, { clock });
    gateway.upstream.on(chat.upstreamPath, numberedAnswers(chat));
    key = await newKey(gateway, clock, 5);
    (await taught(gateway, head() + body)).socket.destroy();
  });
  after(() => gateway.stop());

  const head = (more: { readonly extra?: string; readonly version?: string } = {}) => headOf(key, body, more);

  for (const [what, connection] of [
    ['a new connection', () => connected(gateway)],
    ['one that is taught', () => taught(gateway, head() + body)],
  ] as const) {
    test(`on ${what}: a body in pieces, then several requests at once: each has its answer, in their order`, async () => {
      const { socket, read } = await connection();
      socket.write(head());
      await takeTurns();
      socket.write(body.slice(0, 10));
      await takeTurns();
      socket.write(body.slice(10) + (head() + body).repeat(2) + head().replace(key, 'nobody') + body);
      await until(() => read().includes(' 401 '));
      assert.equal(answersIn(read()), 3);
      assert.equal(hitsIn(read()), 3);
      const others = [
        '\r\n',
        head(),
        body,
        head() + body + head(),
        body,
        head().slice(0, 30),
        head().slice(30) + body,
        head() + body,
      ];
      for (const piece of others) {
        socket.write(piece);
        await takeTurns();
      }
      await until(() => hitsIn(read()) === 8 && read().endsWith('}'));
      socket.destroy();
    });
  }

  test('who sends without end and reads nothing has every answer, when it reads at last', async () => {
    const { socket, read } = await taught(gateway, head() + body);
    socket.pause();
    for (let count = 0; count < 6_000; count++) socket.write(head() + body);
    await takeTurns();
    socket.resume();
    await until(() => hitsIn(read()) === 6_000 && read().endsWith('}'));
    assert.equal(answersIn(read()), 6_000);
    socket.destroy();
  });

  test('Connection: close, and HTTP/1.0', async () => {
    for (const [text, version] of [
      [head({ extra: 'connection: close\r\n' }), '1.1'],
      [head({ version: '1.0' }), '1.0'],
    ] as const) {
      const { socket, read } = await connected(gateway);
      socket.write(text + body);
      await once(socket, 'close');
      assert.match(read(), /^HTTP\/1\.1 200 OK\r\n/, version);
      assert.match(read(), /\r\nconnection: close\r\n/i);
      assert.ok(read().endsWith('}'));
    }
  });

  test('one that breaks off, and one that leaves, have their line in the log and are counted out', async () => {
    const earlier = gateway.program.output.length;
    const { socket } = await connected(gateway);
    socket.write(head() + body.slice(0, 10));
    await takeTurns();
    socket.destroy();
    const { socket: leaving } = await connected(gateway);
    leaving.write(head() + body);
    leaving.destroy();
    await whileTimePasses(
      clock,
      until(() => countOf(gateway.program.output.slice(earlier), /"client_gone":true.*\n/g) >= 1),
    );
    const half = await connected(gateway);
    half.socket.end(head() + body.slice(0, 10));
    await once(half.socket, 'close');
    assert.match(half.read(), /HTTP\/1\.1 400 /);
  });
});

describe('an answer of megabytes, known by its bytes', () => {
  const [long, short] = [{}, { seed: 1 }].map((fields) => bodyOf({ max_completion_tokens: 100_000, ...fields }));

  async function start(t: TestContext, limits: object = {}) {
    const clock = new TestClock();
    const gateway = await startGateway({ log: { level: 'info' }, limits }, { clock });
    t.after(() => gateway.stop());
    const key = await newKey(gateway, clock, 50);
    const asking = (body: string) => headOf(key, body) + body;
    gateway.upstream.on(chat.upstreamPath, numberedAnswers(chat, { text: 'word '.repeat(1_400_000) }));
    const { socket } = await taught(gateway, asking(long!));
    socket.destroy();
    gateway.upstream.on(chat.upstreamPath, numberedAnswers(chat));
    return { gateway, clock, long: asking(long!), short: asking(short!) };
  }

  /**
   * A connection on which the beginning of the long answer has come, and is read no further. A system takes the more for a client the more
   * that client has read, up to many megabytes: it has read short answers only.
   */
  async function begun(gateway: TestGateway, requests: { readonly long: string; readonly short: string }): Promise<Connection> {
    const connection = await taught(gateway, requests.short);
    connection.socket.write(requests.long);
    await once(connection.socket, 'data');
    connection.socket.pause();
    assert.ok(isByBytes(connection.read()));
    return connection;
  }

  const toldGone = ({ program }: TestGateway, clock: TestClock) =>
    whileTimePasses(
      clock,
      until(() => program.output.includes('"client_gone":true')),
    );

  const isWhole = (text: string) => {
    const last = text.slice(text.lastIndexOf('HTTP/1.1 '));
    const length = /\r\ncontent-length: (\d+)\r\n/i.exec(last.slice(0, 10_000))?.[1];
    return length !== undefined && last.length - last.indexOf('\r\n\r\n') - 4 === Number(length);
  };

  test('a shutdown waits for who takes it slowly', async (t) => {
    const { gateway, clock, ...requests } = await start(t);
    const { socket, read } = await begun(gateway, requests);
    const stopped = gateway.program.terminate();
    await takeTurns();
    assert.ok(!isWhole(read()));
    socket.resume();
    await until(() => isWhole(read()));
    await whileTimePasses(clock, stopped);
    assert.doesNotMatch(gateway.program.output, /"client_gone":true/);
  });

  test('who takes nothing of it is dropped', async (t) => {
    const { gateway, clock, ...requests } = await start(t, { stream_stall_ms: 1_000 });
    const { socket, read } = await begun(gateway, requests);
    await toldGone(gateway, clock);
    socket.resume();
    await once(socket, 'close');
    assert.ok(!isWhole(read()));
  });

  test('who takes nothing of it is dropped, whatever else it asks for', async (t) => {
    const { gateway, clock, ...requests } = await start(t, { stream_stall_ms: 1_000 });
    const { socket } = await begun(gateway, requests);
    for (let count = 0; count < 3; count++) {
      socket.write(requests.long);
      await takeTurns();
    }
    socket.write('GET /healthz HTTP/1.1\r\nhost: here\r\n\r\n');
    await toldGone(gateway, clock);
    socket.destroy();
  });

  test('who asks for more before reading has all of it, and goes on', async (t) => {
    const { gateway, ...requests } = await start(t);
    (await taught(gateway, requests.short)).socket.destroy();
    const { socket, read } = await connected(gateway);
    socket.pause();
    for (const request of [requests.long, requests.short, requests.short]) {
      socket.write(request);
      await takeTurns();
    }
    socket.resume();
    await until(() => answersIn(read()) === 3 && isWhole(read()));
    for (let count = 4; count < 8; count++) {
      socket.write(requests.short);
      await until(() => answersIn(read()) === count && isWhole(read()));
    }
    socket.destroy();
  });
});

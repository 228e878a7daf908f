// A server of Node's with a connection that is watched beside one that is not: whatever is sent, in whatever pieces, is answered alike.
import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import fc from '../../../tests/support/property.ts';
import { KnownConnection } from './known-connection.ts';

type Sent = { readonly path: string; readonly body: string; readonly headers: string; readonly waits: boolean };
type Piece = { readonly text: string; readonly isAwaited: boolean };

const head = ({ path, body, headers }: Sent) =>
  `POST ${path} HTTP/1.1\r\nHost: here\r\nContent-Length: ${Buffer.byteLength(body)}\r\n${headers}\r\n`;
const requestOf = (sent: Sent) => head(sent) + sent.body;

/** The two ends of a connection: what is sent, and what has been answered. `isSlow`: an answer is more than is taken at once. */
function connect({ isSlow = false } = {}): { readonly socket: Duplex; readonly read: () => string } {
  let text = '';
  const socket = new Duplex({
    ...(isSlow && { writableHighWaterMark: 50 }),
    read() {},
    write(piece: Buffer, _encoding, done) {
      text += piece.toString();
      if (isSlow) globalThis.setImmediate(done);
      else done();
    },
  });
  return { socket, read: () => text };
}

type Exchange = {
  readonly pieces: readonly Piece[];
  readonly wholes: ReadonlySet<string>;
  readonly isSlow?: boolean;
  readonly isWatched: boolean;
};

/** What a server answers that echoes what it is sent; `short`: how often the parser was not asked. */
async function exchange({
  pieces,
  wholes,
  isSlow,
  isWatched,
}: Exchange): Promise<{ readonly answers: string; readonly short: number }> {
  const { socket, read } = connect({ isSlow });
  const known = new Map<string, string>();
  let connection: KnownConnection | null = null;
  let short = 0;
  const state = { open: 0 };
  const answerKnown = (from: Socket, bytes: Buffer): boolean | Promise<boolean> => {
    const answer = known.get(bytes.toString());
    if (answer) short += 1;
    if (answer?.includes('later')) return setImmediate(short % 2 === 0).then((isSure) => isSure && (from.write(answer), true));
    return answer !== undefined && (from.write(answer), true);
  };
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    state.open += 1;
    response.on('close', () => (state.open -= 1));
    connection?.note(request, response);
    response.sendDate = false;
    let body = '';
    if (request.headers['x-early']) {
      response.end(`${request.url} refused`);
      request.resume();
      connection?.forget();
      return;
    }
    request.on('data', (piece: Buffer) => (body += piece.toString()));
    await once(request, 'end');
    if (request.headers['x-waits']) await setImmediate();
    const answer = `${request.url} ${request.rawHeaders.length} ${body}`;
    response.end(answer);
    const bytes = connection?.takeBytes()?.toString();
    if (bytes !== undefined) {
      assert.ok(wholes.has(bytes), `${JSON.stringify(bytes)} is no request that was sent`);
      const keepAlive = 'Connection: keep-alive\r\nKeep-Alive: timeout=5\r\n';
      known.set(bytes, `HTTP/1.1 200 OK\r\n${keepAlive}Content-Length: ${Buffer.byteLength(answer)}\r\n\r\n${answer}`);
    }
    if (isWatched) (connection ??= new KnownConnection(request.socket, response, answerKnown)).watchAfter(response);
  };
  // Half a request stays open for as long as its other half is missing.
  const settled = async () => {
    for (let turn = 0; turn < (isSlow ? 40 : 8) || (state.open > 0 && turn < 80); turn++) await setImmediate();
  };
  const server = createServer({ keepAliveTimeout: 5_000 }, (request, response) => void handle(request, response));
  server.emit('connection', socket);
  for (const { text, isAwaited } of pieces) {
    socket.push(text);
    if (isAwaited) await settled();
  }
  await settled();
  await settled();
  socket.destroy();
  return { answers: read(), short };
}

const confusing = 'POST /a HTTP/1.1\r\nHost: here\r\nContent-Length: 0\r\n\r\n';
const sentOnce = fc.record({
  path: fc.constantFrom('/a', '/b', '/later'),
  body: fc.constantFrom('', 'one', '\r\n\r\n', confusing, confusing.slice(0, 20), 'é'),
  headers: fc.constantFrom('', 'X-Waits: 1\r\n', 'X-Early: 1\r\n', 'X-Other: 1\r\nX-Other: 2\r\n'),
  waits: fc.boolean(),
});

/** Requests, some of them again and again, cut where they end and in arbitrary places. */
const sessions = fc
  .record({
    kinds: fc.array(sentOnce, { minLength: 1, maxLength: 3 }),
    order: fc.array(fc.nat(), { minLength: 1, maxLength: 14 }),
    cuts: fc.array(fc.nat(), { maxLength: 5 }),
    joined: fc.array(fc.nat(), { maxLength: 3 }),
    between: fc.constantFrom('', '', '\r\n', 'head'),
    isSlow: fc.boolean(),
  })
  .map(({ kinds, order, cuts, joined, between, isSlow }) => {
    const requests = order.map((pick) => kinds[pick % kinds.length]!);
    const gapBefore = (sent: Sent) => (between === 'head' ? `POST ${sent.path} HTTP/1.1\r\nX-Swallows: ` : between);
    const texts = requests.flatMap((sent, index) => [index % 4 === 3 ? gapBefore(sent) : '', requestOf(sent)]);
    const all = texts.join('');
    const ends = texts.map((_, index) => texts.slice(0, index + 1).join('').length);
    const isJoined = (end: number) => joined.some((pick) => ends[pick % ends.length] === end);
    const at = [...ends.filter((end) => !isJoined(end)), ...cuts.map((cut) => cut % all.length), all.length];
    const points = [...new Set(at)].toSorted((one, other) => one - other).filter((point) => point > 0);
    const pieces = points.map((point, index) => ({
      text: all.slice(points[index - 1] ?? 0, point),
      isAwaited: !requests[index % requests.length]!.waits,
    }));
    return { pieces, isSlow, wholes: new Set(requests.flatMap((sent) => [requestOf(sent), gapBefore(sent) + requestOf(sent)])) };
  });

test('what is sent is answered alike on a watched connection, and whole requests alone are known', async () => {
  let short = 0;
  await fc.assert(
    fc.asyncProperty(sessions, async (session) => {
      const watched = await exchange({ ...session, isWatched: true });
      const plain = await exchange({ ...session, isWatched: false });
      assert.equal(normal(watched.answers), normal(plain.answers));
      short += watched.short;
    }),
    { numRuns: 500 },
  );
  assert.ok(short > 100, `only ${short} were known`);
});

test('a body that looks like a request is none, though the request before it was refused in its middle', async () => {
  const known = requestOf({ path: '/a', body: '', headers: '', waits: false });
  const refused = { path: '/b', headers: `X-Early: 1\r\nX-Long: ${'x'.repeat(known.length)}\r\n`, waits: false };
  const second = head({ ...refused, body: 'b'.repeat(400) });
  const first = head({ ...refused, body: second });
  const rest = second.length;
  const tail = second + second + 'b'.repeat(400 - rest);
  const last = requestOf({ path: '/b', body: 'last', headers: '', waits: false });
  const pieces = [known, known, known, first, tail, known, 'b'.repeat(rest - known.length), last];
  const awaited = pieces.map((text) => ({ text, isAwaited: true }));
  const watched = await exchange({ pieces: awaited, wholes: new Set([known, last]), isWatched: true });
  const plain = await exchange({ pieces: awaited, wholes: new Set([known, last]), isWatched: false });
  assert.equal(normal(watched.answers), normal(plain.answers));
  assert.equal(plain.answers.match(/200 OK/g)?.length, 6);
});

/** The order of the headers is anybody's. */
const normal = (answers: string) =>
  answers.replaceAll(/(?<=HTTP\/1\.1 200 OK\r\n)(?:[^\r]+\r\n)+/g, (lines) => lines.split('\r\n').toSorted().join('\r\n'));

test('a connection that somebody else listens to is left alone', async () => {
  const { socket } = connect();
  const heard: string[] = [];
  const answers: Buffer[] = [];
  const response = new EventEmitter() as ServerResponse;
  const connection = new KnownConnection(socket as unknown as Socket, response, (_, bytes) => answers.push(bytes) > 0);
  socket.on('data', () => heard.push('one')).on('data', () => heard.push('other'));
  connection.watchAfter(response);
  response.emit('close');
  await setImmediate();
  await setImmediate();
  socket.push('bytes');
  assert.deepEqual([heard, answers], [['one', 'other'], []]);
});

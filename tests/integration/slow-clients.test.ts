// Clients that send slowly, never, too much, or other than announced, and clients that do not read.
// None affects another client, and none is charged for a request that did not run.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { after, describe, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { wholeAnswer } from '../support/answers.ts';
import { endpoint, endpoints } from '../support/endpoints.ts';
import { startGateway, startGatewayProgram } from '../support/gateway.ts';
import { serverSocketOf } from '../support/server-socket.ts';
import { until } from '../support/until.ts';
import { answerJson } from '../support/upstream.ts';

const arrivalTimeoutMs = 3_000;
const stallMs = 1_500;
const chat = endpoint('chat');
const content = { text: 'one two three four', tokens: { input: 100, output: 20 } };
/** gpt-6-luna: 100 × $0.1 + 20 × $0.5 a million. */
const costMicros = 20;
let served = 0;

const gateway = await startGateway(
  {
    server: {
      arrival_timeout_ms: arrivalTimeoutMs,
      body_limit_bytes: 100_000,
      cors_origins: ['https://x.example'],
    },
    log: { level: 'error' },
  },
  { tuning: { stallMs } },
);
const { key, account } = await gateway.makeKey({ mode: 'live', creditUsd: 5 });
gateway.answer(chat, content);
after(() => gateway.stop());

const text = JSON.stringify(chat.body());
const headOf = (fields: string, ownKey = key) =>
  `POST ${chat.path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${ownKey}\r\nContent-Type: application/json\r\n${fields}\r\n`;
const lengthOf = (body: string) => `Content-Length: ${Buffer.byteLength(body)}\r\n`;

/**
 * A raw connection that the client can half-close. `rest`: everything received until the gateway
 * closes it.
 */
function dial(url = gateway.url): {
  readonly socket: Socket;
  readonly rest: () => Promise<string>;
} {
  const { hostname, port } = new URL(url);
  const socket = connect({ port: Number(port), host: hostname, allowHalfOpen: true });
  let received = '';
  socket.setEncoding('utf8').on('data', (piece: string) => (received += piece));
  socket.on('error', () => {});
  const closed = Promise.race([once(socket, 'end'), once(socket, 'close')]).catch(() => {});
  return {
    socket,
    rest: async () => {
      await closed;
      socket.destroy();
      return received;
    },
  };
}

type Way = {
  readonly send: (socket: Socket) => Promise<void> | void;
  readonly answer: RegExp;
  /** It ran and is charged. */
  readonly runs?: true;
};

const drip = async (socket: Socket, bytes: string, pieces: number, paceMs: number) => {
  const size = Math.ceil(bytes.length / pieces);
  for (let start = 0; start < bytes.length && socket.writable; start += size) {
    socket.write(bytes.slice(start, start + size));
    await setTimeout(paceMs);
  }
};
const success = /^HTTP\/1\.1 200 [^]*one two three four/;
const closing = 'Connection: close\r\n';

const ways: Readonly<Record<string, Way>> = {
  'a body in twenty pieces': {
    send: (socket) => drip(socket, headOf(lengthOf(text) + closing) + text, 20, 30),
    answer: success,
    runs: true,
  },
  'a body in chunks of one byte': {
    send: (socket) => {
      socket.write(headOf(`Transfer-Encoding: chunked\r\n${closing}`));
      socket.write(`${Array.from(text, (byte) => `1\r\n${byte}\r\n`).join('')}0\r\n\r\n`);
    },
    answer: success,
    runs: true,
  },
  'a body that is asked for first': {
    send: async (socket) => {
      socket.write(headOf(`Expect: 100-continue\r\n${lengthOf(text)}${closing}`));
      await once(socket, 'data');
      socket.write(text);
    },
    answer: /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 [^]*one two three four/,
    runs: true,
  },
  'headers that never end': {
    send: (socket) => drip(socket, headOf('X-Slow: '.padEnd(4_000, 'x')).slice(0, -4), 200, 20),
    answer: /^HTTP\/1\.1 408 [^]*"code":"request_timeout"/,
  },
  'nothing at all': { send: () => {}, answer: /^(HTTP\/1\.1 408 |$)/ },
  'a body that never comes': {
    send: (socket) => void socket.write(headOf(lengthOf(text))),
    answer: /^HTTP\/1\.1 408 /,
  },
  // Its end comes after the answer; it must not run then.
  'a body that comes too slowly': {
    send: async (socket) => {
      const bytes = headOf(lengthOf(text)) + text;
      const answered = once(socket, 'data');
      await drip(socket, bytes.slice(0, -10), 50, 20);
      await answered;
      socket.write(bytes.slice(-10));
    },
    answer: /^HTTP\/1\.1 408 /,
  },
  'a body that ends before its length': {
    send: (socket) => void socket.end(headOf(lengthOf(`${text} `)) + text),
    answer: /^HTTP\/1\.1 400 [^]*"code":"invalid_request"/,
  },
  'a body that is longer than it said': {
    send: (socket) => void socket.write(`${headOf(lengthOf(text))}${text}more`),
    answer: /^HTTP\/1\.1 400 [^]*This is not an HTTP request/,
  },
  'a length above the limit': {
    send: (socket) => void socket.write(headOf('Content-Length: 100001\r\n')),
    answer: /^HTTP\/1\.1 413 [^]*connection: close[^]*"code":"request_too_large"/i,
  },
  'chunks without an end': {
    send: async (socket) => {
      socket.write(headOf('Transfer-Encoding: chunked\r\n'));
      await drip(socket, `1000\r\n${'x'.repeat(4_096)}\r\n`.repeat(100), 100, 1);
    },
    answer: /^HTTP\/1\.1 413 [^]*"code":"request_too_large"/,
  },
};

// They only wait, so they do it together.
void describe('clients that neither send nor read as they should', { concurrency: true }, () => {
  for (const [name, { send, answer, runs }] of Object.entries(ways)) {
    test(name, async () => {
      const { socket, rest } = dial();
      await send(socket);
      assert.match(await rest(), answer);
      if (runs) served += 1;
    });
  }

  test('a client that never reads its answers is disconnected', async () => {
    const { hostname, port } = new URL(gateway.url);
    const socket = connect(Number(port), hostname).pause();
    const request = 'GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n';
    // More than the system's buffers hold.
    socket.write(request.repeat(30));
    await once(socket, 'readable');
    const own = serverSocketOf(socket);
    await until(() => own.destroyed);
    socket.destroy();
  });

  test('a client that was told that it is late and keeps its end open is disconnected', async () => {
    const { socket } = dial();
    socket.write(headOf(lengthOf(text)));
    const [answer] = await once(socket, 'data');
    assert.match(String(answer), /^HTTP\/1\.1 408 /);
    const own = serverSocketOf(socket);
    await until(() => own.destroyed);
    socket.destroy();
  });
});

const tooLong = Buffer.alloc(20_000_000, 'x');

for (const [name, fields] of Object.entries({
  'a body that is announced': `Content-Length: ${tooLong.length}\r\n`,
  'a body in chunks': 'Transfer-Encoding: chunked\r\n',
})) {
  test(`${name} and is far too long can be sent to its end, and its 413 is read`, async () => {
    for (let time = 0; time < 3; time++) {
      const { hostname, port } = new URL(gateway.url);
      const socket = connect(Number(port), hostname);
      let received = '';
      // A reset discards unread bytes, so a client that reads late gets an error instead.
      socket
        .pause()
        .setEncoding('utf8')
        .on('data', (piece: string) => (received += piece));
      const closed = once(socket, 'close');
      socket.write(headOf(fields));
      const chunk = fields.startsWith('T')
        ? [`${tooLong.length.toString(16)}\r\n`, tooLong, '\r\n0\r\n\r\n']
        : [tooLong];
      for (const piece of chunk)
        await new Promise<void>((resolve, reject) =>
          socket.write(piece, (error) => (error ? reject(error) : resolve())),
        );
      socket.resume();
      await closed;
      assert.match(received, /^HTTP\/1\.1 413 [^]*"code":"request_too_large"/);
    }
  });
}

test('a client that never stops sending a refused body is disconnected', async () => {
  const { socket } = dial();
  socket.write(headOf('Transfer-Encoding: chunked\r\n'));
  const chunk = Buffer.from(`100000\r\n${'x'.repeat(0x100000)}\r\n`);
  let chunks = 0;
  const write = () => {
    chunks += 1;
    socket.write(chunk, (error) => error ?? write());
  };
  const closed = new Promise((resolve) => socket.once('close', resolve));
  write();
  await closed;
  assert.ok(chunks > 20, `it was cut off after ${chunks} MB`);
});

/** Sends a head, then a body without end. Resolves with the answer and the number of bytes sent. */
async function sendForever(head: string): Promise<{ answer: string; sentBytes: number }> {
  const { socket, rest } = dial();
  const closed = new Promise((resolve) => socket.once('close', resolve));
  socket.write(head);
  const piece = Buffer.alloc(0x100000, 'x');
  const chunk = /chunked/.test(head)
    ? Buffer.concat([Buffer.from('100000\r\n'), piece, Buffer.from('\r\n')])
    : piece;
  let sentBytes = 0;
  const write = () =>
    socket.write(chunk, (error) => {
      if (error || socket.destroyed) return;
      sentBytes += chunk.length;
      write();
    });
  write();
  const answer = await rest();
  socket.destroy();
  await closed;
  return { answer, sentBytes };
}

const endless = 'Host: x\r\nContent-Type: application/json\r\nContent-Length: 100000000000\r\n';
const refusals: Readonly<Record<string, [head: string, status: number]>> = {
  'no key': [`POST ${chat.path} HTTP/1.1\r\n${endless}`, 401],
  'a wrong key': [`POST ${chat.path} HTTP/1.1\r\n${endless}Authorization: Bearer x\r\n`, 401],
  'a wrong key, in chunks': [
    `POST ${chat.path} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nx-api-key: x\r\n`,
    401,
  ],
  'an unknown path': [`POST /v1/nothing HTTP/1.1\r\n${endless}`, 404],
  'a wrong method': [`PUT ${chat.path} HTTP/1.1\r\n${endless}`, 405],
  'a GET': [`GET /openapi.json HTTP/1.1\r\n${endless}`, 200],
  'a page': [`GET /sign-in HTTP/1.1\r\nAccept: text/html\r\n${endless}`, 200],
  'a preflight': [
    `OPTIONS ${chat.path} HTTP/1.1\r\n${endless}Origin: https://x.example\r\nAccess-Control-Request-Method: POST\r\n`,
    204,
  ],
  'a malformed path': [`POST /v1/%E0%A4%A HTTP/1.1\r\n${endless}`, 400],
  'a wrong type': [
    `POST /dashboard-api/auth/sign-in HTTP/1.1\r\n${endless.replace('json', 'xml')}`,
    415,
  ],
  'a sign-in': [`POST /dashboard-api/auth/sign-in HTTP/1.1\r\n${endless}`, 413],
  'an admin key': [`POST /admin/v1/accounts HTTP/1.1\r\n${endless}`, 401],
};

for (const [name, [head, status]] of Object.entries(refusals)) {
  test(`a body that is sent with ${name} is not read on for long after the answer`, async () => {
    const { answer, sentBytes } = await sendForever(`${head}\r\n`);
    assert.match(answer, new RegExp(`^HTTP/1\\.1 ${status} `), name);
    // The rest is in the buffers of the system.
    assert.ok(sentBytes < 60_000_000, `${sentBytes} bytes were sent`);
  });
}

test('a refused request with a short body leaves its connection open', async () => {
  const { socket, rest } = dial();
  const head = `POST ${chat.path} HTTP/1.1\r\nHost: x\r\n${lengthOf(text)}`;
  const answered = once(socket, 'data');
  socket.write(`${head}\r\n${text.slice(0, 5)}`);
  await answered;
  socket.write(`${text.slice(5)}${head}Connection: close\r\n\r\n${text}`);
  assert.match(await rest(), /^HTTP\/1\.1 401 [^]*HTTP\/1\.1 401 [^]*connection: close/i);
});

test('a client that sends a thousand requests before it reads an answer is disconnected', async () => {
  const { socket, rest } = dial();
  socket.write('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(1_000));
  const answers = (await rest()).split('HTTP/1.1 200').length - 1;
  assert.ok(answers < 100, `${answers} answers`);
  const patient = dial();
  patient.socket.write('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(20));
  patient.socket.write('GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
  assert.equal((await patient.rest()).split('HTTP/1.1 200').length - 1, 21);
});

test('a client that reads slowly gets its whole answer', async () => {
  const large = { text: 'x'.repeat(24_000_000), tokens: content.tokens };
  gateway.upstream.on(chat.upstreamPath, answerJson(wholeAnswer('chat', large)));
  const { key: own } = await gateway.makeKey({ mode: 'live', creditUsd: 5 });
  const response = await gateway.open(chat.path, { key: own, body: chat.body() }).response;
  let bytes = 0;
  let pauses = 0;
  for await (const piece of response) {
    bytes += (piece as Buffer).length;
    if (bytes < pauses * 4_000_000) continue;
    pauses += 1;
    await setTimeout(stallMs * 0.6);
  }
  assert.ok(response.complete && pauses >= 6 && bytes > large.text.length);
  gateway.answer(chat, content);
});

test('requests that arrived while the process was stopped are served, and slow ones are not', async (t) => {
  const program = await startGatewayProgram({ server: { arrival_timeout_ms: arrivalTimeoutMs } });
  t.after(() => program.stop());
  const { pid } = program.program;
  const { key: own } = await program.makeKey();
  const head = headOf(lengthOf(text) + closing, own);
  const whole = head + text;
  /** How much is sent before the stop, and how much while it lasts. */
  const parts: Record<string, [before: number, during: number]> = {
    'all of it': [0, whole.length],
    'the rest of its headers and its body': [head.length - 20, whole.length],
    'its body': [head.length, whole.length],
    'the rest of its body': [head.length + 20, whole.length],
    nothing: [0, 0],
    'a part of its headers': [0, head.length - 20],
    'a part of its body': [head.length, whole.length - 1],
  };
  // An old connection, whose next request comes during the stop.
  const kept = dial(program.url);
  kept.socket.write(headOf(lengthOf(text), own) + text);
  await once(kept.socket, 'data');
  const clients = Object.values(parts).map(() => dial(program.url));
  await Promise.all(clients.map(({ socket }) => once(socket, 'connect')));
  for (const [index, [begun]] of Object.values(parts).entries())
    clients[index]!.socket.write(whole.slice(0, begun));
  // Every connection is accepted, and its timeout runs.
  assert.equal((await program.post(chat.path, { key: own, body: text })).status, 200);
  process.kill(pid, 'SIGSTOP');
  try {
    for (const [index, [begun, during]] of Object.values(parts).entries())
      clients[index]!.socket.write(whole.slice(begun, during));
    kept.socket.write(whole);
    await setTimeout(arrivalTimeoutMs * 2);
  } finally {
    process.kill(pid, 'SIGCONT');
  }
  for (const [index, [what, [, during]]] of Object.entries(parts).entries()) {
    const answer = during === whole.length ? /^HTTP\/1\.1 200 / : /^(HTTP\/1\.1 408 |$)/;
    assert.match(await clients[index]!.rest(), answer, what);
  }
  assert.equal((await kept.rest()).match(/HTTP\/1\.1 200 /g)?.length, 2);
});

test('three hundred slow connections delay no other client', async (t) => {
  // Longer than any machine needs for one request.
  const patient = await startGateway({ server: { arrival_timeout_ms: 600_000 } });
  t.after(() => patient.stop());
  const { key: own } = await patient.makeKey();
  const sockets = Array.from({ length: 300 }, () => dial(patient.url).socket);
  await Promise.all(sockets.map((socket) => once(socket, 'connect')));
  for (const socket of sockets) socket.write(headOf(lengthOf(text), own) + text.slice(0, 10));
  assert.equal((await patient.post(chat.path, { key: own, body: text })).status, 200);
  for (const socket of sockets) socket.destroy();
});

test('a whole answer that is not read is charged, kept for a while, and dropped', async () => {
  const large = { text: 'x'.repeat(24_000_000), tokens: content.tokens };
  for (const { name, upstreamPath } of endpoints)
    gateway.upstream.on(upstreamPath, answerJson(wholeAnswer(name, large)));
  await Promise.all(
    endpoints.map(async ({ path, body }) => {
      const { key: own, account: owner } = await gateway.makeKey({ mode: 'live', creditUsd: 5 });
      const response = await gateway.open(path, { key: own, body: body() }).response;
      const closed = new Promise((resolve) =>
        response.on('error', () => {}).once('close', resolve),
      );
      const gatewaySocket = serverSocketOf(response.socket);
      await until(() => gatewaySocket.destroyed);
      // The client can still read what the kernel had accepted.
      let bytes = 0;
      response.on('data', (piece: Buffer) => (bytes += piece.length));
      await closed;
      assert.ok(
        bytes > 0 && bytes < large.text.length && !response.complete,
        `${path}: ${bytes} bytes`,
      );
      const { heldMicros, availableMicros } = await gateway.balance(owner);
      assert.deepEqual([heldMicros, availableMicros < 5_000_000], [0, true]);
    }),
  );
});

test('only requests that ran were charged, and nothing is held', async () => {
  await gateway.assertLeft(account, 5_000_000 - served * costMicros);
});

import assert from 'node:assert/strict';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { test, type TestContext } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { isPending } from '../../../tests/support/is-pending.ts';
import { TestClock } from '../../../tests/support/test-clock.ts';
import { readOwnAnswer } from '../../../tests/support/recordings.ts';
import { until } from '../../../tests/support/until.ts';
import * as local from '../../../tests/support/upstream.ts';
import type { FailedReply } from '../../canonical/make-failure.ts';
import { UpstreamBroken } from '../../canonical/upstream-broken.ts';
import { createUpstreams } from './upstreams.ts';
import type { Upstreams } from './upstreams.ts';
import type {
  UpstreamCall,
  UpstreamReply,
  UpstreamTimeouts,
} from '../../providers/upstream-call.ts';

const timeouts: UpstreamTimeouts = {
  connect_ms: 5_000,
  first_byte_ms: 20_000,
  idle_ms: 20_000,
  total_ms: 60_000,
};
const path = '/v1/chat/completions';
const largeAnswerBytesMax = 1_000_000;
const frame = 'data: {"x":1}\n\n';
const asJson = { headers: { 'content-type': 'application/json' } };

type Sender = {
  readonly upstream: local.LocalUpstream;
  readonly upstreams: Upstreams;
  readonly clock: TestClock;
  readonly send: (
    changes?: Partial<UpstreamCall>,
    changedTimeouts?: Partial<UpstreamTimeouts>,
  ) => Promise<UpstreamReply>;
};

/** A local upstream with scripts for the one path, and calls that go there. */
async function start(t: TestContext, ...scripts: local.Script[]): Promise<Sender> {
  const upstream = await local.startUpstream(t);
  const [script = local.hang, ...others] = scripts;
  upstream.on(path, script, ...others);
  const clock = new TestClock();
  const upstreams = createUpstreams({ clock, largeAnswerBytesMax });
  t.after(upstreams.close);
  return {
    upstream,
    upstreams,
    clock,
    send: (changes, changedTimeouts) =>
      upstreams.send(callTo(`${upstream.url}/v1`, changes, changedTimeouts)),
  };
}

function callTo(
  baseUrl: string,
  changes?: Partial<UpstreamCall>,
  changedTimeouts?: Partial<UpstreamTimeouts>,
): UpstreamCall {
  return {
    provider: { name: 'local', baseUrl },
    timeouts: { ...timeouts, ...changedTimeouts },
    path: '/chat/completions',
    headers: { authorization: 'Bearer k' },
    body: '{"model":"m"}',
    stream: false,
    signal: new AbortController().signal,
    ...changes,
  };
}

async function failed(reply: Promise<UpstreamReply>): Promise<FailedReply> {
  const settled = await reply;
  assert.equal(settled.kind, 'failure', JSON.stringify(settled));
  return settled;
}

async function opened(reply: Promise<UpstreamReply>): Promise<AsyncIterableIterator<Uint8Array>> {
  const settled = await reply;
  assert.equal(settled.kind, 'stream', JSON.stringify(settled));
  return settled.chunks as AsyncIterableIterator<Uint8Array>;
}

/** Calls to a server that does not speak HTTP. */
async function startForeign(t: TestContext, greeting?: string) {
  const greet = (socket: Socket) =>
    void (greeting === undefined ? socket : socket.end(greeting)).on('error', () => {});
  const server = createServer(greet).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const upstreams = createUpstreams({ clock: new TestClock(), largeAnswerBytesMax });
  t.after(upstreams.close);
  return { upstreams, host: `127.0.0.1:${(server.address() as AddressInfo).port}` };
}

/** Plays the head of an answer; what follows is written by the test. */
function answerByHand(contentType = 'text/event-stream') {
  const begun = Promise.withResolvers<ServerResponse>();
  const script: local.Script = (response) => {
    response.writeHead(200, { 'content-type': contentType }).flushHeaders();
    begun.resolve(response);
  };
  return { script, response: begun.promise };
}

/** Resolves when the next head, or the next piece of a body, has arrived from an upstream. */
async function arrivalOf(part: 'headers' | 'bodyChunkReceived'): Promise<void> {
  const channel = `undici:request:${part}`;
  await new Promise<void>((resolve) => {
    const note = () => {
      unsubscribe(channel, note);
      resolve();
    };
    subscribe(channel, note);
  });
}

/** Reads a stream to its end. Returns its text, and the error if it breaks. */
async function readAll(
  chunks: AsyncIterable<Uint8Array>,
): Promise<{ readonly text: string; readonly broken: UpstreamBroken | null }> {
  const pieces: Uint8Array[] = [];
  try {
    for await (const chunk of chunks) pieces.push(chunk);
    return { text: Buffer.concat(pieces).toString(), broken: null };
  } catch (error) {
    assert.ok(error instanceof UpstreamBroken, String(error));
    return { text: Buffer.concat(pieces).toString(), broken: error };
  }
}

test('a JSON answer comes back parsed, and the upstream gets the request unchanged', async (t) => {
  const { send, upstream } = await start(t, local.answerJson({ id: 'a' }));
  assert.deepEqual(await send(), { kind: 'answer', body: { id: 'a' } });
  const [request] = upstream.requests;
  assert.deepEqual([request?.method, request?.path, request?.body], ['POST', path, { model: 'm' }]);
  assert.partialDeepStrictEqual(request!.headers, {
    authorization: 'Bearer k',
    accept: 'application/json',
    'accept-encoding': 'identity',
    'content-type': 'application/json',
    'content-length': '13',
  });
  assert.equal(await request!.ended, 'answered');
});

test('a stream comes back as its bytes, however they are split, also inside a character', async (t) => {
  for (const [bytes, sizes] of [
    [Buffer.from(frame.repeat(3)), [1, 5, 2]],
    [readOwnAnswer('anthropic/text.sse'), [7, 100, 1]],
  ] as const) {
    const { send, upstream } = await start(t, local.answerBytes(bytes, { sizes, paceMs: 1 }));
    const { text, broken } = await readAll(await opened(send({ stream: true })));
    assert.deepEqual([text, broken], [bytes.toString(), null]);
    assert.equal(upstream.requests[0]?.headers.accept, 'text/event-stream');
  }
});

test('a base URL may have a path, a final slash, or neither', async (t) => {
  const { upstream, upstreams } = await start(t);
  upstream.on('/messages', local.answerJson(1));
  upstream.on('/a/b/messages', local.answerJson(2));
  for (const [base, body] of [
    ['', 1],
    ['/', 1],
    ['/a/b/', 2],
  ] as const) {
    const provider = { name: `at ${base}`, baseUrl: upstream.url + base };
    const reply = await upstreams.send(callTo('', { provider, path: '/messages' }));
    assert.deepEqual(reply, { kind: 'answer', body }, base);
  }
});

test('requests in sequence share a connection; concurrent requests and other providers do not', async (t) => {
  const { send, upstream } = await start(t, local.answerJson({}));
  const answerOnceCame = (index: number) =>
    upstream.on(path, async (response, request) => {
      await upstream.request(index);
      await local.answerJson({})(response, request);
    });
  for (let turn = 0; turn < 3; turn++) {
    assert.equal((await send()).kind, 'answer');
    // A connection is free again one turn of the event loop after its answer.
    await setImmediate();
  }
  assert.equal(upstream.connections(), 1);
  answerOnceCame(5);
  await Promise.all([send(), send(), send()]);
  assert.equal(upstream.connections(), 3);
  await setImmediate();
  answerOnceCame(8);
  await Promise.all([send(), send(), send()]);
  assert.equal(upstream.connections(), 3);
  await send({ provider: { name: 'other', baseUrl: `${upstream.url}/v1` } });
  assert.equal(upstream.connections(), 4);
});

test('only calls with the same connect timeout share connections', async (t) => {
  const { send, upstream } = await start(t, local.answerJson({}));
  for (const changed of [
    {},
    { idle_ms: 7_000, first_byte_ms: 7_000, total_ms: 7_000 },
    { connect_ms: 1_000 },
    {},
  ]) {
    assert.equal((await send({}, changed)).kind, 'answer');
    await setImmediate();
  }
  assert.equal(upstream.connections(), 2);
});

test('a connection is used again after a stream that was read to its end', async (t) => {
  const { send, upstream } = await start(t, local.answerSse([frame]));
  for (let turn = 0; turn < 3; turn++) {
    await readAll(await opened(send({ stream: true })));
    await setImmediate();
  }
  assert.equal(upstream.connections(), 1);
});

test('an error status is a failure with its status, its parsed body and how long to wait', async (t) => {
  const body = { error: { message: 'Slow down', type: 'rate_limit' } };
  const { send } = await start(t, local.answerStatus(429, { body, retryAfter: '7' }));
  for (const stream of [false, true]) {
    assert.deepEqual(await failed(send({ stream })), {
      kind: 'failure',
      failure: {
        kind: 'status',
        status: 429,
        message: 'HTTP 429 Too Many Requests',
        retryAfterSeconds: 7,
      },
      body,
      requestSent: true,
    });
  }
});

test('an error that is not JSON is read as text, and only its beginning', async (t) => {
  const huge = `<html>${'x'.repeat(32 * 1024 * 1024)}`;
  const { send, upstream } = await start(
    t,
    local.answerStatus(502, { body: 'Bad gateway' }),
    local.answerStatus(500, { body: huge }),
    local.thenReset('{"error":', { status: 503 }),
    local.answerStatus(504, { body: '' }),
  );
  assert.deepEqual((await failed(send())).body, 'Bad gateway');
  const { body, failure } = await failed(send());
  assert.deepEqual([failure.status, body], [500, huge.slice(0, 64 * 1024)]);
  assert.equal(await upstream.requests[1]?.ended, 'aborted', 'the rest is not fetched');
  const cut = await failed(send());
  assert.deepEqual([cut.failure.status, cut.body], [503, '{"error":']);
  const empty = await failed(send());
  assert.deepEqual([empty.failure.status, empty.body], [504, '']);
});

const error = (value: unknown) => local.answerJson({ error: value });
const typed = (body: string, name: string, value: string) =>
  local.answerJson(body, { headers: { [name]: value } });
const html = 'text/html; charset=utf-8';
const unreadable: [what: string, stream: boolean, script: local.Script, message: RegExp][] = [
  ['text in place of JSON', false, local.answerJson('<html>oops</html>'), /no JSON/],
  ['an empty body', false, local.answerJson(''), /no JSON: the body is empty/],
  ['JSON nested too deep', false, local.answerJson('['.repeat(1_001)), /nested deeper/],
  ['a stream in place of JSON', false, local.answerSse([frame]), /a stream came where JSON/],
  ['an error with status 200', false, error({ message: 'No credits' }), /^No credits$/],
  ['an error that is only text', false, error('No such model'), /^No such model$/],
  ['an error without a message', false, error({ code: 5 }), /error without a message/],
  ['an error in place of a stream', true, error({ message: 'Overloaded' }), /^Overloaded$/],
  ['JSON in place of a stream', true, local.answerJson({ id: 'a' }), /\/json came where a stream/],
  ['HTML in place of a stream', true, typed('<p>', 'content-type', html), /no JSON/],
  ['a compressed answer', false, typed('x', 'content-encoding', 'gzip'), /compressed \(gzip\)/],
];

for (const [what, stream, script, message] of unreadable) {
  test(`${what} is unreadable`, async (t) => {
    const { send } = await start(t, script);
    const {
      kind,
      status,
      retryAfterSeconds,
      message: told,
    } = (await failed(send({ stream }))).failure;
    assert.deepEqual([kind, status, retryAfterSeconds], ['unreadable', null, null]);
    assert.match(told, message);
  });
}

test('an answer whose `error` is null is an answer, and a stream may come without its content type', async (t) => {
  const { send } = await start(
    t,
    local.answerJson({ error: null }),
    local.answerSse([frame], { headers: { 'content-type': '' } }),
  );
  assert.equal((await send()).kind, 'answer');
  assert.equal((await readAll(await opened(send({ stream: true })))).text, frame);
});

test('what is not HTTP at all is unreadable', async (t) => {
  const { upstreams, host } = await startForeign(t, 'SSH-2.0-OpenSSH_9.6\r\n');
  const { failure } = await failed(upstreams.send(callTo(`http://${host}`)));
  assert.equal(failure.kind, 'unreadable', failure.message);
});

test('an answer over 64 MiB is given up', async (t) => {
  const piece = Buffer.alloc(4 * 1024 * 1024, ' ');
  const whole = Buffer.concat(Array.from({ length: 20 }, () => piece));
  const script = local.answerBytes(whole, { sizes: [piece.length], ...asJson });
  const { send, upstream } = await start(t, script);
  const { kind, message } = (await failed(send())).failure;
  assert.deepEqual([kind, message], ['unreadable', `the answer is over ${64 * 1024 * 1024} bytes`]);
  assert.equal(await upstream.requests[0]?.ended, 'aborted');
});

const longAnswer = Buffer.from(JSON.stringify({ x: 'y'.repeat(24 * 1024 * 1024) }));

test('large answers beyond the memory limit are read one at a time, and do not delay small ones', async (t) => {
  const long = local.answerBytes(longAnswer, { sizes: [256 * 1024], ...asJson });
  const { send, upstream, clock } = await start(t);
  const byHand = answerByHand('application/json');
  upstream.on(
    path,
    byHand.script,
    ...Array.from({ length: 5 }, () => long),
    local.answerJson({ small: true }),
  );
  const patient = { first_byte_ms: 600_000, idle_ms: 600_000, total_ms: 600_000 };
  const first = send({}, patient);
  const response = await byHand.response;
  // This answer fills the memory limit and has not ended: no other may continue.
  response.write(longAnswer.subarray(0, 2_000_000));
  await until(() => upstream.requests[0]!.bytesSent() >= 2_000_000);
  const controller = new AbortController();
  const others = Array.from({ length: 5 }, (_, index) =>
    send(index === 0 ? { signal: controller.signal } : {}, { total_ms: 600_000 }),
  );
  await until(() => upstream.requests.length === 6);
  assert.deepEqual(await send(), { kind: 'answer', body: { small: true } });
  const sent = () => upstream.requests.slice(1, 6).map((request) => request.bytesSent());
  for (let time = 0, before = ''; before !== String(sent()); time++) {
    before = String(sent());
    for (let turn = 0; turn < 200; turn++) await setImmediate();
  }
  // The two kernels hold some megabytes of each answer.
  for (const bytes of sent())
    assert.ok(bytes < longAnswer.length / 2, `${bytes} bytes were read without room`);
  // We cause this silence, not the upstream, so no timeout applies. An abort still works.
  await clock.advance(timeouts.idle_ms + 2_000);
  controller.abort();
  assert.equal((await failed(others[0]!)).failure.kind, 'connection');
  assert.ok(await isPending(Promise.race(others.slice(1))));
  response.end(longAnswer.subarray(2_000_000));
  for (const pending of [first, ...others.slice(1)]) {
    const reply = await pending;
    assert.ok(
      reply.kind === 'answer' && (reply.body as { x: string }).x.length === 24 * 1024 * 1024,
      reply.kind,
    );
  }
});

test('a redirect is not followed', async (t) => {
  const redirect = local.answerJson('', { status: 307, headers: { location: '/elsewhere' } });
  const { send, upstream } = await start(t, redirect);
  upstream.on('/elsewhere', local.answerJson({}));
  const { failure } = await failed(send());
  assert.deepEqual([failure.kind, failure.status], ['status', 307]);
  assert.match(failure.message, /base_url/);
  assert.equal(upstream.requests.length, 1);
});

test('a refused connection, an unknown host and a reset before the answer are failed connections', async (t) => {
  const { send, upstream } = await start(t, local.thenReset(null));
  const reset = await failed(send());
  assert.deepEqual([reset.failure.kind, reset.requestSent], ['connection', true]);
  await upstream.close();
  const refused = await failed(send({ provider: { name: 'closed', baseUrl: upstream.url } }));
  const { failure, requestSent, body } = refused;
  assert.deepEqual([failure.kind, requestSent, body], ['connection', false, null]);
  assert.match(failure.message, /ECONNREFUSED/);
  const nowhere = { name: 'u', baseUrl: 'http://unknown-host.invalid' };
  const unknown = await failed(send({ provider: nowhere }));
  assert.deepEqual([unknown.failure.kind, unknown.requestSent], ['connection', false]);
});

test('a request on a kept connection that closes meanwhile is not sent again', async (t) => {
  const closeUnanswered: local.Script = (response) => void response.socket?.end();
  const { send, upstream } = await start(
    t,
    local.answerJson({}),
    closeUnanswered,
    local.answerJson({}),
  );
  assert.equal((await send()).kind, 'answer');
  // The connection is free again.
  await setImmediate();
  const { failure, requestSent } = await failed(send());
  assert.deepEqual([failure.kind, requestSent], ['connection', true]);
  assert.deepEqual([upstream.requests.length, upstream.connections()], [2, 1]);
  assert.equal((await send()).kind, 'answer');
  assert.equal(upstream.connections(), 2);
});

test('a kept connection that the upstream closed before the request is replaced', async (t) => {
  let closedByBoth: Promise<unknown> = Promise.resolve();
  const { send, upstream } = await start(t, (response) => {
    response.end('{}');
    const { socket } = response;
    response.on('close', () => socket!.end());
    closedByBoth = once(socket!, 'close');
  });
  for (let turn = 0; turn < 3; turn++) {
    assert.equal((await send()).kind, 'answer');
    await closedByBoth;
  }
  assert.equal(upstream.requests.length, 3);
});

test('an upstream that never answers times out at most a second late', async (t) => {
  for (const [firstByteMs, endsMs] of [
    [5_000, 5_000],
    [5_001, 6_000],
  ] as const) {
    const { send, upstream, clock } = await start(t, local.hang);
    const reply = send({}, { first_byte_ms: firstByteMs });
    const request = await upstream.request(0);
    await clock.advance(endsMs - 1);
    assert.ok(await isPending(reply));
    await clock.advance(1);
    const { failure, requestSent } = await failed(reply);
    assert.equal(failure.kind, 'timeout');
    assert.equal(requestSent, true);
    assert.equal(/first_byte_ms/.test(failure.message), true);
    assert.equal(await request.ended, 'aborted');
  }
});

test('an upstream that falls silent in mid-stream times out, and its earlier bytes are delivered', async (t) => {
  const { send, upstream, clock } = await start(t, local.thenHang(frame));
  const chunks = await opened(send({ stream: true }, { idle_ms: 5_000 }));
  assert.equal(Buffer.from((await chunks.next()).value as Uint8Array).toString(), frame);
  const rest = readAll(chunks);
  await clock.advance(4_999);
  assert.ok(await isPending(rest));
  await clock.advance(1);
  assert.equal((await rest).broken?.failure.kind, 'timeout');
  assert.equal(await upstream.requests[0]?.ended, 'aborted');
});

test('`total_ms` ends an upstream that takes too long, before its answer and in mid-stream', async (t) => {
  const byHand = answerByHand();
  const { send, upstream, clock } = await start(t, local.hang, byHand.script);
  const early = send({}, { total_ms: 3_000 });
  await upstream.request(0);
  await clock.advance(2_999);
  assert.ok(await isPending(early));
  await clock.advance(1);
  const { failure } = await failed(early);
  assert.deepEqual([failure.kind, /total_ms/.test(failure.message)], ['timeout', true]);

  const chunks = await opened(send({ stream: true }, { total_ms: 3_000, idle_ms: 2_000 }));
  const response = await byHand.response;
  for (let second = 0; second < 3; second++) {
    response.write(frame);
    assert.equal((await chunks.next()).value?.length, frame.length);
    await clock.advance(1_000);
  }
  assert.match((await readAll(chunks)).broken?.failure.message ?? '', /total_ms/);
});

test('without streaming, a host may send its head first and then compute, until the first-byte timeout', async (t) => {
  const [late, endless] = [answerByHand('application/json'), answerByHand('application/json')];
  const { send, clock } = await start(t, late.script, endless.script);
  const times = { idle_ms: 1_000, first_byte_ms: 5_000 };
  const sendAndWaitForHead = async () => {
    const arrival = arrivalOf('headers');
    const reply = send({}, times);
    await arrival;
    await clock.advance(4_999);
    assert.ok(await isPending(reply));
    return { reply };
  };
  const first = await sendAndWaitForHead();
  (await late.response).end('{"late":true}');
  assert.deepEqual(await first.reply, { kind: 'answer', body: { late: true } });

  await clock.advance(1);
  const second = await sendAndWaitForHead();
  const arrival = arrivalOf('bodyChunkReceived');
  (await endless.response).write('{');
  await arrival;
  await clock.advance(5_000);
  assert.ok(await isPending(second.reply), 'each piece gives it as much time again');
  await clock.advance(1);
  assert.equal((await failed(second.reply)).failure.kind, 'timeout');
});

test('a stream that breaks off delivers its bytes and then throws', async (t) => {
  const { send } = await start(
    t,
    local.thenReset(frame.repeat(2)),
    local.thenReset('{"id":', asJson),
  );
  const { text, broken } = await readAll(await opened(send({ stream: true })));
  assert.equal(text, frame.repeat(2));
  assert.deepEqual([broken?.failure.kind, broken?.failure.status], ['broken-stream', null]);
  // Half of a JSON answer likewise.
  assert.equal((await failed(send())).failure.kind, 'broken-stream');
});

test('a stream that closes cleanly before its announced length has broken off too', async (t) => {
  const { send } = await start(t, (response) => {
    response
      .writeHead(200, { 'content-type': 'text/event-stream', 'content-length': '1000' })
      .write(frame, () => response.socket?.end());
  });
  const { broken } = await readAll(await opened(send({ stream: true })));
  assert.equal(broken?.failure.kind, 'broken-stream');
});

test('an abort destroys the request at once, before the answer and in the middle of it', async (t) => {
  const { send, upstream } = await start(t, local.hang, local.thenHang(frame));
  const early = new AbortController();
  const reply = send({ signal: early.signal });
  const request = await upstream.request(0);
  early.abort();
  const { failure, requestSent } = await failed(reply);
  assert.deepEqual([failure.kind, requestSent], ['connection', true]);
  assert.equal(await request.ended, 'aborted');

  const late = new AbortController();
  const chunks = await opened(send({ stream: true, signal: late.signal }));
  assert.equal(Buffer.from((await chunks.next()).value as Uint8Array).toString(), frame);
  const pending = chunks.next();
  late.abort();
  await assert.rejects(pending, UpstreamBroken);
  assert.equal((await chunks.next()).done, true);
  assert.equal(await upstream.requests[1]?.ended, 'aborted');
});

test('an abort before anything was sent sends nothing', async (t) => {
  const { send, upstream } = await start(t, local.answerJson({}));
  const { failure, requestSent } = await failed(send({ signal: AbortSignal.abort() }));
  assert.deepEqual([failure.kind, requestSent], ['connection', false]);
  const controller = new AbortController();
  const reply = send({ signal: controller.signal });
  controller.abort();
  assert.equal((await failed(reply)).requestSent, false);
  await send();
  assert.equal(upstream.requests.length, 1);
});

test('a reader that leaves stops the upstream, even while waiting for a chunk', async (t) => {
  const { send, upstream } = await start(t, local.thenHang(frame));
  for await (const chunk of await opened(send({ stream: true }))) {
    assert.equal(chunk.length, frame.length);
    break;
  }
  assert.equal(await upstream.requests[0]?.ended, 'aborted');

  const chunks = await opened(send({ stream: true }));
  await chunks.next();
  const pending = chunks.next();
  await chunks.return?.();
  assert.equal((await pending).done, true);
  assert.equal(await upstream.requests[1]?.ended, 'aborted');
});

test('a slow reader slows the upstream down, and then gets every byte', async (t) => {
  const total = 48 * 1024 * 1024;
  const bytes = Buffer.alloc(total, 'abcdefgh');
  const { send, upstream } = await start(t, local.answerBytes(bytes, { sizes: [16 * 1024] }));
  const readAnother = async () =>
    assert.equal((await readAll(await opened(send({ stream: true })))).text.length, total);
  const chunks = await opened(send({ stream: true }));
  let read = (await chunks.next()).value?.length ?? 0;
  await readAnother();
  const sent = upstream.requests[0]!.bytesSent();
  // The two kernels hold some megabytes of bytes in flight; we hold none of them.
  assert.ok(sent < total / 3, `${sent} bytes were taken from the upstream without a reader`);
  await readAnother();
  assert.equal(upstream.requests[0]!.bytesSent(), sent, 'nothing moves while nobody reads');
  for await (const chunk of chunks) read += chunk.length;
  assert.equal(read, total);
});

test('small pieces that arrived together are returned together', async (t) => {
  const byHand = answerByHand();
  const { send } = await start(t, byHand.script);
  const chunks = await opened(send({ stream: true }));
  const response = await byHand.response;
  for (let count = 0; count < 50; count++) {
    const arrival = arrivalOf('bodyChunkReceived');
    response.write(frame);
    await arrival;
  }
  const { value } = await chunks.next();
  assert.equal(Buffer.from(value as Uint8Array).toString(), frame.repeat(50));
});

test('`Retry-After` is read as seconds, a date or milliseconds, and nonsense is ignored', async (t) => {
  const { send, upstream, clock } = await start(t);
  const inTwoMinutes = new Date(clock.nowMs() + 120_000).toUTCString();
  const cases: [headers: Record<string, string>, seconds: number | null][] = [
    [{ 'retry-after': '3' }, 3],
    [{ 'retry-after': '0.2' }, 1],
    [{ 'retry-after': inTwoMinutes }, 120],
    [{ 'retry-after': 'Thu, 01 Jan 1998 00:00:00 GMT' }, 0],
    [{ 'retry-after': '30', 'retry-after-ms': '1500' }, 2],
    [{ 'retry-after': '99999999999' }, 86_400],
    [{ 'retry-after': 'soon' }, null],
    [{ 'retry-after': '-5' }, null],
  ];
  for (const [headers, seconds] of cases) {
    upstream.on(path, local.answerJson({}, { status: 503, headers }));
    const { failure } = await failed(send());
    assert.equal(failure.retryAfterSeconds, seconds, JSON.stringify(headers));
  }
});

test('a request that cannot be written is our own fault and throws', async (t) => {
  const { send } = await start(t, local.answerJson({}));
  await assert.rejects(
    send({ headers: { authorization: 'Bearer a\nb' } }),
    /invalid authorization header/,
  );
});

/** A provider whose credential gives these headers, or fails. */
function signedBy(baseUrl: string, headersFor: () => Promise<Readonly<Record<string, string>>>) {
  return { name: 'local', baseUrl, credential: { headersFor } };
}

test('a credential without a usable address or token is a failure, not a fault of ours', async (t) => {
  const { send, upstream } = await start(t, local.answerJson({}));
  for (const headersFor of [
    async () => ({ authorization: new URL('login.example').href }),
    async () => ({ authorization: 'Bearer <html>\n' }),
  ]) {
    const { failure, requestSent } = await failed(
      send({ provider: signedBy(upstream.url, headersFor) }),
    );
    assert.deepEqual([failure.kind, requestSent], ['connection', false]);
    assert.doesNotMatch(failure.message, /html/);
  }
  assert.equal(upstream.requests.length, 0);
});

test('an abort does not wait for a token, and asks for none once it is there', async (t) => {
  const { send, upstream } = await start(t, local.answerJson({}));
  let asked = 0;
  const headersFor = () => {
    asked += 1;
    return new Promise<never>(() => {});
  };
  const controller = new AbortController();
  const call = { provider: signedBy(upstream.url, headersFor), signal: controller.signal };
  const reply = send(call);
  controller.abort();
  assert.equal((await failed(reply)).requestSent, false);
  await failed(send(call));
  assert.equal(asked, 1);
});

test('a connection that does not open in time is a failed connection', async (t) => {
  // The server accepts the connection but never completes the TLS handshake.
  const { upstreams, host } = await startForeign(t);
  const call = callTo(`https://${host}`, {}, { connect_ms: 100 });
  const { failure, requestSent } = await failed(upstreams.send(call));
  assert.deepEqual([failure.kind, requestSent], ['connection', false]);
  assert.match(failure.message, /CONNECT_TIMEOUT/);
});

test('closing destroys running calls, and later calls fail', async (t) => {
  const { send, upstream, upstreams } = await start(t, local.hang);
  const reply = send();
  await upstream.request(0);
  await upstreams.close();
  assert.equal((await failed(reply)).failure.kind, 'connection');
  assert.equal((await failed(send())).failure.kind, 'connection');
});

test('a finished exchange leaves no listener on the signal', async (t) => {
  const { send } = await start(t, local.answerJson({}));
  const controller = new AbortController();
  let listeners = 0;
  const { signal } = controller;
  const add = signal.addEventListener.bind(signal);
  const remove = signal.removeEventListener.bind(signal);
  signal.addEventListener = (...all: Parameters<typeof add>) => (listeners++, add(...all));
  signal.removeEventListener = (...all: Parameters<typeof remove>) => (listeners--, remove(...all));
  await send({ signal });
  assert.equal(listeners, 0);
});

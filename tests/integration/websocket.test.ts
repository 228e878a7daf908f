// Responses over WebSocket: each frame runs, is charged, limited and refused as a request over HTTP
// is.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { text as readAll } from 'node:stream/consumers';
import { after, test } from 'node:test';
import { streamFrames } from '../support/answers.ts';
import { startGateway } from '../support/gateway.ts';
import { ResponsesSocket, refusedUpgrade } from '../support/responses-socket.ts';
import { TestClock } from '../support/test-clock.ts';
import { until } from '../support/until.ts';
import { answerInParts, answerSse, answerStatus } from '../support/upstream.ts';
import { noticeKeyChanges } from '../support/notice-key-changes.ts';

const content = { text: 'Good morning to you', tokens: { input: 50, output: 9 } };
const { start, deltas, end } = streamFrames('responses', content);
const answer = answerSse([...start, ...deltas, ...end]);
const bodyBytesMax = 200_000;

const clock = new TestClock();
const gateway = await startGateway(
  {
    server: { body_limit_bytes: bodyBytesMax, cors_origins: ['https://app.example.com'] },
    log: { level: 'info' },
  },
  { clock },
);
after(() => gateway.stop());

const newKey = (options: object = {}) => gateway.makeKey({ creditUsd: 5, ...options });
const model = 'gpt-6-luna';
const ask = { model, input: 'Hello', max_output_tokens: 100 };

/** Opens a connection that ends with the test. */
async function open(t: { after: (end: () => void) => void }, key: string, options: object = {}) {
  const socket = await ResponsesSocket.open(gateway.url, { key, ...options });
  t.after(() => socket.raw.terminate());
  return socket;
}

test('a frame is answered with the events of a stream, and charged as over HTTP', async (t) => {
  const { key, account } = await newKey();
  gateway.upstream.on('/v1/responses', answer);
  const overHttp = await gateway.post('/v1/responses', { key, body: { ...ask, stream: true } });
  const paid = 5_000_000 - (await gateway.balance(account)).availableMicros;
  const socket = await open(t, key);
  assert.match(String(socket.headers['x-request-id']), /^req_/);
  const { response } = await socket.create(ask);
  assert.deepEqual(
    socket.frames,
    overHttp.frames.filter(({ comment }) => comment === null).map(({ data }) => data),
  );
  assert.equal(response!.usage['cost'], paid / 1e6);
  await gateway.assertLeft(account, 5_000_000 - 2 * paid);
  // The same records, with ids of their own.
  const records = await gateway.usage(key);
  assert.equal(records.length, 2);
  assert.equal(new Set(records.map(({ request_id: id }) => id)).size, 2);
  await until(() => logged().length === 3);
  assert.deepEqual(
    logged().map(({ method, status, client_gone: gone }) => [method, status, gone]),
    [
      ['POST', 200, false],
      ['GET', 101, false],
      ['POST', 200, false],
    ],
  );
});

/** The log lines of this file's requests. */
function logged(): Record<string, unknown>[] {
  return gateway.program.output
    .split('\n')
    .filter((line) => line.includes('"route":"/v1/responses"'))
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

test('the next frame goes on from the last response: only new items are sent', async (t) => {
  const { key } = await newKey();
  gateway.upstream.on('/v1/responses', answer);
  const socket = await open(t, key);
  const tools = [{ type: 'function', name: 'look', parameters: { type: 'object' } }];
  const system = { role: 'developer', content: 'Be brief.' };
  const sent = gateway.upstream.requests.length;
  const warm = await socket.create({ model, tools, input: [system], generate: false });
  assert.deepEqual([warm.type, warm.response!.output], ['response.completed', []]);
  assert.equal(gateway.upstream.requests.length, sent);
  // Codex warms up without any input, too.
  const empty = await socket.create({ model, tools, input: [], generate: false });
  await socket.create({ model, input: 'Hello', previous_response_id: empty.response!.id });
  assert.deepEqual(inputs().at(-1), 'Hello');
  const again = await socket.create({ model, tools, input: [system], generate: false });
  const first = await socket.create({
    model,
    tools,
    input: [{ role: 'user', content: 'Hello' }],
    previous_response_id: again.response!.id,
  });
  assert.deepEqual(inputs().at(-1), [system, { role: 'user', content: 'Hello' }]);
  const second = await socket.create({
    model,
    input: 'And now?',
    previous_response_id: first.response!.id,
  });
  assert.equal(second.type, 'response.completed');
  const [kept, hello, said, now] = inputs().at(-1)! as Record<string, unknown>[];
  assert.deepEqual([kept, hello], [system, { role: 'user', content: 'Hello' }]);
  assert.deepEqual(said!['content'], first.response!.output[0]!['content']);
  assert.deepEqual(now, { role: 'user', content: 'And now?' });
  // The last response only, and on this connection only.
  for (const id of [warm.response!.id, 'resp_unknown', 7]) {
    const frame = await socket.create({ ...ask, previous_response_id: id, stream_id: 'lane' });
    assert.equal(frame.type, 'error');
    assert.equal(frame.status, 400);
    assert.equal(frame['stream_id'], 'lane');
    const { code, type, param, message } = frame.error!;
    assert.deepEqual([code, param], ['previous_response_not_found', 'previous_response_id']);
    assert.equal(type, 'previous_response_not_found');
    assert.match(String(message), /Send the whole conversation/);
  }
  const other = await open(t, key);
  const elsewhere = await other.create({ ...ask, previous_response_id: second.response!.id });
  assert.equal(elsewhere.error!.code, 'previous_response_not_found');
  // A failure forgets nothing.
  gateway.upstream.on('/v1/responses', answerStatus(500), answer);
  const more = { model, input: 'Once more', previous_response_id: second.response!.id };
  assert.equal((await socket.create(more)).status, 502);
  assert.equal((await socket.create(more)).type, 'response.completed');
  assert.equal(inputs().at(-1)!.length, 6);
});

function inputs(): unknown[][] {
  return gateway.upstream.requests.map(({ body }) => (body as { input: unknown[] }).input);
}

test('a conversation over a connection equals the same one over HTTP, for the provider', async (t) => {
  const { key } = await newKey();
  gateway.upstream.on('/v1/responses', answer);
  const socket = await open(t, key);
  const whole: unknown[] = [];
  let previous: string | null = null;
  for (let turn = 0; turn < 5; turn++) {
    const items = [{ role: 'user', content: `Turn ${turn}: “ünïcode”, \\ and "quotes"` }];
    whole.push(...items);
    const frame = await socket.create({
      model,
      input: items,
      ...(previous && { previous_response_id: previous }),
    });
    const overSocket = gateway.upstream.requests.at(-1)!.body;
    await gateway.post('/v1/responses', { key, body: { model, input: whole, stream: true } });
    assert.deepEqual(overSocket, gateway.upstream.requests.at(-1)!.body);
    whole.push(...frame.response!.output);
    previous = frame.response!.id;
  }
});

test('a lane’s name is repeated in each frame', async (t) => {
  const { key } = await newKey();
  gateway.upstream.on('/v1/responses', answer);
  const socket = await open(t, key);
  await socket.create({ ...ask, stream_id: 'a "lane"' });
  assert.ok(socket.frames.length > 5);
  for (const frame of socket.frames) assert.equal(frame['stream_id'], 'a "lane"');
});

test('one response runs at a time, one waits, and more are refused', async (t) => {
  const { key } = await newKey();
  const parts = answerInParts(start, [...deltas, ...end]);
  gateway.upstream.on('/v1/responses', parts.script, answer);
  const socket = await open(t, key);
  const earlier = gateway.upstream.requests.length;
  for (const name of ['first', 'second', 'third'])
    socket.send({ type: 'response.create', ...ask, input: name, stream_id: name });
  await gateway.upstream.request(earlier);
  const refused = await nextError(socket);
  assert.deepEqual([refused.status, refused.error!.code], [429, 'rate_limit_exceeded']);
  assert.equal(gateway.upstream.requests.length, earlier + 1);
  parts.release();
  await socket.last();
  await socket.last();
  const order = socket.frames.filter(({ type }) => type === 'response.completed');
  assert.deepEqual(
    order.map((frame) => frame['stream_id']),
    ['first', 'second'],
  );
});

async function nextError(socket: ResponsesSocket) {
  for (;;) {
    const frame = await socket.next();
    if (frame.type === 'error') return frame;
  }
}

test('what HTTP refuses is refused in a frame with the same status, error and headers', async (t) => {
  const { key } = await newKey({ creditUsd: 0.000001 });
  const socket = await open(t, key);
  for (const [fields, status] of [
    [{ ...ask, model: 'nothing' }, 404],
    [{ model }, 400],
    [{ ...ask, input: 7 }, 400],
    [{ ...ask, background: true }, 400],
    [{ ...ask, background_options: {}, temperature: 9 }, 400],
    [ask, 402],
  ] as const) {
    const overHttp = await gateway.post('/v1/responses', {
      key,
      body: { ...fields, stream: true },
    });
    assert.equal(overHttp.status, status, overHttp.text);
    const frame = await socket.create(fields);
    assert.equal(frame.type, 'error');
    assert.equal(frame.status, status);
    const { request_id: id, details, ...error } = frame.error!;
    const { request_id: otherId, details: otherDetails, ...expected } = overHttp.error;
    assert.deepEqual(error, expected);
    assert.deepEqual(Object.keys(details ?? {}), Object.keys(otherDetails ?? {}));
    assert.notEqual(id, otherId);
    assert.equal((frame['headers'] as Record<string, string>)['x-request-id'], id);
  }
});

test('limits of requests count, and say when to come back', async (t) => {
  const { key } = await newKey({ requestsPerMinute: 1 });
  gateway.upstream.on('/v1/responses', answer);
  const socket = await open(t, key);
  assert.equal((await socket.create(ask)).type, 'response.completed');
  const frame = await socket.create(ask);
  assert.deepEqual([frame.status, frame.error!.code], [429, 'rate_limit_exceeded']);
  assert.ok(Number((frame['headers'] as Record<string, string>)['retry-after']) > 0);
});

for (const [what, frame, message] of [
  ['no JSON', '{"type":', /cannot be read/],
  ['no object', '[]', /JSON object/],
  ['no type', '{}', /type must be `response\.create`/],
  [
    'another type',
    '{"type":"response.cancel"}',
    /type must be `response\.create`.*response\.cancel/,
  ],
  ['a lane without a name', '{"type":"response.create","stream_id":""}', /stream_id must be/],
  ['a deep frame', `{"type":"response.create","input":${'['.repeat(500)}`, /nested deeper/],
  ['many values', `{"type":"response.create","input":[${'1,'.repeat(60_000)}1]}`, /more than/],
] as const)
  test(`a frame with ${what} is refused, and the connection goes on`, async (t) => {
    const { key } = await newKey();
    gateway.upstream.on('/v1/responses', answer);
    const socket = await open(t, key);
    socket.send(frame);
    const refused = await socket.next();
    assert.deepEqual([refused.type, refused.status], ['error', 400]);
    assert.match(String(refused.error!['message']), message);
    assert.equal((await socket.create(ask)).type, 'response.completed');
  });

test('a frame of bytes is refused, and one that is too large ends the connection', async (t) => {
  const { key } = await newKey();
  const socket = await open(t, key);
  socket.raw.send(Buffer.from('{}'));
  assert.match(String((await socket.next()).error!['message']), /frames of text/);
  const large = await socket.create({ ...ask, input: 'x'.repeat(bodyBytesMax) });
  assert.deepEqual([large.status, large.error!.code], [413, 'request_too_large']);
  socket.send({ type: 'response.create', ...ask, input: 'x'.repeat(1.8 * bodyBytesMax) });
  assert.equal((await socket.next()).error!.code, 'request_too_large');
  assert.equal(await socket.closed(), 1009);
});

test('a frame that steers gets its input back while the response runs on', async (t) => {
  const { key } = await newKey();
  const parts = answerInParts([...start, ...deltas.slice(0, 2)], [...deltas.slice(2), ...end]);
  gateway.upstream.on('/v1/responses', parts.script, answer);
  const socket = await open(t, key);
  socket.send({ type: 'response.create', ...ask, stream_id: 'lane' });
  const { response } = await socket.next();
  const steer = { previous_response_id: response!.id, input: 'Be brief.' };
  socket.send({ type: 'response.steer', ...steer });
  let frame = await socket.next();
  while (frame.type !== 'response.steer.failed') frame = await socket.next();
  assert.equal(frame.error!.code, 'steering_not_supported');
  assert.deepEqual([frame['steer'], frame['stream_id']], [steer, 'lane']);
  // It does not wait in the place of the next request.
  socket.send({ type: 'response.create', ...ask });
  parts.release();
  assert.equal((await socket.last()).type, 'response.completed');
  assert.equal((await socket.last()).type, 'response.completed');
});

test('a client that leaves has gone: its answer is read on and charged', async (t) => {
  const { key, account } = await newKey();
  const parts = answerInParts([...start, ...deltas.slice(0, 2)], [...deltas.slice(2), ...end]);
  gateway.upstream.on('/v1/responses', parts.script);
  const socket = await open(t, key);
  socket.send({ type: 'response.create', ...ask });
  while ((await socket.next()).type !== 'response.output_text.delta');
  socket.raw.terminate();
  await until(() => gateway.program.app.gateway.runs.count === 1);
  parts.release();
  await until(async () => (await gateway.usage(key)).length === 1);
  const [record] = await gateway.usage<{ finish: string }>(key);
  const { availableMicros, heldMicros } = await gateway.balance(account);
  assert.equal(heldMicros, 0);
  assert.ok(availableMicros < 5_000_000, JSON.stringify(record));
});

test('a key that is revoked stops working on an open connection', async (t) => {
  const { key, id } = await newKey();
  gateway.upstream.on('/v1/responses', answer);
  const socket = await open(t, key);
  assert.equal((await socket.create(ask)).type, 'response.completed');
  await gateway.database.write
    .updateTable('api_keys')
    .set({ revoked_at_ms: clock.nowMs() })
    .where('id', '=', id)
    .execute();
  await noticeKeyChanges(gateway, { clock });
  const frame = await socket.create(ask);
  assert.deepEqual([frame.status, frame.error!.code], [401, 'invalid_api_key']);
  assert.equal(await socket.closed(), 1008);
});

test('an upgrade is refused in HTTP, with the status of any request', async () => {
  const { key } = await newKey();
  const scoped = await newKey({ scopes: ['usage'] });
  const elsewhere = await newKey({ allowedAddresses: ['192.0.2.0/24'] });
  const page = { origin: 'https://evil.example.com' };
  const url = gateway.url;
  for (const [options, status, code] of [
    [{}, 401, 'invalid_api_key'],
    [{ key: 'tg_live_wrong' }, 401, 'invalid_api_key'],
    [{ key: scoped.key }, 403, 'key_scope_missing'],
    [{ key: elsewhere.key }, 403, 'address_not_allowed'],
    [{ key, ...page }, 403, 'not_permitted'],
    [{ headers: { cookie: 'tollgate_session=abc' } }, 401, 'invalid_api_key'],
    [{ key, path: '/v1/messages' }, 426, 'upgrade_required'],
    [{ key, path: '/v1/nothing' }, 404, 'not_found'],
  ] as const) {
    const refused = await refusedUpgrade(url, options);
    assert.deepEqual([refused.status, refused.error['code']], [status, code]);
    assert.match(String(refused.headers['x-request-id']), /^req_/);
  }
  const socket = await ResponsesSocket.open(url, { key, origin: 'https://app.example.com' });
  await socket.close();
  const byQuery = await ResponsesSocket.open(url, { path: `/v1/responses?api_key=${key}` });
  gateway.upstream.on('/v1/responses', answer);
  assert.equal((await byQuery.create(ask)).type, 'response.completed');
  await byQuery.close();
});

test('handshakes that are none are refused, and connections with earlier requests closed', async () => {
  const { key } = await newKey();
  const head = `GET /v1/responses HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n`;
  const upgrade = `${head}Connection: Upgrade\r\nUpgrade: websocket\r\n`;
  for (const [bytes, expected] of [
    [`${head}\r\n`, /^HTTP\/1\.1 426 [\s\S]*upgrade: websocket[\s\S]*upgrade_required/i],
    [`${upgrade}\r\n`, /^HTTP\/1\.1 400 /],
    [`${upgrade}Sec-WebSocket-Key: short\r\nSec-WebSocket-Version: 13\r\n\r\n`, /^HTTP\/1\.1 400 /],
    [
      `${upgrade}Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 7\r\n\r\n`,
      /^HTTP\/1\.1 400 /,
    ],
    [`${head}\r\n${upgrade}\r\n`, /^/],
  ] as const) {
    const socket = connect(Number(new URL(gateway.url).port), '127.0.0.1');
    await once(socket, 'connect');
    socket.write(
      bytes.startsWith(upgrade)
        ? bytes
        : bytes.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n'),
    );
    assert.match(await readAll(socket), expected);
  }
  // The gateway still works.
  assert.equal((await gateway.get('/v1/balance', { key })).status, 200);
});

test('the upgrade’s Idempotency-Key counts for no frame', async (t) => {
  const { key } = await newKey();
  gateway.upstream.on('/v1/responses', answer);
  const socket = await open(t, key, { headers: { 'idempotency-key': 'once' } });
  const earlier = gateway.upstream.requests.length;
  for (const input of ['one', 'one', 'two'])
    assert.equal((await socket.create({ ...ask, input })).type, 'response.completed');
  assert.equal(gateway.upstream.requests.length, earlier + 3);
});

test('idle connections end after ten minutes, and dead ones sooner', async (t) => {
  const { key } = await newKey();
  const idle = await open(t, key);
  const dead = await open(t, key, { autoPong: false });
  let pings = 0;
  idle.raw.on('ping', () => pings++);
  await clock.advanceUntil(() => dead.raw.readyState === dead.raw.CLOSED, {
    stepMs: 30_000,
    withinMs: 120_000,
  });
  await clock.advanceUntil(() => pings > 0 && idle.raw.readyState === idle.raw.CLOSED, {
    stepMs: 30_000,
    withinMs: 700_000,
  });
  assert.equal(await idle.closed(), 1000);
});

test('a connection ends after 60 minutes, and says why', async (t) => {
  const { key } = await newKey({ creditUsd: 50 });
  gateway.upstream.on('/v1/responses', answer);
  const socket = await open(t, key);
  for (let minutes = 0; minutes < 55; minutes += 5) {
    for (let step = 0; step < 10; step++) {
      const pinged = once(socket.raw, 'ping');
      await clock.advance(30_000);
      await pinged;
    }
    assert.equal((await socket.create(ask)).type, 'response.completed');
  }
  const frame = clock.advanceUntil(() => socket.frames.at(-1)!.type === 'error', {
    stepMs: 30_000,
  });
  await frame;
  const last = socket.frames.at(-1)!;
  assert.deepEqual([last.status, last.error!.code], [400, 'websocket_connection_limit_reached']);
  assert.equal(await socket.closed(), 1000);
});

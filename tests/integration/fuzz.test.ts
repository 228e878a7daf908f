// Untrusted input: bodies with random values in any field, odd headers and URLs, and bytes that are
// hardly HTTP. Each request gets an answer in its endpoint's shape that says what is wrong. Only a
// success costs anything.
import assert from 'node:assert/strict';
import { connect, type Socket } from 'node:net';
import { after, test } from 'node:test';
import { answerContent } from '../support/answers.ts';
import { endpoints, type Endpoint } from '../support/endpoints.ts';
import { metricsToken, startGateway } from '../support/gateway.ts';
import type { Reply } from '../support/http.ts';
import {
  oddNames,
  oddNumbers,
  oddSchemas,
  oddTexts,
  fieldsOf,
  setOwnField,
} from '../support/odd-values.ts';
import fc from '../support/property.ts';
import { richBodies, type Json } from '../support/rich-bodies.ts';
import { until } from '../support/until.ts';
import { scaled } from '../support/volume.ts';

const chargedMicros = { live: 0, test: 0 };
const startMicros = { live: 0, test: 0 };

const gateway = await startGateway({ metrics: { token: metricsToken } });
const keys = {
  live: await gateway.makeKey({ mode: 'live', creditUsd: 100_000 }),
  test: await gateway.makeKey(),
};
for (const { name, upstreamPath } of endpoints) {
  gateway.upstream.on(
    upstreamPath,
    answerContent(name, { text: 'Here it is.', tokens: { input: 9, output: 4 } }),
  );
}
for (const mode of ['live', 'test'] as const) startMicros[mode] = await posted(mode);
after(() => gateway.stop());

async function posted(mode: 'live' | 'test'): Promise<number> {
  return (await gateway.balance(keys[mode].account, mode)).postedMicros;
}

const odd: fc.Arbitrary<Json> = fc.oneof(
  fc.constantFrom<Json>(
    null,
    true,
    false,
    [],
    {},
    [[]],
    [null],
    [{}],
    { type: 'function' },
    ...oddSchemas,
  ),
  fc.constantFrom(...oddNumbers),
  fc.constantFrom(...oddTexts),
  fc
    .integer({ min: 60, max: 80 })
    .map((depth) => JSON.parse('['.repeat(depth) + ']'.repeat(depth)) as Json),
  fc.jsonValue({ maxDepth: 3, stringUnit: 'binary' }) as fc.Arbitrary<Json>,
  fc
    .integer({ min: 100, max: 400 })
    .map((length) =>
      Array.from({ length }, () => ({ role: 'user', content: 'Hi', type: 'message' })),
    ),
);

/** `place`: the index among all fields and items of the body; `kind`: the change. */
type Mutation = {
  readonly kind: 'replace' | 'remove' | 'add' | 'repeat';
  readonly place: number;
  readonly name: string;
  readonly value: Json;
};
const mutation: fc.Arbitrary<Mutation> = fc.record({
  kind: fc.constantFrom('replace', 'replace', 'remove', 'add', 'repeat'),
  place: fc.nat(10_000),
  name: fc.constantFrom(...oddNames),
  value: odd,
});

/** The final change to the body's text. */
const spoilings: readonly ((text: string) => string)[] = [
  ...Array.from({ length: 12 }, () => (text: string) => text),
  (text) => text.slice(0, -3),
  (text) => `\ufeff${text}`,
  (text) => text.replace('"model"', '"model":"nope","model"'),
  (text) => text.replace('{', '{"__proto__":{"stream":true,"n":9},'),
  (text) => `[${text}]`,
  (text) => text.replace(/"(?:temperature|top_k)":1\b/, '"temperature":1e999'),
];
const headers = fc.constantFrom<Record<string, string>>(
  {},
  {},
  { 'content-type': 'application/json; charset=latin1' },
  { 'content-type': 'application/vnd.x+json' },
  { 'anthropic-beta': 'skills-2025-10-02, \u00e9, a b' },
  { 'idempotency-key': '\u00ff'.repeat(50) },
  { 'x-forwarded-for': ',,,', 'x-api-key': 'sk-ant-oat', 'accept-encoding': 'br;q=9' },
  { expect: 'miracles' },
);
const queries = fc.constantFrom(
  '',
  '',
  '?',
  '?beta=true',
  '?api_key=&api_key=x',
  '?%',
  '?__proto__=1&a[b]=c',
  '?'.repeat(500),
);

const anyAttempt = fc.record({
  endpoint: fc.constantFrom(...endpoints),
  mode: fc.constantFrom('live' as const, 'test' as const),
  stream: fc.boolean(),
  otherModel: fc.boolean(),
  mutations: fc.array(mutation, { maxLength: 3 }),
  spoiling: fc.nat(spoilings.length - 1),
  headers,
  query: queries,
});
type Attempt = typeof anyAttempt extends fc.Arbitrary<infer Value> ? Value : never;

const requestsAtOnce = 8;
/** A limit for hangs only. */
const hangMs = 120_000;
const rounds = scaled(46, 230);

test(`${rounds} rounds of malformed requests cause no internal error, no hang and no charge for an error`, async (t) => {
  const together = fc.array(anyAttempt, { minLength: 1, maxLength: requestsAtOnce, size: 'max' });
  const property = fc.asyncProperty(
    together,
    async (attempts) => void (await Promise.all(attempts.map(check))),
  );
  await fc.assert(property, { numRuns: rounds, timeout: hangMs });
  t.diagnostic(JSON.stringify(seen));
  assert.ok(
    (seen[200] ?? 0) > rounds / 10 && (seen[400] ?? 0) > rounds / 10,
    'both kinds of requests are among them',
  );
});

const seen: Record<number, number> = {};

async function check(attempt: Attempt): Promise<void> {
  const { endpoint, mode } = attempt;
  const reply = await gateway.post(endpoint.path + attempt.query, {
    key: keys[mode].key,
    headers: attempt.headers,
    body: bodyOf(attempt),
  });
  seen[reply.status] = (seen[reply.status] ?? 0) + 1;
  assert.match(reply.requestId, /^req_/);
  if (reply.status === 200) chargedMicros[mode] += checkSuccess(reply);
  else checkError(reply, endpoint);
}

function bodyOf({ endpoint, stream, otherModel, mutations, spoiling }: Attempt): string {
  const rich = richBodies[endpoint.name];
  const other = endpoint.name === 'messages' ? 'gpt-6-luna' : 'claude-haiku-4-5';
  const body = structuredClone({ ...rich, stream, ...(otherModel ? { model: other } : {}) });
  for (const step of mutations) mutate(body, step);
  return spoilings[spoiling]!(JSON.stringify(body));
}

function mutate(body: object, { kind, place, name, value: shared }: Mutation): void {
  const value = structuredClone(shared);
  const places = fieldsOf(body);
  const [parent, field] = places[place % places.length]!;
  if (kind === 'replace') setOwnField(parent, field, value);
  else if (kind === 'add')
    setOwnField(parent, Array.isArray(parent) ? String(parent.length) : name, value);
  else if (kind === 'remove') Reflect.deleteProperty(parent, field);
  else setOwnField(parent, field, [parent[field], parent[field]]);
}

/**
 * Returns the cost, which every success reports. Requests that share an idempotency key may be the
 * same request.
 */
function checkSuccess(reply: Reply): number {
  const { costMicros } = reply;
  const isReplay =
    (reply.headers['x-service-cache'] ?? reply.trailers['x-service-cache']) === 'idempotent-replay';
  assert.ok(
    costMicros !== null && costMicros > 0 !== isReplay,
    `no cost: ${reply.text.slice(-300)}`,
  );
  return costMicros;
}

/** Only the request can be at fault: the upstream answers everything. */
function checkError(reply: Reply, { name }: Endpoint): void {
  assert.ok(reply.status >= 400 && reply.status < 500, `${reply.status} ${reply.text}`);
  assert.equal(reply.costMicros, null);
  const { type, message, code, param, request_id: requestId } = reply.error;
  assert.equal(requestId, reply.requestId);
  assert.ok(message.length > 0 && message.length < 2_000);
  assert.doesNotMatch(message, /\n\s+at |node_modules/);
  if (name === 'responses') assert.equal(type, code);
  else assert.match(type, /_error$|^insufficient_quota$/);
  // A part with an address is found in what would be sent, whose paths are the host's.
  const isWhole =
    /cannot be read|the body|json_object|sandbox|tool choice|defines no tool|^A part of type/i.test(
      message,
    );
  if (code === 'invalid_request' && name !== 'messages' && !isWhole)
    assert.equal(typeof param, 'string', message);
}

test('bodies of megabytes, and with thousands of parts, get an answer', async () => {
  const text = 'x'.repeat(scaled(1_000_000, 10_000_000));
  for (const { path, body, name } of endpoints) {
    const messages = Array.from({ length: scaled(2_000, 20_000) }, () => ({
      role: 'user',
      content: 'Hi',
    }));
    const many = body(name === 'responses' ? { input: messages } : { messages });
    for (const sent of [
      body({ metadata: { a: text } }),
      body({ odd: text }),
      body({ [text]: 1 }),
      many,
    ]) {
      const reply = await gateway.post(path, { key: keys.test.key, body: sent });
      assert.ok(
        reply.status === 200 || reply.status === 400,
        `${reply.status} ${reply.text.slice(0, 300)}`,
      );
      if (reply.status === 200) chargedMicros.test += checkSuccess(reply);
    }
  }
});

/** Raw requests; `KEY` is replaced. Each answer has a request id. */
const rawRequests: Readonly<Record<string, readonly [status: number, bytes: string]>> = {
  'no HTTP at all': [400, '\u0016\u0003\u0001\u0002\0\u0001\0\u0001\r\n\r\n'],
  'an address that cannot be decoded': [400, 'GET /v1/models/%zz HTTP/1.1\r\nHost: x\r\n\r\n'],
  'another such, of Messages': [400, 'POST /v1/messages/%zz HTTP/1.1\r\nHost: x\r\n\r\n'],
  'an address with a zero': [400, 'GET /v1/models/%00 HTTP/1.1\r\nHost: x\r\n\r\n'],
  'an expectation that is not known': [
    200,
    'GET /v1/models HTTP/1.1\r\nHost: x\r\nExpect: miracles\r\n\r\n',
  ],
  'headers without an end': [
    431,
    `GET /v1/models HTTP/1.1\r\nHost: x\r\nX-A: ${'a'.repeat(40_000)}\r\n\r\n`,
  ],
  'two lengths': [400, post('Content-Length: 3\r\nContent-Length: 4\r\n', '{}')],
  'a length and chunks': [
    400,
    post('Content-Length: 2\r\nTransfer-Encoding: chunked\r\n', '2\r\n{}\r\n0\r\n\r\n'),
  ],
  'a length below 0': [400, post('Content-Length: -1\r\n', '{}')],
  'an absurd length': [413, post('Content-Length: 99999999999\r\n', '{}')],
  'a broken chunk': [400, post('Transfer-Encoding: chunked\r\n', 'zz\r\n{}\r\n')],
  'a length that is too short': [400, post('Content-Length: 9\r\n', '{"model":"gpt-6-luna"}')],
  'no body': [400, post('', '')],
  OPTIONS: [405, 'OPTIONS /v1/responses HTTP/1.1\r\nHost: x\r\n\r\n'],
  HEAD: [200, 'HEAD /v1/models HTTP/1.1\r\nHost: x\r\n\r\n'],
  'an upgrade': [
    200,
    'GET /v1/models HTTP/1.1\r\nHost: x\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n',
  ],
};

function post(head: string, body: string): string {
  return `POST /v1/responses HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer KEY\r\nContent-Type: application/json\r\n${head}\r\n${body}`;
}

test('bytes that are hardly HTTP get an answer', async (t) => {
  const all = Object.entries(rawRequests).map(([name, [status, bytes]]) =>
    t.test(name, async () => {
      const answer = await exchange(asLast(bytes));
      assert.match(answer, new RegExp(`^HTTP/1\\.1 ${status} `));
      assert.match(answer, /\r\nx-request-id: req_/i);
      if (status >= 400) assert.match(answer, /"error":\{/);
    }),
  );
  await Promise.all(all);
});

test('half a body from a client that leaves costs nothing', async () => {
  const socket = connectToGateway();
  socket.write(post('Content-Length: 900\r\n', '{"model":'), () => socket.destroy());
  assert.equal(await textOf(socket), '');
});

test('pipelined requests are answered in order, each charged', async () => {
  const body = JSON.stringify({
    model: 'gpt-6-luna',
    input: 'Hi',
    stream: true,
    max_output_tokens: 50,
  });
  const request = post(`Content-Length: ${body.length}\r\n`, body);
  const answer = await exchange(request.repeat(4) + asLast(request));
  const costs = [...answer.matchAll(/x-service-cost-micros: (\d+)/gi)].map((match) =>
    Number(match[1]),
  );
  assert.equal(costs.length, 5);
  chargedMicros.test += costs.reduce((sum, cost) => sum + cost, 0);
});

/** The gateway closes the connection after its answer. */
function asLast(bytes: string): string {
  return bytes.replace('Host: x\r\n', 'Host: x\r\nConnection: close\r\n');
}

/** Sends bytes. Returns everything received until the gateway closes the connection. */
function exchange(bytes: string): Promise<string> {
  const socket = connectToGateway();
  socket.write(bytes.replaceAll('KEY', keys.test.key), 'latin1');
  return textOf(socket);
}

function connectToGateway(): Socket {
  return connect(Number(new URL(gateway.url).port), '127.0.0.1');
}

function textOf(socket: Socket): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    socket.setEncoding('utf8');
    socket.on('data', (piece: string) => (text += piece));
    socket.on('error', () => {});
    socket.on('close', () => resolve(text));
  });
}

test('at the end nothing is held, and the balances fell by exactly the reported costs', async () => {
  await until(
    async () =>
      (await gateway.get('/readyz', { key: metricsToken })).json<{ running: number }>().running ===
      0,
  );
  for (const mode of ['live', 'test'] as const) {
    const { heldMicros, postedMicros } = await gateway.balance(keys[mode].account, mode);
    assert.equal(heldMicros, 0);
    assert.equal(startMicros[mode] - postedMicros, chargedMicros[mode], mode);
  }
  const faults = gateway.program.output
    .split('\n')
    .filter((line) => /"level":(?:50|60)/.test(line));
  assert.deepEqual(faults, []);
});

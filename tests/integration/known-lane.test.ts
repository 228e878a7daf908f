// The shorter ways of requests whose answers are known (src/server/known/) beside the full one: nobody can tell which was taken, but by the
// order of the headers. A slash at the end of the path keeps a request off the shorter ways, a new connection off the shortest.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Agent, request as httpRequest, type IncomingMessage } from 'node:http';
import { after, before, describe, test } from '../support/both-stores.ts';
import { endpoint, endpoints, type Endpoint } from '../support/endpoints.ts';
import { metricsToken, startGateway, type KeyOptions, type TestGateway } from '../support/gateway.ts';
import { noticeKeyChanges } from '../support/notice-key-changes.ts';
import { numberedAnswers } from '../support/numbered-answers.ts';
import { TestClock } from '../support/test-clock.ts';

const chat = endpoint('chat');
const agent = new Agent({ keepAlive: true });
let clock: TestClock;
let gateway: TestGateway;

before(async () => {
  clock = new TestClock();
  gateway = await startGateway({ metrics: { token: metricsToken }, log: { level: 'info' } }, { clock });
});
after(async () => {
  agent.destroy();
  await gateway.stop();
});

type Sent = { readonly path?: string; readonly headers?: Readonly<Record<string, string>>; readonly body: string };
type Answer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly text: string;
  readonly id: string;
  /** Known by all of its bytes, by head and body, or not known. */
  readonly way: 'bytes' | 'head' | 'full';
  readonly isShort: boolean;
};

async function send(key: string, { path = chat.path, headers = {}, body }: Sent, through = agent): Promise<Answer> {
  const request = httpRequest(gateway.url + path, {
    method: 'POST',
    agent: through,
    headers: {
      'content-type': 'application/json',
      ...(headers['transfer-encoding'] === undefined && { 'content-length': Buffer.byteLength(body) }),
      authorization: `Bearer ${key}`,
      ...headers,
    },
  });
  request.end(body);
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  const pieces: Buffer[] = [];
  for await (const piece of response) pieces.push(piece as Buffer);
  const { date: _date, 'x-request-id': id, 'request-id': _sameId, ...rest } = response.headers;
  const names = response.rawHeaders.filter((_, index) => index % 2 === 0).map((name) => name.toLowerCase());
  const way = names[0] === 'x-request-id' ? 'full' : names.at(-1) === 'date' ? 'bytes' : 'head';
  return {
    status: response.statusCode!,
    headers: { ...rest, ids: response.rawHeaders.filter((value) => value === id).length },
    text: Buffer.concat(pieces).toString(),
    id: String(id),
    way,
    isShort: way !== 'full',
  };
}

const zero = { temperature: 0 };
const bodyOf = (at: Endpoint, fields: object = {}) => JSON.stringify(at.body({ ...zero, ...fields }));
const newKey = (options: KeyOptions = {}) => gateway.makeKey({ mode: 'live', creditUsd: 5, ...options });

/**
 * Sends until the answer is known the short way: a run, and one time each to learn the head and the body, and these two once more when keys
 * have changed meanwhile, as the making of one is noticed.
 */
async function teach(key: string, sent: Sent, isTaught = ({ isShort }: Answer) => isShort): Promise<Answer> {
  for (let time = 0; time < 10; time++) {
    const answer = await send(key, sent);
    if (isTaught(answer)) return answer;
  }
  assert.fail('it is never answered the short way');
}

function fullWay(sent: Sent): Sent {
  return { ...sent, path: `${sent.path ?? chat.path}/` };
}

async function logLine(id: string): Promise<Record<string, unknown>> {
  const line = await clock.advanceUntil(() =>
    gateway.program.output.split('\n').find((one) => one.includes(id) && one.endsWith('}')),
  );
  const { time: _time, request_id: _id, duration_ms: _duration, ...rest } = JSON.parse(line) as Record<string, unknown>;
  return rest;
}

/** What the counters have grown by. */
async function countersDuring(action: () => Promise<unknown>): Promise<Record<string, number>> {
  const read = async () => {
    const { text } = await gateway.get('/metrics', { key: metricsToken });
    const lines = text.split('\n').filter((line) => /^tollgate_\w+(?:_total|_count)\{/.test(line) && !line.includes('/metrics'));
    return new Map(lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ')))]));
  };
  const earlier = await read();
  await action();
  const later = await read();
  const grown = [...later].map(([name, value]) => [name, value - (earlier.get(name) ?? 0)] as const);
  return Object.fromEntries(grown.filter(([, by]) => by !== 0));
}

type Counted = Answer & { readonly counted: Record<string, number> };

/** A request of which more comes than is read at once is known by head and body alone. */
const atOnceMax = 60_000;

/** The same request each way, with what the counters made of it. */
async function allWays(key: string, sent: Sent): Promise<{ readonly short: readonly Counted[]; readonly full: Counted }> {
  const counting = async (one: Sent, through?: Agent): Promise<Counted> => {
    let answer: Answer | null = null;
    const counted = await countersDuring(async () => (answer = await send(key, one, through)));
    return { ...answer!, counted };
  };
  const isLong = Buffer.byteLength(sent.body) > atOnceMax;
  await teach(key, sent);
  if (!isLong) await teach(key, sent, ({ way }) => way === 'bytes');
  const newConnections = new Agent({ keepAlive: true });
  const short = [await counting(sent), await counting(sent, newConnections)];
  newConnections.destroy();
  // A key that was made a moment ago was noticed just now.
  if (!short.every(({ isShort }) => isShort)) return allWays(key, sent);
  assert.deepEqual(
    short.map(({ way }) => way),
    [isLong ? 'head' : 'bytes', 'head'],
  );
  const full = await counting(fullWay(sent));
  assert.equal(full.way, 'full');
  return { short, full };
}

test('text beyond ASCII, and between ASCII and Latin-1, is the same each way', async () => {
  for (const said of ['Grüße für 5 £', 'こんにちは, 5 €', '😀'.repeat(6_000), '😀'.repeat(30_000)]) {
    const { key } = await newKey({ mode: 'test', creditUsd: undefined });
    const messages = [{ role: 'user', content: said }];
    const { short, full } = await allWays(key, { body: bodyOf(chat, { messages, model: 'gpt-5-mini' }) });
    assert.ok(full.text.includes(said.slice(0, 5)));
    for (const { text } of short) assert.equal(text, full.text);
  }
});

for (const at of endpoints) {
  for (const stream of [false, true]) {
    for (const mode of ['live', 'test'] as const) {
      for (const kind of ['hit', 'idempotent-replay'] as const) {
        test(`${at.name}, ${stream ? 'streamed' : 'whole'}, ${mode}, ${kind}: each way answers, logs and counts the same`, async () => {
          gateway.upstream.on(at.upstreamPath, numberedAnswers(at));
          const { key } = await newKey({ mode, ...(mode === 'test' && { creditUsd: undefined }), requestsPerMinute: 1_000_000 });
          const headers = { ...(kind !== 'hit' && { 'idempotency-key': 'one' }), 'anthropic-version': '2023-06-01' };
          const sent = { path: at.path, headers, body: bodyOf(at, { stream, ...(kind !== 'hit' && { temperature: 1 }) }) };
          const { short, full } = await allWays(key, sent);
          assert.ok(Object.keys(full.counted).length >= 3, JSON.stringify(full.counted));
          for (const one of short) {
            assert.equal(one.headers['x-service-cache'], kind);
            assert.deepEqual(withoutRate(one), withoutRate(full));
            assert.notEqual(one.id, full.id);
            assert.deepEqual(await logLine(one.id), await logLine(full.id));
            assert.deepEqual(one.counted, full.counted);
          }
        });
      }
    }
  }
}

/** The budget fills all the while. */
function withoutRate({ status, headers, text }: Answer) {
  const names = Object.keys(headers).toSorted();
  const lasting = Object.entries(headers).filter(([name]) => !/^x-ratelimit-(?:remaining|reset)/.test(name));
  return { status, text, names, lasting: Object.fromEntries(lasting) };
}

test('each request counts, and the one too many is refused as ever', async () => {
  gateway.upstream.on(chat.upstreamPath, numberedAnswers(chat));
  const { key } = await newKey({ requestsPerMinute: 12 });
  const sent = { body: bodyOf(chat) };
  let known = await teach(key, sent);
  for (let time = 0; known.status === 200 && time < 20; time++) known = await send(key, sent);
  assert.equal(known.status, 429);
  assert.match(known.text, /rate_limit_exceeded/);
  assert.ok(known.headers['retry-after']);
  assert.deepEqual(await logLine(known.id), await logLine((await send(key, fullWay(sent))).id));
});

test('the balance is the present one', async () => {
  gateway.upstream.on(chat.upstreamPath, numberedAnswers(chat));
  const { key } = await newKey();
  const sent = { body: bodyOf(chat) };
  const known = await teach(key, sent);
  gateway.upstream.on(chat.upstreamPath, numberedAnswers(chat, { text: 'word '.repeat(5_000) }));
  const long = await send(key, { body: bodyOf(chat, { seed: 1, max_completion_tokens: 100_000 }) });
  assert.equal(long.status, 200, long.text);
  const later = await teach(key, sent);
  assert.equal(later.headers['x-service-balance-cents'], long.headers['x-service-balance-cents']);
  assert.ok(Number(later.headers['x-service-balance-cents']) <= Number(known.headers['x-service-balance-cents']));
});

describe('whatever is not the same takes the full way', () => {
  const sent: Sent = { body: bodyOf(chat, { messages: [{ role: 'user', content: 'Same as ever' }] }) };
  let key: string;
  let account: string;
  let known: Answer;
  before(async () => {
    gateway.upstream.on(chat.upstreamPath, numberedAnswers(chat));
    ({ key, account } = await newKey());
    known = await teach(key, sent);
  });

  const others: Readonly<Record<string, { readonly sent: Sent; readonly hit: boolean }>> = {
    'a byte of the body': { sent: { body: sent.body.replace('ever', 'evil') }, hit: false },
    'a space in the body': { sent: { body: ` ${sent.body}` }, hit: true },
    'a body that is no JSON': { sent: { body: sent.body.replace('{', '[') }, hit: false },
    'an Idempotency-Key': { sent: { ...sent, headers: { 'idempotency-key': 'new' } }, hit: true },
    'the cache refused': { sent: { ...sent, headers: { 'x-service-cache': 'false' } }, hit: false },
    'the cache asked for': { sent: { ...sent, headers: { 'x-service-cache': 'true' } }, hit: true },
    'an empty header': { sent: { ...sent, headers: { 'x-service-cache': '' } }, hit: false },
    'another version': { sent: { ...sent, headers: { 'anthropic-version': 'undefined' } }, hit: false },
    'another beta': { sent: { ...sent, headers: { 'anthropic-beta': 'x' } }, hit: false },
    'another type': { sent: { ...sent, headers: { 'content-type': 'text/plain' } }, hit: false },
    'a type in other words': { sent: { ...sent, headers: { 'content-type': 'application/json; charset=utf-8' } }, hit: true },
    'a compressed body': { sent: { ...sent, headers: { 'content-encoding': 'gzip' } }, hit: false },
    'a body in chunks': { sent: { ...sent, headers: { 'transfer-encoding': 'chunked' } }, hit: true },
    'an expectation': { sent: { ...sent, headers: { expect: '100-continue' } }, hit: true },
    'a query': { sent: { ...sent, path: `${chat.path}?api_key=x` }, hit: true },
    'another key beside it': { sent: { ...sent, headers: { 'x-api-key': 'something' } }, hit: true },
  };
  for (const [what, { sent: other, hit }] of Object.entries(others)) {
    test(what, async () => {
      const reply = await send(key, other);
      assert.equal(reply.isShort, false);
      const full = await send(key, fullWay({ ...other, path: chat.path }));
      assert.equal(reply.status, full.status);
      if (hit) assert.deepEqual([reply.headers['x-service-cache'], reply.text], ['hit', known.text]);
      else assert.notEqual(reply.text, known.text);
      assert.equal((await teach(key, sent)).text, known.text);
    });
  }

  test('another account never gets the answer, another key of the account gets it the full way', async () => {
    const stranger = await send((await newKey()).key, sent);
    assert.deepEqual([stranger.status, stranger.isShort], [200, false]);
    assert.notEqual(stranger.text, known.text);
    const sibling = await send((await newKey({ account })).key, sent);
    assert.deepEqual([sibling.isShort, sibling.text], [false, known.text]);
    assert.equal((await send(`${key.slice(0, -1)}${key.endsWith('0') ? '1' : '0'}`, sent)).status, 401);
  });
});

test('an Idempotency-Key with another body is a conflict, also when its own is known', async () => {
  gateway.upstream.on(chat.upstreamPath, numberedAnswers(chat));
  const { key } = await newKey();
  const headers = { 'idempotency-key': 'mine' };
  const [one, other] = [1, 2].map((seed) => ({ headers, body: bodyOf(chat, { seed, temperature: 1 }) }));
  await teach(key, one!);
  const conflict = await send(key, other!);
  assert.match(conflict.text, /idempotency_conflict/);
  assert.equal((await teach(key, one!)).headers['x-service-cache'], 'idempotent-replay');
});

const changes: Readonly<Record<string, { readonly change: (ids: Ids) => Promise<unknown>; readonly told: RegExp | null }>> = {
  'a revoked key': { change: ({ id }) => setKey(id, { revoked_at_ms: 1 }), told: /invalid_api_key/ },
  'an expired key': { change: ({ id }) => setKey(id, { expires_at_ms: 1 }), told: /invalid_api_key/ },
  'another list of models': { change: ({ id }) => setKey(id, { models: '["claude-haiku-4-5"]' }), told: /model_not_allowed/ },
  'a list of addresses': { change: ({ id }) => setKey(id, { allowed_addresses: '["192.0.2.1"]' }), told: /address_not_allowed/ },
  'a frozen account': { change: ({ account }) => setAccount(account, { frozen: 1 }), told: /account_frozen/ },
  'a purged account': { change: ({ account }) => setAccount(account, { cache_generation: 1 }), told: null },
  'an account that keeps nothing': { change: ({ account }) => setAccount(account, { retain_responses: 0 }), told: null },
};
type Ids = { readonly id: string; readonly account: string };
const setKey = (id: string, values: object) =>
  gateway.database.write.updateTable('api_keys').set(values).where('id', '=', id).execute();
const setAccount = (id: string, values: object) =>
  gateway.database.write.updateTable('accounts').set(values).where('id', '=', id).execute();

for (const [what, { change, told }] of Object.entries(changes)) {
  test(`${what} is noticed`, async () => {
    gateway.upstream.on(chat.upstreamPath, numberedAnswers(chat));
    const { key, ...ids } = await newKey();
    const sent = { body: bodyOf(chat) };
    const known = await teach(key, sent);
    await change(ids);
    await noticeKeyChanges(gateway, { clock });
    const reply = await send(key, sent);
    assert.equal(reply.isShort, false);
    if (told) assert.match(reply.text, told);
    else assert.deepEqual([reply.status, reply.text !== known.text], [200, true], 'it is run anew');
  });
}

test('an expiry that comes is kept to the moment', async () => {
  gateway.upstream.on(chat.upstreamPath, numberedAnswers(chat));
  const expiresAtMs = clock.nowMs() + 60_000;
  const { key } = await newKey({ expiresAtMs });
  await noticeKeyChanges(gateway, { clock });
  const sent = { body: bodyOf(chat) };
  await teach(key, sent);
  await clock.advance(expiresAtMs - clock.nowMs() - 1);
  assert.ok((await send(key, sent)).isShort);
  await clock.advance(1);
  assert.match((await send(key, sent)).text, /This API key expired/);
});

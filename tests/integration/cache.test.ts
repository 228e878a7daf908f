// The response cache: what it serves to whom, and what is never stored.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, before, describe, describeOn, test, testOn } from '../support/both-stores.ts';
import { streamFrames } from '../support/answers.ts';
import { endpoint, endpoints, type Endpoint } from '../support/endpoints.ts';
import { startGateway, type KeyOptions, type TestGateway } from '../support/gateway.ts';
import type { Reply } from '../support/http.ts';
import { noticeKeyChanges } from '../support/notice-key-changes.ts';
import { isSuccess, numberedAnswers, asReplayed } from '../support/numbered-answers.ts';
import type { RunningApp } from '../support/running-app.ts';
import { noise } from '../support/noise.ts';
import { keepAliveMs } from '../../src/gateway/keep-alives.ts';
import { TestClock } from '../support/test-clock.ts';
import { until } from '../support/until.ts';
import { answerBytes, answerStatus, behind, framesText, thenHang } from '../support/upstream.ts';
import { rowOf } from '../support/rows.ts';

const weekMs = 7 * 24 * 3_600_000;
let clock: TestClock;
let gateway: TestGateway<RunningApp>;

before(async () => {
  const config = { limits: { hold_slice_tokens: 256 }, log: { level: 'info' } };
  clock = new TestClock();
  gateway = await startGateway(config, { clock, tuning: { storedAnswerBytes: 20_000 } });
});
after(() => gateway.stop());

const newKey = (options: KeyOptions = {}) => gateway.makeKey({ creditUsd: 5, ...options });
const chat = endpoint('chat');

type Asked = {
  readonly fields?: object;
  readonly cache?: string;
  readonly headers?: Readonly<Record<string, string>>;
};

/** Sends requests as the account of `key`, and counts the upstream requests since then. */
function asker(at: Endpoint, key: string, always: object = {}) {
  const earlier = gateway.upstream.requests.length;
  const options = ({ fields, cache, headers }: Asked) => ({
    key,
    headers: { ...headers, ...(cache !== undefined && { 'x-service-cache': cache }) },
    body: at.body({ ...always, ...fields }),
  });
  return {
    ask: (asked: Asked = {}) => gateway.post(at.path, options(asked)),
    leave: (asked: Asked = {}) => gateway.open(at.path, options(asked)),
    runs: () => gateway.upstream.requests.length - earlier,
  };
}

/**
 * Waits until one request is at the upstream, after `earlier` older ones, and all others wait for
 * it.
 */
async function oneRunsOf(count: number, earlier: number): Promise<void> {
  await gateway.upstream.request(earlier);
  await until(() => gateway.program.app.gateway.runs.count === count);
}

function isHit(reply: Reply): boolean {
  assert.equal(reply.status, 200, reply.text);
  const cache = reply.headers['x-service-cache'] ?? reply.trailers['x-service-cache'];
  if (cache !== undefined) assert.equal(cache, 'hit');
  assert.equal(reply.costMicros === 0, cache === 'hit', 'a hit is free, and nothing else is');
  return cache === 'hit';
}

function assertHit(reply: Reply, first: Reply): void {
  assert.ok(isHit(reply), reply.text);
  assert.equal(asReplayed(reply.text), asReplayed(first.text));
  assert.equal(reply.headers['content-type'], first.headers['content-type']);
  assert.ok(reply.headers['x-service-balance-cents'] ?? reply.trailers['x-service-balance-cents']);
}

const zero = { temperature: 0 };

const describeOnSqlite = (name: string, body: () => void) => describeOn('sqlite', name, body);

// The stores see one format as the other, so PostgreSQL gets one of them.
for (const at of endpoints) {
  const group = at.name === 'chat' ? describe : describeOnSqlite;
  for (const stream of [false, true]) {
    /** An account whose answers are numbered, once the gate opens. */
    const begin = async (gate: Promise<void> = Promise.resolve()) => {
      gateway.upstream.on(at.upstreamPath, behind(gate, numberedAnswers(at)));
      const { key } = await newKey();
      return { key, ...asker(at, key, { stream, ...zero }) };
    };

    group(`${at.name}, ${stream ? 'streamed' : 'whole'}`, () => {
      test('whole answers and streams are kept apart', async () => {
        const { ask, runs } = await begin();
        const first = await ask();
        assert.ok(!isHit(await ask({ fields: { stream: !stream } })));
        assertHit(await ask(), first);
        assert.equal(runs(), 2);
      });

      test('the order of fields does not matter at any depth', async () => {
        const { key, ask } = await begin();
        const metadata = { a: '1', b: '2' };
        const first = await ask({ fields: { metadata } });
        const reversed = Object.entries(
          at.body({ stream, ...zero, metadata: { b: '2', a: '1' } }),
        ).toReversed();
        assertHit(await gateway.post(at.path, { key, body: Object.fromEntries(reversed) }), first);
      });

      test('of 20 requests at once one runs, and the others get its answer for free', async () => {
        const gate = Promise.withResolvers<void>();
        const { key, ask, runs } = await begin(gate.promise);
        const earlier = gateway.upstream.requests.length;
        const asked = Promise.all(Array.from({ length: 20 }, () => ask()));
        await oneRunsOf(20, earlier);
        await clock.advance(2 * keepAliveMs);
        gate.resolve();
        const replies = await asked;
        assert.equal(replies.filter(isHit).length, 19);
        assert.equal(new Set(replies.map(({ text }) => asReplayed(text))).size, 1);
        assert.equal(runs(), 1);
        assert.equal((await gateway.usage(key)).length, 1);
        if (stream) assert.ok(replies.every(({ text }) => text.includes(': keep-alive')));
      });

      test('a failure is not shared: a waiting request runs next', async () => {
        const gate = Promise.withResolvers<void>();
        gateway.upstream.on(
          at.upstreamPath,
          behind(gate.promise, answerStatus(500)),
          numberedAnswers(at),
        );
        const { key } = await newKey();
        const { ask, runs } = asker(at, key, { stream, ...zero });
        const earlier = gateway.upstream.requests.length;
        const asked = Promise.all([ask(), ask(), ask()]);
        await oneRunsOf(3, earlier);
        gate.resolve();
        const replies = await asked;
        assert.equal(replies.filter((reply) => isSuccess(reply, stream)).length, 2);
        assert.equal(runs(), 2);
        assert.equal((await gateway.usage(key)).length, 1);
        assertHit(
          await ask(),
          replies.find((reply) => isSuccess(reply, stream))!,
        );
      });

      test('a client that leaves pays, and does not stop a run that others wait for', async () => {
        const gate = Promise.withResolvers<void>();
        gateway.upstream.on(at.upstreamPath, numberedAnswers(at, { gate: gate.promise }));
        const { key } = await newKey();
        const { ask, leave, runs } = asker(at, key, { stream, ...zero });
        const earlier = gateway.upstream.requests.length;
        const { request } = leave();
        await gateway.upstream.request(earlier);
        const asked = Promise.all([ask(), ask()]);
        await oneRunsOf(3, earlier);
        const { request: alone } = asker(at, (await newKey()).key, { stream, ...zero }).leave();
        await gateway.upstream.request(earlier + 1);
        request.destroy();
        alone.destroy();
        // Nobody can see yet what the model does, so a run without waiters is read on, too.
        await clock.advance(10_000);
        gate.resolve();
        const replies = await asked;
        assert.ok(replies.every(isHit));
        assert.equal(runs(), 2);
        assert.equal((await gateway.usage(key)).length, 1);
      });

      test('an Idempotency-Key answered from the cache keeps that answer', async () => {
        const { ask, runs } = await begin();
        const first = await ask();
        const named = { headers: { 'idempotency-key': 'order-1' } };
        assertHit(await ask(named), first);
        const replayed = await ask({ ...named, cache: 'false' });
        assert.equal(replayed.headers['x-service-cache'], 'idempotent-replay');
        assert.equal(replayed.text, asReplayed(first.text));
        assert.equal(replayed.costMicros, 0);
        assert.equal(runs(), 1);
      });

      test('the answer to a request with an Idempotency-Key is cached', async () => {
        const { ask } = await begin();
        const first = await ask({ headers: { 'idempotency-key': 'order-1' } });
        assertHit(await ask({ headers: { 'idempotency-key': 'order-2' } }), first);
        assertHit(await ask(), first);
      });
    });
  }
}

const erasures: Readonly<Record<string, readonly string[]>> = {
  'a purge': ['purge'],
  'the end of storing': ['update', '--retain-responses', 'off'],
};
for (const [what, [command, ...options]] of Object.entries(erasures)) {
  test(`a hit in the moment before a gateway notices ${what} does not store the erased answer under its Idempotency-Key`, async () => {
    gateway.upstream.on(chat.upstreamPath, numberedAnswers(chat));
    const { key, account } = await newKey();
    const { ask, runs } = asker(chat, key, zero);
    const first = await ask();
    await gateway.program.cli('accounts', command!, account, ...options);
    const named = { headers: { 'idempotency-key': 'order-1' } };
    assertHit(await ask(named), first);
    await noticeKeyChanges(gateway, { clock });
    assert.equal((await ask(named)).error.code, 'idempotency_body_not_retained');
    assert.equal(runs(), 1);
  });
}

test('accounts never share an answer, a header or a run; keys of one account do', async () => {
  gateway.upstream.on(chat.upstreamPath, numberedAnswers(chat));
  const [one, two] = [await newKey(), await newKey()];
  const { key: sibling } = await newKey({ account: one.account });
  const first = await asker(chat, one.key, zero).ask();
  const { ask, runs } = asker(chat, two.key, zero);
  // Compares a request that the other account sent before with a new one: only ids and times may
  // differ.
  const [known, unknown] = [await ask(), await ask({ fields: { seed: 1 } })];
  assert.equal(runs(), 2);
  assert.deepEqual(Object.keys(known.headers), Object.keys(unknown.headers));
  const constant = ({ headers }: Reply) =>
    Object.entries(headers).filter(
      ([name]) => !/^(date|x-request-id|content-length|x-service-balance-cents)$/.test(name),
    );
  assert.deepEqual(constant(known), constant(unknown));
  assert.notEqual(known.text, first.text);
  assertHit(await asker(chat, sibling, zero).ask(), first);

  const together = { fields: { seed: 2 } };
  const gate = Promise.withResolvers<void>();
  gateway.upstream.on(chat.upstreamPath, numberedAnswers(chat, { gate: gate.promise }));
  const earlier = gateway.upstream.requests.length;
  const asked = Promise.all([
    asker(chat, one.key, zero).ask(together),
    asker(chat, two.key, zero).ask(together),
  ]);
  await gateway.upstream.request(earlier + 1);
  gate.resolve();
  const replies = await asked;
  assert.ok(!replies.some(isHit));
});

test('a live key and a test key of one account never share', async () => {
  gateway.upstream.on(chat.upstreamPath, numberedAnswers(chat));
  const { key, account } = await newKey();
  const { key: testKey } = await newKey({ account, mode: 'test', creditUsd: undefined });
  const live = await asker(chat, key, zero).ask();
  const { ask } = asker(chat, testKey, zero);
  const sandboxed = await ask();
  assert.ok(!isHit(sandboxed));
  assert.notEqual(sandboxed.text, live.text);
  const again = await ask();
  assertHit(again, sandboxed);
  assert.equal(again.headers['x-service-mode'], 'test');
});

test('a hit needs no balance and no room under the caps, but the key must allow the model', async () => {
  gateway.upstream.on(chat.upstreamPath, numberedAnswers(chat));
  const { id, key, account } = await newKey();
  const { ask } = asker(chat, key, zero);
  const first = await ask();
  const setKey = (values: object) =>
    gateway.database.write.updateTable('api_keys').set(values).where('id', '=', id).execute();
  await setKey({ daily_cap_micros: 0, monthly_cap_micros: 0 });
  const { key: bare } = await newKey({ account, monthlyCapMicros: 0 as never });
  await noticeKeyChanges(gateway, { clock });
  assertHit(await ask(), first);
  assertHit(await asker(chat, bare, zero).ask(), first);
  await setKey({ models: JSON.stringify(['claude-haiku-4-5']) });
  await noticeKeyChanges(gateway, { clock });
  assert.equal((await ask()).error.code, 'model_not_allowed_for_key');
  assert.ok(gateway.program.output.includes('"cache":"hit"'), 'a hit shows in the log');
});

testOn('sqlite', 'a cache header that is neither true nor false is refused by name', async () => {
  const { key } = await newKey();
  for (const cache of ['', '1', 'no-cache', 'true, false']) {
    const { status, error } = await asker(chat, key).ask({ cache });
    assert.deepEqual(
      [status, error.code, error.param],
      [400, 'invalid_request', 'X-Service-Cache'],
      cache,
    );
  }
});

testOn('sqlite', 'a reduced answer, or one cut for lack of balance, is never cached', async () => {
  const { start, deltas, end } = streamFrames('chat', {
    text: 'word '.repeat(6_000),
    tokens: { input: 100, output: 6_000 },
  });
  const bytes = Buffer.from(framesText([...start, ...deltas, ...end]));
  // $1 buys 500 000 tokens of this model's output; $0.003 some 1 500.
  const { key, account: cutOff } = await newKey({ creditUsd: 0.003 });
  const cut = { stream: true, max_completion_tokens: 8_000, ...zero };
  gateway.upstream.on(chat.upstreamPath, answerBytes(bytes, { sizes: [5_000] }));
  const first = await asker(chat, key, cut).ask();
  assert.match(first.text, /"finish_reason":"length"/);
  await newKey({ account: cutOff, creditUsd: 5 });
  const second = await asker(chat, key, cut).ask();
  assert.ok(!isHit(second));

  gateway.upstream.on(chat.upstreamPath, numberedAnswers(chat));
  const { key: poor, account } = await newKey({ creditUsd: 0.003 });
  const open = { max_completion_tokens: undefined, ...zero };
  const reduced = await asker(chat, poor, open).ask();
  assert.ok(reduced.headers['x-service-output-limit'], reduced.text);
  const { key: rich } = await newKey({ account, creditUsd: 5 });
  const whole = await asker(chat, rich, open).ask();
  assert.ok(!isHit(whole));
  assertHit(await asker(chat, poor, open).ask(), whole);
});

testOn('sqlite', 'a stream that its client left, or that broke off, is never cached', async () => {
  const { start, deltas } = streamFrames('chat', {
    text: 'one two three',
    tokens: { input: 100, output: 20 },
  });
  const { key } = await newKey();
  const fields = { stream: true, ...zero };
  const { ask, leave, runs } = asker(chat, key, fields);
  gateway.upstream.on(
    chat.upstreamPath,
    thenHang(framesText([...start, ...deltas.slice(0, 1)])),
    (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(framesText([...start, ...deltas]), () => response.destroy());
    },
    numberedAnswers(chat),
  );
  const { request, response } = leave();
  await once(await response, 'data');
  request.destroy();
  // A request that comes meanwhile joins the run, which the gateway reads on until the silence is too
  // long, and so keeps it alive.
  await clock.advanceUntil(() => gateway.program.app.gateway.runs.count === 0, {
    stepMs: 5_000,
    withinMs: 1_200_000,
  });
  const broken = await ask();
  assert.ok(!isSuccess(broken, true), broken.text);
  assert.ok(!isHit(await ask()));
  assert.equal(runs(), 3);
  assert.ok(isHit(await ask()));
});

testOn('sqlite', 'a very long answer is not cached', async () => {
  gateway.upstream.on(chat.upstreamPath, numberedAnswers(chat, { text: noise(60_000) }));
  const { key } = await newKey();
  for (const stream of [false, true]) {
    const { ask, runs } = asker(chat, key, { stream, ...zero });
    await ask();
    assert.ok(!isHit(await ask()));
    assert.equal(runs(), 2);
  }
});

test('cached answers survive a restart, encrypted, for seven days', async () => {
  gateway.upstream.on(chat.upstreamPath, numberedAnswers(chat));
  const { key, account } = await newKey();
  const { ask, runs } = asker(chat, key, zero);
  const first = await ask();
  const row = await rowOf(gateway.database, 'cached_responses', { account_id: account });
  assert.equal(row.expires_at_ms - row.created_at_ms, weekMs);
  assert.ok(!Buffer.from(row.body).includes('one two'), 'it is encrypted');
  clock.jumpTo(row.expires_at_ms - 1);
  assertHit(await ask(), first);
  await restart();
  assertHit(await ask(), first);
  assert.equal(runs(), 1);
  clock.jumpTo(row.expires_at_ms + 1);
  assert.ok(!isHit(await ask()), 'memory has it no more');
  clock.jumpTo(clock.nowMs() + weekMs + 1);
  await restart();
  assert.ok(!isHit(await ask()), 'nor has the database');
  assert.ok(isHit(await ask()));
  assert.equal(runs(), 3);
});

async function restart(): Promise<void> {
  await gateway.program.terminate();
  await gateway.program.start();
}

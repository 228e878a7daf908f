// A process with several HTTP threads behaves like one gateway: what threads share through the database on
// both, what they share in the process on SQLite. Every request has a connection of its own, which the
// system gives to some thread.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { deflateRawSync } from 'node:zlib';
import { usualTuning } from '../../src/config/tuning.ts';
import { sqlitePathOf } from '../../src/db/database.ts';
import { connectSqlite } from '../../src/db/sqlite/connection.ts';
import { micros } from '../../src/lib/money.ts';
import { adminOf } from '../support/admin.ts';
import { wholeAnswer } from '../support/answers.ts';
import { after, before, test, testOn } from '../support/both-stores.ts';
import { endpoint } from '../support/endpoints.ts';
import { metricsToken, startGatewayProgram, type TestGateway } from '../support/gateway.ts';
import type { Reply, SendOptions } from '../support/http.ts';
import { numberedAnswers } from '../support/numbered-answers.ts';
import { type OtlpReceiver, startOtlpReceiver, traceOf } from '../support/otlp-receiver.ts';
import { type Program, startProgram } from '../support/program.ts';
import { currentStore } from '../support/test-store.ts';
import { until } from '../support/until.ts';
import { answerJson, answerStatus } from '../support/upstream.ts';

const chat = endpoint('chat');
const content = { text: 'one two', tokens: { input: 5, output: 200 } };
/** A request that uses all of its 200 tokens costs 20 cents, and its input nothing. */
const priced = {
  routes: [{ provider: 'openai', model: 'm' }],
  prices: { input: 0, output: 1_000 },
  max_input_tokens: 1_000,
  max_output_tokens: 200,
};
const twoRoutes = {
  ...priced,
  routes: [
    { provider: 'local', model: 'bad' },
    { provider: 'openai', model: 'm', rank: 2 },
  ],
};
/** Its answers may take longer than their time. */
const timed = { ...priced, timeouts: { total_ms: 8_000 } };
const freeBytes = 8_000;
let gateway: TestGateway<Program>;
/** For tests that stop it, kill it or take its database away. */
let second: TestGateway<Program>;
let operator: OtlpReceiver;
let customer: OtlpReceiver;

before(async () => {
  operator = await startOtlpReceiver();
  customer = await startOtlpReceiver();
  gateway = await startGatewayProgram(
    {
      server: { threads: 3 },
      models: { priced, timed, two: twoRoutes },
      metrics: { token: metricsToken },
      telemetry: {
        endpoint: operator.url,
        allowed_hosts: [new URL(customer.url).host],
      },
      retries: { max_attempts: 4 },
      // A revoked key counts as a wrong one, and all tests share an address.
      limits: { failed_keys_per_minute: null },
    },
    { env: { OTEL_METRIC_EXPORT_INTERVAL: '250' } },
  );
  second = await startGatewayProgram({
    server: { threads: 2 },
    models: { priced },
    limits: { failed_keys_per_minute: 5, free_bytes_per_day: freeBytes },
  });
});
after(async () => {
  await Promise.all([gateway.stop(), second.stop()]);
  await Promise.all([operator.close(), customer.close()]);
});

/** Sends requests at once, each on its own connection. */
function sendMany(count: number, key: string, options: SendOptions = {}): Promise<Reply[]> {
  return Promise.all(Array.from({ length: count }, () => sendOne(key, options)));
}

function sendOne(key: string, { headers, body }: SendOptions = {}): Promise<Reply> {
  return gateway.post(chat.path, {
    key,
    headers: { connection: 'close', ...headers },
    body: body ?? chat.body({ model: 'priced' }),
  });
}

const succeeded = (replies: readonly Reply[]) =>
  replies.filter(({ status }) => status === 200).length;

test('concurrent requests on all threads spend exactly the balance', async () => {
  gateway.answer(chat, content);
  const { key, account } = await gateway.makeKey({ creditUsd: 1.4 });
  const replies = await sendMany(40, key);
  assert.equal(succeeded(replies), 7);
  const refused = replies.filter(({ status }) => status !== 200).map(({ error }) => error.code);
  assert.deepEqual(new Set(refused), new Set(['insufficient_balance']));
  assert.equal((await gateway.balance(account)).availableMicros, 0);
});

test('a daily cap counts requests of all threads', async () => {
  gateway.answer(chat, content);
  const { key } = await gateway.makeKey({ creditUsd: 50, dailyCapMicros: micros(1_000_000) });
  assert.equal(succeeded(await sendMany(40, key)), 5);
});

test('a rate limit counts requests of all threads', async () => {
  gateway.answer(chat, content);
  const { key } = await gateway.makeKey({ creditUsd: 50, requestsPerMinute: 6 });
  assert.equal(succeeded(await sendMany(40, key)), 6);
});

test('a limit of concurrent requests counts those of all threads', async () => {
  const gate = Promise.withResolvers<void>();
  gateway.upstream.on(chat.upstreamPath, numberedAnswers(chat, { gate: gate.promise }));
  const { key } = await gateway.makeKey({ creditUsd: 50, concurrentRequests: 4 });
  let refused = 0;
  const sent = Array.from({ length: 30 }, async () => {
    const reply = await sendOne(key);
    if (reply.status === 429) refused += 1;
    return reply;
  });
  await until(() => refused === 26);
  gate.resolve();
  assert.equal(succeeded(await Promise.all(sent)), 4);
});

test('a burst of spoiled answers on all threads stays within the loss budget', async () => {
  // A call without a name cannot be translated. Each costs 20 cents; the budget is a dollar.
  const { choices: _, ...rest } = wholeAnswer('chat', content) as Record<string, unknown>;
  const call = { id: 'call_1', type: 'function', function: { name: '', arguments: '{}' } };
  const message = { role: 'assistant', content: null, tool_calls: [call] };
  const answer = { ...rest, choices: [{ index: 0, message, finish_reason: 'tool_calls' }] };
  gateway.upstream.on(chat.upstreamPath, answerJson(answer));
  const { key, account } = await gateway.makeKey({ creditUsd: 50 });
  const messages = endpoint('messages');
  const body = messages.body({ model: 'priced' });
  const headers = { connection: 'close' };
  const replies = await Promise.all(
    Array.from({ length: 40 }, () => gateway.post(messages.path, { key, headers, body })),
  );
  const { length: free } = replies.filter(({ text }) => text.includes('Nothing was charged'));
  const { length: charged } = replies.filter(({ text }) => text.includes('It was charged ($0.2)'));
  assert.ok(free <= 6, `${free} were free`);
  assert.equal((await gateway.balance(account)).availableMicros, 50_000_000 - charged * 200_000);
});

test('running answers that may outlast their time stay within the loss budget on all threads', async () => {
  const gate = Promise.withResolvers<void>();
  gateway.upstream.on(chat.upstreamPath, numberedAnswers(chat, { gate: gate.promise }));
  const { key } = await gateway.makeKey({ mode: 'live', creditUsd: 50 });
  let refused = 0;
  const sent = Array.from({ length: 30 }, async () => {
    const reply = await sendOne(key, { body: chat.body({ model: 'timed' }) });
    if (reply.status === 429) refused += 1;
    return reply;
  });
  // Five of 20 cents are within a dollar, and each thread may begin one more.
  await until(() => refused >= 22);
  gate.resolve();
  assert.equal(succeeded(await Promise.all(sent)) + refused, 30);
});

test('identical cacheable requests on all threads share one run', async () => {
  const gate = Promise.withResolvers<void>();
  gateway.upstream.on(chat.upstreamPath, numberedAnswers(chat, { gate: gate.promise }));
  const { key } = await gateway.makeKey({ creditUsd: 50 });
  const earlier = gateway.upstream.requests.length;
  const body = chat.body({ model: 'priced', temperature: 0 });
  const sent = sendMany(30, key, { body });
  await until(() => gateway.upstream.requests.length > earlier);
  await sleep(200);
  gate.resolve();
  const replies = await sent;
  assert.equal(succeeded(replies), 30);
  assert.equal(gateway.upstream.requests.length - earlier, 1);
  const hits = replies.filter(({ headers }) => headers['x-service-cache'] === 'hit');
  assert.equal(hits.length, 29);
});

testOn(
  'sqlite',
  'a run goes on for waiting requests of other threads when its own client leaves',
  async () => {
    const gate = Promise.withResolvers<void>();
    gateway.upstream.on(chat.upstreamPath, numberedAnswers(chat, { gate: gate.promise }));
    const { key } = await gateway.makeKey({ creditUsd: 50 });
    const earlier = gateway.upstream.requests.length;
    const body = chat.body({ model: 'priced', temperature: 0, seed: 7 });
    const first = gateway.open(chat.path, { key, body, headers: { connection: 'close' } });
    await until(() => gateway.upstream.requests.length > earlier);
    const others = sendMany(12, key, { body });
    await sleep(200);
    first.request.destroy();
    // Longer than a run without readers is read on.
    await sleep(5_500);
    gate.resolve();
    assert.equal(succeeded(await others), 12);
    assert.equal(gateway.upstream.requests.length - earlier, 1);
  },
);

test('an Idempotency-Key runs once on all threads', async () => {
  gateway.upstream.on(chat.upstreamPath, numberedAnswers(chat));
  const { key } = await gateway.makeKey({ creditUsd: 50 });
  const earlier = gateway.upstream.requests.length;
  const replies = await sendMany(30, key, { headers: { 'idempotency-key': 'order-1' } });
  assert.equal(succeeded(replies), 30);
  assert.equal(gateway.upstream.requests.length - earlier, 1);
});

testOn('sqlite', 'a route that fails on any thread is out of use on all', async () => {
  gateway.upstream.on('/local/v1/chat/completions', answerStatus(500));
  gateway.answer(chat, content);
  const { key } = await gateway.makeKey({ creditUsd: 50 });
  const earlier = gateway.upstream.requests.length;
  const body = chat.body({ model: 'two' });
  for (let count = 0; count < usualTuning.failuresMax + 3; count++) {
    const { status, text } = await sendOne(key, { body });
    assert.equal(status, 200, text);
  }
  const calls = gateway.upstream.requests.slice(earlier);
  const failed = calls.filter(({ path }) => path.startsWith('/local/'));
  assert.equal(failed.length, usualTuning.failuresMax);
  // The line of another thread may come after its answer.
  const logged = () => gateway.program.output.match(/"a route is out of use/g)?.length;
  await until(() => logged() !== undefined);
  assert.equal(logged(), 1);
});

test('a revoked key stops working on all threads', async () => {
  gateway.answer(chat, content);
  const { key, id } = await gateway.makeKey({ creditUsd: 50 });
  assert.equal(succeeded(await sendMany(12, key)), 12);
  await gateway.program.cli('keys', 'revoke', id);
  await until(async () => {
    const replies = await sendMany(12, key);
    return replies.every(({ status }) => status === 401);
  });
});

/** The log's lines about a key's requests. */
function linesOf(keyId: string): { readonly key_id?: string }[] {
  const lines = gateway.program.output.split('\n').filter((line) => line.startsWith('{'));
  return lines
    .map((line) => JSON.parse(line) as { readonly key_id?: string })
    .filter(({ key_id }) => key_id === keyId);
}

testOn('sqlite', 'the metrics and the log have the requests of all threads', async () => {
  gateway.answer(chat, content);
  const { key, id } = await gateway.makeKey({ creditUsd: 50 });
  const read = async () => {
    const { text } = await gateway.get('/metrics', {
      key: metricsToken,
      headers: { connection: 'close' },
    });
    const valueOf = (start: string) =>
      text
        .split('\n')
        .filter((line) => line.startsWith(start))
        .reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
    return {
      requests: valueOf('tollgate_requests_total{route="/v1/chat/completions",status="200"'),
      calls: valueOf('tollgate_upstream_calls_total{provider="openai"'),
      processes: text.match(/^process_start_time_seconds /gm)?.length,
    };
  };
  const earlier = await read();
  const replies = await sendMany(15, key);
  assert.equal(succeeded(replies), 15, replies.find(({ status }) => status !== 200)?.text);
  // A request is counted when its connection has closed.
  await until(async () => (await read()).requests - earlier.requests >= 15);
  const later = await read();
  assert.equal(later.requests - earlier.requests, 15);
  assert.equal(later.calls - earlier.calls, 15);
  assert.equal(later.processes, 1);
  await until(() => linesOf(id).length === 15);
});

testOn(
  'sqlite',
  'all threads export their requests, once each and with what they cost',
  async () => {
    gateway.answer(chat, content);
    const { key, account } = await gateway.makeKey({ creditUsd: 50 });
    const admin = await adminOf(gateway);
    await admin.ok('PATCH', `/accounts/${account}/telemetry`, { body: { endpoint: customer.url } });
    // Threads notice the new address in their own time, and then send in their own time.
    const rounds: Reply[][] = [];
    await until(async () => {
      const round = await sendMany(12, key);
      for (const { requestId } of round) await operator.requestTrace(requestId);
      rounds.push(round);
      const spans = customer.spans();
      return rounds.some((sent) => sent.every(({ requestId }) => traceOf(spans, requestId)));
    });
    const replies = await sendMany(30, key);
    assert.equal(succeeded(replies), 30);
    for (const { requestId } of replies) {
      for (const receiver of [operator, customer]) {
        const { request, settlements } = await receiver.requestTrace(requestId);
        assert.deepEqual(
          [request, ...settlements].map(({ attributes }) => attributes['tollgate.cost.micros']),
          [200_000, 200_000],
        );
        const copies = receiver
          .spans()
          .filter(({ attributes }) => attributes['tollgate.request.id'] === requestId);
        assert.equal(copies.length, 1);
      }
    }
  },
);

testOn('sqlite', 'the exported metrics of all threads add up to the ledger', async () => {
  const charges = await gateway.database.read.selectFrom('charges').selectAll().execute();
  const charged = charges.reduce((sum, { cost_micros }) => sum + cost_micros, 0);
  const points = () => operator.points('tollgate.charged');
  await until(() => points().reduce((sum, point) => sum + point.sum, 0) === charged);
  assert.ok(charged > 0);
});

testOn(
  'sqlite',
  'every thread keeps bodies once the key asks for it, and none after it stops',
  async () => {
    gateway.answer(chat, content);
    const { key, id } = await gateway.makeKey({ creditUsd: 50 });
    const keptOf = async (replies: readonly Reply[]) => {
      const ids = replies.map(({ requestId }) => requestId);
      const { read } = gateway.database;
      const rows = await read
        .selectFrom('kept_bodies')
        .select('request_id')
        .where('request_id', 'in', ids)
        .execute();
      return rows.length;
    };
    const marked = await gateway.makeKey({ creditUsd: 50, bodyDays: 1 });
    /** Sends some on all threads, and returns how many are kept once each thread has stored its own. */
    const sendAndCount = async () => {
      const sent = await sendMany(12, key);
      const later = await sendMany(12, marked.key);
      await until(async () => (await keptOf(later)) === later.length);
      return keptOf(sent);
    };
    assert.equal(await sendAndCount(), 0);
    await gateway.program.cli('keys', 'update', id, '--keep-bodies', '1');
    await until(async () => (await sendAndCount()) === 12);
    await gateway.program.cli('keys', 'update', id, '--keep-bodies', 'none');
    await until(async () => (await sendAndCount()) === 0);
  },
);

test('a process that was paused still keeps its limits', async () => {
  gateway.answer(chat, content);
  const { key } = await gateway.makeKey({ creditUsd: 50, requestsPerMinute: 6 });
  // The key is known, so that the requests do not wait for the database.
  assert.equal((await gateway.get('/v1/balance', { key })).status, 200);
  const sent = sendMany(40, key);
  process.kill(gateway.program.pid, 'SIGSTOP');
  await sleep(1_300);
  process.kill(gateway.program.pid, 'SIGCONT');
  // On PostgreSQL each thread counts by itself while the database seems to be away.
  const max = currentStore() === 'sqlite' ? 6 : 18;
  assert.ok(succeeded(await sent) <= max);
});

testOn('sqlite', 'threads are ready again after an outage of the database', async () => {
  const { key } = await second.makeKey({ creditUsd: 50 });
  const ask = () =>
    second.post(chat.path, {
      key,
      headers: { connection: 'close' },
      body: chat.body({ model: 'priced' }),
    });
  const readiness = async () => {
    const replies = await Promise.all(
      Array.from({ length: 12 }, () => second.get('/readyz', { headers: { connection: 'close' } })),
    );
    return new Set(replies.map(({ status }) => status));
  };
  const other = connectSqlite(sqlitePathOf(second.database.url), { readOnly: false });
  other.exec('begin immediate');
  // Without any request, every thread notices it.
  await until(async () => isDeepStrictEqual(await readiness(), new Set([503])));
  const refused = await Promise.all(Array.from({ length: 6 }, ask));
  assert.equal(succeeded(refused), 0);
  other.exec('rollback');
  other.close();
  await until(async () => isDeepStrictEqual(await readiness(), new Set([200])));
});

// On PostgreSQL the leases of threads end like those of gateways, which other tests wait for.
testOn(
  'sqlite',
  'a killed process leaves whole books, and the next start frees its holds',
  async () => {
    second.upstream.on(chat.upstreamPath, async (response, request) => {
      await sleep(Math.random() * 40);
      return answerJson(wholeAnswer('chat', content))(response, request);
    });
    const { key, account } = await second.makeKey({ creditUsd: 500 });
    let answered = 0;
    const killed = new AbortController();
    const clients = Array.from({ length: 24 }, async () => {
      while (!killed.signal.aborted) {
        const reply = await second
          .post(chat.path, {
            key,
            headers: { connection: 'close' },
            body: chat.body({ model: 'priced' }),
          })
          .catch(() => null);
        if (reply?.status === 200) answered += 1;
      }
    });
    await until(() => answered >= 100);
    killed.abort();
    await second.program.kill();
    await Promise.all(clients);
    await second.program.start();
    assert.equal((await second.balance(account)).heldMicros, 0);
    const { postedMicros } = await second.balance(account);
    const charges = (500_000_000 - postedMicros) / 200_000;
    assert.ok(Number.isInteger(charges) && charges >= answered, `${charges} of ${answered}`);
  },
);

testOn(
  'sqlite',
  'an account that uses one thread may store the free bytes of a whole day',
  async () => {
    const { key } = await second.makeKey();
    let storedBytes = 0;
    for (let count = 0; count < 100; count++) {
      const headers = { 'idempotency-key': `free-${count}` };
      // Without `connection: close` all requests have one connection, which belongs to one thread.
      const reply = await second.post(chat.path, { key, headers, body: chat.body() });
      assert.equal(reply.status, 200, reply.text);
      if (reply.headers['x-service-idempotency'] === 'not-retained') break;
      storedBytes += deflateRawSync(reply.text).length;
    }
    // Its own count differs by some bytes.
    const share = storedBytes / freeBytes;
    assert.ok(share > 0.8 && share < 1.1, `${storedBytes} bytes`);
  },
);

test('wrong keys from one address are counted over all threads', async () => {
  const statuses: number[] = [];
  // One after the other, so that each is counted before the next.
  for (let count = 0; count < 8; count++) {
    const key = `tg_live_${String(count).repeat(38)}`;
    const { status } = await second.get('/v1/balance', { key, headers: { connection: 'close' } });
    statuses.push(status);
  }
  assert.deepEqual(statuses, [401, 401, 401, 401, 401, 429, 429, 429]);
});

testOn(
  'sqlite',
  'a shutdown ends when the running requests of all threads have ended',
  async () => {
    const gate = Promise.withResolvers<void>();
    second.upstream.on(chat.upstreamPath, numberedAnswers(chat, { gate: gate.promise }));
    const earlier = second.upstream.requests.length;
    const { key } = await second.makeKey({ creditUsd: 50 });
    const send = () =>
      second.post(chat.path, {
        key,
        headers: { connection: 'close' },
        body: chat.body({ model: 'priced' }),
      });
    const sent = Array.from({ length: 12 }, send);
    await until(() => second.upstream.requests.length - earlier === 12);
    const ended = second.program.terminate();
    await sleep(300);
    gate.resolve();
    const replies = await Promise.all(sent);
    assert.equal(succeeded(replies), 12);
    assert.equal(await ended, 0);
    assert.match(second.program.output, /"running":12,"msg":"stopping"/);
  },
);

testOn('sqlite', 'of two gateways that start at once on one port, only one listens', async () => {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as AddressInfo;
  await new Promise((resolve) => probe.close(resolve));
  const options = { config: { server: { threads: 2 } }, env: { PORT: String(port) } };
  const starts = await Promise.allSettled([startProgram(options), startProgram(options)]);
  const [started, refused] = starts.toSorted((one, other) =>
    one.status.localeCompare(other.status),
  );
  assert.equal(started?.status, 'fulfilled');
  assert.ok(refused?.status === 'rejected');
  assert.match(String(refused.reason), /is already in use/);
  if (started.status === 'fulfilled') await started.value.stop();
});

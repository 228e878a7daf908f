// A request with an Idempotency-Key runs once, is charged once and always gets the same answer,
// whether clients leave, wait or retry.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, before, describe, describeOn, test, testOn } from '../support/both-stores.ts';
import { streamFrames } from '../support/answers.ts';
import { addressed, clients, endpoint, type Client } from '../support/endpoints.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import type { Reply } from '../support/http.ts';
import { hostNamed } from '../support/model-hosts.ts';
import { noticeKeyChanges } from '../support/notice-key-changes.ts';
import {
  isSuccess,
  numberedAnswers as answers,
  numberedContent as content,
  asReplayed,
  keepAlives,
} from '../support/numbered-answers.ts';
import type { RunningApp } from '../support/running-app.ts';
import { TestClock } from '../support/test-clock.ts';
import { until } from '../support/until.ts';
import { keepAliveMs } from '../../src/gateway/keep-alives.ts';
import { noise } from '../support/noise.ts';
import { answerStatus, behind, framesText, type Script } from '../support/upstream.ts';
import { rowOf } from '../support/rows.ts';

const chat = endpoint('chat');
const dayMs = 24 * 3_600_000;
let clock: TestClock;
let gateway: TestGateway<RunningApp>;
let keys = 0;

before(async () => {
  const config = {
    idempotency: { file_bytes_per_day: 0 },
    log: { level: 'info' },
  };
  clock = new TestClock();
  gateway = await startGateway(config, { clock, tuning: { storedAnswerBytes: 20_000 } });
});
after(() => gateway.stop());

const newKey = (options: object = {}) => gateway.makeKey({ creditUsd: 5, ...options });
const newName = () => `order-${++keys}`;

/** Sends with an Idempotency-Key, and counts the upstream requests since then. */
function asker(at: Client, key: string, name: string, fields: object = {}) {
  const earlier = gateway.upstream.requests.length;
  const headers = { 'idempotency-key': name };
  return {
    ask: (more: object = {}) => {
      const { path, body } = addressed(at, at.body({ ...fields, ...more }));
      return gateway.post(path, { key, headers, body });
    },
    leave: () => {
      const { path, body } = addressed(at, at.body(fields));
      return gateway.open(path, { key, headers, body });
    },
    runs: () => gateway.upstream.requests.length - earlier,
  };
}

/** Plays the scripts where the client's own vendor is called. */
function playAt(at: Client, ...scripts: [Script, ...Script[]]): void {
  for (const path of hostNamed(at.name).paths(at.model)) gateway.upstream.on(path, ...scripts);
}

function assertReplay(reply: Reply, first: Reply): void {
  assert.equal(reply.status, 200, reply.text);
  assert.equal(reply.text, asReplayed(first.text));
  assert.equal(reply.headers['x-service-cache'], 'idempotent-replay');
  assert.equal(reply.headers['x-service-cost-micros'], '0');
  assert.ok(reply.headers['x-service-balance-cents']);
  assert.equal(reply.headers['content-type'], first.headers['content-type']);
  assert.notEqual(reply.requestId, first.requestId);
}

/**
 * Waits until one request is at the upstream, after `earlier` older ones, and all others wait for
 * it.
 */
async function oneRunsOf(count: number, earlier: number): Promise<void> {
  await gateway.upstream.request(earlier);
  await until(() => gateway.program.app.gateway.runs.count === count);
}

const describeOnSqlite = (name: string, body: () => void) => describeOn('sqlite', name, body);

// The stores see one format as the other, so PostgreSQL gets one of them.
for (const at of clients) {
  const group = at.name === 'chat' ? describe : describeOnSqlite;
  for (const stream of [false, true]) {
    group(`${at.name}, ${stream ? 'streamed' : 'whole'}`, () => {
      test('a repeat gets the stored answer byte for byte for free, whatever the order of its fields', async () => {
        playAt(at, answers(at));
        const { key, account } = await newKey();
        const { ask, runs } = asker(at, key, newName(), { stream });
        const first = await ask();
        assert.equal(first.status, 200, first.text);
        const { postedMicros } = await gateway.balance(account);
        assertReplay(await ask(), first);
        const { path, body } = addressed(at, at.body({ stream }));
        const again = await gateway.post(path, {
          key,
          headers: { 'idempotency-key': `order-${keys}` },
          body: Object.fromEntries(Object.entries(body).toReversed()),
        });
        assertReplay(again, first);
        assert.equal(runs(), 1);
        assert.equal((await gateway.usage(key)).length, 1);
        assert.equal((await gateway.balance(account)).postedMicros, postedMicros);
      });

      test('of 20 requests at once one runs and is charged, and all get the same answer', async () => {
        const gate = Promise.withResolvers<void>();
        playAt(at, behind(gate.promise, answers(at)));
        const { key } = await newKey();
        const { ask, runs } = asker(at, key, newName(), { stream });
        const earlier = gateway.upstream.requests.length;
        const asked = Promise.all(Array.from({ length: 20 }, () => ask()));
        await oneRunsOf(20, earlier);
        await clock.advance(2 * keepAliveMs);
        gate.resolve();
        const replies = await asked;
        assert.deepEqual([...new Set(replies.map(({ status }) => status))], [200]);
        assert.equal(new Set(replies.map(({ text }) => asReplayed(text))).size, 1);
        const costs = replies.map((reply) => reply.costMicros).filter((micros) => micros !== 0);
        assert.equal(costs.length, 1);
        assert.equal(runs(), 1);
        assert.equal((await gateway.usage(key)).length, 1);
        const hasKeepAlive = (text: string) => keepAlives.some((frame) => text.includes(frame));
        if (stream) assert.ok(replies.every(({ text }) => hasKeepAlive(text)));
      });

      test('a failure is not stored: the next request runs, even one that waited', async () => {
        const { key } = await newKey();
        const { ask, runs } = asker(at, key, newName(), { stream });
        playAt(at, answerStatus(500), answers(at));
        assert.ok(!isSuccess(await ask(), stream));
        const success = await ask();
        assert.equal(success.status, 200);
        assertReplay(await ask(), success);
        assert.equal(runs(), 2);

        const other = asker(at, key, newName(), { stream });
        const gate = Promise.withResolvers<void>();
        playAt(at, behind(gate.promise, answerStatus(500)), answers(at));
        const earlier = gateway.upstream.requests.length;
        const asked = Promise.all([other.ask(), other.ask(), other.ask()]);
        await oneRunsOf(3, earlier);
        gate.resolve();
        const replies = await asked;
        const [failed, ...succeeded] = replies.toSorted(
          (one, two) => Number(isSuccess(one, stream)) - Number(isSuccess(two, stream)),
        );
        assert.ok(!isSuccess(failed!, stream));
        assert.ok(succeeded.every((reply) => isSuccess(reply, stream)));
        assert.equal(asReplayed(succeeded[0]!.text), asReplayed(succeeded[1]!.text));
        assert.equal(other.runs(), 2);
        assert.equal((await gateway.usage(key)).length, 2);
      });

      test('a client that leaves finds the whole answer when it comes back', async () => {
        const gate = Promise.withResolvers<void>();
        playAt(at, answers(at, { gate: gate.promise }));
        const { key } = await newKey();
        const { leave, ask, runs } = asker(at, key, newName(), { stream });
        const earlier = gateway.upstream.requests.length;
        const { request, response } = leave();
        if (stream) await once(await response, 'data');
        else await gateway.upstream.request(earlier);
        request.destroy();
        const asked = ask();
        await oneRunsOf(2, earlier);
        gate.resolve();
        const reply = await asked;
        assert.equal(reply.status, 200);
        assert.match(reply.text, / 1/);
        if (!stream) assert.equal(reply.headers['x-service-cache'], 'idempotent-replay');
        assertReplay(await ask(), reply);
        assert.equal(runs(), 1);
        assert.equal((await gateway.usage(key)).length, 1);
        const undisturbed = await asker(at, key, newName(), { stream }).ask();
        const plain = (text: string) => withoutIds(asReplayed(text)).replaceAll(/ \d/g, '');
        assert.equal(plain(reply.text), plain(undisturbed.text));
      });
    });
  }
}

test('another body or path under the same Idempotency-Key is a conflict, and API keys have separate ones', async () => {
  const messages = endpoint('messages');
  const gate = Promise.withResolvers<void>();
  gateway.upstream.on(chat.upstreamPath, answers(chat, { gate: gate.promise }));
  gateway.upstream.on(messages.upstreamPath, answers(messages));
  const { key, account } = await newKey();
  const name = newName();
  const { ask, runs } = asker(chat, key, name);
  const earlier = gateway.upstream.requests.length;
  const first = ask();
  await gateway.upstream.request(earlier);
  const conflicts = async () => [
    await ask({ temperature: 0 }),
    await ask({ stream: true }),
    await asker(messages, key, name).ask(),
  ];
  for (const reply of await conflicts())
    assert.deepEqual([reply.status, reply.error.code], [422, 'idempotency_conflict'], reply.text);
  gate.resolve();
  assert.equal((await first).status, 200);
  for (const reply of await conflicts()) assert.equal(reply.status, 422);
  const { key: otherKey } = await newKey({ account });
  assert.equal(
    (await asker(chat, otherKey, name).ask({ temperature: 0 })).headers['x-service-cache'],
    undefined,
  );
  assert.equal(runs(), 2);
});

testOn('sqlite', 'the model and the method in Google’s paths are part of a request', async () => {
  const gemini = clients.find(({ name }) => name === 'gemini')!;
  playAt(gemini, answers(gemini));
  const { key } = await newKey();
  const { ask, runs } = asker(gemini, key, newName());
  const first = await ask();
  for (const other of [{ stream: true }, { model: 'claude-haiku-4-5' }])
    assert.deepEqual((await ask(other)).error.code, 'idempotency_conflict');
  assertReplay(await ask(), first);
  assert.equal(runs(), 1);
});

testOn('sqlite', 'an empty, too long or unprintable Idempotency-Key is refused', async () => {
  const { key } = await newKey();
  for (const name of ['', ' ', '\u00a0', 'a\tb', 'x'.repeat(1_025)]) {
    const { status, error } = await asker(chat, key, name).ask();
    assert.deepEqual(
      [status, error.code, error.param],
      [400, 'invalid_request', 'Idempotency-Key'],
    );
  }
});

test('an Idempotency-Key may have spaces and letters of any language, compared by bytes', async () => {
  gateway.upstream.on(chat.upstreamPath, answers(chat));
  const { key } = await newKey();
  const names = [`order ${newName()} of today`, 'Bestellung für Zoë', 'заказ 17', 'заказ 18'];
  for (const [index, name] of names.entries()) {
    // A header contains bytes, which JavaScript represents as one character each.
    const { ask, runs } = asker(chat, key, Buffer.from(name).toString('latin1'), { seed: index });
    const first = await ask();
    assert.equal(first.status, 200, first.text);
    assertReplay(await ask(), first);
    assert.equal(runs(), 1);
  }
});

test('a replay needs no balance and no room under the caps, but a frozen account gets none, and the key must allow the model', async () => {
  gateway.upstream.on(chat.upstreamPath, answers(chat));
  const { id, key, account } = await newKey();
  const { ask } = asker(chat, key, newName());
  const first = await ask();
  const setKey = (values: object) =>
    gateway.database.write.updateTable('api_keys').set(values).where('id', '=', id).execute();
  const setPosted = (micros: number) =>
    gateway.database.write
      .updateTable('ledgers')
      .set({ posted_micros: micros as never })
      .where('id', '=', `${account}:live`)
      .execute();
  await setPosted(0);
  await setKey({ daily_cap_micros: 0, monthly_cap_micros: 0 });
  await noticeKeyChanges(gateway, { clock });
  assertReplay(await ask(), first);
  const setFrozen = (frozen: 0 | 1) =>
    gateway.database.write
      .updateTable('accounts')
      .set({ frozen })
      .where('id', '=', account)
      .execute();
  await setFrozen(1);
  await noticeKeyChanges(gateway, { clock });
  assert.equal((await ask()).error.code, 'account_frozen');
  await setFrozen(0);
  await setKey({ models: JSON.stringify(['claude-haiku-4-5']) });
  await noticeKeyChanges(gateway, { clock });
  assert.equal((await ask()).error.code, 'model_not_allowed_for_key');
  // Restores the account, because the books are verified at the end.
  await setPosted(5_000_000 - first.costMicros!);
  const log = gateway.program.output
    .split('\n')
    .find((line) => line.includes('"cache":"idempotent-replay"'));
  assert.ok(log, 'a replay shows in the log');
});

test('after 24 hours the Idempotency-Key is free again', async () => {
  gateway.upstream.on(chat.upstreamPath, answers(chat));
  const { id, key } = await newKey();
  const { ask, runs } = asker(chat, key, newName());
  const first = await ask();
  const row = await rowOf(gateway.database, 'idempotent_responses', { key_id: id });
  assert.equal(row.expires_at_ms! - row.stored_at_ms!, dayMs);
  assert.ok(!Buffer.from(row.body!).includes('one two'), 'it is encrypted');
  clock.jumpTo(row.expires_at_ms! - 1);
  assertReplay(await ask(), first);
  clock.jumpTo(row.expires_at_ms! + 1);
  const second = await ask({ temperature: 1 });
  assert.equal(second.status, 200, second.text);
  assert.equal(second.headers['x-service-cache'], undefined);
  assertReplay(await ask({ temperature: 1 }), second);
  assert.equal(runs(), 2);
});

test('a restarted gateway has the answer for the rest of the 24 hours', async () => {
  gateway.upstream.on(chat.upstreamPath, answers(chat));
  const { key } = await newKey();
  const { ask, runs } = asker(chat, key, newName());
  const first = await ask();
  clock.jumpTo(clock.nowMs() + dayMs - 1);
  await restart();
  assertReplay(await ask(), first);
  clock.jumpTo(clock.nowMs() + 1);
  await restart();
  assert.ok((await ask()).costMicros! > 0);
  assert.equal(runs(), 2);
});

/** Nothing is in memory then. */
async function restart(): Promise<void> {
  await gateway.program.terminate();
  await gateway.program.start();
}

for (const stream of [false, true]) {
  test(`an answer too long to be stored does not run twice, ${stream ? 'streamed' : 'whole'}`, async () => {
    gateway.upstream.on(chat.upstreamPath, answers(chat, { text: noise(60_000) }));
    const { key } = await newKey();
    const { ask, runs } = asker(chat, key, newName(), { stream });
    assert.equal((await ask()).status, 200);
    const { status, error } = await ask();
    assert.deepEqual([status, error.code], [409, 'idempotency_body_not_retained']);
    assert.equal((await ask({ temperature: 0 })).error.code, 'idempotency_conflict');
    assert.equal(runs(), 1);
  });
}

test('a retry waits for an answer that ends long after its client has left', async () => {
  const gate = Promise.withResolvers<void>();
  gateway.upstream.on(chat.upstreamPath, answers(chat, { gate: gate.promise }));
  const { key } = await newKey();
  const earlier = gateway.upstream.requests.length;
  const { leave, ask, runs } = asker(chat, key, newName());
  const { request } = leave();
  await gateway.upstream.request(earlier);
  request.destroy();
  await clock.advance(10_000);
  gate.resolve();
  const reply = await ask();
  assert.deepEqual(
    [reply.status, reply.headers['x-service-cache']],
    [200, 'idempotent-replay'],
    reply.text,
  );
  assert.equal(runs(), 1);
});

testOn('sqlite', 'a waiting stream that was opened early gets the error in it', async () => {
  const gate = Promise.withResolvers<void>();
  gateway.upstream.on(chat.upstreamPath, behind(gate.promise, answerStatus(500)));
  const { key, account } = await newKey();
  const { ask } = asker(chat, key, newName(), { stream: true });
  const earlier = gateway.upstream.requests.length;
  const asked = Promise.all([ask(), ask()]);
  await oneRunsOf(2, earlier);
  await clock.advance(2 * keepAliveMs);
  await gateway.program.cli('accounts', 'debit', account, '--usd', '5');
  gate.resolve();
  // When the first has failed, the second can no longer pay.
  const refused = (await asked).find(({ text }) => text.includes('insufficient_balance'));
  assert.equal(refused?.status, 200);
  assert.ok(!refused.text.includes('[DONE]'));
});

testOn('sqlite', 'a replay behind a keep-alive has its remarks in trailers', async () => {
  const messages = endpoint('messages');
  const gate = Promise.withResolvers<void>();
  gateway.upstream.on(messages.upstreamPath, behind(gate.promise, answers(messages)));
  const { key } = await newKey();
  const fields = { stream: true, seed: 1, response_format: { type: 'json_object' } };
  const { ask } = asker(chat, key, newName(), { ...fields, model: messages.model });
  const earlier = gateway.upstream.requests.length;
  const asked = Promise.all([ask(), ask()]);
  await oneRunsOf(2, earlier);
  await clock.advance(2 * keepAliveMs);
  gate.resolve();
  const replayed = (await asked).find(({ costMicros }) => costMicros === 0)!;
  const { headers } = await ask();
  for (const name of ['x-service-ignored', 'x-service-emulated']) {
    assert.ok(headers[name], name);
    assert.equal(replayed.trailers[name], headers[name]);
    assert.match(replayed.headers.trailer!, new RegExp(name, 'i'));
  }
});

for (const at of clients) {
  test(`${at.name}: a client that drops at any event of a stream and retries gets the whole stream`, async () => {
    const { start, deltas, end } = streamFrames(at.name, content);
    const frames = [...start, ...deltas, ...end];
    const { key } = await newKey();
    const texts = new Set<string>();
    // Frames that only open a stream wait for the first word, and the last of Chat for the end.
    for (let events = start.length; events < start.length + deltas.length - 1; events++) {
      const gate = Promise.withResolvers<void>();
      playAt(at, async (response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write(framesText(frames.slice(0, events + 1)));
        await gate.promise;
        response.end(framesText(frames.slice(events + 1)));
      });
      const { leave, ask, runs } = asker(at, key, newName(), { stream: true });
      const earlier = gateway.upstream.requests.length;
      const { request, response } = leave();
      await once(await response, 'data');
      request.destroy();
      // When the gateway has the second request, it has noticed that the first client left.
      const asked = ask();
      await oneRunsOf(2, earlier);
      gate.resolve();
      texts.add(withoutIds(asReplayed((await asked).text)));
      assert.equal(runs(), 1);
    }
    playAt(at, (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(framesText(frames));
    });
    const undisturbed = await asker(at, key, newName(), { stream: true }).ask();
    assert.deepEqual([...texts], [withoutIds(asReplayed(undisturbed.text))]);
    assert.ok(isSuccess(undisturbed, true));
  });
}

/** Removes ids and times, which differ between requests. */
function withoutIds(text: string): string {
  return text
    .replaceAll('event: ping\ndata: {"type":"ping"}\n\n', '')
    .replaceAll(
      /(resp|chatcmpl|msg|item|rs|fc)_?-?[\w]+|"(responseId|createTime)":"[^"]+"|"created(_at)?":\d+/g,
      '',
    );
}

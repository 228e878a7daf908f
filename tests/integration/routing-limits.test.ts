// Limits on retries: a retry budget for all requests, a deadline for each, and circuit breakers for
// failing routes.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { test, type TestContext } from 'node:test';
import { answerContent, streamFrames } from '../support/answers.ts';
import { metricsToken } from '../support/gateway.ts';
import { Reply } from '../support/http.ts';
import { type Tuning, usualTuning } from '../../src/config/tuning.ts';
import { TestClock } from '../support/test-clock.ts';
import { endpointOf, servedBy, startTwoRoutes, type TwoRoutes } from '../support/two-routes.ts';
import { until } from '../support/until.ts';
import {
  answerInParts,
  answerJson,
  answerSse,
  answerStatus,
  holdBack,
  type Script,
} from '../support/upstream.ts';

const content = { text: 'one two three four', tokens: { input: 10, output: 3 } };
const answer = answerContent('chat', content);

/**
 * `ask` moves the clock only while the request waits for a retry, or for an upstream on the same
 * clock.
 */
async function start(t: TestContext, retries: object, tuning: Partial<Tuning>) {
  const clock = new TestClock();
  const config = { metrics: { token: metricsToken }, retries };
  const two = await startTwoRoutes(config, { clock, tuning });
  t.after(two.stop);
  const { key, account } = await two.gateway.makeKey({ mode: 'live', creditUsd: 50 });
  const { path, body } = endpointOf('chat');
  const send = (model = 'two-chat') => two.gateway.post(path, { key, body: body({ model }) });
  const ask = (model?: string) => clock.skipWaits(send(model));
  const openStream = (model = 'two-chat') =>
    two.gateway.open(path, { key, body: body({ model, stream: true }) }).response;
  return { two, clock, send, ask, openStream, account };
}

/** The log is written in batches. */
async function logged({ gateway }: TwoRoutes, line: RegExp): Promise<void> {
  await until(() => line.test(gateway.program.output));
}

test('in a storm of 429s retries add at most a fifth to the requests of all routes', async (t) => {
  const { retriesMin: floor, backoffMs } = usualTuning;
  const { two, clock, send, account } = await start(t, {}, { retriesMin: floor, backoffMs });
  const busy = answerStatus(429);
  for (const [atOnce, rounds] of [
    [1, 5],
    [10, 10],
    [100, 5],
  ] as const) {
    for (let round = 0; round < rounds; round++) {
      // All requests' first calls fail together, before any retry.
      const held = holdBack(busy);
      const firstCalls = Array.from({ length: atOnce }, () => held.script);
      two.play('chat', [...firstCalls, busy] as [typeof busy], [busy]);
      const seen = two.first.requests.length;
      let answered = 0;
      const replies = Promise.all(
        Array.from({ length: atOnce }, () => send().finally(() => answered++)),
      );
      await two.first.request(seen + atOnce - 1);
      held.release();
      await until(() => answered + clock.sleeping === atOnce);
      for (const { status } of await clock.skipWaits(replies)) assert.equal(status, 503);
      const [ofFirst, ofSecond] = two.calls();
      const calls = ofFirst + ofSecond;
      // Each request asks both routes. Below fifteen requests, the minimum exceeds a fifth. A request
      // alone may use all of its attempts, and so may the last of many.
      if (atOnce === 1) assert.equal(calls, 4);
      else
        assert.ok(
          calls > 2 * atOnce && calls <= 2 * atOnce + Math.max(0.2 * atOnce, floor) + 2 * floor,
          `${atOnce} at once: ${calls} calls`,
        );
    }
  }
  assert.equal((await two.gateway.balance(account)).heldMicros, 0);
});

test('slow requests with test keys allow no retries of live ones', async (t) => {
  const tuning = { retriesMin: 1, backoffMs: 0 };
  const { two, clock, send } = await start(t, { max_attempts: 2 }, tuning);
  const { key } = await two.gateway.makeKey({ mode: 'test' });
  const { path, body } = endpointOf('chat');
  const messages = [{ role: 'user', content: 'sandbox: delay_ms=600000' }];
  const slow = Array.from({ length: 20 }, () =>
    two.gateway.open(path, { key, body: body({ messages, model: 'one-chat' }) }),
  );
  await until(() => clock.sleeping === slow.length);
  const [firstCalls, retries] = [holdBack(answerStatus(500)), holdBack(answerStatus(500))];
  two.play('chat', [firstCalls.script, firstCalls.script, retries.script]);
  let answered = 0;
  const replies = [1, 2].map(() => send('one-chat').finally(() => answered++));
  await two.first.request(1);
  firstCalls.release();
  await until(() => two.first.requests.length + answered === 4);
  assert.equal(answered, 1);
  retries.release();
  await Promise.all(replies);
  for (const { request } of slow) request.destroy();
});

test('after a storm the retry budget recovers, even while answers are still running', async (t) => {
  const tuning = { retriesMin: 1 };
  const { two, clock, send, ask, openStream } = await start(t, { max_attempts: 2 }, tuning);
  two.play('chat', [answerStatus(500)], [answerStatus(500)]);
  await clock.skipWaits(Promise.all(Array.from({ length: 20 }, () => send('one-chat'))));
  two.play('chat', [answerStatus(500), answer]);
  assert.deepEqual(servedBy(await ask('one-chat')), ['first', '2']);
  // A long answer that was retried no longer uses the budget.
  const { start: head, deltas, end } = streamFrames('chat', content);
  const long = answerInParts([...head, ...deltas.slice(0, 2)], [...deltas.slice(2), ...end]);
  two.play('chat', [answerStatus(500), long.script]);
  const stream = await clock.skipWaits(openStream('one-chat'));
  await once(stream, 'readable');
  two.play('chat', [answerStatus(500), answer]);
  assert.deepEqual(servedBy(await ask('one-chat')), ['first', '2']);
  long.release();
  assert.deepEqual(servedBy(new Reply(stream, await text(stream))), ['first', '2']);
});

test('no attempt begins after the deadline', async (t) => {
  const { two, clock, ask } = await start(t, { max_attempts: 20 }, {});
  const late =
    (delayMs: number, script: Script): Script =>
    (response, request) =>
      clock.sleep(delayMs).then(() => script(response, request));
  const after3Minutes = late(180_000, answerStatus(500));
  two.play('chat', [after3Minutes], [after3Minutes]);
  assert.equal((await ask()).status, 502);
  assert.deepEqual(two.calls(), [1, 1]);
  // A wait that would end after the deadline is skipped: the next route is tried at once.
  two.play('chat', [late(299_500, answerStatus(429, { retryAfter: '1' }))], [answer]);
  const startMs = clock.elapsedMs();
  assert.deepEqual(servedBy(await ask()), ['second', '2']);
  assert.ok(clock.elapsedMs() - startMs < 300_000);
});

test('no attempt begins after the deadline, even when the wall clock goes back', async (t) => {
  const { two, clock, ask } = await start(t, { max_attempts: 20 }, {});
  const fails = answerStatus(500);
  const afterChange: Script = (response, request) => {
    clock.jumpTo(clock.nowMs() - 3_600_000);
    return clock.sleep(180_000).then(() => fails(response, request));
  };
  two.play('chat', [afterChange], [afterChange]);
  assert.equal((await ask()).status, 502);
  assert.deepEqual(two.calls(), [1, 1]);
});

test('a failing route is skipped, probed by one request at a time, and used again when it works', async (t) => {
  const ejectionMs = 10_000;
  const tuning = { failuresMax: 3, ejectionMsMax: 60_000 };
  const { two, clock, send } = await start(t, { max_attempts: 1 }, tuning);
  const { gateway } = two;
  two.play('chat', [answerStatus(503)], [answer]);
  for (let sent = 0; sent < 5; sent++) assert.equal((await send()).status, 200);
  assert.deepEqual(two.calls(), [3, 5]);

  const ready = await gateway.get('/readyz', { key: metricsToken });
  assert.equal(ready.status, 200, 'a provider that fails makes no gateway unready');
  const [route, ...others] = ready.json<{ routes_in_trouble: Record<string, string>[] }>()
    .routes_in_trouble;
  assert.deepEqual(
    [route!['provider'], route!['model'], route!['state'], route!['reason']],
    ['first', 'first-model', 'ejected', 'failures'],
  );
  assert.equal(others.length, 0);
  const metrics = (await gateway.get('/metrics', { key: metricsToken })).text;
  for (const line of [
    'tollgate_route_ejected{provider="first",model="first-model"} 1',
    'tollgate_route_ejected{provider="second",model="first-model"} 0'.replace(
      'first-model',
      'second-model',
    ),
    'tollgate_upstream_calls_total{provider="first",model="first-model"} 3',
    'tollgate_upstream_failures_total{provider="first",model="first-model"} 3',
  ]) {
    assert.ok(metrics.includes(`${line}\n`), `${line} is missing in\n${metrics}`);
  }

  // A model's only route is never skipped.
  assert.equal((await send('one-chat')).status, 503);
  assert.deepEqual(two.calls(), [1, 0]);

  const manyAtOnce = () => Array.from({ length: 80 }, () => send());
  await clock.advance(ejectionMs - 1);
  await Promise.all(manyAtOnce());
  assert.deepEqual(two.calls(), [0, 80]);

  await clock.advance(1);
  const probe = holdBack(answer);
  two.play('chat', [probe.script]);
  const replies = manyAtOnce();
  let answered = 0;
  for (const reply of replies) void reply.then(() => answered++);
  await until(() => answered === 79);
  probe.release();
  const servers = (await Promise.all(replies)).map((reply) => servedBy(reply)[0]);
  assert.deepEqual(two.calls(), [1, 79]);
  assert.equal(servers.filter((server) => server === 'first').length, 1);
  assert.deepEqual(servedBy(await send()), ['first', '1']);
  assert.deepEqual(
    (await gateway.get('/readyz', { key: metricsToken })).json()['routes_in_trouble'],
    [],
  );
  await logged(two, /a route is out of use: it is called only when no other route works/);
  await logged(two, /a route is in use again/);
});

test('a refused credential alerts the operator, and its route is skipped for a while', async (t) => {
  const skippedMs = 60_000;
  const tuning = { failuresMax: 5, ejectionMsMax: skippedMs };
  const { two, clock, send } = await start(t, {}, tuning);
  for (const status of [401, 403]) {
    two.play('chat', [answerStatus(status)], [answer]);
    for (let sent = 0; sent < 3; sent++) assert.equal(servedBy(await send())[0], 'second');
  }
  assert.deepEqual(two.calls(), [1, 6]);
  const metrics = (await two.gateway.get('/metrics', { key: metricsToken })).text;
  assert.ok(
    metrics.includes('tollgate_credential_refused_total{provider="first",model="first-model"} 1\n'),
    metrics,
  );
  await logged(two, /"level":50/);
  const alerts = two.gateway.program.output
    .split('\n')
    .filter((line) => line.includes('"level":50'));
  assert.equal(alerts.length, 1);
  assert.match(alerts[0]!, /the provider refuses its credential/);
  await clock.advance(skippedMs);
  two.play('chat', [answerStatus(403)], [answer]);
  assert.equal(servedBy(await send())[0], 'second');
  await logged(two, /the provider refuses its credential, or this request"/);
  await clock.advance(skippedMs);
  two.play('chat', [answer]);
  assert.equal(servedBy(await send())[0], 'first');
});

test('what one request can cause takes no route from others', async (t) => {
  const { two, send, openStream } = await start(t, {}, { failuresMax: 3 });
  const forbidden = { error: { message: 'Forbidden', code: 403 } };
  const page = { status: 403, headers: { 'content-type': 'text/html' } };
  const causes: readonly (readonly [string, times: number, Script, stream?: boolean])[] = [
    ['a model that is not there', 4, answerStatus(404)],
    ['a page of a firewall', 4, answerJson('<html>Blocked</html>', page)],
    ['a 403 under status 200', 4, answerJson(forbidden)],
    ['a 403 in a stream', 4, answerSse([{ data: forbidden }]), true],
    ['a single 403', 1, answerStatus(403)],
  ];
  for (const [name, times, script, stream = false] of causes) {
    two.play('chat', [script], [answerContent('chat', content)]);
    for (let sent = 0; sent < times; sent++)
      if (stream) await text(await openStream());
      else assert.equal(servedBy(await send())[0], 'second', name);
    assert.deepEqual(two.calls(), [times, times], name);
    two.play('chat', [answer]);
    assert.equal(servedBy(await send())[0], 'first', name);
    two.calls();
  }
});

test('a host that answers what is no answer of a model is taken out of use', async (t) => {
  const { two, send } = await start(t, {}, { failuresMax: 3 });
  for (const body of [{}, { choices: [] }]) {
    two.play('chat', [answerJson(body)], [answerContent('chat', content)]);
    for (let sent = 0; sent < 5; sent++) assert.equal(servedBy(await send())[0], 'second');
  }
  assert.deepEqual(two.calls(), [3, 10]);
});

test('a fallback’s answer is not cached while the first route is out of use either', async (t) => {
  const ejectionMs = 10_000;
  const tuning = { failuresMax: 1, ejectionMsMax: 60_000 };
  const { two, clock, send } = await start(t, { max_attempts: 1 }, tuning);
  const { key } = await two.gateway.makeKey({ mode: 'live', creditUsd: 5 });
  const { path, body } = endpointOf('chat');
  const ask = async () => {
    const fields = { model: 'two-chat', temperature: 0 };
    const reply = await two.gateway.post(path, { key, body: body(fields) });
    return [reply.status, servedBy(reply)[0] ?? reply.headers['x-service-cache']];
  };
  two.play('chat', [answerStatus(503)], [answer]);
  assert.equal(servedBy(await send())[0], 'second');
  for (let sent = 0; sent < 2; sent++) assert.deepEqual(await ask(), [200, 'second']);
  two.play('chat', [answer]);
  await clock.advance(ejectionMs);
  assert.deepEqual(await ask(), [200, 'first']);
  assert.deepEqual(await ask(), [200, 'hit']);
});

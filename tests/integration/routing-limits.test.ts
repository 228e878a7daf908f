// What keeps retries from doing harm: a budget over all requests, a deadline for each, and routes that are left alone while they fail.
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { answerContent } from '../support/answers.ts';
import { endpointOf, servedBy, startTwoRoutes, type TwoRoutes } from '../support/two-routes.ts';
import { until } from '../support/until.ts';
import { answerStatus, type Script } from '../support/upstream.ts';

const content = { text: 'Hello', tokens: { input: 10, output: 3 } };
const answer = answerContent('chat', content);
const metricsToken = 'metrics-token-of-the-test';

async function start(t: TestContext, config: Parameters<typeof startTwoRoutes>[0]) {
  const two = await startTwoRoutes({ metrics: { token: metricsToken }, ...config });
  t.after(two.stop);
  const { key, account } = await two.gateway.makeKey({ mode: 'live', creditUsd: 50 });
  const { path, body } = endpointOf('chat');
  const ask = (model = 'two-chat') => two.gateway.post(path, { key, body: body({ model }) });
  return { two, ask, account };
}

/** The log is written in batches. */
async function logged({ gateway }: TwoRoutes, line: RegExp): Promise<void> {
  await until(() => line.test(gateway.program.output));
}

/** Answers after a while, so that requests are under way together. */
const afterMs =
  (ms: number, script: Script): Script =>
  async (response, request) => {
    await setTimeout(ms);
    await script(response, request);
  };

test('in a storm of 429 the providers get at most a fifth more than the requests', { timeout: 120_000 }, async (t) => {
  const floor = 3;
  const { two, ask, account } = await start(t, {
    retries: { max_attempts: 4, backoff_base_ms: 200, budget_percent: 20, budget_floor: floor },
  });
  for (const [atOnce, rounds] of [
    [1, 10],
    [10, 30],
    [100, 6],
  ] as const) {
    two.play('chat', [afterMs(20, answerStatus(429))], [afterMs(20, answerStatus(429))]);
    const client = async () => {
      for (let round = 0; round < rounds; round++) assert.equal((await ask()).status, 503);
    };
    await Promise.all(Array.from({ length: atOnce }, client));
    const requests = atOnce * rounds;
    const [ofFirst, ofSecond] = two.calls();
    const calls = ofFirst + ofSecond;
    t.diagnostic(`${atOnce} at once: ${requests} requests, ${calls} calls`);
    // Below fifteen at a time the floor is more than a fifth; a request alone may use all of its attempts.
    if (atOnce === 1) assert.equal(calls, requests * 4);
    else assert.ok(calls > requests && calls <= (1 + Math.max(0.2, floor / atOnce)) * requests + floor, `${calls} calls`);
  }
  assert.equal((await two.gateway.balance(account)).heldMicros, 0);
});

test('after a storm the budget is whole again, also while answers are still on their way', { timeout: 60_000 }, async (t) => {
  const { two, ask } = await start(t, { retries: { max_attempts: 2, backoff_base_ms: 1, budget_floor: 1, budget_percent: 0 } });
  two.play('chat', [answerStatus(500)], [answerStatus(500)]);
  await Promise.all(Array.from({ length: 20 }, () => ask()));
  two.play('chat', [answerStatus(500), answer]);
  assert.deepEqual(servedBy(await ask()), ['first', '2']);
  // A long answer that was tried again holds nothing of the budget.
  const { path, body } = endpointOf('chat');
  const { key } = await two.gateway.makeKey({ mode: 'live', creditUsd: 5 });
  two.play('chat', [answerStatus(500), answerContent('chat', { ...content, text: 'one two three four' }, { paceMs: 200 })]);
  const long = two.gateway.post(path, { key, body: body({ model: 'two-chat', stream: true }) });
  await setTimeout(300);
  two.play('chat', [answerStatus(500), answer]);
  assert.deepEqual(servedBy(await ask()), ['first', '2']);
  assert.deepEqual(servedBy(await long), ['first', '2']);
});

test('no attempt begins after the deadline', { timeout: 30_000 }, async (t) => {
  const { two, ask } = await start(t, {
    retries: { max_attempts: 20, attempts_per_route: 20, backoff_base_ms: 1, deadline_ms: 500 },
  });
  two.play('chat', [afterMs(300, answerStatus(500))], [answer]);
  assert.equal((await ask()).status, 502);
  assert.deepEqual(two.calls(), [2, 0]);
  // A wait that would end after it is not begun: the next route is tried at once.
  two.play('chat', [answerStatus(429, { retryAfter: '1' })]);
  assert.deepEqual(servedBy(await ask()), ['second', '2']);
});

test(
  'a route that fails is left alone, tried by one request at a time, and used again when it works',
  { timeout: 60_000 },
  async (t) => {
    const ejectionMs = 3_000;
    const { two, ask } = await start(t, {
      retries: { max_attempts: 2, attempts_per_route: 1, backoff_base_ms: 1, budget_floor: 100 },
      health: { failures: 3, ejection_ms: ejectionMs, ejection_cap_ms: 60_000 },
    });
    const { gateway } = two;
    two.play('chat', [answerStatus(503)], [answer]);
    for (let sent = 0; sent < 5; sent++) assert.equal((await ask()).status, 200);
    assert.deepEqual(two.calls(), [3, 5]);

    const ready = await gateway.get('/readyz');
    assert.equal(ready.status, 200, 'a provider that fails makes no gateway unready');
    const [route, ...others] = ready.json<{ routes_in_trouble: Record<string, string>[] }>().routes_in_trouble;
    assert.deepEqual(
      [route!['provider'], route!['model'], route!['state'], route!['reason']],
      ['first', 'first-model', 'ejected', 'failures'],
    );
    assert.equal(others.length, 0);
    const metrics = (await gateway.get('/metrics', { key: metricsToken })).text;
    for (const line of [
      'tollgate_route_ejected{provider="first",model="first-model"} 1',
      'tollgate_route_ejected{provider="second",model="first-model"} 0'.replace('first-model', 'second-model'),
      'tollgate_upstream_calls_total{provider="first",model="first-model"} 3',
      'tollgate_upstream_failures_total{provider="first",model="first-model"} 3',
    ]) {
      assert.ok(metrics.includes(`${line}\n`), `${line} is missing in\n${metrics}`);
    }

    // The only route of a model is never left alone.
    assert.equal((await ask('one-chat')).status, 503);
    assert.deepEqual(two.calls(), [1, 0]);

    // Connections are opened ahead, so that all come at the same moment.
    const manyAtOnce = () => Promise.all(Array.from({ length: 80 }, () => ask()));
    await manyAtOnce();
    assert.deepEqual(two.calls(), [0, 80]);
    await setTimeout(ejectionMs);
    two.play('chat', [afterMs(300, answer)]);
    const replies = await manyAtOnce();
    assert.deepEqual(two.calls(), [1, 79]);
    assert.equal(replies.filter((reply) => servedBy(reply)[0] === 'first').length, 1);
    assert.deepEqual(servedBy(await ask()), ['first', '1']);
    assert.deepEqual((await gateway.get('/readyz')).json()['routes_in_trouble'], []);
    await logged(two, /a route fails: it is left alone where there is another/);
    await logged(two, /a route is in use again/);
  },
);

test(
  'a credential that is refused is told to the operator, and its route skipped for a while',
  { timeout: 30_000 },
  async (t) => {
    const { two, ask } = await start(t, { health: { failures: 5, ejection_cap_ms: 60_000 } });
    for (const status of [401, 403]) {
      two.play('chat', [answerStatus(status)], [answer]);
      for (let sent = 0; sent < 3; sent++) assert.equal(servedBy(await ask())[0], 'second');
    }
    assert.deepEqual(two.calls(), [1, 6]);
    const metrics = (await two.gateway.get('/metrics', { key: metricsToken })).text;
    assert.ok(metrics.includes('tollgate_credential_refused_total{provider="first",model="first-model"} 1\n'), metrics);
    await logged(two, /"level":50/);
    const alerts = two.gateway.program.output.split('\n').filter((line) => line.includes('"level":50'));
    assert.equal(alerts.length, 1);
    assert.match(alerts[0]!, /the provider refuses its credential/);
  },
);

// Three gateways on one database share one limit: bursts, steady load, running requests, and a
// gateway that dies.
//
// Each gateway may reserve 3 % of a limit that it then does not use. So all three never grant more
// than the limit, and at least the limit less that part.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answerContent } from '../support/answers.ts';
import { endpoint } from '../support/endpoints.ts';
import { hooksOfFile } from '../support/file-hooks.ts';
import { send, type Reply } from '../support/http.ts';
import { databaseNameOf, postgresServer } from '../support/postgres.ts';
import { startReplicas } from '../support/replicas.ts';
import type { RunningApp } from '../support/running-app.ts';
import { TestClock } from '../support/test-clock.ts';
import { until, whileTimePasses } from '../support/until.ts';
import { behind } from '../support/upstream.ts';

const chat = endpoint('chat');
const answer = answerContent('chat', { text: 'yes', tokens: { input: 4, output: 1 } });
const clock = new TestClock();

const hooks = hooksOfFile();
const { replicas, setup, upstream } = await startReplicas(hooks, { count: 3, clock });

type Asked = { readonly replica: RunningApp; readonly key: string; readonly text?: string };

function ask({ replica, key, text = 'Hi' }: Asked): Promise<Reply> {
  const body = {
    model: 'gpt-6-luna',
    max_completion_tokens: 16,
    messages: [{ role: 'user', content: text }],
  };
  return send(replica.url + chat.path, { key, body });
}

type Burst = {
  readonly text?: string;
  /** A further status that may occur. */ readonly also?: number;
};

/** Sends this many requests to each gateway at once. Returns how many passed. */
async function burst(
  key: string,
  requestsEach: readonly number[],
  { text, also }: Burst = {},
): Promise<number> {
  const asked = replicas.flatMap((replica, index) =>
    Array.from({ length: requestsEach[index]! }, () => ask({ replica, key, text })),
  );
  const replies = await Promise.all(asked);
  const others = replies.filter(
    ({ status }) => status !== 200 && status !== 429 && status !== also,
  );
  assert.deepEqual(
    others.map(({ status, text: body }) => `${status} ${body}`),
    [],
  );
  return replies.filter(({ status }) => status === 200).length;
}

const onEach = (count: number) => [count, count, count];

/** `least`: the limit less what the gateways may keep reserved. */
function assertShared(passed: number, allowed: number, least: number): void {
  assert.ok(
    passed <= allowed && passed >= least,
    `${passed} passed of ${allowed}, at least ${least} should`,
  );
}

for (const { requestsPerMinute, requestsEach } of [
  { requestsPerMinute: 5, requestsEach: 20 },
  { requestsPerMinute: 60, requestsEach: 60 },
]) {
  test(`${requestsPerMinute} requests a minute: a burst of ${requestsEach} on each of three gateways`, async () => {
    const { key } = await setup.makeKey({ requestsPerMinute });
    const kept = 3 * Math.floor(requestsPerMinute * 0.03);
    const passed = await burst(key, onEach(requestsEach));
    assertShared(passed, requestsPerMinute, requestsPerMinute - kept);
  });
}

for (const [name, requestsEach] of [
  ['evenly', [5, 5, 5]],
  ['unevenly', [12, 2, 1]],
] as const) {
  test(`steady load over the limit, spread ${name}, is served at the limit`, async () => {
    const requestsPerMinute = 600;
    const { key } = await setup.makeKey({ requestsPerMinute });
    let passed = await burst(key, onEach(230));
    assertShared(passed, requestsPerMinute, requestsPerMinute - 54);
    // By then the burst's leftover reserves are used.
    for (let step = 0; step < 4; step++) {
      await clock.advance(500);
      passed += await burst(key, requestsEach);
    }
    let steady = 0;
    for (let step = 0; step < 40; step++) {
      await clock.advance(500);
      steady += await burst(key, requestsEach);
    }
    // If the clock moves while the database is slow, a gateway may consider the database
    // unavailable for a moment, and counts alone meanwhile.
    const away = 12;
    assertShared(passed + steady, requestsPerMinute + 220 + away, requestsPerMinute + 220 - 54);
    assert.ok(steady >= 180 && steady <= 220 + away, `${steady} of 200 passed in 20 seconds`);
  });
}

test('steady load below the limit is never refused', async () => {
  const { key } = await setup.makeKey({ requestsPerMinute: 120 });
  for (let second = 0; second < 75; second++) {
    await clock.advance(500);
    assert.equal(await burst(key, [1, 0, 0]), 1);
    await clock.advance(500);
    assert.equal(await burst(key, [0, second % 2, (second + 1) % 2]), 1);
  }
});

test('tokens a minute hold for a burst on three gateways', async () => {
  const tokensPerMinute = 6_000;
  const { key } = await setup.makeKey({ tokensPerMinute });
  const text = 'sandbox: tokens=16';
  const earlier = await ask({ replica: replicas[0]!, key, text });
  const used = earlier.json<{ usage: { total_tokens: number } }>().usage.total_tokens;
  let passed = 1;
  // A running request has reserved more than it will use. The difference is free for the next
  // round.
  for (let more = -1; more !== 0; passed += more) more = await burst(key, onEach(100), { text });
  // A gateway that has fewer tokens left than a request needs (40 at most) cannot use them.
  assertShared(passed * used, tokensPerMinute, tokensPerMinute - 3 * (tokensPerMinute * 0.03 + 40));
});

test('concurrent requests are limited across three gateways', async () => {
  for (const concurrentRequests of [4, 60]) {
    const { key } = await setup.makeKey({ mode: 'live', creditUsd: 5, concurrentRequests });
    const gate = Promise.withResolvers<void>();
    upstream.on(chat.upstreamPath, behind(gate.promise, answer));
    const earlier = upstream.requests.length;
    let refused = 0;
    const asked = replicas.flatMap((replica) =>
      Array.from({ length: concurrentRequests }, async () => {
        const { status } = await ask({ replica, key });
        if (status === 429) refused++;
        return status;
      }),
    );
    const decided = until(() => upstream.requests.length - earlier + refused === asked.length);
    await whileTimePasses(clock, decided);
    gate.resolve();
    const passed = (await Promise.all(asked)).filter((status) => status === 200).length;
    assertShared(
      passed,
      concurrentRequests,
      concurrentRequests - 3 * Math.floor(concurrentRequests * 0.03),
    );
    for (let count = 0; count < 6; count++) {
      const { status } = await whileTimePasses(clock, ask({ replica: replicas[count % 3]!, key }));
      assert.equal(status, 200, 'one after the other');
    }
  }
});

test('the concurrent requests of a gateway whose lease has ended no longer count', async (t) => {
  const [time, stopped] = [new TestClock(), new TestClock()];
  const pair = await startReplicas(t, { count: 2, clock: [time, stopped] });
  const [living, dead] = pair.replicas as [RunningApp, RunningApp];
  const { key } = await pair.setup.makeKey({ mode: 'live', creditUsd: 5, concurrentRequests: 3 });
  const gate = Promise.withResolvers<void>();
  const held = behind(gate.promise, answer);
  pair.upstream.on(chat.upstreamPath, held, held, held, answer);
  const lost = Promise.all([1, 2, 3].map(() => ask({ replica: dead, key })));
  await pair.upstream.request(2);
  const status = async () => (await whileTimePasses(time, ask({ replica: living, key }))).status;
  try {
    for (let seconds = 0; seconds < 30; seconds += 10) {
      assert.equal(await status(), 429);
      await time.advance(10_000);
    }
    assert.equal(await status(), 429, 'the lease is of 40 seconds');
    await time.advance(20_000);
    await until(async () => (await status()) === 200);
  } finally {
    gate.resolve();
    await lost;
  }
});

test('a limit holds across cut connections to the database', async () => {
  const { key } = await setup.makeKey({ requestsPerMinute: 30 });
  await burst(key, onEach(20));
  await (await postgresServer()).cutConnections(databaseNameOf(setup.program.databaseUrl));
  // Keys are looked up again from time to time, which gives a 503 on a cut connection.
  await burst(key, onEach(20), { also: 503 });
  // In the worst case each gateway enforces the limit alone until it shares again.
  let passed = 60;
  for (let round = 0; passed > 4; round++) {
    assert.ok(round < 50, `${passed} passed, and the limit is not shared again`);
    await clock.advance(1_200);
    passed = await burst(key, onEach(20), { also: 503 });
  }
});

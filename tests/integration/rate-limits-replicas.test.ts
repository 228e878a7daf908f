// Three gateways on one database keep one limit: bursts at once, steady load, running requests, and a gateway that dies. Run by itself, it
// prints what it measured. The bounds are those of the promise: no more than 110 % of a limit, no less than 90 %.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { endpoint } from '../support/endpoints.ts';
import { TestGateway } from '../support/gateway.ts';
import { send, type Reply } from '../support/http.ts';
import { createDatabase, databaseNameOf, postgresServer } from '../support/postgres.ts';
import { startProgram, type Program } from '../support/program.ts';
import { until } from '../support/until.ts';
import { startUpstream, type LocalUpstream } from '../support/upstream.ts';

const chat = endpoint('chat');
let upstream: LocalUpstream;
let replicas: Program[];
let setup: TestGateway;
let databaseUrl: string;

const config = { limits: { requests_per_minute: null }, log: { level: 'fatal' } };

before(async () => {
  upstream = await startUpstream();
  databaseUrl = await createDatabase();
  replicas = await Promise.all(Array.from({ length: 3 }, () => startProgram({ config, databaseUrl })));
  setup = new TestGateway(replicas[0]!, upstream);
});
after(async () => {
  await setup.database.close();
  for (const replica of replicas) await replica.stop();
  await upstream.close();
});

type Asked = { readonly replica: Program; readonly key: string; readonly text?: string };

function ask({ replica, key, text = 'Hi' }: Asked): Promise<Reply> {
  const body = { model: 'gpt-5-mini', max_completion_tokens: 16, messages: [{ role: 'user', content: text }] };
  return send(replica.url + chat.path, { key, body });
}

/** The same burst on each gateway at once. Returns how many passed, and how long that took. `also`: a further status that may be met. */
async function burst(key: string, requestsEach: number, { text, also }: { text?: string; also?: number } = {}) {
  const startMs = performance.now();
  const asked = replicas.flatMap((replica) => Array.from({ length: requestsEach }, () => ask({ replica, key, text })));
  const replies = await Promise.all(asked);
  const others = replies.filter(({ status }) => status !== 200 && status !== 429 && status !== also);
  assert.deepEqual(
    others.map(({ status, text: body }) => `${status} ${body}`),
    [],
  );
  return { passed: passedOf(replies), seconds: (performance.now() - startMs) / 1_000 };
}

function passedOf(replies: readonly Reply[]): number {
  return replies.filter(({ status }) => status === 200).length;
}

function assertWithin10Percent(t: { diagnostic: (text: string) => void }, what: string, passed: number, allowed: number): void {
  t.diagnostic(`${what}: ${passed} of ${allowed.toFixed(1)} passed, ${((passed / allowed) * 100).toFixed(1)} %`);
  // Of a handful, a whole request is more than a tenth.
  assert.ok(passed <= Math.max(allowed * 1.1, Math.ceil(allowed)), `${passed} of ${allowed}`);
  assert.ok(passed >= Math.min(allowed * 0.9, Math.floor(allowed)), `${passed} of ${allowed}`);
}

for (const { requestsPerMinute, requestsEach } of [
  { requestsPerMinute: 5, requestsEach: 20 },
  { requestsPerMinute: 60, requestsEach: 60 },
  { requestsPerMinute: 600, requestsEach: 400 },
]) {
  test(`${requestsPerMinute} requests a minute: a burst of ${requestsEach} on each of three gateways`, async (t) => {
    const { key } = await setup.makeKey({ requestsPerMinute });
    const { passed, seconds } = await burst(key, requestsEach);
    assertWithin10Percent(t, `burst in ${seconds.toFixed(2)} s`, passed, requestsPerMinute * (1 + seconds / 60));
  });
}

test('steady load over the limit, spread evenly and unevenly', { timeout: 60_000 }, async (t) => {
  const requestsPerMinute = 600;
  for (const [name, weights] of [
    ['even', [1, 1, 1]],
    ['uneven', [8, 1, 0.2]],
  ] as const) {
    const { key } = await setup.makeKey({ requestsPerMinute });
    const spent = await burst(key, requestsPerMinute / 2);
    const startMs = performance.now();
    const endMs = startMs + 12_000;
    const steadyFromMs = startMs + 2_000;
    const outcomes: { readonly atMs: number; readonly reply: Reply }[] = [];
    const lanes = replicas.map(async (replica, index) => {
      const asked: Promise<unknown>[] = [];
      while (performance.now() < endMs) {
        asked.push(ask({ replica, key }).then((reply) => outcomes.push({ atMs: performance.now(), reply })));
        await setTimeout(70 / weights[index]!);
      }
      await Promise.all(asked);
    });
    await Promise.all(lanes);
    const passed = passedOf(outcomes.map(({ reply }) => reply));
    const seconds = spent.seconds + (performance.now() - startMs) / 1_000;
    const all = requestsPerMinute * (1 + seconds / 60);
    assertWithin10Percent(t, `${name}, the first minute's worth included`, spent.passed + passed, all);
    // What the burst left at the gateways is used by then.
    const steady = outcomes.filter(({ atMs }) => atMs >= steadyFromMs).map(({ reply }) => reply);
    const steadySeconds = (performance.now() - steadyFromMs) / 1_000;
    assertWithin10Percent(t, `${name}, steady alone`, passedOf(steady), (requestsPerMinute * steadySeconds) / 60);
  }
});

test('steady load below the limit is never refused', async (t) => {
  const { key } = await setup.makeKey({ requestsPerMinute: 1_200 });
  const replies: Promise<Reply>[] = [];
  for (let count = 0; count < 240; count++) {
    replies.push(ask({ replica: replicas[count % 3]!, key }));
    await setTimeout(15);
  }
  assert.equal(passedOf(await Promise.all(replies)), 240);
  t.diagnostic('240 of 240 passed');
});

test('tokens a minute: a burst on three gateways', async (t) => {
  const { key } = await setup.makeKey({ tokensPerMinute: 20_000 });
  const earlier = await ask({ replica: replicas[0]!, key, text: 'sandbox: tokens=16' });
  const used = earlier.json<{ usage: { total_tokens: number } }>().usage.total_tokens;
  const { passed, seconds } = await burst(key, 500, { text: 'sandbox: tokens=16' });
  assertWithin10Percent(t, `${used} tokens each, in ${seconds.toFixed(2)} s`, (passed + 1) * used, 20_000 * (1 + seconds / 60));
});

test(
  'requests at once over three gateways; those of a gateway that is killed are free when its lease has ended',
  { timeout: 120_000 },
  async (t) => {
    for (const concurrentRequests of [4, 60]) {
      const { key } = await setup.makeKey({ concurrentRequests });
      const { passed } = await burst(key, concurrentRequests, { text: 'sandbox: delay_ms=2500' });
      assertWithin10Percent(t, 'at once', passed, concurrentRequests);
      for (let count = 0; count < 6; count++) {
        assert.equal((await ask({ replica: replicas[count % 3]!, key })).status, 200, 'one after the other');
      }
    }
    const { key } = await setup.makeKey({ concurrentRequests: 3 });
    const victim = replicas[2]!;
    const lost = Array.from({ length: 3 }, () =>
      ask({ replica: victim, key, text: 'sandbox: delay_ms=60000' }).catch(() => null),
    );
    await setTimeout(500);
    assert.equal((await ask({ replica: replicas[0]!, key })).status, 429);
    await victim.kill();
    await Promise.all(lost);
    const startMs = performance.now();
    // The slots of the dead are free after a minute at most.
    await until(async () => (await ask({ replica: replicas[0]!, key })).status === 200, 60_000);
    t.diagnostic(`free ${((performance.now() - startMs) / 1_000).toFixed(0)} s after the kill`);
    await victim.start();
  },
);

test('a limit holds across cut connections to the database', { timeout: 60_000 }, async (t) => {
  const { key } = await setup.makeKey({ requestsPerMinute: 30 });
  await burst(key, 20);
  await (await postgresServer()).cutConnections(databaseNameOf(databaseUrl));
  // A key must be looked up again at times, which a cut connection makes a 503.
  const { passed } = await burst(key, 20, { also: 503 });
  t.diagnostic(`${passed} passed when connections were cut`);
  // At worst each gateway keeps the limit by itself until it shares again.
  let total = passed;
  for (let round = 0; round < 5; round++) {
    await setTimeout(1_200);
    const again = await burst(key, 20, { also: 503 });
    total += again.passed;
    if (again.passed <= 4) return;
  }
  assert.fail(`${total} passed, and the limit is not shared again`);
});

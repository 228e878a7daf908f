// An upgrade without a pause on PostgreSQL: two neighbouring versions serve the same database under
// load, while the newer one migrates it and until the older one is stopped.
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { endpoint } from '../../support/endpoints.ts';
import { type KeyOptions, TestGateway } from '../../support/gateway.ts';
import { send } from '../../support/http.ts';
import type { InstallationOptions } from '../../support/installation.ts';
import {
  nextVersion,
  noPreviousVersion,
  startPreviousVersion,
} from '../../support/other-versions.ts';
import { createEmptyDatabase } from '../../support/postgres.ts';
import { type Program, startProgram } from '../../support/program.ts';
import { answerAtSomeTime, startLoad } from '../../support/replica-load.ts';
import { until } from '../../support/until.ts';
import { startUpstream } from '../../support/upstream.ts';

const chat = endpoint('chat');

/** Makes keys by the older version's commands: the newer one's would migrate the database. */
class OldSetup extends TestGateway {
  override async makeKey({ mode, creditUsd }: KeyOptions = {}) {
    const key = await this.program.createKey({ mode, creditUsd });
    return key as Awaited<ReturnType<TestGateway['makeKey']>>;
  }
}

type Options = InstallationOptions & { readonly databaseUrl: string };
type Start = (options: Options) => Promise<Program>;

test('the previous version and this one serve one database under load, and no request is lost', async (t) => {
  const reason = noPreviousVersion();
  if (reason !== null) return t.skip(reason);
  await serveTogether(t, (options) => startPreviousVersion(t, options), startProgram);
});

test('so do this version and a next one with a made-up migration', (t) =>
  serveTogether(t, startProgram, async (options) => {
    const program = nextVersion(options);
    await program.start();
    return program;
  }));

async function serveTogether(t: TestContext, startOld: Start, startNew: Start): Promise<void> {
  const upstream = await startUpstream(t);
  answerAtSomeTime(upstream);
  const databaseUrl = await createEmptyDatabase();
  const config = {
    providers: {
      openai: { kind: 'openai', base_url: `${upstream.url}/v1`, api_key: 'sk-upstream' },
      anthropic: { kind: 'anthropic', base_url: upstream.url, api_key: 'sk-upstream' },
    },
    limits: { requests_per_minute: null },
    log: { level: 'fatal' },
    server: { threads: 2 },
  };
  const old = await startOld({ config, databaseUrl });
  t.after(() => old.kill());
  const setup = new OldSetup(old, upstream);
  const oldKeys = await old.createKey({ mode: 'live', creditUsd: 5 });
  const replicas: { url: string }[] = [old];
  const load = await startLoad(replicas, setup);
  t.after(() => load.stop());
  await load.answers(20);

  const program = await startNew({ config, databaseUrl });
  t.after(() => program.kill());
  await load.answers(20);
  replicas.push(program);
  await load.answers(60);

  const newKeys = await program.createKey({ mode: 'live', creditUsd: 5 });
  for (const { key } of [oldKeys, newKeys]) await replaysOnBoth(key, [old, program]);
  await changesReachBoth([old, program], oldKeys, newKeys);

  // As a load balancer does: no new requests, then the signal.
  replicas.shift();
  await load.answers(10);
  assert.equal(await old.terminate(), 0);
  await load.answers(20);
  await load.stop();

  assert.equal(load.failed(), 0, 'requests that were lost');
  assert.equal(load.refused(), 0, 'requests that were refused');
  assert.equal(load.free(), 0, 'requests that were given up');
  assert.equal(await load.compare(), load.journal.size);
  await setup.database.close();
  await program.stop();
}

/** An answer of either version is replayed by the other, and charged once. */
async function replaysOnBoth(key: string, [old, program]: readonly { readonly url: string }[]) {
  for (const [first, second] of [
    [old!, program!],
    [program!, old!],
  ] as const) {
    const request = {
      key,
      headers: { 'idempotency-key': `from-${first.url}` },
      body: chat.body({ stream: true }),
    };
    const before = await usedBy(first.url, key);
    const answer = await send(first.url + chat.path, request);
    const after = await usedBy(first.url, key);
    assert.equal(answer.status, 200, answer.text);
    assert.ok(after > before);
    const replay = await send(second.url + chat.path, request);
    assert.equal(replay.status, 200, replay.text);
    assert.ok(replay.headers['x-service-cache'], 'the answer is a replay');
    assert.equal(await usedBy(second.url, key), after);
  }
}

async function usedBy(url: string, key: string): Promise<number> {
  const reply = await send(`${url}/v1/balance`, { key });
  assert.equal(reply.status, 200, reply.text);
  return reply.json<{ total_tokens_used: number }>().total_tokens_used;
}

type Key = { readonly id: string; readonly key: string };

/** A key that the newer version disables stops on both. */
async function changesReachBoth(
  [old, program]: readonly [Program, Program],
  ...keys: readonly Key[]
): Promise<void> {
  const statusesOf = (key: string) =>
    Promise.all(
      [old, program].map(async ({ url }) => (await send(`${url}/v1/balance`, { key })).status),
    );
  for (const { id } of keys) await program.cli('keys', 'disable', id);
  for (const { key } of keys)
    await until(async () => (await statusesOf(key)).every((status) => status === 401));
}

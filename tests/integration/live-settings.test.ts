// Saved settings and accounts' own keys under load: every thread of a process and every gateway of a
// database takes a change, no request sees half of one, and none fails. The threads are on SQLite, the
// gateways on PostgreSQL.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { adminOf } from '../support/admin.ts';
import { wholeAnswer } from '../support/answers.ts';
import { hooksOfFile } from '../support/file-hooks.ts';
import { startGatewayProgram, type TestGateway } from '../support/gateway.ts';
import type { Program } from '../support/program.ts';
import { startReplicaPrograms } from '../support/replicas.ts';
import { send, type Reply } from '../support/http.ts';
import { until } from '../support/until.ts';
import { answerJson, type LocalUpstream } from '../support/upstream.ts';

const content = { text: 'one two', tokens: { input: 0, output: 1_000 } };
const body = { model: 'sold', messages: [{ role: 'user', content: 'Hello!' }], max_tokens: 1_000 };
/** As many versions follow one another. */
const versions = 4;
const hooks = hooksOfFile();

/**
 * In version `n` the model costs n USD per million output tokens, and its provider has address and
 * credential `n`: they belong together.
 */
function changesFor(n: number, upstream: LocalUpstream) {
  upstream.on(`/v${n}/chat/completions`, answerJson(wholeAnswer('chat', content)));
  return [
    {
      path: ['providers', 'moving'],
      value: {
        kind: 'openai-compatible',
        base_url: `${upstream.url}/v${n}`,
        api_key: `sk-credential-${n}`,
        accounts_may_bring_keys: true,
      },
    },
    {
      path: ['models', 'sold'],
      value: {
        routes: [{ provider: 'moving', model: `m${n}` }],
        prices: { input: 0, output: n },
      },
    },
  ];
}

type Setup = {
  readonly urls: readonly string[];
  readonly gateway: TestGateway;
};

async function changeUnderLoad({ urls, gateway }: Setup): Promise<void> {
  const { key } = await gateway.makeKey({ mode: 'live', creditUsd: 100 });
  const admin = await adminOf(gateway);
  const { upstream } = gateway;
  let version = 0;
  const save = async (n: number) => {
    const asked = { version, changes: changesFor(n, upstream) };
    await admin.ok('PATCH', '/settings/saved', { body: asked });
    version += 1;
  };
  await save(1);
  const ask = (url: string) => send(`${url}/v1/chat/completions`, { method: 'POST', key, body });
  await until(async () => (await Promise.all(urls.map(ask))).every(({ status }) => status === 200));
  const load = new AbortController();
  const replies: Reply[] = [];
  const loading = urls.flatMap((url) =>
    Array.from({ length: 2 }, async () => {
      while (!load.signal.aborted) replies.push(await ask(url));
    }),
  );
  for (let n = 2; n <= versions; n++) {
    await save(n);
    // Each gateway takes it by itself, whatever thread answers.
    for (const url of urls)
      await until(async () => {
        const asked = await Promise.all(Array.from({ length: 8 }, () => ask(url)));
        return asked.every(({ costMicros }) => costMicros === n * 1_000);
      });
  }
  load.abort();
  await Promise.all(loading);
  assert.deepEqual(
    replies.filter(({ status }) => status !== 200).map(({ text }) => text),
    [],
  );
  const costs = new Set(replies.map(({ costMicros }) => costMicros));
  for (const cost of costs)
    assert.ok(Number(cost) % 1_000 === 0 && Number(cost) <= versions * 1_000, `${cost}`);
  for (const { path, headers, body: sent } of upstream.requests) {
    const n = /^\/v(\d+)\//.exec(path)?.[1];
    assert.equal(headers.authorization, `Bearer sk-credential-${n}`, path);
    assert.equal((sent as { model: string }).model, `m${n}`);
  }
}

/** Follows `changeUnderLoad`. */
async function bringKey({ urls, gateway }: Setup): Promise<void> {
  const { key, account } = await gateway.makeKey({ mode: 'live', creditUsd: 50 });
  const admin = await adminOf(gateway);
  const secret = 'sk-of-the-customer-000';
  const below = `/accounts/${account}/own-keys`;
  const { id } = await admin.ok<{ id: string }>('POST', below, {
    body: { provider: 'moving', api_key: secret },
  });
  /** Each request has a connection of its own, which the system gives to some thread. */
  const credentials = async () => {
    const { asked } = await gateway.recordUpstream(async () => {
      const sent = urls.flatMap((url) =>
        Array.from({ length: 8 }, () =>
          send(`${url}/v1/chat/completions`, { method: 'POST', key, body }),
        ),
      );
      return (await Promise.all(sent))[0]!;
    });
    return new Set(asked.map(({ headers }) => headers.authorization));
  };
  const own = new Set([`Bearer ${secret}`]);
  const operators = new Set([`Bearer sk-credential-${versions}`]);
  await until(async () => isDeepStrictEqual(await credentials(), own));
  await admin.ok('DELETE', `${below}/${id}`);
  await until(async () => isDeepStrictEqual(await credentials(), operators));
}

void describe('all threads of a process', () => {
  let gateway: TestGateway<Program>;
  before(async () => {
    gateway = await startGatewayProgram({ server: { threads: 3 } });
    hooks.after(() => gateway.stop());
  });
  const setup = () => ({ urls: [gateway.url], gateway });

  test('take each version whole, and no request fails', () => changeUnderLoad(setup()));
  test('follow a change of an account’s own key', () => bringKey(setup()));

  test('read the file again at SIGHUP; a bad file changes nothing', async () => {
    const { key } = await gateway.makeKey({ mode: 'test' });
    const file = join(gateway.program.dataDir, 'tollgate.yaml');
    const written = JSON.parse(readFileSync(file, 'utf8')) as object;
    const statuses = async (model: string) => {
      const all = Array.from({ length: 6 }, () => gateway.get(`/v1/models/${model}`, { key }));
      return (await Promise.all(all)).map(({ status }) => status);
    };
    const rewrite = (text: object | string) => {
      writeFileSync(file, typeof text === 'string' ? text : JSON.stringify(text));
      gateway.program.hangUp();
    };
    rewrite({ ...written, aliases: { fresh: 'gpt-6-luna' } });
    await until(async () => (await statuses('fresh')).every((status) => status === 200));
    rewrite('aliases: { fresh: nothing }');
    await until(() => gateway.program.output.includes('the settings are refused'));
    assert.match(gateway.program.output, /tollgate\.yaml:1:19: aliases\.fresh/);
    assert.ok((await statuses('fresh')).every((status) => status === 200));
    rewrite(written);
    await until(async () => (await statuses('fresh')).every((status) => status === 404));
  });
});

void describe('both gateways of a database', () => {
  let setup: Setup;
  before(async () => {
    const options = { count: 2, config: { server: { threads: 1 } } };
    const { replicas, setup: gateway } = await startReplicaPrograms(hooks, options);
    setup = { urls: replicas.map(({ url }) => url), gateway };
  });

  test('take each version whole', () => changeUnderLoad(setup));
  test('follow a change of an account’s own key', () => bringKey(setup));
});

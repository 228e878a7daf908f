// Saved settings under load: every thread of a process and every gateway of a database takes a new
// version, no request sees half of one, and none fails. The threads are on SQLite, the gateways on
// PostgreSQL.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { type AdminClient, adminOf } from '../support/admin.ts';
import { wholeAnswer } from '../support/answers.ts';
import { hooksOfFile } from '../support/file-hooks.ts';
import { startGatewayProgram, type TestGateway } from '../support/gateway.ts';
import { startReplicaPrograms } from '../support/replicas.ts';
import { send, type Reply } from '../support/http.ts';
import { until } from '../support/until.ts';
import { answerJson, type LocalUpstream } from '../support/upstream.ts';

const content = { text: 'one two', tokens: { input: 0, output: 1_000 } };
const body = { model: 'sold', messages: [{ role: 'user', content: 'Hello!' }], max_tokens: 1_000 };
/** As many versions follow one another. */
const versions = 4;
const hooks = hooksOfFile();
const ended: (() => Promise<void>)[] = [];
after(async () => {
  for (const end of ended.splice(0)) await end();
});

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
  readonly key: string;
  readonly admin: AdminClient;
  readonly upstream: LocalUpstream;
};

async function changeUnderLoad({ urls, key, admin, upstream }: Setup): Promise<void> {
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

test('all threads of a process take each version whole, and no request fails', async () => {
  const gateway: TestGateway = await startGatewayProgram({
    server: { threads: 3 },
  });
  ended.push(() => gateway.stop());
  const { key } = await gateway.makeKey({ mode: 'live', creditUsd: 100 });
  const admin = await adminOf(gateway);
  const { upstream, url } = gateway;
  await changeUnderLoad({ urls: [url], key, admin, upstream });
});

test('SIGHUP has all threads read the file again; a bad file changes nothing', async () => {
  const gateway = await startGatewayProgram({ server: { threads: 2 } });
  ended.push(() => gateway.stop());
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

test('both gateways of a database take each version whole', async () => {
  const { replicas, setup, upstream } = await startReplicaPrograms(hooks, {
    count: 2,
    config: { server: { threads: 1 } },
  });
  const { key } = await setup.makeKey({ mode: 'live', creditUsd: 100 });
  const admin = await adminOf(setup);
  await changeUnderLoad({ urls: replicas.map(({ url }) => url), key, admin, upstream });
});

// Repeats of requests whose model was removed since: an answer that was paid is still found by its
// Idempotency-Key.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from '../support/both-stores.ts';
import { answerContent } from '../support/answers.ts';
import { endpoints } from '../support/endpoints.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { rowsOf, setRows } from '../support/rows.ts';
import { playImageProviders } from '../support/image-upstreams.ts';
import { modelOf } from '../support/model-of.ts';
import { asReplayed } from '../support/numbered-answers.ts';
import type { RunningApp } from '../support/running-app.ts';
import { answerJson } from '../support/upstream.ts';

const content = { text: 'one two three four', tokens: { input: 100, output: 20 } };
const route = { provider: 'openai', api: 'chat', model: 'upstream-model' };
const model = modelOf([route], { prices: { input: 3, output: 15 } });

type Ask = { readonly name: string; readonly path: string; readonly body: object };
const asks: readonly Ask[] = [
  ...endpoints.flatMap(({ name, path, body }) =>
    [false, true].map((stream) => ({
      name: `${name}, ${stream ? 'streamed' : 'whole'}`,
      path,
      body: body({ model: 'old', stream }),
    })),
  ),
  {
    name: 'images',
    path: '/v1/images/generations',
    body: { model: 'gpt-image-flare', prompt: 'A cat' },
  },
  { name: 'search', path: '/v1/web-search', body: { query: 'cats' } },
];

const send = (gateway: TestGateway, { name, path, body }: Ask, key: string) =>
  gateway.post(path, { key, headers: { 'idempotency-key': name }, body });

/** Restarts without any provider, so that nothing but its memory of answers is left. */
async function removeModels({ program }: TestGateway<RunningApp>): Promise<void> {
  await program.terminate();
  const path = join(program.dataDir, 'tollgate.yaml');
  const {
    providers: _providers,
    models: _models,
    ...rest
  } = JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>;
  writeFileSync(path, JSON.stringify(rest));
  await program.start();
}

test('a repeat finds its answer although its model was removed, and its key’s list still applies', async (t) => {
  const gateway = await startGateway((upstream) => ({
    providers: { brave: { base_url: `${upstream.url}/brave`, api_key: 'brave-key' } },
    models: { old: model },
    log: { level: 'error' },
  }));
  t.after(() => gateway.stop());
  gateway.upstream.on('/v1/chat/completions', answerContent('chat', content));
  gateway.upstream.on('/brave/web/search', answerJson({ web: { results: [] } }));
  playImageProviders(gateway.upstream);
  const owner = await gateway.makeKey({ mode: 'live', creditUsd: 5 });
  const models = ['old'];
  const limited = await gateway.makeKey({ mode: 'live', account: owner.account, models });
  const named = await gateway.makeKey({ mode: 'live', account: owner.account, models });
  const first = await Promise.all(asks.map((ask) => send(gateway, ask, owner.key)));
  for (const key of [limited.key, named.key])
    assert.equal((await send(gateway, asks[0]!, key)).status, 200);
  await setRows(
    gateway.database,
    'api_keys',
    { id: limited.id },
    { models: JSON.stringify(['other']) },
  );
  const { postedMicros } = await gateway.balance(owner.account);
  await removeModels(gateway);

  for (const [index, ask] of asks.entries()) {
    const reply = await send(gateway, ask, owner.key);
    assert.equal(first[index]!.status, 200, `${ask.name}: ${first[index]!.text}`);
    assert.equal(reply.status, 200, `${ask.name}: ${reply.text}`);
    assert.equal(reply.text, asReplayed(first[index]!.text), ask.name);
    assert.equal(reply.headers['x-service-cache'], 'idempotent-replay');
    assert.equal(reply.headers['content-type'], first[index]!.headers['content-type']);
    const changed = { ...ask, body: { ...ask.body, user: 'other' } };
    assert.equal((await send(gateway, changed, owner.key)).error.code, 'idempotency_conflict');
    const fresh = await send(gateway, { ...ask, name: `${ask.name}, new` }, owner.key);
    const refusals = ['model_not_found', 'upstream_unavailable'];
    assert.ok(refusals.includes(fresh.error.code ?? ''), `${ask.name}: ${fresh.text}`);
    const plain = await gateway.post(ask.path, { key: owner.key, body: ask.body });
    assert.equal(plain.error.code, fresh.error.code);
  }
  assert.equal((await send(gateway, asks[0]!, named.key)).status, 200);
  const refused = await send(gateway, asks[0]!, limited.key);
  assert.deepEqual([refused.status, refused.error.code], [403, 'model_not_allowed_for_key']);
  assert.equal((await gateway.balance(owner.account)).postedMicros, postedMicros);
  assert.deepEqual(
    await rowsOf(gateway.database, 'idempotent_responses', { state: 'running' }),
    [],
  );
});

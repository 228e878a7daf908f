// This version of the program and the next one on one database, on both stores.
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { describe, test, type TestContext } from 'node:test';
import { answerContent } from '../support/answers.ts';
import { endpoint } from '../support/endpoints.ts';
import { send } from '../support/http.ts';
import type { Installation, InstallationOptions } from '../support/installation.ts';
import { madeUpNames } from '../support/made-up-migration.ts';
import { nextVersion } from '../support/other-versions.ts';
import { createDatabase } from '../support/postgres.ts';
import { RunningApp } from '../support/running-app.ts';
import { type LocalUpstream, startUpstream } from '../support/upstream.ts';

const chat = endpoint('chat');

/** Returns the options of this version, for a database of its own, and a local provider. */
async function install(t: TestContext, store: 'sqlite' | 'postgres') {
  const upstream = await startUpstream(t);
  const tokens = { input: 1_000, output: 100 };
  upstream.on(chat.upstreamPath, answerContent('chat', { text: 'new', tokens }));
  const options = {
    config: { providers: providersAt(upstream), log: { level: 'fatal' } },
    ...(store === 'postgres' && { databaseUrl: await createDatabase() }),
  };
  return { options, program: endWithTest(t, new RunningApp(options)) };
}

const providersAt = ({ url }: LocalUpstream) => ({
  openai: { kind: 'openai', base_url: `${url}/v1`, api_key: 'sk-upstream' },
});

function endWithTest<Kind extends Installation>(t: TestContext, one: Kind): Kind {
  t.after(async () => {
    await one.terminate();
    rmSync(one.dataDir, { recursive: true, force: true });
  });
  return one;
}

async function charges({ url }: Installation, key: string): Promise<void> {
  const reply = await send(url + chat.path, { key, body: chat.body() });
  assert.equal(reply.status, 200, reply.text);
  assert.ok(reply.costMicros! > 0);
}

for (const store of ['sqlite', 'postgres'] as const)
  void describe(`on ${store}`, () => {
    test('this version serves beside the next one, which has migrated, and after it', async (t) => {
      const { program: before, options } = await install(t, store);
      await before.start();
      const { key } = await before.createKey({ mode: 'live', creditUsd: 5 });
      await charges(before, key);

      const next = endWithTest(t, nextVersion({ ...options, env: placeOf(before, store) }));
      const ran = await Promise.all(
        [1, 2].map(() => next.cli<{ migrations: string[] }>('migrate')),
      );
      // Either process may run the part that needs to be outside a transaction.
      assert.deepEqual(ran.flatMap(({ migrations }) => migrations).toSorted(), madeUpNames);
      await charges(before, key);
      assert.deepEqual(await before.cli('migrate'), { migrations: [] });
      const { key: later } = await before.createKey({ mode: 'live', creditUsd: 5 });
      // One gateway at most serves a file.
      if (store === 'sqlite') await before.terminate();
      await next.start();
      for (const one of store === 'sqlite' ? [next] : [before, next])
        for (const each of [key, later]) await charges(one, each);
      await next.terminate();

      await before.terminate();
      await before.start();
      await charges(before, later);
      await before.verify();
    });
  });

/** On SQLite, the secret and the database are in the data folder. */
function placeOf(
  { dataDir }: Installation,
  store: 'sqlite' | 'postgres',
): InstallationOptions['env'] {
  return store === 'sqlite' ? { TOLLGATE_DATA_DIR: dataDir } : {};
}

// Keys that another gateway made: which texts open them, and what a text that opens nothing costs.
import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { test, type TestContext } from 'node:test';
import type { Database } from '../../db/database.ts';
import { createSecret } from '../../lib/secrets.ts';
import { openTestDatabase } from '../../../tests/support/ledger/test-ledger.ts';
import fc from '../../../tests/support/property.ts';
import { TestClock } from '../../../tests/support/test-clock.ts';
import { openAccount } from '../../management/changes/accounts.ts';
import { openKeyStore } from './key-store.ts';
import { digestKeyFrom, generateKeyText } from './key-text.ts';
import { insertMovedKey } from './moved-keys.ts';
import { findKeysUnderOtherSecrets, registerSecrets } from './needed-secrets.ts';

const secret = createSecret('a secret of the tests for keys that moved');
const older = createSecret('an older secret of the tests, accepted still');
const newApi = 'sk-AdaAdaAdaAdaAdaAdaAda';
const liteLlm = 'sk-lite-llm_made-this-key-1';

async function open(t: TestContext, { under = secret } = {}) {
  const database = await openTestDatabase(t);
  const clock = new TestClock();
  let queries = 0;
  const counted: Database = {
    ...database,
    read: database.read.withPlugin({
      transformQuery: ({ node }) => {
        queries += 1;
        return node;
      },
      transformResult: async ({ result }) => result,
    }),
  };
  await registerSecrets(database, [under], clock.nowMs());
  const store = openKeyStore({
    database: counted,
    secrets: [secret, older],
    clock,
    onError: (error) => assert.fail(String(error)),
  });
  t.after(() => store.close());
  const queriesOf = async (work: () => Promise<unknown>) => {
    const earlier = queries;
    await work();
    return queries - earlier;
  };
  const move = async () => {
    await openAccount(database.write, { id: 'acc', name: 'A' }, clock.nowMs());
    const key = { accountId: 'acc', hint: 'sk-…', isDisabled: false };
    const made = (id: string, text: Parameters<typeof insertMovedKey>[2]['text']) =>
      insertMovedKey(database, digestKeyFrom(under), { ...key, id, text }, clock.nowMs());
    await made('key_new', { plain: newApi });
    await made('key_lite', { sha256: hash('sha256', liteLlm).toUpperCase() });
    await clock.advance(1_500);
  };
  await clock.advance(1_500);
  return { database, store, clock, queriesOf, move };
}

test('without imported keys, no text but ours is looked up; with them, ours cost the same', async (t) => {
  const { store, queriesOf, move } = await open(t);
  const ours = generateKeyText('live');
  const perLookup = await queriesOf(() => store.find(ours));
  for (const text of [newApi, liteLlm, 'x'.repeat(40), '']) {
    assert.equal(store.mayFind(text), false, text);
    assert.equal(await queriesOf(() => store.find(text)), 0, text);
  }
  await move();
  assert.equal(await queriesOf(() => store.find(ours)), perLookup);
  assert.equal(await queriesOf(() => store.find('sk-no-key-of-anyone')), perLookup);
  // What cannot be a key of anyone is never looked up.
  for (const text of ['', 'sk-short', 'ä'.repeat(30), 'x'.repeat(201), `tg_live_${'x'.repeat(38)}`])
    assert.equal(await queriesOf(() => store.find(text)), 0, text);
});

test('only a whole key opens it, also under an earlier secret; a hash never does', async (t) => {
  for (const under of [secret, older]) {
    const { store, move } = await open(t, { under });
    await move();
    const opens = (text: string) => {
      const bare = newApi.slice('sk-'.length);
      if ([newApi, bare].some((key) => text === key || text.startsWith(`${key}-`)))
        return 'key_new';
      return text === liteLlm ? 'key_lite' : null;
    };
    const texts = fc.oneof(
      fc
        .constantFrom(newApi, liteLlm)
        .chain((key) =>
          fc
            .tuple(
              fc.nat(key.length),
              fc.nat(3),
              fc.string({ unit: 'grapheme-ascii', maxLength: 3 }),
            )
            .map(([at, cut, more]) => key.slice(0, at) + more + key.slice(at + cut)),
        ),
      fc.string({ unit: 'grapheme-ascii', minLength: 16, maxLength: 60 }),
      fc.constantFrom(`sha256:${hash('sha256', liteLlm)}`, hash('sha256', liteLlm), `${newApi}-7`),
    );
    await fc.assert(
      fc.asyncProperty(texts, async (text) => {
        const isSendable = /^[\x21-\x7e]*$/.test(text);
        assert.equal((await store.find(text))?.id ?? null, isSendable ? opens(text) : null);
      }),
    );
  }
});

test('a key with any number of endings takes no room in the memory', async (t) => {
  const { store, move } = await open(t);
  await move();
  for (const ending of ['1', '2', '3']) {
    assert.equal((await store.find(`${newApi}-${ending}`))?.id, 'key_new');
    assert.equal(store.recall(`${newApi}-${ending}`), null);
  }
  await store.find(newApi);
  assert.equal(store.recall(newApi)?.id, 'key_new');
});

test('the first use replaces a hash and an earlier secret; only then does a secret retire', async (t) => {
  const { store, database, move } = await open(t, { under: older });
  await move();
  await registerSecrets(database, [secret, older], 10_000_000_000_000);
  const waiting = () => findKeysUnderOtherSecrets(database.read, secret.id, 0);
  // A hash depends on no secret.
  assert.deepEqual(await waiting(), ['key_new']);
  for (const text of [`${newApi}-7`, liteLlm]) assert.ok(await store.find(text));
  await store.close();
  assert.deepEqual(await waiting(), []);
  const rows = await database.read.selectFrom('api_keys').select(['digest', 'secret_id']).execute();
  assert.ok(rows.every((row) => row.secret_id === secret.id && !row.digest.includes(':')));
  const only = openKeyStore({
    database,
    secrets: [secret],
    clock: new TestClock(),
    onError: (error) => assert.fail(String(error)),
  });
  for (const text of [newApi, liteLlm]) assert.ok(await only.find(text));
  await only.close();
});

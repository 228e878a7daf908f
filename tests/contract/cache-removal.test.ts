// Removal from the content cache, on both databases: purges, accounts that retain no answers,
// expiry, and the disk budget.
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { raiseCacheGeneration, changeTerms } from '../../src/domain/accounts/manage-accounts.ts';
import { removePurgedOf } from '../../src/domain/cache/upkeep.ts';
import { dropBodies } from '../../src/domain/idempotency/purge.ts';
import { Idempotency } from '../../src/domain/idempotency/idempotency.ts';
import { nameRequest } from '../../src/domain/idempotency/request-name.ts';
import { openKeyStore } from '../../src/domain/keys/key-store.ts';
import { digestKeyFrom } from '../../src/domain/keys/key-text.ts';
import { insertKey } from '../../src/domain/keys/manage-keys.ts';
import { reserveOf, settleOf } from '../support/ledger/test-ledger.ts';
import { until } from '../support/until.ts';
import { noFiles, sealForCache, sealForKey } from '../support/stored-answers.ts';
import { onEachStore } from './stores.ts';
import {
  secret,
  signal,
  responseOf,
  response,
  openCaches,
  nameOf,
  runOf,
  servedBy,
  digestsIn,
} from './caches.ts';

type Opened = Awaited<ReturnType<typeof openCaches>>;

onEachStore((store) => {
  test('a purge by another process deletes stored answers, and a run that began before it is neither served nor stored', async (t) => {
    const { cache, openCache, run, settle, database } = await openCaches(t, store);
    const [old, others] = [nameOf(cache), nameOf(cache, {}, 'b')];
    await run(cache, old);
    await run(cache, others);
    const late = nameOf(cache, { late: true });
    const running = await runOf(cache, late);
    assert.equal(await raiseCacheGeneration(database.write, 'nobody'), false);
    assert.equal(await raiseCacheGeneration(database.write, 'a'), true);
    assert.equal(await removePurgedOf(database, 'a'), 1);
    assert.deepEqual(await digestsIn(database), [others.digest]);
    await settle('a', await sealForCache(running, response));
    running.noteStored(response);
    running.end();
    assert.deepEqual(await digestsIn(database), [others.digest]);

    await cache.removeEnded();
    for (const name of [old, late]) assert.equal(await servedBy(cache, name), null);
    assert.equal(await servedBy(cache, others), String(response.body));
    const fresh = nameOf(cache, {}, 'a', 1);
    assert.equal(await servedBy(cache, fresh), null);
    await run(cache, fresh);
    assert.equal(await servedBy(openCache(), fresh), String(response.body));
  });

  test('the clean-up deletes rows that a purge left behind, and an account that retains no answers stores none', async (t) => {
    const { cache, openCache, run, database } = await openCaches(t, store);
    await run(cache, nameOf(cache));
    await run(cache, nameOf(cache, {}, 'b'));
    await database.write
      .updateTable('accounts')
      .set({ retain_responses: 0 })
      .where('id', '=', 'b')
      .execute();
    await raiseCacheGeneration(database.write, 'a');
    await cache.removeEnded();
    assert.deepEqual(await digestsIn(database), []);
    assert.equal(await servedBy(cache, nameOf(cache, {}, 'b')), null);

    assert.equal(
      (await changeTerms(database.write, 'b', { retainResponses: false }))?.after.retain_responses,
      false,
    );
    const name = nameOf(cache, {}, 'b', 1);
    await run(cache, name);
    assert.deepEqual(await digestsIn(database), []);
    assert.equal(
      (await changeTerms(database.write, 'b', { retainResponses: true }))?.after.retain_responses,
      true,
    );
    await run(openCache(), name);
    assert.deepEqual(await digestsIn(database), [name.digest]);
  });

  test('a purge drops answers stored for replay, an account that retains none stores none, and no request runs twice', async (t) => {
    const { database, ledger, clock } = await openCaches(t, store);
    const { idempotency, nameFor, execute, replayed } = openReplays(t, { database, ledger, clock });
    const keys = Array.from({ length: 5 }, (_, index) => `k${index}`);
    for (const key of keys) await execute('a', key);
    await execute('b', 'k0');
    for (const accountId of ['a', 'b'])
      assert.equal(await replayed(accountId, 'k0'), String(response.body));
    await raiseCacheGeneration(database.write, 'a');
    await idempotency.removeEnded();
    assert.deepEqual(
      ['a', 'b'].map((accountId) => idempotency.recall(nameFor(accountId, 'k0'))?.kind),
      [undefined, 'stored'],
    );
    assert.equal(await dropBodies(database, 'a'), 5);
    assert.equal(await dropBodies(database, 'a'), 0);
    for (const key of keys) assert.equal(await replayed('a', key), null);
    assert.equal(await replayed('b', 'k0'), String(response.body));
    await changeTerms(database.write, 'a', { retainResponses: false });
    await execute('a', 'later');
    assert.equal(await replayed('a', 'later'), null);
  });

  test("a key carries its account's retention and cache generation, and follows their changes", async (t) => {
    const { database, clock } = await openCaches(t, store);
    const digestKey = digestKeyFrom(secret);
    const { key: text } = (await insertKey(
      database.write,
      digestKey,
      { accountId: 'a', mode: 'live' },
      clock.nowMs(),
    ))!;
    // A poll may be in flight when the database is closed at the end.
    const keys = openKeyStore({ database, secrets: [secret], onError: () => {}, clock });
    t.after(() => keys.close());
    const known = async () => {
      const key = await keys.find(text);
      return [key!.retainResponses, key!.cacheGeneration];
    };
    const follows = async (change: unknown[]) => {
      await clock.advance(1_000);
      await until(async () => isDeepStrictEqual(await known(), change));
    };
    assert.deepEqual(await known(), [true, 0]);
    await raiseCacheGeneration(database.write, 'a');
    await follows([true, 1]);
    await changeTerms(database.write, 'a', { retainResponses: false });
    await follows([false, 2]);
  });

  test('when the table is too large, the oldest answers are deleted first', async (t) => {
    const body = 'x'
      .repeat(60_000)
      .replaceAll('x', () => String.fromCharCode(33 + Math.floor(Math.random() * 90)));
    const probe = await openCaches(t, store);
    const sizeBytes = (
      await sealForCache(await runOf(probe.cache, nameOf(probe.cache)), responseOf(body))
    ).sizeBytes;
    const { cache, run, clock, database } = await openCaches(t, store, {
      diskBytes: Math.ceil(sizeBytes * 4.5),
    });
    const names = Array.from({ length: 9 }, (_, index) =>
      nameOf(cache, { index }, index % 2 === 0 ? 'a' : 'b'),
    );
    const left = async () =>
      (await digestsIn(database)).map((digest) =>
        names.findIndex((name) => name.digest === digest),
      );
    for (const name of names.slice(0, 4)) {
      await run(cache, name, responseOf(body));
      clock.jumpTo(clock.nowMs() + 60_000);
      await cache.removeEnded();
    }
    assert.deepEqual(await left(), [0, 1, 2, 3]);
    for (const name of names.slice(4, 6)) {
      await run(cache, name, responseOf(body));
      clock.jumpTo(clock.nowMs() + 60_000);
    }
    await cache.removeEnded();
    assert.deepEqual(await left(), [2, 3, 4, 5]);
    for (const name of names.slice(6)) await run(cache, name, responseOf(body));
    await cache.removeEnded();
    assert.deepEqual((await left()).slice(0, 1), [5]);
    assert.equal((await left()).length, 4);
  });

  test('expired rows are deleted in small steps, and a large table is counted in pages', async (t) => {
    const { database, clock, openCache } = await openCaches(t, store);
    const rowOf = (index: number) => ({
      account_id: 'a',
      digest: `d${String(index).padStart(5, '0')}`,
      generation: 0,
      content_type: 'text/plain',
      headers: '{}',
      body: Buffer.from('b'),
      size_bytes: 1_000,
      created_at_ms: 0,
      expires_at_ms: clock.nowMs() + (index < 450 ? 0 : 1 + Math.floor(index / 700)),
    });
    for (let start = 0; start < 3_000; start += 500) {
      const rows = Array.from({ length: 500 }, (_, index) => rowOf(start + index));
      await database.write.insertInto('cached_responses').values(rows).execute();
    }
    const cache = openCache({ diskBytes: 3_000_000 });
    // The second call joins the first.
    await Promise.all([cache.removeEnded(), cache.removeEnded()]);
    assert.equal((await digestsIn(database)).length, 2_550);
    await openCache({ diskBytes: 1_600_000 }).removeEnded();
    const left = await digestsIn(database);
    assert.equal(left.length, 1_500);
    assert.equal(left.toSorted()[0], 'd01500');
  });
});

/** Answers stored for replay, under idempotency keys of each account. */
function openReplays(
  t: TestContext,
  { database, ledger, clock }: Pick<Opened, 'database' | 'ledger' | 'clock'>,
) {
  const idempotency = new Idempotency({
    database,
    secrets: [secret],
    owner: 'run_1',
    bodyBytesMax: 1_000_000,
    files: noFiles,
    clock,
    onError: (error) => assert.fail(String(error)),
  });
  t.after(() => idempotency.close());
  const nameFor = (accountId: string, key: string) =>
    nameRequest({
      keyId: `key-${accountId}`,
      generation: 0,
      idempotencyKey: key,
      method: 'POST',
      path: '/v1/messages',
      body: {},
    })!;
  const execute = async (accountId: string, key: string) => {
    const begun = await idempotency.begin(nameFor(accountId, key), {
      requestId: `${accountId}-${key}`,
      signal,
    });
    const claim = begun.kind === 'claimed' ? begun.claim : assert.fail(begun.kind);
    const asked = {
      holdId: `${accountId}-${key}`,
      ledgerId: `${accountId}:live`,
      keyId: `key-${accountId}`,
    } as const;
    await ledger.run([
      reserveOf(asked, 40),
      { ...settleOf(asked, 30), stored: await sealForKey(claim, response) },
    ]);
    claim.noteStored(response);
    await claim.end();
  };
  const replayed = async (accountId: string, key: string) => {
    const begun = await idempotency.begin(nameFor(accountId, key), { requestId: 'again', signal });
    return begun.kind === 'stored'
      ? (begun.response.body?.toString() ?? null)
      : assert.fail(begun.kind);
  };
  return { idempotency, nameFor, execute, replayed };
}

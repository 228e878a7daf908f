// The content cache on both databases: hits, shared runs, and everything that must not be served, or not any more.
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { raiseCacheGeneration, updateAccount } from '../../src/accounts/manage-accounts.ts';
import type { CacheName } from '../../src/cache/cache-name.ts';
import type { CacheRun, SealedCached } from '../../src/cache/cache-run.ts';
import { removePurgedOf } from '../../src/cache/purged-accounts.ts';
import { ResponseCache, type ResponseCacheOptions } from '../../src/cache/response-cache.ts';
import type { WholeResponse } from '../../src/canonical/stored-response.ts';
import type { Database } from '../../src/db/database.ts';
import { dropBodies } from '../../src/idempotency/purge.ts';
import { Idempotency } from '../../src/idempotency/idempotency.ts';
import { nameRequest } from '../../src/idempotency/request-name.ts';
import { openKeyStore } from '../../src/keys/key-store.ts';
import { digestKeyFrom } from '../../src/keys/key-text.ts';
import { createKey } from '../../src/keys/manage-keys.ts';
import { creditOf, insertAccount, reserveOf, settleOf, startMs } from '../support/ledger/test-ledger.ts';
import { micros } from '../../src/lib/money.ts';
import { onEachStore, type StoreKind } from './stores.ts';

const secret = Buffer.from('a secret');
const dayMs = 24 * 3_600_000;
const never = new AbortController().signal;
const signal = never;
const responseOf = (body: string): WholeResponse => ({
  status: 200,
  contentType: 'text/plain',
  headers: { 'x-a': 'b' },
  body,
  // The cost of each settlement in this file, and the tokens of its record.
  worth: { costMicros: micros(30), inputTokens: 100, outputTokens: 10 },
});
const response = responseOf('héllo '.repeat(10_000));

async function open(t: TestContext, store: StoreKind, options: Partial<ResponseCacheOptions> = {}) {
  const database = await store.openDatabase(t);
  await database.write.transaction().execute(async (transaction) => {
    for (const id of ['a', 'b']) await insertAccount(transaction, id, [`key-${id}`]);
  });
  const clock = { nowMs: startMs };
  const ledger = store.openStore(t, database, { owner: 'run_1', clock });
  await ledger.run([creditOf('a:live', 1_000_000), creditOf('b:live', 1_000_000)]);
  const errors: unknown[] = [];
  /** Each as in a process of its own: with a memory of its own. */
  const openCache = (more: Partial<ResponseCacheOptions> = {}) => {
    const cache = new ResponseCache({
      database,
      secret,
      memoryBytes: 10_000_000,
      diskBytes: 10_000_000,
      bodyBytesMax: 1_000_000,
      nowMs: () => clock.nowMs,
      onError: (error) => errors.push(error),
      ...options,
      ...more,
    });
    t.after(() => cache.close());
    return cache;
  };
  let holds = 0;
  /** What a settlement stores, as the gateway has the ledger do it. */
  const settle = async (accountId: string, sealed: SealedCached) => {
    const asked = { holdId: `hold-${++holds}`, ledgerId: `${accountId}:live`, keyId: `key-${accountId}` } as const;
    await ledger.run([reserveOf(asked, 40), { ...settleOf(asked, 30), cached: sealed }]);
  };
  const run = async (cache: ResponseCache, name: CacheName, answer = response) => {
    const cacheRun = await runOf(cache, name);
    await settle(name.accountId, await cacheRun.seal(answer));
    cacheRun.noteStored(answer);
    cacheRun.end();
  };
  return { database, clock, ledger, openCache, cache: openCache(), run, settle, errors };
}

const nameOf = (cache: ResponseCache, body: unknown = {}, accountId = 'a', generation = 0): CacheName =>
  cache.nameOf({
    accountId,
    generation,
    mode: 'live',
    method: 'POST',
    path: '/v1/messages',
    stream: false,
    modelId: 'm',
    route: 'p m messages',
    versionHeaders: {},
    body,
  });

async function runOf(cache: ResponseCache, name: CacheName): Promise<CacheRun> {
  const begun = await cache.begin(name, { signal });
  assert.equal(begun.kind, 'run');
  return begun.kind === 'run' ? begun.run : assert.fail();
}

/** The body that is served; null: it would be run, and is not. */
async function servedBy(cache: ResponseCache, name: CacheName): Promise<string | null> {
  const begun = await cache.begin(name, { signal });
  if (begun.kind === 'run') begun.run.end();
  return begun.kind === 'hit' ? begun.response.body : null;
}

const digestsIn = async (database: Database) =>
  (await database.read.selectFrom('cached_responses').select('digest').orderBy('expires_at_ms').execute()).map(
    (row) => row.digest,
  );

onEachStore((store) => {
  test('an answer is served from memory at once, to other processes from the database, for seven days', async (t) => {
    const { clock, cache, openCache, run, errors } = await open(t, store);
    const name = nameOf(cache);
    await run(cache, name);
    const hit = { kind: 'hit', response };
    assert.deepEqual(cache.recall(name), hit);
    const other = openCache();
    assert.equal(other.recall(name), undefined);
    assert.deepEqual(await other.begin(name, { signal }), hit);
    assert.deepEqual(other.recall(name), hit);

    clock.nowMs += 7 * dayMs - 1;
    for (const each of [cache, other, openCache()]) assert.equal(await servedBy(each, name), response.body);
    clock.nowMs += 2;
    for (const each of [cache, other, openCache()]) assert.equal(await servedBy(each, name), null);
    await run(cache, name, responseOf('new'));
    assert.equal(await servedBy(openCache(), name), 'new');
    assert.deepEqual(errors, []);
  });

  test('an answer that is of use for less time is not served beyond it', async (t) => {
    const { clock, cache, openCache, run } = await open(t, store);
    const name = nameOf(cache);
    await run(cache, name, { ...response, usableForMs: dayMs });
    clock.nowMs += dayMs - 1;
    const other = openCache();
    for (const each of [cache, other]) assert.equal(await servedBy(each, name), response.body);
    clock.nowMs += 2;
    for (const each of [cache, other, openCache()]) assert.equal(await servedBy(each, name), null);
  });

  test('of requests that come together one runs, and the others get its answer', async (t) => {
    const { cache, settle } = await open(t, store);
    const name = nameOf(cache);
    const begun = Array.from({ length: 200 }, () => cache.begin(name, { signal }));
    const first = await Promise.race(begun);
    assert.equal(first.kind, 'run');
    if (first.kind !== 'run') return;
    assert.equal(first.run.hasWaiters, true);
    await settle('a', await first.run.seal(response));
    first.run.noteStored(response);
    first.run.end();
    assert.equal(first.run.hasWaiters, false);
    const kinds = (await Promise.all(begun)).map(({ kind }) => kind);
    assert.equal(kinds.filter((kind) => kind === 'hit').length, 199);
  });

  test('of requests that come together one asks the database', async (t) => {
    const { cache, database, openCache, run } = await open(t, store);
    const name = nameOf(cache);
    await run(cache, name);
    let asked = 0;
    const read = new Proxy(database.read, {
      get: (target, property) => {
        if (property === 'selectFrom') asked++;
        const value: unknown = Reflect.get(target, property, target);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
    const other = openCache({ database: { ...database, read } });
    const begun = await Promise.all(Array.from({ length: 50 }, () => other.begin(name, { signal })));
    assert.deepEqual(
      begun.map((each) => each.kind === 'hit' && each.response.body),
      Array.from({ length: 50 }, () => response.body),
    );
    assert.equal(asked, 1);
  });

  test('after a failure, or an answer that may not be cached, one of those that wait runs next', async (t) => {
    const { cache } = await open(t, store);
    const name = nameOf(cache);
    let [runs, running] = [0, 0];
    const begun = Array.from({ length: 12 }, async () => {
      const cacheRun = await runOf(cache, name);
      assert.equal(++running, 1);
      runs++;
      await setTimeout(2);
      running--;
      cacheRun.end();
    });
    await Promise.all(begun);
    assert.equal(runs, 12);
  });

  test('who leaves waits no longer, and the run is told when nobody waits any more', async (t) => {
    const { cache } = await open(t, store);
    const name = nameOf(cache);
    const cacheRun = await runOf(cache, name);
    let gone = 0;
    cacheRun.onWaitersGone(() => gone++);
    const clients = [new AbortController(), new AbortController()];
    const waiting = clients.map((client) => cache.begin(name, { signal: client.signal }));
    assert.equal(cacheRun.hasWaiters, true);
    clients[0]!.abort();
    assert.deepEqual(await waiting[0], { kind: 'abandoned' });
    assert.deepEqual([cacheRun.hasWaiters, gone], [true, 0]);
    clients[1]!.abort();
    assert.deepEqual(await waiting[1], { kind: 'abandoned' });
    assert.deepEqual([cacheRun.hasWaiters, gone], [false, 1]);
    cacheRun.end();
    assert.deepEqual(await cache.begin(name, { signal: clients[0]!.signal }), { kind: 'abandoned' });
    assert.equal(await servedBy(cache, name), null);
  });

  test('only a charge that is booked stores an answer, once; the last of a batch stays', async (t) => {
    const { cache, openCache, ledger, database } = await open(t, store);
    const name = nameOf(cache);
    const cacheRun = await runOf(cache, name);
    const [one, two] = [await cacheRun.seal(responseOf('one')), await cacheRun.seal(responseOf('two'))];
    cacheRun.end();
    const asked = (holdId: string) => ({ holdId, ledgerId: 'a:live', keyId: 'key-a' }) as const;
    const settle = (holdId: string, cached: SealedCached) => ({ ...settleOf(asked(holdId), 30), cached });
    const [refused] = await ledger.run([settle('h1', one)]);
    assert.equal(refused!.type, 'unknown-hold');
    assert.deepEqual(await digestsIn(database), []);
    await ledger.run([reserveOf(asked('h1'), 40), reserveOf(asked('h2'), 40), settle('h1', one), settle('h2', two)]);
    assert.equal(await servedBy(openCache(), name), 'two');
    await ledger.run([settle('h1', one)]);
    await ledger.run([
      reserveOf(asked('h3'), 40),
      { type: 'release', holdId: 'h3', lossMicros: settleOf(asked('h3'), 0).costMicros },
    ]);
    await ledger.run([settle('h3', one)]);
    assert.equal(await servedBy(openCache(), name), 'two');
  });

  test('no account is served what is anothers, whatever the names: in memory, in the database, or under way', async (t) => {
    const { cache, openCache, run, database, errors } = await open(t, store);
    const bodies = [{}, { a: 1 }, { a: 1, stream: true }, ['x']];
    const accounts = ['a', 'b'];
    const names = accounts.flatMap((accountId) => bodies.map((body) => nameOf(cache, body, accountId)));
    for (const owner of names) {
      await run(cache, owner, responseOf(`of ${owner.accountId}`));
      const all = [...names, ...names.map(({ accountId }) => ({ ...owner, accountId })), { ...owner, generation: 1 }];
      for (const asking of all.filter((name) => !isDeepStrictEqual(name, owner))) {
        for (const from of [cache, openCache()]) {
          const served = await servedBy(from, asking);
          assert.equal(served, null, `${asking.accountId} was served ${served}`);
        }
      }
      assert.deepEqual(errors, []);
      const forged = { ...owner, accountId: owner.accountId === 'a' ? 'b' : 'a' };
      // Also with the row itself under the other account: it was sealed for its own.
      const row = await database.read
        .selectFrom('cached_responses')
        .selectAll()
        .where('digest', '=', owner.digest)
        .executeTakeFirstOrThrow();
      await database.write
        .insertInto('cached_responses')
        .values({ ...row, account_id: forged.accountId })
        .execute();
      assert.equal(await servedBy(openCache(), forged), null);
      assert.equal(errors.splice(0).length, 1);
      await database.write.deleteFrom('cached_responses').execute();
      cache.forget(owner.accountId);
      assert.equal(await servedBy(cache, owner), null);
    }
    const running = await runOf(cache, names[0]!);
    const forged = { ...names[0]!, accountId: 'b' };
    assert.equal((await runOf(cache, forged)).hasWaiters, false);
    assert.equal(running.hasWaiters, false);
  });

  test('a row that was damaged, or sealed under another secret, is a miss, and is replaced', async (t) => {
    const { cache, openCache, run, database, errors } = await open(t, store);
    const name = nameOf(cache);
    const damages = [
      { body: Buffer.from('nonsense') },
      { body: Buffer.alloc(0) },
      { headers: '{' },
      { digest: name.digest.replace(/^./, (first) => (first === 'A' ? 'B' : 'A')) },
    ];
    for (const damage of damages) {
      await run(openCache(), name);
      errors.length = 0;
      await database.write.updateTable('cached_responses').set(damage).execute();
      const asking = { ...name, ...('digest' in damage && { digest: damage.digest! }) };
      assert.equal(await servedBy(openCache(), asking), null);
      assert.equal(errors.splice(0).length, 1);
    }
    await database.write.deleteFrom('cached_responses').execute();
    await run(openCache(), name);
    assert.equal(await servedBy(openCache({ secret: Buffer.from('another') }), name), null);
    assert.equal(errors.splice(0).length, 1);
    assert.equal(await servedBy(openCache(), name), response.body);
  });

  test('a database that does not answer is a miss', async (t) => {
    const { cache, database, openCache, errors } = await open(t, store);
    const read = new Proxy(database.read, { get: () => assert.fail('away') });
    assert.equal(await servedBy(openCache({ database: { ...database, read } }), nameOf(cache)), null);
    assert.equal(errors.length, 1);
  });

  test('a purge by another process erases what there is, and what ran meanwhile is neither served nor kept', async (t) => {
    const { cache, openCache, run, settle, database } = await open(t, store);
    const [old, others] = [nameOf(cache), nameOf(cache, {}, 'b')];
    await run(cache, old);
    await run(cache, others);
    const late = nameOf(cache, { late: true });
    const running = await runOf(cache, late);
    assert.equal(await raiseCacheGeneration(database, 'nobody'), false);
    assert.equal(await raiseCacheGeneration(database, 'a'), true);
    assert.equal(await removePurgedOf(database, 'a'), 1);
    assert.deepEqual(await digestsIn(database), [others.digest]);
    await settle('a', await running.seal(response));
    running.noteStored(response);
    running.end();
    assert.deepEqual(await digestsIn(database), [others.digest]);

    await cache.removeEnded();
    for (const name of [old, late]) assert.equal(await servedBy(cache, name), null);
    assert.equal(await servedBy(cache, others), response.body);
    const fresh = nameOf(cache, {}, 'a', 1);
    assert.equal(await servedBy(cache, fresh), null);
    await run(cache, fresh);
    assert.equal(await servedBy(openCache(), fresh), response.body);
  });

  test('what a purge has left behind goes within a minute, and an account that keeps no answers has none', async (t) => {
    const { cache, openCache, run, database } = await open(t, store);
    await run(cache, nameOf(cache));
    await run(cache, nameOf(cache, {}, 'b'));
    await database.write.updateTable('accounts').set({ retain_responses: 0 }).where('id', '=', 'b').execute();
    await raiseCacheGeneration(database, 'a');
    await cache.removeEnded();
    assert.deepEqual(await digestsIn(database), []);
    assert.equal(await servedBy(cache, nameOf(cache, {}, 'b')), null);

    assert.equal((await updateAccount(database, 'b', { retainResponses: false }))?.after.retain_responses, false);
    const name = nameOf(cache, {}, 'b', 1);
    await run(cache, name);
    assert.deepEqual(await digestsIn(database), []);
    assert.equal((await updateAccount(database, 'b', { retainResponses: true }))?.after.retain_responses, true);
    await run(openCache(), name);
    assert.deepEqual(await digestsIn(database), [name.digest]);
  });

  test('answers kept for replay are dropped by a purge, and not kept for an account that keeps none; nothing runs twice', async (t) => {
    const { database, ledger, clock } = await open(t, store);
    const idempotency = new Idempotency({
      database,
      secret,
      owner: 'run_1',
      bodyBytesMax: 1_000_000,
      nowMs: () => clock.nowMs,
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
      const begun = await idempotency.begin(nameFor(accountId, key), { requestId: `${accountId}-${key}`, signal });
      const claim = begun.kind === 'claimed' ? begun.claim : assert.fail(begun.kind);
      const asked = { holdId: `${accountId}-${key}`, ledgerId: `${accountId}:live`, keyId: `key-${accountId}` } as const;
      await ledger.run([reserveOf(asked, 40), { ...settleOf(asked, 30), stored: await claim.seal(response) }]);
      claim.noteStored(response);
      await claim.end();
    };
    const replayed = async (accountId: string, key: string) => {
      const begun = await idempotency.begin(nameFor(accountId, key), { requestId: 'again', signal });
      return begun.kind === 'stored' ? begun.response.body : assert.fail(begun.kind);
    };
    const keys = Array.from({ length: 5 }, (_, index) => `k${index}`);
    for (const key of keys) await execute('a', key);
    await execute('b', 'k0');
    for (const accountId of ['a', 'b']) assert.equal(await replayed(accountId, 'k0'), response.body);
    await raiseCacheGeneration(database, 'a');
    await idempotency.removeEnded();
    assert.deepEqual(
      ['a', 'b'].map((accountId) => idempotency.recall(nameFor(accountId, 'k0'))?.kind),
      [undefined, 'stored'],
    );
    assert.equal(await dropBodies(database, 'a'), 5);
    assert.equal(await dropBodies(database, 'a'), 0);
    for (const key of keys) assert.equal(await replayed('a', key), null);
    assert.equal(await replayed('b', 'k0'), response.body);
    await updateAccount(database, 'a', { retainResponses: false });
    await execute('a', 'later');
    assert.equal(await replayed('a', 'later'), null);
  });

  test('beyond the bound of the table the oldest go first', async (t) => {
    const body = 'x'.repeat(60_000).replaceAll('x', () => String.fromCharCode(33 + Math.floor(Math.random() * 90)));
    const probe = await open(t, store);
    const sizeBytes = (await (await runOf(probe.cache, nameOf(probe.cache))).seal(responseOf(body))).sizeBytes;
    const { cache, run, clock, database } = await open(t, store, { diskBytes: Math.ceil(sizeBytes * 4.5) });
    const names = Array.from({ length: 9 }, (_, index) => nameOf(cache, { index }, index % 2 === 0 ? 'a' : 'b'));
    const left = async () => (await digestsIn(database)).map((digest) => names.findIndex((name) => name.digest === digest));
    for (const name of names.slice(0, 4)) {
      await run(cache, name, responseOf(body));
      clock.nowMs += 60_000;
      await cache.removeEnded();
    }
    assert.deepEqual(await left(), [0, 1, 2, 3]);
    for (const name of names.slice(4, 6)) {
      await run(cache, name, responseOf(body));
      clock.nowMs += 60_000;
    }
    await cache.removeEnded();
    assert.deepEqual(await left(), [2, 3, 4, 5]);
    for (const name of names.slice(6)) await run(cache, name, responseOf(body));
    await cache.removeEnded();
    assert.deepEqual((await left()).slice(0, 1), [5]);
    assert.equal((await left()).length, 4);
  });

  test('rows of no use are removed in small steps, and many rows are counted in pages', async (t) => {
    const { database, clock, openCache } = await open(t, store);
    const rowOf = (index: number) => ({
      account_id: 'a',
      digest: `d${String(index).padStart(5, '0')}`,
      generation: 0,
      content_type: 'text/plain',
      headers: '{}',
      body: Buffer.from('b'),
      size_bytes: 1_000,
      created_at_ms: 0,
      expires_at_ms: clock.nowMs + (index < 450 ? 0 : 1 + Math.floor(index / 700)),
    });
    for (let start = 0; start < 3_000; start += 500) {
      const rows = Array.from({ length: 500 }, (_, index) => rowOf(start + index));
      await database.write.insertInto('cached_responses').values(rows).execute();
    }
    const cache = openCache({ diskBytes: 3_000_000 });
    // The second is the first, still at work.
    await Promise.all([cache.removeEnded(), cache.removeEnded()]);
    assert.equal((await digestsIn(database)).length, 2_550);
    await openCache({ diskBytes: 1_600_000 }).removeEnded();
    const left = await digestsIn(database);
    assert.equal(left.length, 1_500);
    assert.equal(left.toSorted()[0], 'd01500');
  });

  test("a key says its account's retention and generation, and follows their change", async (t) => {
    const { database } = await open(t, store);
    const digestKey = digestKeyFrom(secret);
    const { key: text } = (await createKey(database, digestKey, { accountId: 'a', mode: 'live' }))!;
    // A poll may be under way when the database is closed at the end.
    const keys = openKeyStore({ database, digestKey, onError: () => {}, pollMs: 20 });
    t.after(() => keys.close());
    const known = async () => {
      const key = await keys.find(text);
      return [key!.retainResponses, key!.cacheGeneration];
    };
    assert.deepEqual(await known(), [true, 0]);
    await raiseCacheGeneration(database, 'a');
    await setTimeout(300);
    assert.deepEqual(await known(), [true, 1]);
    await updateAccount(database, 'a', { retainResponses: false });
    await setTimeout(300);
    assert.deepEqual(await known(), [false, 2]);
  });
});

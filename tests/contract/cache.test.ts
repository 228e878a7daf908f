// The content cache on both databases: what is stored, and who may be served it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import type { SealedCached } from '../../src/terms/sealed-answer.ts';
import { reserveOf, settleOf } from '../support/ledger/test-ledger.ts';
import { sealForCache } from '../support/stored-answers.ts';
import { onEachStore } from './stores.ts';
import {
  signal,
  responseOf,
  response,
  openCaches,
  nameOf,
  runOf,
  servedBy,
  digestsIn,
} from './caches.ts';
import { createSecret } from '../../src/lib/secrets.ts';
import { rowOf } from '../support/rows.ts';

const dayMs = 24 * 3_600_000;

onEachStore((store) => {
  test('an answer is served for seven days, from memory and to other processes from the database', async (t) => {
    const { clock, cache, openCache, run, errors } = await openCaches(t, store);
    const name = nameOf(cache);
    await run(cache, name);
    const hit = { kind: 'hit', response };
    assert.deepEqual(cache.recall(name), hit);
    const other = openCache();
    assert.equal(other.recall(name), undefined);
    assert.deepEqual(await other.begin(name, { signal }), hit);
    assert.deepEqual(other.recall(name), hit);

    clock.jumpTo(clock.nowMs() + 7 * dayMs - 1);
    for (const each of [cache, other, openCache()])
      assert.equal(await servedBy(each, name), String(response.body));
    clock.jumpTo(clock.nowMs() + 2);
    for (const each of [cache, other, openCache()]) assert.equal(await servedBy(each, name), null);
    await run(cache, name, responseOf('new'));
    assert.equal(await servedBy(openCache(), name), 'new');
    assert.deepEqual(errors, []);
  });

  test('a short answer takes no more memory than its bytes', async (t) => {
    const { cache, openCache, run } = await openCaches(t, store);
    const name = nameOf(cache);
    await run(cache, name, responseOf('short'));
    const other = openCache();
    await other.begin(name, { signal });
    for (const each of [cache, other])
      assert.equal(each.recall(name)?.response.body.buffer.byteLength, 'short'.length);
  });

  test('an answer that expires sooner is not served after its expiry', async (t) => {
    const { clock, cache, openCache, run } = await openCaches(t, store);
    const name = nameOf(cache);
    await run(cache, name, { ...response, usableForMs: dayMs });
    clock.jumpTo(clock.nowMs() + dayMs - 1);
    const other = openCache();
    for (const each of [cache, other])
      assert.equal(await servedBy(each, name), String(response.body));
    clock.jumpTo(clock.nowMs() + 2);
    for (const each of [cache, other, openCache()]) assert.equal(await servedBy(each, name), null);
  });

  test('an answer is stored once, and only with a booked charge; the last answer of a batch stays', async (t) => {
    const { cache, openCache, ledger, database } = await openCaches(t, store);
    const name = nameOf(cache);
    const cacheRun = await runOf(cache, name);
    const [one, two] = [
      await sealForCache(cacheRun, responseOf('one')),
      await sealForCache(cacheRun, responseOf('two')),
    ];
    cacheRun.end();
    const asked = (holdId: string) => ({ holdId, ledgerId: 'a:live', keyId: 'key-a' }) as const;
    const settle = (holdId: string, cached: SealedCached) => ({
      ...settleOf(asked(holdId), 30),
      cached,
    });
    const [refused] = await ledger.run([settle('h1', one)]);
    assert.equal(refused!.type, 'unknown-hold');
    assert.deepEqual(await digestsIn(database), []);
    await ledger.run([
      reserveOf(asked('h1'), 40),
      reserveOf(asked('h2'), 40),
      settle('h1', one),
      settle('h2', two),
    ]);
    assert.equal(await servedBy(openCache(), name), 'two');
    await ledger.run([settle('h1', one)]);
    await ledger.run([
      reserveOf(asked('h3'), 40),
      { type: 'release', holdId: 'h3', lossMicros: settleOf(asked('h3'), 0).costMicros },
    ]);
    await ledger.run([settle('h3', one)]);
    assert.equal(await servedBy(openCache(), name), 'two');
  });

  test("no account is served another account's answer: from memory, from the database, or from a run in flight", async (t) => {
    const { cache, openCache, run, database, errors } = await openCaches(t, store);
    const bodies = [{}, { a: 1 }, { a: 1, stream: true }, ['x']];
    const accounts = ['a', 'b'];
    const names = accounts.flatMap((accountId) =>
      bodies.map((body) => nameOf(cache, body, accountId)),
    );
    for (const owner of names) {
      await run(cache, owner, responseOf(`of ${owner.accountId}`));
      const all = [
        ...names,
        ...names.map(({ accountId }) => ({ ...owner, accountId })),
        { ...owner, generation: 1 },
      ];
      for (const asking of all.filter((name) => !isDeepStrictEqual(name, owner))) {
        for (const from of [cache, openCache()]) {
          const served = await servedBy(from, asking);
          assert.equal(served, null, `${asking.accountId} was served ${served}`);
        }
      }
      assert.deepEqual(errors, []);
      const forged = { ...owner, accountId: owner.accountId === 'a' ? 'b' : 'a' };
      // Even a row moved to the other account does not open, because it was sealed for its own.
      const row = await rowOf(database, 'cached_responses', { digest: owner.digest });
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

  test('a damaged row, or one sealed under another secret, is a cache miss and is replaced', async (t) => {
    const { cache, openCache, run, database, errors } = await openCaches(t, store);
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
    assert.equal(await servedBy(openCache({ secrets: [createSecret('another')] }), name), null);
    assert.equal(errors.splice(0).length, 1);
    assert.equal(await servedBy(openCache(), name), String(response.body));
  });

  test('a database that does not answer is a cache miss', async (t) => {
    const { cache, database, openCache, errors } = await openCaches(t, store);
    const read = new Proxy(database.read, { get: () => assert.fail('away') });
    assert.equal(
      await servedBy(openCache({ database: { ...database, read } }), nameOf(cache)),
      null,
    );
    assert.equal(errors.length, 1);
  });
});

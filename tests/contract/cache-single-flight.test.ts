// Identical concurrent requests to the content cache, on both databases.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { onEachStore } from './stores.ts';
import { signal, response, openCaches, nameOf, runOf, servedBy } from './caches.ts';

onEachStore((store) => {
  test('identical concurrent requests read the database once', async (t) => {
    const { cache, database, openCache, run } = await openCaches(t, store);
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
    const begun = await Promise.all(
      Array.from({ length: 50 }, () => other.begin(name, { signal })),
    );
    assert.deepEqual(
      begun.map((each) => each.kind === 'hit' && each.response.body),
      Array.from({ length: 50 }, () => response.body),
    );
    assert.equal(asked, 1);
  });

  test('a client that disconnects stops waiting, and the run is notified when the last one has left', async (t) => {
    const { cache } = await openCaches(t, store);
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
    assert.deepEqual(await cache.begin(name, { signal: clients[0]!.signal }), {
      kind: 'abandoned',
    });
    assert.equal(await servedBy(cache, name), null);
  });
});

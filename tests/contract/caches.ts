// Content caches for tests, over one database and one ledger with two accounts, `a` and `b`.
import { noOtherThreads } from '../../src/lib/name-locks.ts';
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { CacheName } from '../../src/domain/cache/cache-name.ts';
import type { CacheRun } from '../../src/domain/cache/cache-run.ts';
import { ResponseCache, type ResponseCacheOptions } from '../../src/domain/cache/response-cache.ts';
import type { SealedCached } from '../../src/terms/sealed-answer.ts';
import type { WholeResponse } from '../../src/terms/stored-response.ts';
import type { Database } from '../../src/db/database.ts';
import {
  creditOf,
  insertAccount,
  reserveOf,
  settleOf,
  startMs,
} from '../support/ledger/test-ledger.ts';
import { TestClock } from '../support/test-clock.ts';
import { micros } from '../../src/lib/money.ts';
import { sealForCache } from '../support/stored-answers.ts';
import { booksClockOf } from './books.ts';
import type { StoreKind } from './stores.ts';
import { createSecret } from '../../src/lib/secrets.ts';

export const secret = createSecret('a secret');
/** The signal of a client that never disconnects. */
export const { signal } = new AbortController();
export const responseOf = (body: string): WholeResponse => ({
  status: 200,
  contentType: 'text/plain',
  headers: { 'x-a': 'b' },
  body: Buffer.from(body),
  // The cost of each settlement of `run`, and the tokens of its record.
  worth: { costMicros: micros(30), inputTokens: 100, outputTokens: 10 },
});
export const response = responseOf('héllo '.repeat(10_000));

export async function openCaches(
  t: TestContext,
  store: StoreKind,
  options: Partial<ResponseCacheOptions> = {},
) {
  const database = await store.openDatabase(t);
  await database.write.transaction().execute(async (transaction) => {
    for (const id of ['a', 'b']) await insertAccount(transaction, id, [`key-${id}`]);
  });
  const clock = new TestClock(startMs);
  const ledger = store.openStore(t, database, { owner: 'run_1', clock: booksClockOf(clock) });
  await ledger.run([creditOf('a:live', 1_000_000), creditOf('b:live', 1_000_000)]);
  const errors: unknown[] = [];
  /** Opens a cache like another process, with its own memory. */
  const openCache = (more: Partial<ResponseCacheOptions> = {}) => {
    const cache = new ResponseCache({
      locks: noOtherThreads,
      database,
      secrets: [secret],
      threads: 1,
      diskBytes: 10_000_000,
      bodyBytesMax: 1_000_000,
      clock,
      onError: (error) => errors.push(error),
      ...options,
      ...more,
    });
    t.after(() => cache.close());
    return cache;
  };
  let holds = 0;
  /** Stores an answer with its charge, as the gateway does. */
  const settle = async (accountId: string, sealed: SealedCached) => {
    const asked = {
      holdId: `hold-${++holds}`,
      ledgerId: `${accountId}:live`,
      keyId: `key-${accountId}`,
    } as const;
    await ledger.run([reserveOf(asked, 40), { ...settleOf(asked, 30), cached: sealed }]);
  };
  const run = async (cache: ResponseCache, name: CacheName, answer = response) => {
    const cacheRun = await runOf(cache, name);
    await settle(name.accountId, await sealForCache(cacheRun, answer));
    cacheRun.noteStored(answer);
    cacheRun.end();
  };
  return { database, clock, ledger, openCache, cache: openCache(), run, settle, errors };
}

export const nameOf = (
  cache: ResponseCache,
  body: unknown = {},
  accountId = 'a',
  generation = 0,
): CacheName =>
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

export async function runOf(cache: ResponseCache, name: CacheName): Promise<CacheRun> {
  const begun = await cache.begin(name, { signal });
  assert.equal(begun.kind, 'run');
  return begun.kind === 'run' ? begun.run : assert.fail();
}

/** The body of a cache hit; null for a miss, whose run is ended. */
export async function servedBy(cache: ResponseCache, name: CacheName): Promise<string | null> {
  const begun = await cache.begin(name, { signal });
  if (begun.kind === 'run') begun.run.end();
  return begun.kind === 'hit' ? String(begun.response.body) : null;
}

export const digestsIn = async (database: Database) =>
  (
    await database.read
      .selectFrom('cached_responses')
      .select('digest')
      .orderBy('expires_at_ms')
      .execute()
  ).map((row) => row.digest);

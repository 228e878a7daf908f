// The content cache: answers to identical requests, per account. Recent answers are in memory; all
// are in the database for seven days, or until they expire. Concurrent identical requests share one
// run (single-flight), in all threads of the process. Any failure of the cache is a miss, never a
// failed request.
import { type WholeResponse, worthOfRow } from '../../terms/stored-response.ts';
import type { Database } from '../../db/database.ts';
import type { CancelTimer, Clock } from '../../lib/clock.ts';
import type { NameLocks } from '../../lib/name-locks.ts';
import { oneAtATime } from '../../lib/one-at-a-time.ts';
import { ownBytes } from '../../lib/own-bytes.ts';
import { type ScopedKey, scopedKey, ScopedLruCache } from '../../lib/scoped-lru-cache.ts';
import { createSealer, type Sealer } from '../../lib/sealed-bytes.ts';
import type { Secrets } from '../../lib/secrets.ts';
import { SharedRun } from '../../lib/shared-run.ts';
import { type CachedRequest, type CacheName, nameCached, nameKeyFrom } from './cache-name.ts';
import { CacheRun, keptForMsOf, rowKeyOf } from './cache-run.ts';
import { cacheUpkeep } from './upkeep.ts';
import type { Selectable } from 'kysely';
import type { Db, Tables } from '../../db/schema.ts';

/** Created once for each answer in memory, so that a hit costs one lookup. */
type CacheHit = { readonly kind: 'hit'; readonly response: WholeResponse };

type CacheLookup =
  | CacheHit
  /** The caller runs the request, and must end the run in every case. */
  | { readonly kind: 'run'; readonly run: CacheRun }
  /** The signal aborted first. */
  | { readonly kind: 'abandoned' };

export type ResponseCacheOptions = {
  readonly database: Database;
  /**
   * Only the current secret is used: after a rotation the names change and old answers are not
   * found.
   */
  readonly secrets: Secrets;
  /** The threads that divide the memory. */
  readonly threads: number;
  /** The disk budget of the table. */
  readonly diskBytes: number;
  /** Bodies that are longer when packed are not cached. */
  readonly bodyBytesMax: number;
  /** Keeps other threads from running the same request. */
  readonly locks: NameLocks;
  readonly onError: (error: unknown) => void;
  readonly clock: Clock;
};

/** The memory of a process for the most recently used responses. */
const memoryBytes = 64 * 1024 * 1024;
const upkeepEveryMs = 60_000;

export class ResponseCache {
  readonly #options: ResponseCacheOptions;
  readonly #nameKey: string;
  readonly #sealer: Sealer;
  readonly #hot: ScopedLruCache<CacheHit>;
  readonly #runs = new Map<string, SharedRun<WholeResponse>>();
  readonly #upkeep: ReturnType<typeof cacheUpkeep>;
  readonly #stopUpkeep: CancelTimer;

  constructor(options: ResponseCacheOptions) {
    const { database, secrets, threads, diskBytes, onError } = options;
    this.#options = options;
    this.#nameKey = nameKeyFrom(secrets[0]);
    this.#sealer = createSealer([secrets[0]], 'cached responses');
    this.#hot = new ScopedLruCache({
      bytesMax: Math.floor(memoryBytes / threads),
      nowMs: () => this.#nowMs(),
    });
    this.#upkeep = cacheUpkeep({ database, diskBytes, hot: this.#hot });
    this.#stopUpkeep = options.clock.every(
      upkeepEveryMs,
      () => void this.removeEnded().catch(onError),
    );
  }

  nameOf(request: CachedRequest): CacheName {
    return nameCached(this.#nameKey, request);
  }

  /** Looks in memory only. */
  recall(name: CacheName): CacheHit | undefined {
    return this.#hot.get(memoryKeyOf(name));
  }

  /**
   * Returns the cached answer, waits for another run of the same request, or lets the caller run
   * it. The signal ends a wait.
   */
  async begin(name: CacheName, { signal }: { readonly signal: AbortSignal }): Promise<CacheLookup> {
    return this.recall(name) ?? this.#beginCold(name, signal);
  }

  /** Drops an account's answers from memory. */
  forget(accountId: string): void {
    this.#hot.forget(accountId);
  }

  /** Removes expired and surplus answers, in small steps. */
  readonly removeEnded = oneAtATime(() => this.#upkeep(this.#nowMs()));

  close(): void {
    this.#stopUpkeep();
  }

  async #beginCold(name: CacheName, signal: AbortSignal): Promise<CacheLookup> {
    while (!signal.aborted) {
      const shared = this.#runs.get(rowKeyOf(name));
      if (!shared) return this.#startRun(name, signal);
      const response = await shared.wait(signal);
      if (response) return { kind: 'hit', response };
    }
    return { kind: 'abandoned' };
  }

  /**
   * Registers the run before the first await, so that only one of several concurrent requests
   * queries the database.
   */
  async #startRun(name: CacheName, signal: AbortSignal): Promise<CacheLookup> {
    const shared = new SharedRun<WholeResponse>();
    const id = rowKeyOf(name);
    this.#runs.set(id, shared);
    const giveBack = await this.#options.locks.take(id, { signal, onAwaited: waitAsOther(shared) });
    const end = (response: WholeResponse | null) => {
      if (this.#runs.get(id) === shared) this.#runs.delete(id);
      shared.end(response);
      giveBack?.();
    };
    const response = giveBack && (await this.#find(name));
    if (response || signal.aborted) {
      end(response);
      return response ? { kind: 'hit', response } : { kind: 'abandoned' };
    }
    const share = (stored: WholeResponse | null) => {
      if (stored) this.#remember(name, stored, keptForMsOf(stored));
      end(stored);
    };
    const { bodyBytesMax } = this.#options;
    return {
      kind: 'run',
      run: new CacheRun({ name, shared, sealer: this.#sealer, bodyBytesMax, end: share }),
    };
  }

  /** Looks in the database. An unreadable row counts as a miss; the next answer replaces it. */
  async #find(name: CacheName): Promise<WholeResponse | null> {
    try {
      const row = await findCached(this.#options.database.read, name, this.#nowMs());
      if (!row) return null;
      const response = await this.#read(name, row);
      this.#remember(name, response, row.expires_at_ms - this.#nowMs());
      return response;
    } catch (error) {
      this.#options.onError(error);
      return null;
    }
  }

  async #read(name: CacheName, row: CachedRow): Promise<WholeResponse> {
    return {
      status: 200,
      contentType: row.content_type,
      headers: JSON.parse(row.headers) as Record<string, string>,
      body: await this.#sealer.open(row.body, rowKeyOf(name)),
      ...worthOfRow(row),
    };
  }

  #remember(name: CacheName, response: WholeResponse, forMs: number): void {
    const body = ownBytes(response.body);
    this.#hot.set(
      memoryKeyOf(name),
      { kind: 'hit', response: { ...response, body } },
      { bytes: body.length, keptForMs: forMs },
    );
  }

  #nowMs(): number {
    return this.#options.clock.nowMs();
  }
}

/** Returns a function that makes a waiting thread one of the run's waiting callers. */
function waitAsOther(shared: SharedRun<WholeResponse>): (isAwaited: boolean) => void {
  let leave = () => {};
  return (isAwaited) => {
    if (!isAwaited) return leave();
    const waiting = new AbortController();
    leave = () => waiting.abort();
    void shared.wait(waiting.signal);
  };
}

function memoryKeyOf({ accountId, generation, digest }: CacheName): ScopedKey {
  return scopedKey(accountId, generation, digest);
}

const columns = [
  'content_type',
  'headers',
  'body',
  'expires_at_ms',
  'cost_micros',
  'input_tokens',
  'output_tokens',
] as const;
type CachedRow = Pick<Selectable<Tables['cached_responses']>, (typeof columns)[number]>;

async function findCached(read: Db, name: CacheName, nowMs: number): Promise<CachedRow | null> {
  const row = await read
    .selectFrom('cached_responses')
    .select(columns)
    .where('account_id', '=', name.accountId)
    .where('digest', '=', name.digest)
    .where('generation', '=', name.generation)
    .where('expires_at_ms', '>', nowMs)
    .executeTakeFirst();
  return row ?? null;
}

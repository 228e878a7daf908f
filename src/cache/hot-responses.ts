// The answers of the cache that were used last, in memory, within a budget of bytes. An account's older generations are dropped as soon
// as a newer one is seen, and what has expired is not found.
import { LRUCache } from 'lru-cache';
import type { WholeResponse } from '../canonical/stored-response.ts';
import type { CacheName } from './cache-name.ts';

/** Made once, so that a hit costs one look-up. */
export type CacheHit = { readonly kind: 'hit'; readonly response: WholeResponse };

type Entry = { readonly accountId: string; readonly hit: CacheHit };
type Account = { generation: number; readonly ids: Set<string> };

/** Beside the body: names, headers, and what the maps take. */
const entryBytes = 512;

export class HotResponses {
  readonly #accounts = new Map<string, Account>();
  readonly #entries: LRUCache<string, Entry>;

  constructor({ memoryBytes, nowMs }: { readonly memoryBytes: number; readonly nowMs: () => number }) {
    this.#entries = new LRUCache({
      maxSize: memoryBytes,
      ttlResolution: 0,
      perf: { now: nowMs },
      dispose: ({ accountId }, id) => this.#accounts.get(accountId)?.ids.delete(id),
    });
  }

  get(name: CacheName): CacheHit | undefined {
    const account = this.#accounts.get(name.accountId);
    if (account && account.generation < name.generation) this.forget(name.accountId);
    return this.#entries.get(idOf(name))?.hit;
  }

  set(name: CacheName, response: WholeResponse, keptForMs: number): void {
    const account = this.#accounts.get(name.accountId) ?? { generation: name.generation, ids: new Set() };
    if (account.generation > name.generation || keptForMs <= 0) return;
    if (account.generation < name.generation) this.forget(name.accountId);
    account.generation = name.generation;
    this.#accounts.set(name.accountId, account);
    const id = idOf(name);
    const size = entryBytes + Buffer.byteLength(response.body);
    const entry = { accountId: name.accountId, hit: { kind: 'hit', response } } as const;
    this.#entries.set(id, entry, { ttl: keptForMs, size });
    // One that is larger than all of the memory is not taken.
    if (this.#entries.has(id)) account.ids.add(id);
  }

  forget(accountId: string): void {
    for (const id of this.#accounts.get(accountId)?.ids ?? []) this.#entries.delete(id);
    this.#accounts.delete(accountId);
  }

  /** The generations that there are answers of, by account. */
  generations(): ReadonlyMap<string, number> {
    return new Map([...this.#accounts].map(([accountId, { generation }]) => [accountId, generation]));
  }

  /** Frees what has expired, and what is known of accounts without answers. */
  removeExpired(): void {
    this.#entries.purgeStale();
    for (const [accountId, { ids }] of this.#accounts) if (ids.size === 0) this.#accounts.delete(accountId);
  }
}

/** All three parts: an equal digest under another account or generation is another answer. */
export function idOf({ accountId, generation, digest }: CacheName): string {
  return `${accountId} ${generation} ${digest}`;
}

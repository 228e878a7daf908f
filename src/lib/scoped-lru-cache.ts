// An LRU cache in memory with a byte budget. Every entry belongs to a scope, such as an account,
// and to a generation of that scope: seeing a newer generation drops all older ones. Expired
// entries are not returned.
import { LRUCache } from 'lru-cache';

export type ScopedKey = {
  readonly scope: string;
  readonly generation: number;
  /** Scope, generation and name in one string. */
  readonly id: string;
};

/** The same name in another scope or generation is another key. */
export function scopedKey(scope: string, generation: number, name: string): ScopedKey {
  return { scope, generation, id: `${scope} ${generation} ${name}` };
}

type Entry<Value> = { readonly scope: string; readonly value: Value };
type Scope = { generation: number; readonly ids: Set<string> };

/** Overhead of an entry beyond the caller's bytes: names and map slots. */
const entryBytes = 512;

export class ScopedLruCache<Value> {
  readonly #scopes = new Map<string, Scope>();
  readonly #entries: LRUCache<string, Entry<Value>>;

  constructor({ bytesMax, nowMs }: { readonly bytesMax: number; readonly nowMs: () => number }) {
    this.#entries = new LRUCache({
      maxSize: bytesMax,
      ttlResolution: 0,
      perf: { now: nowMs },
      dispose: ({ scope }, id) => this.#scopes.get(scope)?.ids.delete(id),
    });
  }

  get(key: ScopedKey): Value | undefined {
    const scope = this.#scopes.get(key.scope);
    if (scope && scope.generation < key.generation) this.forget(key.scope);
    return this.#entries.get(key.id)?.value;
  }

  set(
    key: ScopedKey,
    value: Value,
    { bytes, keptForMs }: { readonly bytes: number; readonly keptForMs: number },
  ): void {
    const scope = this.#scopes.get(key.scope) ?? { generation: key.generation, ids: new Set() };
    if (scope.generation > key.generation || keptForMs <= 0) return;
    if (scope.generation < key.generation) this.forget(key.scope);
    scope.generation = key.generation;
    this.#scopes.set(key.scope, scope);
    const { id } = key;
    this.#entries.set(
      id,
      { scope: key.scope, value },
      { ttl: keptForMs, size: entryBytes + bytes },
    );
    // The cache refuses an entry larger than its whole budget.
    if (this.#entries.has(id)) scope.ids.add(id);
  }

  forget(scope: string): void {
    for (const id of this.#scopes.get(scope)?.ids ?? []) this.#entries.delete(id);
    this.#scopes.delete(scope);
  }

  /** Returns the current generation of each scope that has entries. */
  generations(): ReadonlyMap<string, number> {
    return new Map([...this.#scopes].map(([scope, { generation }]) => [scope, generation]));
  }

  /** Removes expired entries, and scopes without entries. */
  removeExpired(): void {
    this.#entries.purgeStale();
    for (const [scope, { ids }] of this.#scopes) if (ids.size === 0) this.#scopes.delete(scope);
  }
}

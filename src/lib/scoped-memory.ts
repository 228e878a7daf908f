// What was used last, in memory, within a budget of bytes. Everything belongs to a scope, such as an account, and to a generation of it:
// a scope's older generations are dropped as soon as a newer one is seen, and what has expired is not found.
import { LRUCache } from 'lru-cache';

export type Place = {
  readonly scope: string;
  readonly generation: number;
  /** The two and the name within them as one. */
  readonly id: string;
};

/** All three parts: an equal name in another scope or generation is another place. */
export function placeIn(scope: string, generation: number, name: string): Place {
  return { scope, generation, id: `${scope} ${generation} ${name}` };
}

/** Makes the place of each name once: one that is asked for again and again costs no new text. */
export function rememberPlaces<Name extends object>(placeOf: (name: Name) => Place): (name: Name) => Place {
  const places = new WeakMap<Name, Place>();
  return (name) => {
    const known = places.get(name);
    if (known) return known;
    const place = placeOf(name);
    places.set(name, place);
    return place;
  };
}

type Entry<Value> = { readonly scope: string; readonly value: Value };
type Scope = { generation: number; readonly ids: Set<string> };

/** Beside what the caller counts: names, and what the maps take. */
const entryBytes = 512;

export class ScopedMemory<Value> {
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

  get(place: Place): Value | undefined {
    const scope = this.#scopes.get(place.scope);
    if (scope && scope.generation < place.generation) this.forget(place.scope);
    return this.#entries.get(place.id)?.value;
  }

  set(place: Place, value: Value, { bytes, keptForMs }: { readonly bytes: number; readonly keptForMs: number }): void {
    const scope = this.#scopes.get(place.scope) ?? { generation: place.generation, ids: new Set() };
    if (scope.generation > place.generation || keptForMs <= 0) return;
    if (scope.generation < place.generation) this.forget(place.scope);
    scope.generation = place.generation;
    this.#scopes.set(place.scope, scope);
    const { id } = place;
    this.#entries.set(id, { scope: place.scope, value }, { ttl: keptForMs, size: entryBytes + bytes });
    // One that is larger than all of the memory is not taken.
    if (this.#entries.has(id)) scope.ids.add(id);
  }

  forget(scope: string): void {
    for (const id of this.#scopes.get(scope)?.ids ?? []) this.#entries.delete(id);
    this.#scopes.delete(scope);
  }

  /** The generations that there is something of, by scope. */
  generations(): ReadonlyMap<string, number> {
    return new Map([...this.#scopes].map(([scope, { generation }]) => [scope, generation]));
  }

  /** Frees what has expired, and what is known of scopes that nothing is left of. */
  removeExpired(): void {
    this.#entries.purgeStale();
    for (const [scope, { ids }] of this.#scopes) if (ids.size === 0) this.#scopes.delete(scope);
  }
}

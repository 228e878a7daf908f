// Caches database reads that may be a moment old. Concurrent callers share one read; a key is read
// again when it is forgotten or too old.
import type { Clock } from './clock.ts';

type RecentReadsOptions<Key, Value> = {
  /** null: nothing to cache. */
  readonly read: (key: Key) => Promise<Value | null>;
  readonly keptForMs: number;
  readonly clock: Clock;
};

const keysMax = 10_000;

export class RecentReads<Key extends string, Value> {
  readonly #options: RecentReadsOptions<Key, Value>;
  readonly #known = new Map<Key, { readonly value: Value; readonly readAtMs: number }>();
  /** Reads in flight. None began before its key was last forgotten. */
  readonly #reading = new Map<Key, Promise<Value | null>>();

  constructor(options: RecentReadsOptions<Key, Value>) {
    this.#options = options;
  }

  read(key: Key): Value | null | Promise<Value | null> {
    const known = this.#known.get(key);
    const nowMs = this.#options.clock.elapsedMs();
    if (known && nowMs - known.readAtMs < this.#options.keptForMs) return known.value;
    return this.#reading.get(key) ?? this.#readAnew(key, nowMs);
  }

  forget(key: Key): void {
    this.#known.delete(key);
    this.#reading.delete(key);
  }

  forgetAll(): void {
    this.#known.clear();
    this.#reading.clear();
  }

  async #readAnew(key: Key, readAtMs: number): Promise<Value | null> {
    const reading = this.#options.read(key);
    this.#reading.set(key, reading);
    const isCurrent = () => this.#reading.get(key) === reading;
    try {
      const value = await reading;
      if (value !== null && isCurrent()) this.#keep(key, { value, readAtMs });
      return value;
    } finally {
      if (isCurrent()) this.#reading.delete(key);
    }
  }

  #keep(key: Key, known: { readonly value: Value; readonly readAtMs: number }): void {
    if (this.#known.size >= keysMax) this.#known.clear();
    this.#known.set(key, known);
  }
}

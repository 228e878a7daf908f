// The answers under Idempotency-Keys that were used last, in memory within a budget of bytes: a client that retries over and over does
// not make the database work. What an account had kept before it was purged is of an older generation and found no more.
import { LRUCache } from 'lru-cache';
import type { WholeResponse } from '../canonical/stored-response.ts';
import type { RequestName } from './request-name.ts';

/** What is known of a key that was used. */
export type Known =
  | { readonly kind: 'stored'; readonly response: WholeResponse }
  /** The key was used with another request. */
  | { readonly kind: 'conflict' };

type Entry = { readonly fingerprint: string; readonly stored: Known };

const memoryBytes = 32 * 1024 * 1024;
/** Beside the body. */
const entryBytes = 512;
const conflict: Known = { kind: 'conflict' };

export class RecentAnswers {
  readonly #entries: LRUCache<string, Entry>;

  constructor(nowMs: () => number) {
    this.#entries = new LRUCache({ maxSize: memoryBytes, ttlResolution: 0, perf: { now: nowMs } });
  }

  get(name: RequestName): Known | undefined {
    const entry = this.#entries.get(idOf(name));
    return entry && (entry.fingerprint === name.fingerprint ? entry.stored : conflict);
  }

  set(name: RequestName, response: WholeResponse, keptForMs: number): void {
    if (keptForMs <= 0) return;
    const size = entryBytes + Buffer.byteLength(response.body);
    const entry = { fingerprint: name.fingerprint, stored: { kind: 'stored', response } } as const;
    this.#entries.set(idOf(name), entry, { size, ttl: keptForMs });
  }
}

function idOf({ keyId, generation, keyDigest }: RequestName): string {
  return `${keyId} ${generation} ${keyDigest}`;
}

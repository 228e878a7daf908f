// The answers under Idempotency-Keys that were used last, in memory within a budget of bytes: a client that retries over and over does
// not make the database work. What an account had kept before it was purged is of an older generation and found no more.
import type { WholeResponse } from '../canonical/stored-response.ts';
import { placeIn, rememberPlaces, ScopedMemory } from '../lib/scoped-memory.ts';
import type { RequestName } from './request-name.ts';

/** What is known of a key that was used. */
export type Known =
  | { readonly kind: 'stored'; readonly response: WholeResponse }
  /** The key was used with another request. */
  | { readonly kind: 'conflict' };

type Entry = { readonly fingerprint: string; readonly stored: Known };

const memoryBytes = 32 * 1024 * 1024;
const conflict: Known = { kind: 'conflict' };

export class RecentAnswers {
  /** By API key. */
  readonly memory: ScopedMemory<Entry>;

  constructor(nowMs: () => number) {
    this.memory = new ScopedMemory({ bytesMax: memoryBytes, nowMs });
  }

  get(name: RequestName): Known | undefined {
    const entry = this.memory.get(placeOf(name));
    return entry && (entry.fingerprint === name.fingerprint ? entry.stored : conflict);
  }

  set(name: RequestName, response: WholeResponse, keptForMs: number): void {
    const entry = { fingerprint: name.fingerprint, stored: { kind: 'stored', response } } as const;
    this.memory.set(placeOf(name), entry, { bytes: Buffer.byteLength(response.body), keptForMs });
  }
}

const placeOf = rememberPlaces(({ keyId, generation, keyDigest }: RequestName) => placeIn(keyId, generation, keyDigest));

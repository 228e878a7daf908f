// Recent answers under Idempotency-Keys, in memory with a byte budget, so that repeated retries do
// not reach the database. Answers from before a purge have an older generation and are not
// returned.
import type { WholeResponse } from '../../terms/stored-response.ts';
import { ownBytes } from '../../lib/own-bytes.ts';
import { type ScopedKey, scopedKey, ScopedLruCache } from '../../lib/scoped-lru-cache.ts';
import type { RequestName } from './request-name.ts';

/** An entry in memory for a used key. */
export type RecentAnswer =
  | { readonly kind: 'stored'; readonly response: WholeResponse }
  /** The key was used with another request. */
  | { readonly kind: 'conflict' };

type Entry = { readonly fingerprint: string; readonly stored: RecentAnswer };

const memoryBytes = 32 * 1024 * 1024;
const conflict: RecentAnswer = { kind: 'conflict' };

export class RecentAnswers {
  /** Scoped by API key. */
  readonly memory: ScopedLruCache<Entry>;

  constructor(nowMs: () => number) {
    this.memory = new ScopedLruCache({ bytesMax: memoryBytes, nowMs });
  }

  get(name: RequestName): RecentAnswer | undefined {
    const entry = this.memory.get(keyOf(name));
    return entry && (entry.fingerprint === name.fingerprint ? entry.stored : conflict);
  }

  set(name: RequestName, response: WholeResponse, keptForMs: number): void {
    const body = ownBytes(response.body);
    const stored = { kind: 'stored', response: { ...response, body } } as const;
    const entry = { fingerprint: name.fingerprint, stored };
    this.memory.set(keyOf(name), entry, { bytes: body.length, keptForMs });
  }
}

function keyOf({ keyId, generation, keyDigest }: RequestName): ScopedKey {
  return scopedKey(keyId, generation, keyDigest);
}

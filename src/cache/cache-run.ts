// The one run of a request that others wait for, and how it ends: with an answer for all of them, or with one of them running next.
import type { WholeResponse } from '../canonical/stored-response.ts';
import type { Sealer } from '../lib/sealed-text.ts';
import type { Turn } from '../lib/turn.ts';
import type { CacheName } from './cache-name.ts';

/** As the ledger writes it, in the transaction that charges the answer. */
export type SealedCached = {
  readonly digest: string;
  /** It is stored only while the account is still of this one. */
  readonly generation: number;
  readonly contentType: string;
  /** JSON. */
  readonly headers: string;
  /** Compressed, encrypted, base64. */
  readonly body: string;
  /** What the row takes. */
  readonly sizeBytes: number;
  /** From the charge on. */
  readonly keptForMs: number;
};

export type CacheRunOptions = {
  readonly name: CacheName;
  readonly turn: Turn<WholeResponse>;
  readonly sealer: Sealer;
  readonly bodyBytesMax: number;
  /** Tells those who wait, and keeps the answer in memory; null: there is none to share. */
  readonly end: (response: WholeResponse | null) => void;
};

const keptForMsMax = 7 * 24 * 60 * 60_000;

/** An answer is not kept beyond its use. */
export function keptForMsOf({ usableForMs = keptForMsMax }: WholeResponse): number {
  return Math.min(usableForMs, keptForMsMax);
}

/** Of a row beside its body and headers: names, times, and its places in the indexes. */
const rowBytes = 500;

export class CacheRun {
  /** A longer answer is not cached. */
  readonly bodyBytesMax: number;
  readonly #options: CacheRunOptions;
  #stored: WholeResponse | null = null;

  constructor(options: CacheRunOptions) {
    this.bodyBytesMax = options.bodyBytesMax;
    this.#options = options;
  }

  /** While it has, the run goes on even if the client that began it has left. */
  get hasWaiters(): boolean {
    return this.#options.turn.waiters > 0;
  }

  /** Called each time that the last of those that wait has left. */
  onWaitersGone(callback: () => void): void {
    this.#options.turn.onWaitersGone(callback);
  }

  /** For the command that settles the request. */
  async seal(response: WholeResponse): Promise<SealedCached> {
    const { contentType, headers, body } = response;
    const { name, sealer } = this.#options;
    const sealed = await sealer.seal(body, placeOf(name));
    const headersJson = JSON.stringify(headers);
    return {
      digest: name.digest,
      generation: name.generation,
      contentType,
      headers: headersJson,
      body: sealed.toString('base64'),
      sizeBytes: rowBytes + headersJson.length + sealed.length,
      keptForMs: keptForMsOf(response),
    };
  }

  /** The ledger has stored it. */
  noteStored(response: WholeResponse): void {
    this.#stored = response;
  }

  /** To be called once, when the request has come to its end, however that is. Without an answer noted, one of those that wait runs next. */
  end(): void {
    this.#options.end(this.#stored);
  }
}

/** What a body is sealed for: it opens nowhere else. */
export function placeOf({ accountId, generation, digest }: CacheName): string {
  return `${accountId} ${generation} ${digest}`;
}

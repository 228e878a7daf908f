// A shared run of one request: when it ends, waiting requests get its answer, or one of them runs
// next.
import type { SealedCached } from '../../terms/sealed-answer.ts';
import type { WholeResponse } from '../../terms/stored-response.ts';
import type { Sealer } from '../../lib/sealed-bytes.ts';
import type { SharedRun } from '../../lib/shared-run.ts';
import type { CacheName } from './cache-name.ts';

type CacheRunOptions = {
  readonly name: CacheName;
  readonly shared: SharedRun<WholeResponse>;
  readonly sealer: Sealer;
  readonly bodyBytesMax: number;
  /**
   * Ends the wait of other requests and keeps the answer in memory; null means there is no answer
   * to share.
   */
  readonly end: (response: WholeResponse | null) => void;
};

const keptForMsMax = 7 * 24 * 60 * 60_000;

/** An answer is not kept longer than it is valid. */
export function keptForMsOf({ usableForMs = keptForMsMax }: WholeResponse): number {
  return Math.min(usableForMs, keptForMsMax);
}

/** A row's overhead beyond body and headers: names, times, index entries. */
const rowBytes = 500;

export class CacheRun {
  /** Answers that are longer when packed are not cached. */
  readonly bodyBytesMax: number;
  readonly #options: CacheRunOptions;
  #stored: WholeResponse | null = null;

  constructor(options: CacheRunOptions) {
    this.bodyBytesMax = options.bodyBytesMax;
    this.#options = options;
  }

  /** While this is true, the run continues even if its own client has disconnected. */
  get hasWaiters(): boolean {
    return this.#options.shared.waiters > 0;
  }

  /** Calls back each time the last waiting request has left. */
  onWaitersGone(callback: () => void): void {
    this.#options.shared.onWaitersGone(callback);
  }

  /** Seals the answer for the ledger's settle command. `packed`: its body. */
  seal(response: WholeResponse, packed: Buffer): SealedCached {
    const { contentType, headers } = response;
    const { name, sealer } = this.#options;
    const sealed = sealer.sealPacked(packed, rowKeyOf(name));
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

  /** To be called when the ledger has stored the answer. */
  noteStored(response: WholeResponse): void {
    this.#stored = response;
  }

  /**
   * To be called exactly once, when the request has ended for any reason. Without a stored answer,
   * a waiting request runs next.
   */
  end(): void {
    this.#options.end(this.#stored);
  }
}

/** Identifies the row; its body is sealed in this context and opens in no other. */
export function rowKeyOf({ accountId, generation, digest }: CacheName): string {
  return `${accountId} ${generation} ${digest}`;
}

// Where a success is kept beside being sent: under the request's Idempotency-Key, in the cache, in both, or nowhere. Whoever waits for it
// there keeps the run going when the client that began it has left.
import type { StoredResponse, WholeResponse } from '../canonical/stored-response.ts';
import type { CacheRun, SealedCached } from '../cache/cache-run.ts';
import type { Claim, SealedResponse } from '../idempotency/claim.ts';

export type KeepingOptions = {
  /** null: the request has no Idempotency-Key. */
  readonly claim: Claim | null;
  /** null: the request does not use the cache. */
  readonly run: CacheRun | null;
  /** Whether the account lets bodies be kept; of others only the outcome is, so that no key runs twice. */
  readonly retainsBodies: boolean;
};

/** What the ledger writes with the charge. */
export type Sealed = { readonly stored?: SealedResponse; readonly cached?: SealedCached };

export class Keeping {
  readonly #options: KeepingOptions;
  /** What was sealed for the cache. */
  #cached: WholeResponse | null = null;

  constructor(options: KeepingOptions) {
    this.#options = options;
  }

  /** Of the longest body that is kept anywhere; null: nothing is kept. */
  get bodyBytesMax(): number | null {
    const { claim, run } = this.#options;
    if (!claim && !run) return null;
    return Math.max(claim?.bodyBytesMax ?? 0, run?.bodyBytesMax ?? 0);
  }

  /** Whether anybody beside the client may come for the answer: whoever retries under the key, or waits for the same run. */
  get isAwaited(): boolean {
    const { claim, run } = this.#options;
    return claim !== null || (run?.hasWaiters ?? false);
  }

  /** Calls back each time the last one of those who wait has left. */
  onUnawaited(callback: () => void): void {
    this.#options.run?.onWaitersGone(callback);
  }

  /** `isWhole`: nothing of ours has cut the answer short, so that it answers the same request of tomorrow. */
  async seal(response: StoredResponse, { isWhole }: { readonly isWhole: boolean }): Promise<Sealed> {
    const { claim, run, retainsBodies } = this.#options;
    const bodyWithin = (bytesMax: number) =>
      response.body !== null && Buffer.byteLength(response.body) <= bytesMax ? response.body : null;
    const body = run && isWhole ? bodyWithin(run.bodyBytesMax) : null;
    this.#cached = body === null ? null : { ...response, body };
    const [stored, cached] = await Promise.all([
      claim?.seal({ ...response, body: retainsBodies ? bodyWithin(claim.bodyBytesMax) : null }),
      this.#cached && run?.seal(this.#cached),
    ]);
    return { ...(stored && { stored }), ...(cached && { cached }) };
  }

  /** The ledger has written what was sealed, with what it was charged at. */
  noteStored(response: StoredResponse): void {
    const { claim, run } = this.#options;
    claim?.noteStored(response);
    if (this.#cached) run?.noteStored({ ...this.#cached, worth: response.worth });
  }
}

export const nothingKept = new Keeping({ claim: null, run: null, retainsBodies: false });

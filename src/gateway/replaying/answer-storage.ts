// Stores a successful answer beside sending it: under the request's Idempotency-Key, in the cache,
// in both, or nowhere. Requests that wait for it keep the run going when its client has left.
import type { SealedCached, SealedResponse } from '../../canonical/sealed-answer.ts';
import type { StoredResponse, WholeResponse } from '../../canonical/stored-response.ts';
import type { CacheRun } from '../../domain/cache/cache-run.ts';
import type { Claim } from '../../domain/idempotency/claim.ts';

type AnswerStorageOptions = {
  /** null: the request has no Idempotency-Key. */
  readonly claim: Claim | null;
  /** null: the request does not use the cache. */
  readonly run: CacheRun | null;
  /**
   * Returns true when a body of that length may be stored under the Idempotency-Key. Otherwise only
   * the outcome is stored, so that no key runs twice.
   */
  readonly mayStore: (bytes: number, answer: { readonly isFree: boolean }) => boolean;
};

/** Sealed answers, which the ledger writes together with the charge. */
type Sealed = { readonly stored?: SealedResponse; readonly cached?: SealedCached };

export class AnswerStorage {
  readonly #options: AnswerStorageOptions;
  /** The sealed answer for the cache. */
  #cached: WholeResponse | null = null;

  constructor(options: AnswerStorageOptions) {
    this.#options = options;
  }

  /** The longest body that is stored anywhere, in bytes; null: nothing is stored. */
  get bodyBytesMax(): number | null {
    const { claim, run } = this.#options;
    if (!claim && !run) return null;
    return Math.max(claim?.bodyBytesMax ?? 0, run?.bodyBytesMax ?? 0);
  }

  /**
   * True when somebody other than the client may read the answer: a retry with the key, or a
   * request that shares the run.
   */
  get isAwaited(): boolean {
    const { claim, run } = this.#options;
    return claim !== null || (run?.hasWaiters ?? false);
  }

  /** Calls back each time the last waiting request has left. */
  onUnawaited(callback: () => void): void {
    this.#options.run?.onWaitersGone(callback);
  }

  /**
   * Encrypts the response for storage. `isWhole`: the gateway did not cut the answer short, so the
   * cache may keep it. `isFree`: the account pays nothing for it.
   */
  async seal(
    response: StoredResponse,
    { isWhole, isFree }: { readonly isWhole: boolean; readonly isFree: boolean },
  ): Promise<Sealed> {
    const { claim, run, mayStore } = this.#options;
    const bodyWithin = (bytesMax: number) =>
      response.body !== null && response.body.length <= bytesMax ? response.body : null;
    const body = run && isWhole ? bodyWithin(run.bodyBytesMax) : null;
    this.#cached = body === null ? null : { ...response, body };
    const forKey = claim && bodyWithin(claim.bodyBytesMax);
    const isStored = forKey !== null && mayStore(forKey.length, { isFree });
    const [stored, cached] = await Promise.all([
      claim?.seal({ ...response, body: isStored ? forKey : null }),
      this.#cached && run?.seal(this.#cached),
    ]);
    return { ...(stored && { stored }), ...(cached && { cached }) };
  }

  /** Call when the ledger has written the sealed answer. `response` has the amount charged. */
  noteStored(response: StoredResponse): void {
    const { claim, run } = this.#options;
    claim?.noteStored(response);
    if (this.#cached) run?.noteStored({ ...this.#cached, worth: response.worth });
  }
}

export const noAnswerStorage = new AnswerStorage({
  claim: null,
  run: null,
  mayStore: () => false,
});

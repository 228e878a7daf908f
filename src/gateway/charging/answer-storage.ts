// Stores a successful answer beside sending it: under the request's Idempotency-Key, in the cache,
// in both, or nowhere. Requests that wait for it keep the run going when its client has left.
import type { HeaderNames } from '../../terms/header-names.ts';
import type { SealedCached, SealedResponse } from '../../terms/sealed-answer.ts';
import type { StoredResponse, WholeResponse } from '../../terms/stored-response.ts';
import type { CacheRun } from '../../domain/cache/cache-run.ts';
import type { Claim } from '../../domain/idempotency/claim.ts';
import { pack, plainBytesMax } from '../../lib/packing.ts';
import type { Headers } from '../client.ts';

type AnswerStorageOptions = {
  /** null: the request has no Idempotency-Key. */
  readonly claim: Claim | null;
  /** null: the request does not use the cache. */
  readonly run: CacheRun | null;
  /** False: the account stores no answers. */
  readonly isRetained: boolean;
  /**
   * Returns true when a body of that packed length may be stored under the Idempotency-Key.
   * Otherwise only the outcome is stored, so that no key runs twice.
   */
  readonly mayStore: (
    packedBytes: number,
    answer: { readonly isFree: boolean },
  ) => Promise<boolean>;
};

/** Sealed answers, which the ledger writes together with the charge. */
type Sealed = { readonly stored?: SealedResponse; readonly cached?: SealedCached };

export class AnswerStorage {
  /**
   * True when it is known that a repeat with the Idempotency-Key will not get this answer: from the
   * beginning when the account stores none, otherwise from `seal` on.
   */
  isNotKept: boolean;
  readonly #options: AnswerStorageOptions;
  /** The sealed answer for the cache. */
  #cached: WholeResponse | null = null;

  constructor(options: AnswerStorageOptions) {
    this.#options = options;
    const { claim, isRetained } = options;
    this.isNotKept = claim !== null && !isRetained;
  }

  /** False: nothing is stored. */
  get isUsed(): boolean {
    return this.#options.claim !== null || this.#options.run !== null;
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
    const { claim, run, isRetained, mayStore } = this.#options;
    const { packed: packedBefore, ...plain } = response;
    const { body } = plain;
    const isBounded = body !== null && body.length <= plainBytesMax;
    const packed = isBounded ? (packedBefore ?? (await pack(body))) : null;
    const isCached = run && isWhole && packed && packed.length <= run.bodyBytesMax;
    this.#cached = isCached ? { ...plain, body: body! } : null;
    const isStored = claim && isRetained && packed && (await mayStore(packed.length, { isFree }));
    const stored = await claim?.seal(plain, isStored ? packed : null);
    this.isNotKept = stored?.body === null;
    const cached = isCached ? run.seal(this.#cached!, packed) : null;
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
  isRetained: false,
  mayStore: async () => false,
});

/** Tells the client of an answer that a repeat with its Idempotency-Key will not get it. */
export function retentionHeaders(
  { idempotency }: Pick<HeaderNames, 'idempotency'>,
  storage: Pick<AnswerStorage, 'isNotKept'>,
): Headers {
  return storage.isNotKept ? { [idempotency]: 'not-retained' } : {};
}

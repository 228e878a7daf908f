// The right to run a request under its Idempotency-Key. It ends with a stored answer, or with the
// key free again.
import type { SealedResponse } from '../../canonical/sealed-answer.ts';
import type { StoredResponse } from '../../canonical/stored-response.ts';
import type { Database } from '../../db/database.ts';
import { type Clock, timeLimit } from '../../lib/clock.ts';
import type { Sealer } from '../../lib/sealed-bytes.ts';
import { dayMs } from '../../lib/utc-time.ts';
import { releaseClaim, storeClaim } from './claims.ts';
import type { RequestName } from './request-name.ts';

type ClaimOptions = {
  readonly database: Database;
  readonly name: RequestName;
  readonly requestId: string;
  readonly owner: string;
  readonly sealer: Sealer;
  readonly bodyBytesMax: number;
  /** Ends the wait of other requests in this process. */
  readonly end: (response: StoredResponse | null) => void;
  readonly onError: (error: unknown) => void;
  readonly clock: Clock;
};

const retryMs = 1_000;

export class Claim {
  readonly bodyBytesMax: number;
  readonly #options: ClaimOptions;
  #stored: StoredResponse | null = null;

  constructor(options: ClaimOptions) {
    this.bodyBytesMax = options.bodyBytesMax;
    this.#options = options;
  }

  async seal({ status, contentType, headers, body }: StoredResponse): Promise<SealedResponse> {
    const { name, owner, sealer } = this.#options;
    const { keyId, keyDigest, fingerprint } = name;
    const sealed =
      body === null ? null : (await sealer.seal(body, `${keyId} ${keyDigest}`)).toString('base64');
    return {
      keyDigest,
      fingerprint,
      owner,
      status,
      contentType,
      headers: JSON.stringify(headers),
      body: sealed,
      keptForMs: dayMs,
    };
  }

  /**
   * Stores an answer that is not charged. Does nothing when another request holds the key by now.
   */
  async store(response: StoredResponse): Promise<void> {
    const { database, name, requestId, clock } = this.#options;
    const isKept = response.body !== null && response.body.length <= this.bodyBytesMax;
    const kept = isKept ? response : { ...response, body: null };
    const sealed = await this.seal(kept);
    const isOurs = await storeClaim(database, name, {
      requestId,
      sealed,
      worth: response.worth,
      nowMs: clock.nowMs(),
    });
    if (isOurs) this.noteStored(response);
  }

  /** To be called when the ledger has stored the answer. */
  noteStored(response: StoredResponse): void {
    this.#stored = response;
  }

  /**
   * To be called exactly once, when the request has ended. Without a stored answer, the key becomes
   * free.
   */
  async end(): Promise<void> {
    if (!this.#stored && !(await this.#release())) void this.#releaseLater();
    this.#options.end(this.#stored);
  }

  async #release(): Promise<boolean> {
    const { database, name, requestId, onError } = this.#options;
    try {
      await releaseClaim(database, name, requestId);
      return true;
    } catch (error) {
      onError(error);
      return false;
    }
  }

  /**
   * Retries until the key is free: a database outage must not block the key until this process
   * ends.
   */
  async #releaseLater(): Promise<void> {
    do await timeLimit(this.#options.clock, retryMs);
    while (!(await this.#release()));
  }
}

// The right to run a request under its Idempotency-Key, and how it ends: with an answer that is stored, or with the key free again.
import type { StoredResponse } from '../canonical/stored-response.ts';
import type { Database } from '../db/database.ts';
import { type Clock, timeLimit } from '../lib/clock.ts';
import type { Sealer } from '../lib/sealed-text.ts';
import { releaseClaim, storeClaim } from './claims.ts';
import type { RequestName } from './request-name.ts';

/** As the ledger writes it, in the transaction that charges the answer. */
export type SealedResponse = {
  readonly keyDigest: string;
  readonly fingerprint: string;
  readonly owner: string;
  readonly status: number;
  readonly contentType: string;
  /** JSON. */
  readonly headers: string;
  /** Compressed, encrypted, base64. */
  readonly body: string | null;
  /** From the charge on. */
  readonly keptForMs: number;
};

export type ClaimOptions = {
  readonly database: Database;
  readonly name: RequestName;
  readonly requestId: string;
  readonly owner: string;
  readonly sealer: Sealer;
  readonly bodyBytesMax: number;
  /** Tells those who wait in this process. */
  readonly end: (response: StoredResponse | null) => void;
  readonly onError: (error: unknown) => void;
  readonly clock: Clock;
};

const dayMs = 24 * 60 * 60_000;
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
    const sealed = body === null ? null : (await sealer.seal(body, `${keyId} ${keyDigest}`)).toString('base64');
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

  /** Stores an answer that nothing is charged for. The key may be another's by now: then nothing is. */
  async store(response: StoredResponse): Promise<void> {
    const { database, name, requestId, clock } = this.#options;
    const isKept = response.body !== null && Buffer.byteLength(response.body) <= this.bodyBytesMax;
    const kept = isKept ? response : { ...response, body: null };
    const sealed = await this.seal(kept);
    const isOurs = await storeClaim(database, name, { requestId, sealed, worth: response.worth, nowMs: clock.nowMs() });
    if (isOurs) this.noteStored(response);
  }

  /** The ledger has stored it. */
  noteStored(response: StoredResponse): void {
    this.#stored = response;
  }

  /** To be called once, when the request has come to its end. What was not stored frees the key. */
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

  /** A database that is away must not keep the key taken for as long as this process lives. */
  async #releaseLater(): Promise<void> {
    do await timeLimit(this.#options.clock, retryMs);
    while (!(await this.#release()));
  }
}

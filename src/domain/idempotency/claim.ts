// The right to run a request under its Idempotency-Key. It ends with a stored answer, or with the
// key free again.
import type { SealedResponse } from '../../terms/sealed-answer.ts';
import type { StoredResponse, WholeResponse } from '../../terms/stored-response.ts';
import type { Database } from '../../db/database.ts';
import { type Clock, timeLimit } from '../../lib/clock.ts';
import { pack } from '../../lib/packing.ts';
import type { Sealer } from '../../lib/sealed-bytes.ts';
import { dayMs } from '../../lib/utc-time.ts';
import { type AnswerFiles, referenceTo } from './answer-files.ts';
import { releaseClaim, storeClaim } from './claims.ts';
import type { RequestName } from './request-name.ts';

type ClaimOptions = {
  readonly database: Database;
  readonly name: RequestName;
  readonly requestId: string;
  readonly owner: string;
  readonly sealer: Sealer;
  readonly files: AnswerFiles;
  readonly bodyBytesMax: number;
  /** Ends the wait of other requests in this process. */
  readonly end: (response: StoredResponse | null) => void;
  readonly onError: (error: unknown) => void;
  readonly clock: Clock;
};

const retryMs = 1_000;

export class Claim {
  /** Bodies that are longer when packed are stored in files; 0: none is stored. */
  readonly bodyBytesMax: number;
  readonly #options: ClaimOptions;
  #stored: StoredResponse | null = null;

  constructor(options: ClaimOptions) {
    this.bodyBytesMax = options.bodyBytesMax;
    this.#options = options;
  }

  /** `packed`: the body to store; null: only the outcome is stored. */
  async seal(
    { status, contentType, headers }: StoredResponse,
    packed: Buffer | null,
  ): Promise<SealedResponse> {
    const { name, owner } = this.#options;
    const { keyDigest, fingerprint } = name;
    return {
      keyDigest,
      fingerprint,
      owner,
      status,
      contentType,
      headers: JSON.stringify(headers),
      body: (packed && (await this.#sealBody(packed)))?.toString('base64') ?? null,
      keptForMs: dayMs,
    };
  }

  /**
   * Stores an answer that is not charged, with its body if `mayStore` its packed length. Does nothing
   * when another request holds the key by now. Returns true when a repeat will get the body.
   */
  async store(
    response: WholeResponse,
    mayStore: (packedBytes: number) => Promise<boolean>,
  ): Promise<boolean> {
    const { database, name, requestId, clock } = this.#options;
    const packed = await pack(response.body);
    const sealed = await this.seal(response, (await mayStore(packed.length)) ? packed : null);
    const isOurs = await storeClaim(database.write, name, {
      requestId,
      sealed,
      worth: response.worth,
      nowMs: clock.nowMs(),
    });
    if (isOurs) this.noteStored(response);
    return sealed.body !== null;
  }

  /** Returns null when the file of a long body cannot be written: the request is a success anyway. */
  async #sealBody(packed: Buffer): Promise<Buffer | null> {
    const { name, sealer, files, onError } = this.#options;
    const sealed = sealer.sealPacked(packed, `${name.keyId} ${name.keyDigest}`);
    if (packed.length <= this.bodyBytesMax) return sealed;
    try {
      return referenceTo(await files.put(sealed));
    } catch (error) {
      onError(error);
      return null;
    }
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
      await releaseClaim(database.transient, name, requestId);
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

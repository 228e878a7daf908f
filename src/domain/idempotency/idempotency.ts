// Idempotency-Keys: each key runs one request at a time, and only once if it succeeds. Requests of
// one process wait for each other in memory. One of them polls the database while another process
// runs the request, so any number of gateways works.
import { type StoredResponse, worthOfRow } from '../../terms/stored-response.ts';
import type { Database } from '../../db/database.ts';
import type { CancelTimer, Clock } from '../../lib/clock.ts';
import { createSealer, type Sealer } from '../../lib/sealed-bytes.ts';
import type { Secrets } from '../../lib/secrets.ts';
import { SharedRun } from '../../lib/shared-run.ts';
import { type AnswerFiles, readReference } from './answer-files.ts';
import { Claim } from './claim.ts';
import { type ClaimRow, findChargedModel, findClaim, removeEnded, takeClaim } from './claims.ts';
import { findPurgedKeys } from './purge.ts';
import { type RecentAnswer, RecentAnswers } from './recent-answers.ts';
import type { RequestName } from './request-name.ts';

type BeginOutcome =
  /** The caller runs the request, and must end the claim in every case. */
  | { readonly kind: 'claimed'; readonly claim: Claim }
  | { readonly kind: 'stored'; readonly response: StoredResponse }
  /** The key was used with another request. */
  | { readonly kind: 'conflict' }
  /** The signal aborted first. */
  | { readonly kind: 'abandoned' };

type IdempotencyOptions = {
  readonly database: Database;
  readonly secrets: Secrets;
  /** This process's owner id in the ledger's leases. */
  readonly owner: string;
  /** Bodies that are longer when packed are stored in files; 0: none is stored. */
  readonly bodyBytesMax: number;
  readonly files: AnswerFiles;
  readonly onError: (error: unknown) => void;
  readonly clock: Clock;
};

const pollMsMin = 100;
const pollMsMax = 250;
const removeEveryMs = 60_000;
const removeMax = 200;

export class Idempotency {
  readonly #options: IdempotencyOptions;
  readonly #sealer: Sealer;
  readonly #recent = new RecentAnswers(() => this.#nowMs());
  readonly #runs = new Map<string, KeyRun>();
  readonly #stopRemoving: CancelTimer;

  constructor(options: IdempotencyOptions) {
    this.#options = options;
    this.#sealer = createSealer(options.secrets, 'idempotent responses');
    this.#stopRemoving = options.clock.every(
      removeEveryMs,
      () => void this.removeEnded().catch(options.onError),
    );
  }

  /** Looks in memory only. */
  recall(name: RequestName): RecentAnswer | undefined {
    return this.#recent.get(name);
  }

  /**
   * Returns the model that the earlier request with this key was charged for, if it has ended; null
   * when the key is free.
   */
  async find(name: RequestName): Promise<{ readonly modelId: string | undefined } | null> {
    const { database } = this.#options;
    const row = await findClaim(database.read, name, this.#nowMs());
    return row && { modelId: await findChargedModel(database, row) };
  }

  /** Resolves when the request may run or its answer is available. The signal ends the wait. */
  async begin(
    name: RequestName,
    { requestId, signal }: { readonly requestId: string; readonly signal: AbortSignal },
  ): Promise<BeginOutcome> {
    const id = `${name.keyId} ${name.keyDigest}`;
    while (!signal.aborted) {
      const run = this.#runs.get(id);
      if (!run) return this.#startRun(id, name, { requestId, signal });
      if (run.fingerprint === name.fingerprint) {
        const response = await run.wait(signal);
        if (response) return { kind: 'stored', response };
      } else if (run.isConfirmed) {
        return { kind: 'conflict' };
      } else {
        await this.#options.clock.sleep(pollMsMin, signal);
      }
    }
    return { kind: 'abandoned' };
  }

  /** Removes expired and orphaned rows in small steps, and outdated answers from memory. */
  async removeEnded(): Promise<void> {
    const { memory } = this.#recent;
    memory.removeExpired();
    for (const keyId of await findPurgedKeys(this.#options.database.read, memory.generations()))
      memory.forget(keyId);
    while (
      (await removeEnded(this.#options.database, { nowMs: this.#nowMs(), max: removeMax })) ===
      removeMax
    );
  }

  close(): void {
    this.#stopRemoving();
  }

  /**
   * Registers the run before the first await, so that only one of several concurrent requests
   * queries the database.
   */
  async #startRun(id: string, name: RequestName, caller: Caller): Promise<BeginOutcome> {
    const run = new KeyRun(name.fingerprint);
    this.#runs.set(id, run);
    const end = (response: StoredResponse | null) => {
      if (this.#runs.get(id) === run) this.#runs.delete(id);
      run.end(response);
    };
    let outcome: BeginOutcome | null = null;
    try {
      outcome = await this.#claimOrWait(name, { ...caller, run, end });
      return outcome;
    } finally {
      if (outcome?.kind !== 'claimed') end(outcome?.kind === 'stored' ? outcome.response : null);
    }
  }

  async #claimOrWait(
    name: RequestName,
    { requestId, signal, run, end }: Caller & StartedRun,
  ): Promise<BeginOutcome> {
    const { database } = this.#options;
    for (let pollMs = pollMsMin; !signal.aborted; pollMs = Math.min(pollMs * 1.2, pollMsMax)) {
      const row = await findClaim(database.read, name, this.#nowMs());
      if (row && row.fingerprint !== name.fingerprint) return { kind: 'conflict' };
      if (row?.state === 'stored') return { kind: 'stored', response: await this.#read(name, row) };
      if (row) {
        run.isConfirmed = true;
        await this.#options.clock.sleep(pollMs, signal);
      } else {
        const claim = new Claim({ ...this.#options, name, requestId, sealer: this.#sealer, end });
        if (await this.#take(name, requestId, claim)) {
          run.isConfirmed = true;
          return { kind: 'claimed', claim };
        }
      }
    }
    return { kind: 'abandoned' };
  }

  /**
   * When the response to the claim is lost, this process may hold the key without knowing it, so
   * the key is freed.
   */
  async #take(name: RequestName, requestId: string, claim: Claim): Promise<boolean> {
    const { database, owner } = this.#options;
    try {
      return await takeClaim(database.transient, name, { requestId, owner, nowMs: this.#nowMs() });
    } catch (error) {
      void claim.end();
      throw error;
    }
  }

  async #read(name: RequestName, row: ClaimRow): Promise<StoredResponse> {
    const head = {
      status: row.status ?? 200,
      contentType: row.content_type ?? '',
      headers: JSON.parse(row.headers ?? '{}') as Record<string, string>,
      ...worthOfRow(row),
    };
    if (row.body === null) return { ...head, body: null };
    const body = await this.#open(row.body, row);
    if (body === null) return { ...head, body };
    const response = { ...head, body };
    this.#recent.set(name, response, (row.expires_at_ms ?? 0) - this.#nowMs());
    return response;
  }

  /**
   * Returns null when the body was changed, its file is gone or its secret is no longer accepted. The
   * request was charged and does not run again.
   */
  async #open(
    stored: Uint8Array,
    { key_id: keyId, key_digest: keyDigest }: ClaimRow,
  ): Promise<Buffer | null> {
    const fileId = readReference(stored);
    try {
      const sealed = fileId === null ? stored : await this.#options.files.get(fileId);
      return sealed && (await this.#sealer.open(sealed, `${keyId} ${keyDigest}`));
    } catch (error) {
      this.#options.onError(error);
      return null;
    }
  }

  #nowMs(): number {
    return this.#options.clock.nowMs();
  }
}

/** The run of a key, with the fingerprint that it runs under. */
class KeyRun extends SharedRun<StoredResponse> {
  readonly fingerprint: string;
  /**
   * True when the database has confirmed this fingerprint for the key: any other fingerprint is a
   * conflict.
   */
  isConfirmed = false;

  constructor(fingerprint: string) {
    super();
    this.fingerprint = fingerprint;
  }
}

type Caller = { readonly requestId: string; readonly signal: AbortSignal };
type StartedRun = { readonly run: KeyRun; readonly end: (response: StoredResponse | null) => void };

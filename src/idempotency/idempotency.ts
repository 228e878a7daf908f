// Each Idempotency-Key runs once at a time, and once in all if it succeeds. Requests of one process wait for each other in memory; one of
// them asks the database, again and again while another process runs, which works with any number of replicas.
import { type StoredResponse, worthOfRow } from '../canonical/stored-response.ts';
import type { Database } from '../db/database.ts';
import type { CancelTimer, Clock } from '../lib/clock.ts';
import { createSealer, type Sealer } from '../lib/sealed-text.ts';
import type { Secrets } from '../lib/secrets.ts';
import { Turn } from '../lib/turn.ts';
import { Claim } from './claim.ts';
import { type ClaimRow, findClaim, removeEnded, takeClaim } from './claims.ts';
import { findPurgedKeys } from './purge.ts';
import { type Known, RecentAnswers } from './recent-answers.ts';
import type { RequestName } from './request-name.ts';

export type Begun =
  /** The request is the caller's to run. It must end the claim, whatever happens. */
  | { readonly kind: 'claimed'; readonly claim: Claim }
  | { readonly kind: 'stored'; readonly response: StoredResponse }
  /** The key was used with another request. */
  | { readonly kind: 'conflict' }
  /** The signal came first. */
  | { readonly kind: 'abandoned' };

export type IdempotencyOptions = {
  readonly database: Database;
  /** The installation's. */
  readonly secrets: Secrets;
  /** This process, in the ledger's leases. */
  readonly owner: string;
  /** Of a body that is kept; of a longer one only the outcome is. */
  readonly bodyBytesMax: number;
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
  readonly #turns = new Map<string, KeyTurn>();
  readonly #stopRemoving: CancelTimer;

  constructor(options: IdempotencyOptions) {
    this.#options = options;
    this.#sealer = createSealer(options.secrets, 'idempotent responses');
    this.#stopRemoving = options.clock.every(removeEveryMs, () => void this.removeEnded().catch(options.onError));
  }

  /** What memory knows of a key. */
  recall(name: RequestName): Known | undefined {
    return this.#recent.get(name);
  }

  /** Resolves when the request may run, or when there is its answer. The signal ends the wait. */
  async begin(
    name: RequestName,
    { requestId, signal }: { readonly requestId: string; readonly signal: AbortSignal },
  ): Promise<Begun> {
    const id = `${name.keyId} ${name.keyDigest}`;
    while (!signal.aborted) {
      const turn = this.#turns.get(id);
      if (!turn) return this.#takeTurn(id, name, { requestId, signal });
      if (turn.fingerprint === name.fingerprint) {
        const response = await turn.wait(signal);
        if (response) return { kind: 'stored', response };
      } else if (turn.isConfirmed) {
        return { kind: 'conflict' };
      } else {
        await this.#options.clock.sleep(pollMsMin, signal);
      }
    }
    return { kind: 'abandoned' };
  }

  /** Removes rows that are of no use any more, in small steps, and what memory should not hold any longer. */
  async removeEnded(): Promise<void> {
    const { memory } = this.#recent;
    memory.removeExpired();
    for (const keyId of await findPurgedKeys(this.#options.database, memory.generations())) memory.forget(keyId);
    while ((await removeEnded(this.#options.database, { nowMs: this.#nowMs(), max: removeMax })) === removeMax);
  }

  close(): void {
    this.#stopRemoving();
  }

  /** The turn is taken before anything is waited for, so that of requests that come together one asks the database. */
  async #takeTurn(id: string, name: RequestName, asker: Asker): Promise<Begun> {
    const turn = new KeyTurn(name.fingerprint);
    this.#turns.set(id, turn);
    const end = (response: StoredResponse | null) => {
      if (this.#turns.get(id) === turn) this.#turns.delete(id);
      turn.end(response);
    };
    let begun: Begun | null = null;
    try {
      begun = await this.#ask(name, { ...asker, turn, end });
      return begun;
    } finally {
      if (begun?.kind !== 'claimed') end(begun?.kind === 'stored' ? begun.response : null);
    }
  }

  async #ask(name: RequestName, { requestId, signal, turn, end }: Asker & Taken): Promise<Begun> {
    const { database } = this.#options;
    for (let pollMs = pollMsMin; !signal.aborted; pollMs = Math.min(pollMs * 1.2, pollMsMax)) {
      const row = await findClaim(database, name, this.#nowMs());
      if (row && row.fingerprint !== name.fingerprint) return { kind: 'conflict' };
      if (row?.state === 'stored') return { kind: 'stored', response: await this.#read(name, row) };
      if (row) {
        turn.isConfirmed = true;
        await this.#options.clock.sleep(pollMs, signal);
      } else {
        const claim = new Claim({ ...this.#options, name, requestId, sealer: this.#sealer, end });
        if (await this.#take(name, requestId, claim)) {
          turn.isConfirmed = true;
          return { kind: 'claimed', claim };
        }
      }
    }
    return { kind: 'abandoned' };
  }

  /** When the answer to the claim was lost, the key may be ours without our knowing: it is freed. */
  async #take(name: RequestName, requestId: string, claim: Claim): Promise<boolean> {
    const { database, owner } = this.#options;
    try {
      return await takeClaim(database, name, { requestId, owner, nowMs: this.#nowMs() });
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

  /** null: it was changed, or its secret has ended. The request was charged all the same, and does not run again. */
  async #open(sealed: Uint8Array, { key_id: keyId, key_digest: keyDigest }: ClaimRow): Promise<string | null> {
    try {
      return await this.#sealer.open(sealed, `${keyId} ${keyDigest}`);
    } catch (error) {
      this.#options.onError(error);
      return null;
    }
  }

  #nowMs(): number {
    return this.#options.clock.nowMs();
  }
}

/** A key's run as the requests of this process wait for it. */
class KeyTurn extends Turn<StoredResponse> {
  readonly fingerprint: string;
  /** Whether the key is in use for this fingerprint, by us or another process: then any other is a conflict. */
  isConfirmed = false;

  constructor(fingerprint: string) {
    super();
    this.fingerprint = fingerprint;
  }
}

type Asker = { readonly requestId: string; readonly signal: AbortSignal };
type Taken = { readonly turn: KeyTurn; readonly end: (response: StoredResponse | null) => void };

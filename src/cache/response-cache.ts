// Answers to requests that are identical, for each account: the hot ones in memory, all of them in the database for seven
// days, or as long as they are of use.
// Requests that come together share one run. What the cache cannot read or do is a miss, never a failed request.
import { type WholeResponse, worthOfRow } from '../canonical/stored-response.ts';
import type { Database } from '../db/database.ts';
import type { CancelTimer, Clock } from '../lib/clock.ts';
import { placeIn, rememberPlaces, ScopedMemory } from '../lib/scoped-memory.ts';
import { createSealer, type Sealer } from '../lib/sealed-text.ts';
import type { Secrets } from '../lib/secrets.ts';
import { Turn } from '../lib/turn.ts';
import { type CachedRequest, type CacheName, nameCached, nameKeyFrom } from './cache-name.ts';
import { CacheRun, keptForMsOf, placeOf } from './cache-run.ts';
import { type CachedRow, findCached } from './cached-rows.ts';
import { Upkeep } from './upkeep.ts';

/** Made once for each answer in memory, so that a hit costs one look-up. */
export type CacheHit = { readonly kind: 'hit'; readonly response: WholeResponse };

export type CacheBegun =
  | CacheHit
  /** The request is the caller's to run. It must end the run, whatever happens. */
  | { readonly kind: 'run'; readonly run: CacheRun }
  /** The signal came first. */
  | { readonly kind: 'abandoned' };

export type ResponseCacheOptions = {
  readonly database: Database;
  /** The installation's. The current one alone: after a rotation, names are others, and nothing of before is found. */
  readonly secrets: Secrets;
  /** The budget of this process's memory. */
  readonly memoryBytes: number;
  /** The budget of the table. */
  readonly diskBytes: number;
  /** Of a body that is cached. */
  readonly bodyBytesMax: number;
  readonly onError: (error: unknown) => void;
  readonly clock: Clock;
};

const upkeepEveryMs = 60_000;

export class ResponseCache {
  readonly #options: ResponseCacheOptions;
  readonly #nameKey: string;
  readonly #sealer: Sealer;
  readonly #hot: ScopedMemory<CacheHit>;
  readonly #turns = new Map<string, Turn<WholeResponse>>();
  readonly #upkeep: Upkeep;
  readonly #stopUpkeep: CancelTimer;
  #removing: Promise<void> | null = null;

  constructor(options: ResponseCacheOptions) {
    const { database, secrets, memoryBytes, diskBytes, onError } = options;
    this.#options = options;
    this.#nameKey = nameKeyFrom(secrets[0]);
    this.#sealer = createSealer([secrets[0]], 'cached responses');
    this.#hot = new ScopedMemory({ bytesMax: memoryBytes, nowMs: () => this.#nowMs() });
    this.#upkeep = new Upkeep({ database, diskBytes, hot: this.#hot });
    this.#stopUpkeep = options.clock.every(upkeepEveryMs, () => void this.removeEnded().catch(onError));
  }

  nameOf(request: CachedRequest): CacheName {
    return nameCached(this.#nameKey, request);
  }

  /** A hit in memory. */
  recall(name: CacheName): CacheHit | undefined {
    return this.#hot.get(inMemory(name));
  }

  /** What to do about a request that memory has no answer to. The signal ends a wait. */
  async begin(name: CacheName, { signal }: { readonly signal: AbortSignal }): Promise<CacheBegun> {
    return this.recall(name) ?? this.#beginCold(name, signal);
  }

  /** Drops an account's answers from memory. */
  forget(accountId: string): void {
    this.#hot.forget(accountId);
  }

  /** Removes what is of no use any more, or too much, in small steps. */
  async removeEnded(): Promise<void> {
    // One that takes longer than a minute is not joined by a second.
    this.#removing ??= this.#upkeep.run(this.#nowMs()).finally(() => {
      this.#removing = null;
    });
    await this.#removing;
  }

  close(): void {
    this.#stopUpkeep();
  }

  async #beginCold(name: CacheName, signal: AbortSignal): Promise<CacheBegun> {
    while (!signal.aborted) {
      const turn = this.#turns.get(placeOf(name));
      if (!turn) return this.#takeTurn(name, signal);
      const response = await turn.wait(signal);
      if (response) return { kind: 'hit', response };
    }
    return { kind: 'abandoned' };
  }

  /** The turn is taken before anything is waited for, so that of requests that come together one asks the database. */
  async #takeTurn(name: CacheName, signal: AbortSignal): Promise<CacheBegun> {
    const turn = new Turn<WholeResponse>();
    const id = placeOf(name);
    this.#turns.set(id, turn);
    const end = (response: WholeResponse | null) => {
      if (this.#turns.get(id) === turn) this.#turns.delete(id);
      turn.end(response);
    };
    const response = await this.#find(name);
    if (response || signal.aborted) {
      end(response);
      return response ? { kind: 'hit', response } : { kind: 'abandoned' };
    }
    const share = (stored: WholeResponse | null) => {
      if (stored) this.#remember(name, stored, keptForMsOf(stored));
      end(stored);
    };
    const { bodyBytesMax } = this.#options;
    return { kind: 'run', run: new CacheRun({ name, turn, sealer: this.#sealer, bodyBytesMax, end: share }) };
  }

  /** In the database. A row that cannot be read, whatever is wrong with it, is as good as none: the next answer takes its place. */
  async #find(name: CacheName): Promise<WholeResponse | null> {
    try {
      const row = await findCached(this.#options.database, name, this.#nowMs());
      if (!row) return null;
      const response = await this.#read(name, row);
      this.#remember(name, response, row.expires_at_ms - this.#nowMs());
      return response;
    } catch (error) {
      this.#options.onError(error);
      return null;
    }
  }

  async #read(name: CacheName, row: CachedRow): Promise<WholeResponse> {
    return {
      status: 200,
      contentType: row.content_type,
      headers: JSON.parse(row.headers) as Record<string, string>,
      body: await this.#sealer.open(row.body, placeOf(name)),
      ...worthOfRow(row),
    };
  }

  #remember(name: CacheName, response: WholeResponse, forMs: number): void {
    this.#hot.set(inMemory(name), { kind: 'hit', response }, { bytes: Buffer.byteLength(response.body), keptForMs: forMs });
  }

  #nowMs(): number {
    return this.#options.clock.nowMs();
  }
}

const inMemory = rememberPlaces(({ accountId, generation, digest }: CacheName) => placeIn(accountId, generation, digest));

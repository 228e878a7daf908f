// Keeps the bodies of requests and answers, for keys that ask for it. They are noted while a request
// runs, and stored in batches after its answer: neither the answer nor its charge waits for this.
// Memory is bounded: without room a request's bodies are dropped, and counted. A killed process
// loses the last seconds. Rows that cannot be written are retried.
import type { Insertable } from 'kysely';
import type { Config } from '../../config/schema.ts';
import type { Database } from '../../db/database.ts';
import type { Tables } from '../../db/schema.ts';
import type { CancelTimer, Clock } from '../../lib/clock.ts';
import { firstWithin } from '../../lib/first-within.ts';
import { oneAtATime } from '../../lib/one-at-a-time.ts';
import { Room } from '../../lib/room.ts';
import { createSealer, type Sealer } from '../../lib/sealed-bytes.ts';
import type { Secrets } from '../../lib/secrets.ts';
import { dayMs } from '../../lib/utc-time.ts';
import type { CutBody } from './cut-body.ts';
import { type Exchange, KeptExchange } from './kept-exchange.ts';
import { bodyUpkeep } from './upkeep.ts';

/** The key of a request. */
type Keeping = {
  readonly id: string;
  readonly accountId: string;
  readonly bodyDays: number | null;
  readonly retainResponses: boolean;
  readonly cacheGeneration: number;
};

type KeptBodiesOptions = {
  readonly database: Database;
  readonly secrets: Secrets;
  readonly config: Pick<Config, 'bodies' | 'tuning'>;
  /** The first thread of the process removes what is outdated. */
  readonly threads: { readonly count: number; readonly isFirst: boolean };
  readonly onError: (error: unknown) => void;
  readonly clock: Clock;
};

/** Memory limit of a process, for bodies that arrive or wait to be stored. */
const memoryBytes = 32 * 1024 * 1024;
const flushEveryMs = 2_000;
const removeEveryMs = 60_000;
/** One statement writes at most this, so that other writers never wait long. */
const stepRows = 50;
const stepBytes = 1024 * 1024;

export class KeptBodies {
  /** Requests since the start. */
  readonly total = { kept: 0, dropped: 0 };
  readonly #options: KeptBodiesOptions;
  readonly #sealer: Sealer;
  readonly #room: Room;
  readonly #timers: readonly CancelTimer[];
  #waiting: { readonly exchange: Exchange; readonly endedAtMs: number }[] = [];

  constructor(options: KeptBodiesOptions) {
    this.#options = options;
    this.#sealer = bodySealer(options.secrets);
    const { database, config, threads, clock, onError } = options;
    const { days_max: daysMax, disk_bytes: diskBytes } = config.bodies;
    const { keptBodyBytes } = config.tuning;
    this.#room = new Room(Math.max(memoryBytes / threads.count, 4 * keptBodyBytes));
    const upkeep = bodyUpkeep({ database, daysMax, diskBytes });
    this.#timers = [
      clock.every(flushEveryMs, () => void this.flush().catch(onError)),
      ...(threads.isFirst
        ? [clock.every(removeEveryMs, () => void upkeep(clock.nowMs()).catch(onError))]
        : []),
    ];
  }

  /** Returns null when the bodies of this request are not kept. */
  begin(key: Keeping, requestId: string): KeptExchange | null {
    const { bodies, tuning } = this.#options.config;
    const { enabled, days_max: daysMax } = bodies;
    if (key.bodyDays === null || !key.retainResponses || !enabled) return null;
    const { id: keyId, accountId, cacheGeneration: generation } = key;
    const days = Math.min(key.bodyDays, daysMax);
    return new KeptExchange(
      { accountId, keyId, requestId, generation, days },
      {
        bodyBytesMax: tuning.keptBodyBytes,
        grow: (bytes) => this.#room.take(bytes),
        give: (bytes) => this.#room.give(bytes),
        keep: (exchange) => {
          this.#waiting.push({ exchange, endedAtMs: this.#options.clock.nowMs() });
        },
        drop: () => {
          this.total.dropped += 1;
        },
      },
    );
  }

  /** Writes what waits. Throws when some could not be written; that is kept. */
  readonly flush = oneAtATime(() => this.#write());

  /** Stops the timers and writes once more. */
  async close(): Promise<void> {
    for (const cancel of this.#timers) cancel();
    await this.flush().catch(this.#options.onError);
  }

  async #write(): Promise<void> {
    while (this.#waiting.length > 0) {
      const step = firstWithin(this.#waiting.slice(0, stepRows), stepBytes, ({ exchange }) =>
        heldBytes(exchange),
      );
      const rows = await Promise.all(
        step.map(({ exchange, endedAtMs }) => this.#seal(exchange, endedAtMs)),
      );
      await this.#options.database.transient
        .insertInto('kept_bodies')
        .values(rows)
        .onConflict((conflict) => conflict.doNothing())
        .execute();
      this.#waiting = this.#waiting.slice(step.length);
      for (const { exchange } of step) this.#room.give(heldBytes(exchange));
      this.total.kept += step.length;
    }
  }

  async #seal(exchange: Exchange, endedAtMs: number): Promise<Insertable<Tables['kept_bodies']>> {
    const { accountId, requestId, days } = exchange;
    const seal = async (body: CutBody | null, part: 'request' | 'answer') =>
      body && this.#sealer.seal(body.take(), sealContext({ accountId, requestId }, part));
    const [request, answer] = [
      await seal(exchange.request, 'request'),
      await seal(exchange.answer, 'answer'),
    ];
    return {
      account_id: accountId,
      request_id: requestId,
      key_id: exchange.keyId,
      generation: exchange.generation,
      created_at_ms: endedAtMs,
      expires_at_ms: endedAtMs + days * dayMs,
      size_bytes: (request?.length ?? 0) + (answer?.length ?? 0) + rowBytes,
      streamed: exchange.isStreamed ? 1 : 0,
      request_bytes: exchange.request?.bytes ?? null,
      answer_bytes: exchange.answer?.bytes ?? null,
      request,
      answer,
    };
  }
}

/** Estimated size of a row and its index entries, without the bodies. */
const rowBytes = 400;

function heldBytes({ request, answer }: Exchange): number {
  return (request?.heldBytes ?? 0) + (answer?.heldBytes ?? 0);
}

export function bodySealer(secrets: Secrets): Sealer {
  return createSealer(secrets, 'kept bodies');
}

/** A body opens only in its own row, and only as what it is. */
export function sealContext(
  { accountId, requestId }: { readonly accountId: string; readonly requestId: string },
  part: 'request' | 'answer',
): string {
  return `${accountId} ${requestId} ${part}`;
}

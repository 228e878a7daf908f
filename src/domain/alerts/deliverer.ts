// Sends what waits in the outbox, in one thread of each process. A gateway takes a delivery by moving
// its next attempt to the end of a lease. So one gateway tries at a time, and what a killed one had
// taken is tried again by any other: as often as it must be, always under the event's id. An endpoint
// gets one event at a time, so that a slow one holds up nobody else.
import type { Database } from '../../db/database.ts';
import type { CancelTimer, Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/log.ts';
import type { Secrets } from '../../lib/secrets.ts';
import type { AlertType } from '../../terms/alert-events.ts';
import type { Channels, Sent, StoredEvent } from './channels.ts';
import { readTarget } from './endpoints.ts';

type DelivererOptions = {
  readonly database: Database;
  readonly secrets: Secrets;
  readonly channels: Channels;
  readonly log: Logger;
  readonly clock: Clock;
};

const lookEveryMs = 1_000;
/** Longer than an attempt. */
const leaseMs = 60_000;
const sendingMax = 32;

const [second, minute, hour] = [1_000, 60_000, 3_600_000];
/** Waits after the first failed attempt, the second, …; after the last, an event is given up. */
const waitsMs = [
  5 * second,
  5 * minute,
  30 * minute,
  ...[2, 5, 10, 14, 20, 24].map((hours) => hours * hour),
];
/** What is due later was written before the clock was set back. */
const longestWaitMs = 2 * 24 * hour;

type Taken = {
  readonly id: string;
  readonly endpointId: string;
  readonly attempts: number;
  readonly leaseUntilMs: number;
  readonly event: StoredEvent;
};

export class Deliverer {
  readonly #options: DelivererOptions;
  readonly #stop = new AbortController();
  /** By endpoint. */
  readonly #sending = new Map<string, Promise<void>>();
  #filling: Promise<void> | null = null;
  #isAskedAgain = false;
  #stopTimer: CancelTimer | null = null;

  constructor(options: DelivererOptions) {
    this.#options = options;
  }

  start(): void {
    this.#stopTimer = this.#options.clock.every(lookEveryMs, () => this.wake());
    this.wake();
  }

  /** Looks for what is due now. Does nothing in a thread that does not deliver. */
  wake(): void {
    if (!this.#stopTimer || this.#stop.signal.aborted) return;
    this.#isAskedAgain = true;
    this.#filling ??= this.#fill().finally(() => (this.#filling = null));
  }

  /** Ends attempts under way; another start or gateway makes them again. */
  async close(): Promise<void> {
    this.#stopTimer?.();
    this.#stop.abort();
    await this.#filling;
    await Promise.all(this.#sending.values());
  }

  async #fill(): Promise<void> {
    const { log } = this.#options;
    try {
      while (this.#isAskedAgain && !this.#stop.signal.aborted) {
        this.#isAskedAgain = false;
        for (const taken of await this.#takeDue()) this.#begin(taken);
      }
    } catch (err) {
      log.error({ err }, 'events cannot be delivered; retrying');
    }
  }

  #begin(taken: Taken): void {
    const sending = this.#deliver(taken)
      .catch((err: unknown) =>
        this.#options.log.error({ err, event: taken.event.id }, 'an event cannot be delivered'),
      )
      .finally(() => {
        this.#sending.delete(taken.endpointId);
        this.wake();
      });
    this.#sending.set(taken.endpointId, sending);
  }

  /** Takes the first due delivery of each endpoint that gets none now. */
  async #takeDue(): Promise<Taken[]> {
    const { database, clock } = this.#options;
    const nowMs = clock.nowMs();
    const free = sendingMax - this.#sending.size;
    if (free <= 0) return [];
    const busy = [...this.#sending.keys()];
    const due = await database.read
      .selectFrom('event_deliveries')
      .innerJoin('alert_endpoints', 'alert_endpoints.id', 'endpoint_id')
      .select(({ fn }) => ['endpoint_id', fn.min<number>('next_at_ms').as('next_at_ms')])
      .where('next_at_ms', 'is not', null)
      .where((eb) =>
        eb.or([eb('next_at_ms', '<=', nowMs), eb('next_at_ms', '>', nowMs + longestWaitMs)]),
      )
      .where('disabled_at_ms', 'is', null)
      .$if(busy.length > 0, (query) => query.where('endpoint_id', 'not in', busy))
      .groupBy('endpoint_id')
      .orderBy('next_at_ms')
      .limit(free)
      .execute();
    const taken: Taken[] = [];
    for (const { endpoint_id: endpointId, next_at_ms: nextAtMs } of due) {
      const one = await this.#take(endpointId, { nextAtMs, nowMs });
      if (one) taken.push(one);
    }
    return taken;
  }

  /** Returns null when another gateway was faster. */
  async #take(
    endpointId: string,
    { nextAtMs, nowMs }: { readonly nextAtMs: number; readonly nowMs: number },
  ): Promise<Taken | null> {
    const { read, write } = this.#options.database;
    const row = await read
      .selectFrom('event_deliveries')
      .innerJoin('events', 'events.id', 'event_id')
      .select(['event_deliveries.id', 'event_id', 'attempts', 'type', 'data'])
      .select('events.created_at_ms')
      .where('endpoint_id', '=', endpointId)
      .where('next_at_ms', '=', nextAtMs)
      .orderBy('event_deliveries.id')
      .limit(1)
      .executeTakeFirst();
    if (!row) return null;
    const leaseUntilMs = nowMs + leaseMs;
    const { numUpdatedRows } = await write
      .updateTable('event_deliveries')
      .set({ next_at_ms: leaseUntilMs, tried_at_ms: nowMs })
      .where('id', '=', row.id)
      .where('next_at_ms', '=', nextAtMs)
      .executeTakeFirst();
    if (numUpdatedRows === 0n) return null;
    const { id, event_id, attempts, type, data, created_at_ms: createdAtMs } = row;
    const event = { id: event_id, type: type as AlertType, data, createdAtMs };
    return { id, endpointId, attempts, leaseUntilMs, event };
  }

  async #deliver(taken: Taken): Promise<void> {
    const sent = await this.#send(taken);
    // Nobody knows what became of it. Its lease ends.
    if (this.#stop.signal.aborted && sent?.kind === 'failed') return;
    if (sent) await this.#note(taken, sent);
  }

  async #send({ endpointId, event }: Taken): Promise<Sent | null> {
    const { database, secrets, channels, clock } = this.#options;
    const row = await database.read
      .selectFrom('alert_endpoints')
      .selectAll()
      .where('id', '=', endpointId)
      .executeTakeFirst();
    if (!row) return null;
    const target = await readTarget(secrets, row, clock.nowMs()).catch(() => null);
    if (!target) return { kind: 'failed', problem: 'its address cannot be decrypted', waitMs: 0 };
    return channels.send(target, event, this.#stop.signal);
  }

  /** A delivery that was asked for again meanwhile stays due. */
  async #note({ id, endpointId, attempts, leaseUntilMs, event }: Taken, sent: Sent): Promise<void> {
    const { database, clock, log } = this.#options;
    const nowMs = clock.nowMs();
    const made = attempts + 1;
    const waitMs = waitsMs[attempts];
    const nextAtMs =
      sent.kind === 'failed' && waitMs !== undefined
        ? nowMs + Math.max(withJitter(waitMs), sent.waitMs)
        : null;
    const columns =
      sent.kind === 'sent' ? { delivered_at_ms: nowMs, problem: null } : { problem: sent.problem };
    await database.write
      .updateTable('event_deliveries')
      .set({ ...columns, attempts: made, next_at_ms: nextAtMs })
      .where('id', '=', id)
      .where('next_at_ms', '=', leaseUntilMs)
      .execute();
    if (sent.kind === 'sent') return;
    const fields = { event: event.id, endpoint: endpointId, problem: sent.problem, attempts: made };
    log.warn(fields, 'an event was not taken by its endpoint');
    if (sent.kind === 'gone') await this.#disable(endpointId, 'It answered with status 410.');
    else if (nextAtMs === null) await this.#disableIfDead(endpointId, event);
  }

  /** An endpoint that took nothing for as long as one event was tried gets no more. */
  async #disableIfDead(endpointId: string, { createdAtMs }: StoredEvent): Promise<void> {
    const taken = await this.#options.database.read
      .selectFrom('event_deliveries')
      .select('id')
      .where('endpoint_id', '=', endpointId)
      .where('delivered_at_ms', '>=', createdAtMs)
      .limit(1)
      .executeTakeFirst();
    if (!taken) await this.#disable(endpointId, 'It took no event for more than three days.');
  }

  async #disable(endpointId: string, reason: string): Promise<void> {
    const { database, clock } = this.#options;
    await database.write
      .updateTable('alert_endpoints')
      .set({ disabled_at_ms: clock.nowMs(), disabled_reason: reason })
      .where('id', '=', endpointId)
      .where('disabled_at_ms', 'is', null)
      .execute();
  }
}

/** Up to a tenth more, so that what failed together is not tried together again. */
function withJitter(waitMs: number): number {
  return Math.round(waitMs * (1 + Math.random() / 10));
}

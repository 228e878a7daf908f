// Sends what waits in the outbox, in one thread of each process. A gateway takes a delivery by moving
// its next attempt to the end of a lease. So one gateway tries at a time, and what a killed one had
// taken is tried again by any other: as often as it must be, always under the event's id. An endpoint
// gets one event at a time, and owners have their turns, so that slow endpoints hold up nobody else.
import { sql } from 'kysely';
import type { Database } from '../../db/database.ts';
import type { CancelTimer, Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/log.ts';
import type { Secrets } from '../../lib/secrets.ts';
import type { AlertType } from '../../terms/alert-events.ts';
import type { Channels, Sent, StoredEvent } from './channels.ts';
import { type EndpointRow, type Owner, readTarget } from './endpoints.ts';

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
/** To endpoints of accounts. Those of operators, which are few, never wait. */
const sendingMax = 32;
const logEveryMs = 60_000;
const endpointsMax = 1_000;

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

/** `leaseUntilMs`: its next attempt, if this one is not noted. */
type Taken = {
  readonly id: string;
  readonly attempts: number;
  readonly leaseUntilMs: number;
  readonly endpoint: EndpointRow;
  readonly event: StoredEvent;
};

export class Deliverer {
  readonly #options: DelivererOptions;
  readonly #stop = new AbortController();
  /** By endpoint. */
  readonly #sending = new Map<string, { readonly owner: Owner; readonly ended: Promise<void> }>();
  #filling: Promise<void> | null = null;
  #isAskedAgain = false;
  #loggedMs = -Infinity;
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
    await Promise.all(Array.from(this.#sending.values(), ({ ended }) => ended));
  }

  async #fill(): Promise<void> {
    const { log, clock } = this.#options;
    try {
      while (this.#isAskedAgain && !this.#stop.signal.aborted) {
        this.#isAskedAgain = false;
        for (const taken of await this.#takeDue()) this.#begin(taken);
      }
    } catch (err) {
      // It is tried every second while the database is away.
      if (clock.elapsedMs() - this.#loggedMs < logEveryMs) return;
      this.#loggedMs = clock.elapsedMs();
      log.error({ err }, 'events cannot be delivered; retrying');
    }
  }

  #begin(taken: Taken): void {
    const { id, account_id: owner } = taken.endpoint;
    const ended = this.#deliver(taken)
      .catch((err: unknown) =>
        this.#options.log.error({ err, event: taken.event.id }, 'an event cannot be delivered'),
      )
      .finally(() => {
        this.#sending.delete(id);
        this.wake();
      });
    this.#sending.set(id, { owner, ended });
  }

  /** Takes a due delivery of each endpoint that gets none now, as far as no other gateway has it. */
  async #takeDue(): Promise<Taken[]> {
    const { database, clock } = this.#options;
    const nowMs = clock.nowMs();
    const busy = [...this.#sending.keys()];
    const isDue = sql<boolean>`(next_at_ms <= ${nowMs} or next_at_ms > ${nowMs + longestWaitMs})`;
    const rows = await database.read
      .selectFrom('alert_endpoints as endpoint')
      .innerJoin('event_deliveries as delivery', (join) =>
        join.on('delivery.id', '=', (eb) =>
          eb
            .selectFrom('event_deliveries')
            .select('event_deliveries.id')
            .whereRef('endpoint_id', '=', 'endpoint.id')
            .where('next_at_ms', 'is not', null)
            .where(isDue)
            .orderBy('next_at_ms')
            .orderBy('event_deliveries.id')
            .limit(1),
        ),
      )
      .innerJoin('events as event', 'event.id', 'event_id')
      .selectAll('endpoint')
      .select(['delivery.id as delivery_id', 'attempts', 'next_at_ms', 'event_id', 'type', 'data'])
      .select('event.created_at_ms as happened_at_ms')
      .where('disabled_at_ms', 'is', null)
      .$if(busy.length > 0, (query) => query.where('endpoint.id', 'not in', busy))
      .orderBy(sql`endpoint.account_id is not null`)
      .orderBy('next_at_ms')
      .orderBy('delivery.id')
      .limit(endpointsMax)
      .execute();
    const taken: Taken[] = [];
    for (const row of this.#inTurn(rows)) {
      const leaseUntilMs = nowMs + leaseMs;
      const { numUpdatedRows } = await database.write
        .updateTable('event_deliveries')
        .set({ next_at_ms: leaseUntilMs, tried_at_ms: nowMs })
        .where('id', '=', row.delivery_id)
        .where('next_at_ms', '=', row.next_at_ms)
        .executeTakeFirst();
      if (numUpdatedRows === 0n) continue;
      const { delivery_id: id, event_id, attempts, type, data, happened_at_ms: createdAtMs } = row;
      const event = { id: event_id, type: type as AlertType, data, createdAtMs };
      taken.push({ id, attempts, leaseUntilMs, endpoint: row, event });
    }
    return taken;
  }

  /**
   * Returns those of operators, and then those of the accounts with the fewest attempts, as many as there is
   * room for.
   */
  #inTurn<Row extends Pick<EndpointRow, 'account_id'>>(rows: readonly Row[]): readonly Row[] {
    const attempts = new Map<string, number>();
    const turnOf = (owner: Owner) => {
      if (owner === null) return 0;
      const turn = (attempts.get(owner) ?? 0) + 1;
      attempts.set(owner, turn);
      return turn;
    };
    const running = Array.from(this.#sending.values(), ({ owner }) => turnOf(owner));
    let room = sendingMax - running.filter((turn) => turn > 0).length;
    return rows
      .map((row) => ({ row, turn: turnOf(row.account_id) }))
      .toSorted((one, other) => one.turn - other.turn)
      .filter(({ turn }) => turn === 0 || room-- > 0)
      .map(({ row }) => row);
  }

  async #deliver(taken: Taken): Promise<void> {
    const { secrets, channels } = this.#options;
    const target = await readTarget(secrets, taken.endpoint).catch(() => null);
    const sent: Sent = target
      ? await channels.send(target, taken.event, this.#stop.signal)
      : { kind: 'failed', problem: 'its address cannot be decrypted', waitMs: 0 };
    // Nobody knows what became of it. Its lease ends.
    if (this.#stop.signal.aborted && sent.kind === 'failed') return;
    await this.#note(taken, sent);
  }

  /** A delivery that was asked for again meanwhile stays due. */
  async #note({ id, endpoint, attempts, leaseUntilMs, event }: Taken, sent: Sent): Promise<void> {
    const { database, clock, log } = this.#options;
    const nowMs = clock.nowMs();
    const waitMs = sent.kind === 'failed' ? waitsMs[attempts] : undefined;
    await database.write
      .updateTable('event_deliveries')
      .set({
        attempts: attempts + 1,
        next_at_ms:
          waitMs === undefined
            ? null
            : nowMs + Math.max(withJitter(waitMs), 'waitMs' in sent ? sent.waitMs : 0),
        ...(sent.kind === 'sent'
          ? { delivered_at_ms: nowMs, problem: null }
          : { problem: sent.problem }),
      })
      .where('id', '=', id)
      .where('next_at_ms', '=', leaseUntilMs)
      .execute();
    if (sent.kind === 'sent') return;
    const fields = { event: event.id, endpoint: endpoint.id, problem: sent.problem };
    log.warn(fields, 'an event was not taken by its endpoint');
    if (sent.kind === 'failed') return;
    await database.write
      .updateTable('alert_endpoints')
      .set({ disabled_at_ms: nowMs, disabled_reason: sent.problem })
      .where('id', '=', endpoint.id)
      .execute();
  }
}

/** Up to a tenth more, so that what failed together is not tried together again. */
function withJitter(waitMs: number): number {
  return Math.round(waitMs * (1 + Math.random() / 10));
}

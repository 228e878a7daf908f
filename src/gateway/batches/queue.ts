// Runs the lines of batches, in every HTTP thread of every gateway. A line takes the path of any
// request (run.ts), under an Idempotency-Key that its batch and number make: when a gateway is killed,
// another runs its lines again, and one that was answered is not paid twice. Live requests go first: the
// more of them run, the fewer lines do.
import type { Batch, TakenLine } from '../../domain/batches/batch-store.ts';
import type { ApiKey } from '../../domain/keys/api-key.ts';
import { zeroMicros } from '../../lib/money.ts';
import { dayMs, hourMs } from '../../lib/utc-time.ts';
import type { CancelTimer } from '../../lib/clock.ts';
import type { Mode } from '../../terms/mode.ts';
import { abandon } from './make-batch.ts';
import type { BatchParts } from './parts.ts';
import { LineRuns, mayRun } from './run-line.ts';
import { SentQueue } from './sent-queue.ts';

/**
 * Lines of live keys, and of test keys, that a thread runs at once when it has no other work. An account
 * has two thirds of them at most, because a line may take long: in the sandbox ten minutes, for free.
 */
const linesMax = 24;
/** Lines of one batch that are taken together, so that batches have their turns. */
const takenMax = 8;
/** Lines that a batch ends at once without running them. */
const endedMax = 100;
const batchesMax = 20;
/** A batch all of whose lines are with providers. */
const sentPollMs = 30_000;
const removeEveryMs = 60_000;
/** After a line that a provider could not answer, the other lines of its batch wait, too. */
const othersWaitMs = 30_000;

export class BatchQueue {
  readonly #parts: BatchParts;
  readonly #lines: LineRuns;
  readonly #sent: SentQueue;
  readonly #pollMs: number;
  readonly #timers: CancelTimer[] = [];
  readonly #running = new Map<Promise<void>, Batch>();
  /** Lines that are still to be given back to the queue. */
  readonly #givenUp: TakenLine[] = [];
  #turn: Promise<void> | null = null;
  #isAwaited = false;
  #isStopped = false;

  constructor(parts: BatchParts) {
    this.#parts = parts;
    this.#pollMs = parts.gateway.config.tuning.batchPollMs;
    this.#lines = new LineRuns(parts);
    this.#sent = new SentQueue(parts, this.#lines, () => this.wake());
  }

  /** `removesExpired`: in one thread of the process. */
  start({ removesExpired }: { readonly removesExpired: boolean }): void {
    const { clock } = this.#parts.gateway;
    this.#timers.push(clock.every(this.#pollMs, () => this.wake()));
    if (removesExpired)
      this.#timers.push(clock.every(removeEveryMs, () => void this.#removeExpired()));
  }

  /** Looks for lines now. */
  wake(): void {
    this.#isAwaited = true;
    this.#turn ??= this.#takeTurns().finally(() => (this.#turn = null));
  }

  /** Lines that have not begun are not run. */
  async cancel(id: string): Promise<void> {
    await this.#parts.store.cancel(id, this.#parts.gateway.clock.nowMs());
    await this.noteCancelled(id);
  }

  async noteCancelled(id: string): Promise<void> {
    const { sent, gateway } = this.#parts;
    await sent.hurry(id, gateway.clock.nowMs());
    this.wake();
  }

  /** Takes no further lines. */
  stop(): void {
    this.#isStopped = true;
    this.#sent.stop();
    for (const cancel of this.#timers) cancel();
  }

  /** Resolves when none runs any more. */
  async close(): Promise<void> {
    this.stop();
    await this.#turn;
    await Promise.all(this.#running.keys());
    await this.#sent.close();
  }

  async #takeTurns(): Promise<void> {
    try {
      while (this.#isAwaited && !this.#isStopped) {
        this.#isAwaited = false;
        await this.#returnGivenUp();
        await this.#sent.takeTurn();
        const { store, gateway } = this.#parts;
        for (const mode of ['live', 'test'] as const) {
          const asked = { nowMs: gateway.clock.nowMs(), max: batchesMax, full: this.#full(mode) };
          for (const batch of await store.due(mode, asked)) {
            if (this.#isStopped) return;
            await this.#serve(batch);
          }
        }
      }
    } catch (error) {
      this.#report(error, 'batches cannot be read or written; retrying');
    }
  }

  async #serve(batch: Batch): Promise<void> {
    const { store, gateway, keys } = this.#parts;
    const { id, state } = batch;
    const nowMs = gateway.clock.nowMs();
    if (state === 'creating') {
      const isStuck = nowMs - batch.created_at_ms > hourMs || (await store.isAbandoned(batch));
      if (isStuck) return abandon(this.#parts, id);
      return store.postpone(id, nowMs + this.#pollMs);
    }
    const isOver = state === 'cancelling' || batch.expires_at_ms <= nowMs;
    const { all, ofAccount } = this.#room(batch.mode);
    const max = Math.min(all, ofAccount(batch.account_id), takenMax);
    if (!isOver && max <= 0) return;
    const found = await keys.findById(batch.account_id, batch.key_id);
    const key = found === 'revoked' ? null : found;
    let mayHaveMore: boolean;
    if (isOver) {
      mayHaveMore = await this.#endLines(batch, key, nowMs);
    } else {
      if (!key || !mayRun(key, nowMs)) return this.cancel(id);
      const lines = await store.take(batch, gateway.books.owner, { max, dueMs: nowMs });
      for (const line of lines) this.#start(batch, line, key);
      mayHaveMore = lines.length > 0;
    }
    if (mayHaveMore) {
      // Other batches have their turns first.
      this.#isAwaited = true;
      return store.postpone(id, nowMs);
    }
    if (await store.endIfDone(id, nowMs)) return;
    const isOurs = await store.hasOwnLines(id);
    await store.postpone(id, nowMs + (isOurs ? this.#pollMs : sentPollMs));
  }

  #start(batch: Batch, line: TakenLine, key: ApiKey): void {
    // A shutdown waits for the line, and aborts it when its time is up.
    const leave = this.#parts.gateway.runs.enter();
    const running: Promise<void> = this.#runLine(batch, line, key)
      .catch((error: unknown) => this.#giveUp(line, error))
      .finally(() => {
        leave();
        this.#running.delete(running);
        this.wake();
      });
    this.#running.set(running, batch);
  }

  /** What became of the line's hold is unknown, so it goes on as one of a process that has ended. */
  #giveUp(line: TakenLine, error: unknown): void {
    this.#report(error, 'a line of a batch failed by our own fault; retrying');
    this.#givenUp.push(line);
  }

  async #returnGivenUp(): Promise<void> {
    for (let line; (line = this.#givenUp[0]); this.#givenUp.shift()) {
      const again = { ...line, tries: line.tries - 1 };
      await this.#parts.store.putBack(
        again,
        this.#parts.gateway.clock.nowMs() + this.#pollMs,
        'gone',
      );
    }
  }

  /** One line of each mode runs however many live requests there are, unless the gateway is overloaded. */
  #room(mode: Mode) {
    const { gateway, isOverloaded } = this.#parts;
    const ofMode = (wanted: Mode) =>
      [...this.#running.values()].filter((batch) => batch.mode === wanted);
    const lines = ofMode('live').length + this.#sent.settling;
    const live = Math.max(gateway.runs.liveCount - lines, 0);
    const max = isOverloaded() ? 0 : Math.max(linesMax - live, 1);
    const running = ofMode(mode);
    return {
      all: max - running.length,
      ofAccount: (id: string) =>
        Math.ceil((max * 2) / 3) - running.filter((batch) => batch.account_id === id).length,
    };
  }

  /** Returns the accounts that have no room for another line of a mode. */
  #full(mode: Mode): readonly string[] | 'all' {
    const { all, ofAccount } = this.#room(mode);
    if (all <= 0) return 'all';
    const accounts = new Set(Array.from(this.#running.values(), (batch) => batch.account_id));
    return [...accounts].filter((id) => ofAccount(id) <= 0);
  }

  async #runLine(batch: Batch, taken: TakenLine, key: ApiKey): Promise<void> {
    const { store, gateway } = this.#parts;
    const line = taken.isTakenOver ? await this.#lines.renew(taken, key) : taken;
    const ended = await this.#lines.answer(batch, line, key);
    // The run may have ended before it came to the hold, by a refusal or from the cache.
    await this.#lines.endHold(line);
    const nowMs = gateway.clock.nowMs();
    if ('outcome' in ended) {
      await store.finish(line, ended.outcome, ended.text);
      await store.endIfDone(batch.id, nowMs);
      return;
    }
    const again = await this.#lines.renew(line, key);
    // A shutdown and an outage of our database are no tries of the provider.
    const tries = again.tries - (ended.againAfterMs === 0 ? 1 : 0);
    await store.putBack({ ...again, tries }, nowMs + ended.againAfterMs);
    // Otherwise an outage would use up the tries of all lines.
    if (ended.againAfterMs > 0) await store.postpone(batch.id, nowMs + othersWaitMs);
  }

  /** Ends lines that do not run. Returns true when there may be more of them. */
  async #endLines(batch: Batch, key: ApiKey | null, nowMs: number): Promise<boolean> {
    const { store, gateway } = this.#parts;
    const { expires_at_ms: expiresAtMs } = batch;
    const outcome = batch.state === 'cancelling' ? 'canceled' : 'expired';
    const asked = {
      max: endedMax,
      dueMs: Number.MAX_SAFE_INTEGER,
      isForced: nowMs > expiresAtMs + hourMs,
    };
    const lines = await store.take(batch, gateway.books.owner, asked);
    let endedLines = 0;
    const endOrGiveUp = (line: TakenLine) =>
      this.#lines.endUnrun({ batch, key }, line, outcome).then(
        () => (endedLines += 1),
        (error: unknown) => this.#giveUp(line, error),
      );
    // Those that could not be ended come again later.
    await Promise.all(lines.map(endOrGiveUp));
    return !asked.isForced && endedLines > 0;
  }

  async #removeExpired(): Promise<void> {
    const { store, files, gateway } = this.#parts;
    try {
      await store.removeExpired(gateway.clock.nowMs());
      await files.removeExpired(gateway.clock.nowMs());
      // No batch lives for so long, so no hold may.
      for (const holdId of await store.holdsBefore(gateway.clock.nowMs() - dayMs - 2 * hourMs))
        await gateway.books.ledger.submit({ type: 'release', holdId, lossMicros: zeroMicros });
    } catch (error) {
      this.#report(error, 'expired batches cannot be removed; retrying');
    }
  }

  #report(err: unknown, message: string): void {
    this.#parts.gateway.log.error({ err }, message);
  }
}

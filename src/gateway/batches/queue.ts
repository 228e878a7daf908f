// Runs the lines of batches, in every HTTP thread of every gateway. A line takes the path of any
// request (run.ts), under an Idempotency-Key that its batch and number make: when a gateway is killed,
// another runs its lines again, and one that was answered is not paid twice. Live requests go first: the
// more of them run, the fewer lines do.
import { ApiError } from '../../canonical/errors.ts';
import type { Batch, TakenLine } from '../../domain/batches/batch-store.ts';
import type { ApiKey } from '../../domain/keys/api-key.ts';
import { newIdWithPrefix } from '../../lib/ids.ts';
import { type JsonObject, parseJson } from '../../lib/json.ts';
import { zeroMicros } from '../../lib/money.ts';
import { dayMs, hourMs } from '../../lib/utc-time.ts';
import type { CancelTimer } from '../../lib/clock.ts';
import type { LineOutcome } from '../../terms/batch.ts';
import type { Client } from '../client.ts';
import type { Gateway } from '../gateway.ts';
import { RequestRecord } from '../request-record.ts';
import { run } from '../run.ts';
import { explainDatabaseOutage } from '../unavailable.ts';
import { erroredText, type LineContext, requestOf, succeededText, unrunText } from './line.ts';
import { abandon, reserveOf } from './make-batch.ts';
import type { BatchParts } from './parts.ts';

/** Lines that a thread runs at once when it has no other work. */
const linesMax = 16;
/** Lines of one batch that are taken together, so that batches have their turns. */
const takenMax = 8;
/** Lines that a batch ends at once without running them. */
const endedMax = 100;
const batchesMax = 20;
const pollMs = 1_000;
const removeEveryMs = 60_000;
/** A line that a provider could not answer is tried again after these times. */
const retryMs = [30_000, 300_000];
/** Then the other lines of its batch wait, too. */
const pauseMs = 30_000;

type Result = { readonly outcome: LineOutcome; readonly text: string };
type Ended = Result | { readonly againAfterMs: number };

export class BatchQueue {
  readonly #parts: BatchParts;
  readonly #timers: CancelTimer[] = [];
  readonly #running = new Set<Promise<void>>();
  /** Lines that are still to be given back to the queue. */
  readonly #givenUp: TakenLine[] = [];
  #turn: Promise<void> | null = null;
  #isAwaited = false;
  #isStopped = false;

  constructor(parts: BatchParts) {
    this.#parts = parts;
  }

  /** `removesExpired`: in one thread of the process. */
  start({ removesExpired }: { readonly removesExpired: boolean }): void {
    const { clock } = this.#parts.gateway;
    this.#timers.push(clock.every(pollMs, () => this.wake()));
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
    const { store, gateway } = this.#parts;
    await store.cancel(id, gateway.clock.nowMs());
    this.wake();
  }

  /** Takes no further lines. */
  stop(): void {
    this.#isStopped = true;
    for (const cancel of this.#timers) cancel();
  }

  /** Resolves when none runs any more. */
  async close(): Promise<void> {
    this.stop();
    await this.#turn;
    await Promise.all(this.#running);
  }

  async #takeTurns(): Promise<void> {
    try {
      while (this.#isAwaited && !this.#isStopped) {
        this.#isAwaited = false;
        await this.#returnGivenUp();
        const { store, gateway } = this.#parts;
        for (const batch of await store.due(gateway.clock.nowMs(), batchesMax)) {
          if (this.#isStopped) return;
          await this.#serve(batch);
        }
      }
    } catch (error) {
      this.#report(error, 'batches cannot be read or written; retrying');
    }
  }

  async #serve(batch: Batch): Promise<void> {
    const { store, gateway, findKey } = this.#parts;
    const { id, state } = batch;
    const nowMs = gateway.clock.nowMs();
    if (state === 'creating') {
      const isStuck = nowMs - batch.created_at_ms > hourMs || (await store.isAbandoned(batch));
      if (isStuck) return abandon(this.#parts, id);
      return store.postpone(id, nowMs + pollMs);
    }
    const isOver = state === 'cancelling' || batch.expires_at_ms <= nowMs;
    const max = Math.min(this.#room(), takenMax);
    if (!isOver && max <= 0) return;
    const found = await findKey(batch.account_id, batch.key_id);
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
    if (!(await store.endIfDone(id, nowMs))) await store.postpone(id, nowMs + pollMs);
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
    this.#running.add(running);
  }

  /** What became of the line's hold is unknown, so it goes on as one of a process that has ended. */
  #giveUp(line: TakenLine, error: unknown): void {
    this.#report(error, 'a line of a batch failed by our own fault; retrying');
    this.#givenUp.push(line);
  }

  async #returnGivenUp(): Promise<void> {
    for (let line; (line = this.#givenUp[0]); this.#givenUp.shift())
      await this.#parts.store.putBack(line, this.#parts.gateway.clock.nowMs() + pollMs, 'gone');
  }

  /** One line runs however many live requests there are, unless the gateway is overloaded. */
  #room(): number {
    const { gateway, isOverloaded } = this.#parts;
    if (isOverloaded()) return 0;
    const live = Math.max(gateway.runs.count - this.#running.size, 0);
    return Math.max(linesMax - live, 1) - this.#running.size;
  }

  async #runLine(batch: Batch, taken: TakenLine, key: ApiKey): Promise<void> {
    const { store, gateway } = this.#parts;
    const line = taken.isTakenOver ? await this.#renew(taken, key) : taken;
    const ended = await this.#answer(batch, line, key);
    // The run may have ended before it came to the hold, by a refusal or from the cache.
    await this.#wasCharged(line);
    const nowMs = gateway.clock.nowMs();
    if ('outcome' in ended) {
      await store.finish(line, ended.outcome, ended.text);
      await store.endIfDone(batch.id, nowMs);
      return;
    }
    const again = await this.#renew(line, key);
    await store.putBack(again, nowMs + ended.againAfterMs);
    // Otherwise an outage would use up the tries of all lines.
    if (ended.againAfterMs > 0) await store.postpone(batch.id, nowMs + pauseMs);
  }

  /**
   * Gives the line another hold for its next try. What the try of a killed process has likely cost is
   * the operator's loss. If it was charged, the line keeps its id, and its answer is replayed.
   */
  async #renew(line: TakenLine, key: ApiKey): Promise<TakenLine> {
    const { store, gateway } = this.#parts;
    const { ledger } = gateway.books;
    const requestId = newIdWithPrefix('req');
    if (await this.#wasCharged(line)) return { ...line, isTakenOver: false };
    await store.rename(line, requestId);
    // When it does not fit any more, the line's run is refused.
    if (line.held_micros > 0) await ledger.submit(reserveOf(key, requestId, line.held_micros));
    return { ...line, request_id: requestId, isTakenOver: false };
  }

  /** Ends the hold of a line. Returns true when it ended with a charge. */
  async #wasCharged({ request_id: holdId, likely_micros: likely, isTakenOver }: TakenLine) {
    const lossMicros = isTakenOver ? likely : zeroMicros;
    const { ledger } = this.#parts.gateway.books;
    const { type } = await ledger.submit({ type: 'release', holdId, lossMicros });
    return type === 'already-resolved';
  }

  async #answer(batch: Batch, line: TakenLine, key: ApiKey): Promise<Ended> {
    const { gateway, store, endpoints, listeners, turnsOf } = this.#parts;
    const { endpoint, form } = batch;
    const { clock, observe } = gateway;
    const { request_id: requestId, custom_id: customId } = line;
    const arrivedAtMs = clock.elapsedMs();
    const record = new RequestRecord(requestId, {
      path: endpoint,
      listeners,
      onError: (error) => this.#report(error, 'a listener of requests failed by our own fault'),
    });
    record.note({ keyId: key.id, accountId: key.accountId, mode: key.mode });
    const bodies = observe.bodies.begin(key, requestId);
    let status = 200;
    try {
      const text = await store.textOf(line);
      const bytes = Buffer.from(text);
      const nextTurn = turnsOf(bytes);
      if (nextTurn) await nextTurn();
      bodies?.noteRequest(bytes);
      const body = (parseJson(bytes) as { readonly value: JsonObject }).value;
      if (nextTurn) await nextTurn();
      const idempotencyKey = `${batch.id}/${line.line}`;
      const incoming = requestOf(JSON.parse(batch.request) as LineContext, {
        requestId,
        key,
        endpoint,
        body,
        record,
        arrivedAtMs,
        nextTurn,
        idempotencyKey,
      });
      const client = new LineClient();
      await run(
        { ...gateway, rateLimits: withoutKeyLimits(gateway.rateLimits) },
        endpoints[endpoint]!,
        incoming,
        client,
      );
      bodies?.noteAnswer(client.answer);
      return {
        outcome: 'succeeded',
        text: succeededText({ form, customId, requestId }, client.answer),
      };
    } catch (thrown) {
      const error = this.#asApiError(thrown, requestId);
      status = error.status;
      record.noteError(error);
      if (gateway.runs.isEnding || explainDatabaseOutage(thrown) !== thrown)
        return { againAfterMs: 0 };
      const againAfterMs = retryMs[line.tries - 1];
      if (key.mode === 'live' && mayPass(error) && againAfterMs !== undefined)
        return { againAfterMs };
      const place = { endpoint, publicUrl: gateway.config.server.public_url };
      const text = erroredText({ form, customId, requestId }, error, place);
      bodies?.noteAnswer(text);
      return { outcome: 'errored', text };
    } finally {
      bodies?.end({ isClientGone: false });
      const times = { startMs: arrivedAtMs, endMs: clock.elapsedMs() };
      record.tell({
        type: 'answered',
        method: 'POST',
        route: endpoint,
        status,
        isClientGone: false,
        ...times,
      });
    }
  }

  /**
   * Ends lines that do not run. One that was charged when its process was killed has its answer.
   * Returns true when there may be more of them.
   */
  async #endLines(batch: Batch, key: ApiKey | null, nowMs: number): Promise<boolean> {
    const { store, gateway } = this.#parts;
    const { form, expires_at_ms: expiresAtMs } = batch;
    const outcome = batch.state === 'cancelling' ? 'canceled' : 'expired';
    const asked = {
      max: endedMax,
      dueMs: Number.MAX_SAFE_INTEGER,
      isForced: nowMs > expiresAtMs + hourMs,
    };
    const end = async (line: TakenLine) => {
      const { request_id: requestId, custom_id: customId } = line;
      const wasCharged = await this.#wasCharged(line);
      const ended = wasCharged && key ? await this.#answer(batch, line, key) : null;
      const result: Result =
        ended && 'outcome' in ended
          ? ended
          : { outcome, text: unrunText({ form, customId, requestId }, outcome) };
      await store.finish(line, result.outcome, result.text);
    };
    const lines = await store.take(batch, gateway.books.owner, asked);
    let endedLines = 0;
    const endOrGiveUp = (line: TakenLine) =>
      end(line).then(
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

  #asApiError(thrown: unknown, requestId: string): ApiError {
    const error = explainDatabaseOutage(thrown);
    if (error instanceof ApiError) return error;
    this.#parts.gateway.log.error(
      { err: error, request_id: requestId },
      'a request failed by our own fault',
    );
    const message = 'The gateway failed. Nothing was charged.';
    return new ApiError('internal_error', message, { cause: error });
  }

  #report(err: unknown, message: string): void {
    this.#parts.gateway.log.error({ err }, message);
  }
}

function mayRun({ isDisabled, expiresAtMs }: ApiKey, nowMs: number): boolean {
  return !isDisabled && (expiresAtMs === null || nowMs < expiresAtMs);
}

/** A failure that the same request may not have later: the provider is down, slow or too busy. */
function mayPass({ code, status }: ApiError): boolean {
  return (status >= 500 && code !== 'not_supported') || code === 'rate_limit_exceeded';
}

/** Waits for as long as it takes. */
class LineClient implements Client {
  answer = '';

  isGone(): boolean {
    return false;
  }

  onGone(): void {}

  sendAnswer(body: string | Buffer): void {
    this.answer = body.toString();
  }

  startStream(): never {
    throw new Error('a line of a batch was answered with a stream');
  }
}

/** A batch counts as one request of its key; its lines are bounded by the queue. */
function withoutKeyLimits(limits: Gateway['rateLimits']): Gateway['rateLimits'] {
  return {
    takeRequest: () => ({}),
    begin: async () => ({ headers: {}, end: () => {} }),
    takeCount: (key) => limits.takeCount(key),
    takeUnpaidCount: (key) => limits.takeUnpaidCount(key),
    takeCall: (...asked) => limits.takeCall(...asked),
  };
}

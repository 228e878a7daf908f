// The lines of a batch at a provider: writes them in the host's form, and settles their results.
import { ApiError } from '../../canonical/errors.ts';
import type { LineRow } from '../../domain/batches/batch-store.ts';
import type { SentBatch } from '../../domain/batches/sent-batches.ts';
import { isDatabaseUnavailable } from '../../domain/ledger/batcher.ts';
import { parseWithArguments } from '../../lib/exact-json.ts';
import { newIdWithPrefix } from '../../lib/ids.ts';
import type { JsonObject } from '../../lib/json.ts';
import type { BatchHost, HostCalls, RemoteLine } from '../../providers/batches/host.ts';
import { readJsonLines, resultBytesMax } from '../../providers/batches/shared.ts';
import { snapshotOf } from '../gateway.ts';
import type { BatchRoute } from '../request.ts';
import { RequestRecord } from '../request-record.ts';
import type { ConnectedProvider } from '../routing/providers.ts';
import { inTurns } from './in-turns.ts';
import { estimate, type LineContext, requestOf } from './line.ts';
import type { BatchParts } from './parts.ts';
import type { EndedHold, LineOwner, LineRuns } from './run-line.ts';

/** Results that are settled at once, and the bytes of those that wait. */
const settledMax = 8;
const settledBytes = 4 * 1024 * 1024;

export type Host = {
  readonly api: BatchHost;
  readonly provider: ConnectedProvider;
  readonly calls: HostCalls;
};
/** A batch at a provider, with its owner. `host`: null when the operator has switched it off. */
export type Job = LineOwner & {
  readonly sent: SentBatch;
  readonly host: Host | null;
  readonly nowMs: number;
  /** It is cancelled, or its time is up. */
  readonly isOver: boolean;
};
export type Hosted = Job & { readonly host: Host };

export class SentLines {
  readonly #parts: BatchParts;
  readonly #lines: LineRuns;
  #settling = 0;
  #isStopped = false;

  constructor(parts: BatchParts, lines: LineRuns) {
    this.#parts = parts;
    this.#lines = lines;
  }

  /** Lines that are being settled. */
  get settling(): number {
    return this.#settling;
  }

  get isStopped(): boolean {
    return this.#isStopped;
  }

  stop(): void {
    this.#isStopped = true;
  }

  /**
   * Settles the lines of a file. `isSpoiled`: something in it is no result of the batch. `isSettled`:
   * false when a line could not be settled by our own fault, or while the database is down. `onlyBilled`:
   * lines that the provider refused are left as they are.
   */
  async readResults(job: Hosted, path: string, seen: Set<number>, onlyBilled = false) {
    const { sent, host } = job;
    let [isSpoiled, isSettled] = [false, true];
    let waiting: Promise<boolean>[] = [];
    let waitingBytes = 0;
    const flush = async () => {
      this.#settling = waiting.length;
      const settled = await Promise.all(waiting);
      [waiting, waitingBytes, this.#settling] = [[], 0, 0];
      isSettled &&= settled.every(Boolean);
    };
    try {
      const { api, calls } = host;
      for await (const read of api.read?.(calls, path) ?? readJsonLines(calls, path)) {
        const { line, bytes, cut } = read;
        const result = line && api.readLine(line, sent.id);
        const customId = result?.customId ?? (cut && idIn(sent, cut));
        const number = customId === undefined ? null : numberOf(sent, customId);
        if (number === null) isSpoiled = true;
        else if (!seen.has(number)) {
          seen.add(number);
          const row = await this.#parts.sent.line(sent, number);
          const isLeft = onlyBilled && result && !wasAnswered(result);
          if (row && !isLeft) waiting.push(this.#settle(job, row, result));
          waitingBytes += bytes;
        }
        if (waiting.length >= settledMax || waitingBytes > settledBytes) await flush();
        await this.#whileOverloaded();
        if (this.#isStopped) break;
      }
    } finally {
      // Also when reading breaks off: nobody else settles them meanwhile.
      await flush();
    }
    return { isSpoiled, isSettled };
  }

  /** Live requests go first. */
  async #whileOverloaded(): Promise<void> {
    const { gateway, isOverloaded } = this.#parts;
    while (isOverloaded() && !this.#isStopped) await gateway.clock.sleep(1_000);
  }

  /** Returns false when the line must be settled again. */
  async #settle(job: Hosted, row: LineRow, read: RemoteLine | null): Promise<boolean> {
    try {
      if (read) return await this.#settleOnce(job, row, read);
      // As for a live answer that is too long, the account may have provoked the loss.
      await this.#end(job, { ...row, isTakenOver: true, isCausedByAccount: true }, tooLong());
      return true;
    } catch (err) {
      const { log } = this.#parts.gateway;
      log.error({ err }, 'a line of a batch could not be settled by our own fault; retrying');
      return false;
    }
  }

  async #settleOnce(job: Hosted, row: LineRow, { result }: RemoteLine): Promise<boolean> {
    const { batch, key, sent, isOver } = job;
    const line = { ...row, isTakenOver: false };
    if (result === 'canceled' || result === 'expired') {
      await this.#end(job, line, isOver ? 'expired' : result);
      return true;
    }
    const isBilled = result.status < 400;
    if (!key) {
      await this.#end(job, { ...line, isTakenOver: isBilled }, 'canceled');
      return true;
    }
    const passed = { route: routeOf(sent), answer: result };
    const ended = await this.#lines.answer(batch, row, key, passed);
    if (!('outcome' in ended)) {
      // The failure may have ended its hold.
      if (ended.againAfterMs > 0) await this.#lines.renew(line, key);
      return false;
    }
    // An answer that was refused before its charge is the operator's loss: its model may be gone.
    await this.#lines.endHold({ ...line, isTakenOver: isBilled });
    await this.#parts.store.finish(row, ended.outcome, ended.text);
    return true;
  }

  #end(
    { batch, key }: LineOwner,
    line: LineRow & EndedHold,
    ending: 'canceled' | 'expired' | ApiError,
  ): Promise<void> {
    const isCancelled = ending === 'expired' && batch.state === 'cancelling';
    return this.#lines.endUnrun({ batch, key }, line, isCancelled ? 'canceled' : ending);
  }

  /** Ends the lines without a result. `isBilled`: the provider may have run them. */
  async endAll(
    job: Job,
    ending: 'canceled' | 'expired' | ApiError,
    { isBilled = false } = {},
  ): Promise<null> {
    for await (const row of this.#parts.sent.lines(job.sent))
      await this.#end(job, { ...row, isTakenOver: isBilled }, ending);
    return null;
  }

  /**
   * The host has no batches after all, or none of the model, or is switched off: our own queue runs
   * the lines.
   */
  async giveBack({ sent, batch, nowMs }: Job): Promise<null> {
    const { sent: sentBatches, store } = this.#parts;
    for await (const row of sentBatches.lines(sent)) {
      await this.#lines.endHold({ ...row, isTakenOver: false });
      await sentBatches.giveBack(row, newIdWithPrefix('req'));
    }
    await store.postpone(batch.id, nowMs);
    return null;
  }

  /**
   * Writes all lines once for their length. A line that cannot be written ends with its error. `isTaken`:
   * false when the route has lost its `batch_model`.
   */
  async measure(job: Hosted) {
    const frame = job.host.api.frame(job.sent.id);
    let [bytes, count, path] = [frame.begin.length + frame.end.length, 0, ''];
    let isTaken = true;
    const gateway = snapshotOf(this.#parts.gateway);
    for await (const row of inTurns(this.#parts.sent.lines(job.sent), gateway.clock)) {
      try {
        const written = await this.#writeLine(job, gateway, row);
        bytes += Buffer.byteLength(written.text) + (count === 0 ? 0 : frame.between.length);
        count += 1;
        ({ path } = written);
        isTaken &&= written.isTaken;
      } catch (thrown) {
        if (isDatabaseUnavailable(thrown)) throw thrown;
        const error = this.#lines.asApiError(thrown, row.request_id);
        await this.#end(job, { ...row, isTakenOver: false }, error);
      }
    }
    return { bytes, count, path, isTaken, gateway };
  }

  /** Writes them as they were measured, under the same settings. */
  async *write(
    job: Hosted,
    { gateway }: { readonly gateway: BatchParts['gateway'] },
  ): AsyncGenerator<Buffer> {
    const frame = job.host.api.frame(job.sent.id);
    let before = frame.begin;
    for await (const row of inTurns(this.#parts.sent.lines(job.sent), gateway.clock)) {
      yield Buffer.from(before + (await this.#writeLine(job, gateway, row)).text);
      before = frame.between;
    }
    yield Buffer.from(frame.end);
  }

  /** Throws the ApiError that refuses the line. */
  async #writeLine(
    { batch, key, sent, host }: Hosted,
    gateway: BatchParts['gateway'],
    row: LineRow,
  ): Promise<{ readonly path: string; readonly text: string; readonly isTaken: boolean }> {
    const { store, endpoints } = this.#parts;
    if (!key)
      throw new ApiError(
        'invalid_api_key',
        'The API key that created the batch was revoked. Create the batch anew with another.',
      );
    const { request_id: requestId } = row;
    const { endpoint } = batch;
    const body = parseWithArguments(await store.textOf(row)) as JsonObject;
    const incoming = requestOf(JSON.parse(batch.request) as LineContext, {
      requestId,
      key,
      endpoint,
      body,
      record: new RequestRecord(requestId),
      arrivedAtMs: gateway.clock.elapsedMs(),
      passed: { route: routeOf(sent), answer: null },
    });
    const { written, route } = estimate(gateway, endpoints[endpoint]!, incoming).firstCall!;
    const { path, body: text } = written;
    // A batch has no stream, and no tier but its own.
    const whole = parseWithArguments(text) as JsonObject;
    const { stream: _stream, service_tier: _tier, ...params } = whole;
    const own = route.batchModel === null ? params : { ...params, model: route.batchModel };
    const line = host.api.writeLine(`${sent.id}_${row.line}`, path, own);
    const isTaken = !host.api.hasOwnModels || route.batchModel !== null;
    return { path, text: JSON.stringify(line), isTaken };
  }
}

function tooLong(): ApiError {
  return new ApiError(
    'upstream_error',
    `The provider's result is longer than ${resultBytesMax} bytes. Nothing was charged; ask for less, or send the request by itself.`,
  );
}

function wasAnswered({ result }: RemoteLine): boolean {
  return typeof result === 'object' && result.status < 400;
}

function routeOf({ provider, model, format }: SentBatch): BatchRoute {
  return { provider, upstreamModel: model, format: format as BatchRoute['format'] };
}

/** Returns our `custom_id` in the beginning of a line. */
function idIn({ id }: SentBatch, beginning: string): string | undefined {
  return new RegExp(`"(${id}_\\d+)"`).exec(beginning)?.[1];
}

/** Returns the number of our line; null: it is none of this batch. */
function numberOf({ id }: SentBatch, customId: string): number | null {
  const [mark, line] = [customId.slice(0, id.length + 1), customId.slice(id.length + 1)];
  return mark === `${id}_` && /^\d{1,6}$/.test(line) ? Number(line) : null;
}

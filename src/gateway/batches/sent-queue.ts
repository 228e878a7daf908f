// Sends lines to the providers' own batch APIs, looks after them there, and settles their results. One
// process has such a batch at a time; each step is stored before the next begins:
//
//   waiting   Nothing is there but perhaps an uploaded file: a killed process's successor sends it again.
//   sending   Stored before the provider is asked to begin. Whoever finds it so later does not know
//             whether it did, so it is looked for, and sent again only when it is certainly not there.
//   sent      The provider's id is stored. It is looked at until it ends; then each line takes the path of
//             any request with the provider's answer in the place of a call (run-line.ts). A line is
//             charged once, however often the results are read.
import { setImmediate } from 'node:timers/promises';
import { ApiError } from '../../canonical/errors.ts';
import type { UpstreamFailure } from '../../canonical/event.ts';
import { UpstreamBroken } from '../../canonical/upstream-broken.ts';
import type { LineRow } from '../../domain/batches/batch-store.ts';
import type { SentBatch, SentChanges } from '../../domain/batches/sent-batches.ts';
import { newIdWithPrefix } from '../../lib/ids.ts';
import { isObject, type JsonObject, parseJson } from '../../lib/json.ts';
import { splitLines } from '../../lib/split-lines.ts';
import { hourMs } from '../../lib/utc-time.ts';
import type {
  BatchHost,
  HostCalls,
  RemoteBatch,
  RemoteLine,
} from '../../providers/batches/host.ts';
import { batchHostOf } from '../../providers/batches/index.ts';
import { toApiError, withoutProvider } from '../calling/failure-message.ts';
import { isMissing, nextStepAfter } from '../calling/retry-policy.ts';
import type { BatchRoute } from '../request.ts';
import { RequestRecord } from '../request-record.ts';
import { explainDatabaseOutage } from '../unavailable.ts';
import type { ConnectedProvider } from '../routing/providers.ts';
import { CallFailed, callsOf, sendMs } from './host-calls.ts';
import { estimate, type LineContext, requestOf } from './line.ts';
import type { BatchParts } from './parts.ts';
import { type LineOwner, type LineRuns, mayRun } from './run-line.ts';

/** Batches at providers that a thread handles at once; fewer at one provider, which may be silent. */
const jobsMax = 3;
const providerJobsMax = 2;
/** Results that are settled at once, and the bytes of those that wait. */
const settledMax = 8;
const settledBytes = 4 * 1024 * 1024;
const resultBytesMax = 16 * 1024 * 1024;
/** How often results that are not whole are read. */
const readsMax = 5;
const retryMs = { first: 30_000, most: 900_000 } as const;
const lookMs = { first: 5_000, most: 300_000 } as const;
/** After so long, a batch that was sent is in the provider's list, or was never begun. */
const unsureMs = sendMs + 300_000;
/** By how much the provider's clock may differ. */
const clockMs = 600_000;
/** Work at a stretch, before other requests have their turn. */
const turnMs = 10;

type Host = {
  readonly api: BatchHost;
  readonly provider: ConnectedProvider;
  readonly calls: HostCalls;
};
/** A batch at a provider, with its owner. `host`: null when the operator has switched it off. */
type Job = LineOwner & {
  readonly sent: SentBatch;
  readonly host: Host | null;
  readonly nowMs: number;
  /** It is cancelled, or its time is up. */
  readonly isOver: boolean;
};
type Hosted = Job & { readonly host: Host };
/** The columns to write after a step; null: remove the row, because the batch has ended. */
type Step = SentChanges | null;

export class SentQueue {
  readonly #parts: BatchParts;
  readonly #lines: LineRuns;
  readonly #wake: () => void;
  /** Running jobs, and the name of the provider of each. */
  readonly #jobs = new Map<Promise<void>, string>();
  /** Batches whose job failed: this process must still remove its name from them. */
  readonly #givenUp: SentBatch[] = [];
  #settling = 0;
  #isStopped = false;

  constructor(parts: BatchParts, lines: LineRuns, wake: () => void) {
    this.#parts = parts;
    this.#lines = lines;
    this.#wake = wake;
  }

  /** Runs of the gateway that are none of a client. */
  get runs(): number {
    return this.#jobs.size + this.#settling;
  }

  stop(): void {
    this.#isStopped = true;
  }

  async close(): Promise<void> {
    await Promise.all(this.#jobs.keys());
  }

  async takeTurn(): Promise<void> {
    const { sent, gateway, isOverloaded } = this.#parts;
    const nowMs = gateway.clock.nowMs();
    for (let one; (one = this.#givenUp[0]); this.#givenUp.shift())
      await sent.giveUp(one, nowMs + retryMs.first);
    if (isOverloaded() || this.#jobs.size >= jobsMax) return;
    const busy = [...this.#jobs.values()].filter((name) => this.#isBusy(name));
    for (const due of await sent.due(nowMs, jobsMax - this.#jobs.size, busy)) {
      if (this.#isBusy(due.provider)) continue;
      const claimed = await sent.claim(due, gateway.books.owner, nowMs);
      if (claimed) this.#start(claimed);
    }
  }

  #isBusy(provider: string): boolean {
    return [...this.#jobs.values()].filter((name) => name === provider).length >= providerJobsMax;
  }

  #start(sent: SentBatch): void {
    const { gateway } = this.#parts;
    // A shutdown waits for it, and aborts its calls when its time is up.
    const run = gateway.runs.open();
    const job: Promise<void> = this.#serve(sent, run.running)
      .catch((error: unknown) => {
        gateway.log.error(
          { err: error },
          'a batch at a provider failed by our own fault; retrying',
        );
        this.#givenUp.push(sent);
      })
      .finally(() => {
        run.close();
        this.#jobs.delete(job);
        this.#wake();
      });
    this.#jobs.set(job, sent.provider);
  }

  async #serve(sent: SentBatch, signal: AbortSignal): Promise<void> {
    const { store, sent: sentBatches, keys, gateway } = this.#parts;
    const nowMs = gateway.clock.nowMs();
    const batch = await store.findById(sent.batch_id);
    if (!batch) return sentBatches.remove(sent);
    const key = await keys.findEver(batch.account_id, batch.key_id);
    const isOver = batch.state !== 'running' || batch.expires_at_ms <= nowMs;
    const context = JSON.parse(batch.request) as LineContext;
    const job: Job = { sent, batch, key, nowMs, isOver, host: this.#hostOf(sent, context, signal) };
    const step = await this.#step(job);
    if (step) {
      await sentBatches.change(sent, { ...step, owner: null });
      return;
    }
    await sentBatches.remove(sent);
    await store.endIfDone(batch.id, gateway.clock.nowMs());
  }

  async #step(job: Job): Promise<Step> {
    const { sent, batch, host, nowMs, isOver } = job;
    const { log } = this.#parts.gateway;
    try {
      if (sent.state === 'waiting') {
        if (isOver) return await this.#endAll(job, 'expired');
        if (!(await this.#mayBegin(job))) return await this.#endAll(job, 'canceled');
        return host ? await this.#send({ ...job, host }) : await this.#giveBack(job);
      }
      if (host) return await this.#lookAfter({ ...job, host });
    } catch (error) {
      if (!(error instanceof UpstreamBroken)) throw error;
      const { message, status } = error.failure;
      const err = host ? withoutProvider(message, host.provider) : message;
      const about = { provider: sent.provider, batch_id: batch.id, err };
      log.warn(about, "a provider's batch API failed; retrying");
      // Its process died after it had settled all lines and deleted the batch.
      if (isMissing(status) && (await this.#isDone(sent))) return null;
      const waitMs = Math.max(untilNextLook(sent, nowMs), retryMs.first);
      if (!isLost(job)) return { due_at_ms: dueAfter(job, error.failure, waitMs) };
    }
    // Nobody can tell what became of them, and no hold lives so long.
    return isLost(job)
      ? this.#endAll(job, 'expired', { isBilled: true })
      : { due_at_ms: nowMs + retryMs.most };
  }

  async #isDone(sent: SentBatch): Promise<boolean> {
    return (await this.#parts.sent.lines(sent).next()).done === true;
  }

  /** The key may have been revoked since. What was sent before is settled all the same. */
  async #mayBegin({ batch, nowMs }: Job): Promise<boolean> {
    const key = await this.#parts.keys.findById(batch.account_id, batch.key_id);
    return key !== null && key !== 'revoked' && mayRun(key, nowMs);
  }

  #hostOf({ provider: name }: SentBatch, context: LineContext, signal: AbortSignal): Host | null {
    const { hosts } = this.#parts.gateway;
    const provider = hosts.providers.byName.get(name);
    const api = provider && batchHostOf({ kind: provider.kind.kind, wishes: provider.wishes });
    if (!api) return null;
    const beta = context.versionHeaders['anthropic-beta'];
    const client = beta === undefined ? {} : { 'anthropic-beta': beta };
    const calls = callsOf({ upstreams: hosts.upstreams, provider, client, signal });
    return { api, provider, calls };
  }

  async #send(job: Hosted): Promise<Step> {
    const { sent, host } = job;
    const { api, calls } = host;
    const { sent: sentBatches, store, gateway } = this.#parts;
    const written = await this.#measure(job);
    if (written.count === 0) return null;
    const { path, bytes, count } = written;
    const lines = { bytes, count, pieces: () => this.#write(job, written) };
    const toSend = { mark: sent.id, path, lines };
    let fileId: string | null = null;
    let isBegun = false;
    const withFile = () => ({ ...job, sent: { ...sent, file_id: fileId } });
    try {
      fileId = (await api.upload?.(calls, toSend)) ?? null;
      // It takes minutes, in which the batch may have been cancelled.
      if ((await store.findById(sent.batch_id))?.state !== 'running') {
        await this.#removeFiles(withFile(), []);
        return { due_at_ms: job.nowMs };
      }
      isBegun = true;
      const nowMs = gateway.clock.nowMs();
      const intent = { state: 'sending', file_id: fileId, lines: count } as const;
      const isStored = await sentBatches.change(sent, {
        ...intent,
        sent_at_ms: nowMs,
        due_at_ms: nowMs + unsureMs,
      });
      if (!isStored) throw new Error('another process has taken the batch over');
      return this.#found(await api.create(calls, toSend, fileId));
    } catch (error) {
      if (!(error instanceof UpstreamBroken)) throw error;
      const mayHaveRun = !(error instanceof CallFailed) || error.mayHaveRun;
      // The provider may have begun it: `due_at_ms` of the intent stands.
      if (isBegun && mayHaveRun) return {};
      return this.#refused(withFile(), error.failure, { isFirst: !api.upload || !isBegun });
    }
  }

  /** `isFirst`: by the first call, so nothing shows that the host has batches. */
  async #refused(
    job: Hosted,
    failure: UpstreamFailure,
    { isFirst }: { readonly isFirst: boolean },
  ): Promise<Step> {
    const { sent, batch, host } = job;
    const { status } = failure;
    const message = withoutProvider(failure.message, host.provider);
    const about = { provider: sent.provider, batch_id: batch.id, err: message };
    this.#parts.gateway.log.warn(about, 'a provider did not take a batch');
    await this.#removeFiles(job, []);
    if (isFirst && (isMissing(status) || status === 405)) return this.#giveBack(job);
    if (nextStepAfter(failure) === 'never')
      return this.#endAll(job, toApiError({ ...failure, message }));
    const again = { state: 'waiting', file_id: null, tries: sent.tries + 1 } as const;
    return { ...again, due_at_ms: dueAfter(job, failure, backoffOf(sent)) };
  }

  #found(remoteId: string): Step {
    const dueMs = this.#parts.gateway.clock.nowMs() + lookMs.first;
    return { state: 'sent', remote_id: remoteId, tries: 0, due_at_ms: dueMs };
  }

  async #lookAfter(job: Hosted): Promise<Step> {
    const { sent, nowMs, isOver, host } = job;
    const { api, calls } = host;
    if (sent.state === 'sending') {
      const [sinceMs, untilMs] = [sent.sent_at_ms! - clockMs, sent.sent_at_ms! + sendMs + clockMs];
      const found = await api.find(calls, { mark: sent.id, lines: sent.lines, sinceMs, untilMs });
      if (found === null) {
        await this.#removeFiles(job, []);
        return { state: 'waiting', file_id: null, due_at_ms: nowMs };
      }
      if (found !== 'unsure') return this.#found(found.id);
      return isLost(job)
        ? this.#endAll(job, 'expired', { isBilled: true })
        : { due_at_ms: nowMs + lookMs.most };
    }
    const remote = await api.look(calls, sent.remote_id!);
    switch (remote.state) {
      case 'running':
        if (isLost(job)) return this.#endAll(job, 'expired', { isBilled: true });
        // It may be cancelling already, which is then refused.
        if (isOver) await api.cancel(calls, sent.remote_id!).catch(ignoreRefusal);
        return { due_at_ms: nowMs + (isOver ? lookMs.first : untilNextLook(sent, nowMs)) };
      case 'failed':
        return this.#failed(job, remote);
      case 'ended':
        return this.#collect(job, remote);
    }
  }

  #failed(
    job: Hosted,
    { message, mayPass }: Extract<RemoteBatch, { state: 'failed' }>,
  ): Promise<Step> {
    const status = mayPass ? 429 : 400;
    const plain = { kind: 'status', status, message, retryAfterSeconds: null } as const;
    const failure = job.host.provider.kind.readFailure?.(plain, null) ?? plain;
    return this.#refused(job, failure, { isFirst: false });
  }

  async #collect(job: Hosted, remote: Extract<RemoteBatch, { state: 'ended' }>): Promise<Step> {
    const { sent, nowMs, isOver } = job;
    const { unrun, results, files } = remote;
    const seen = new Set<number>();
    let [isSpoiled, isSettled] = [false, true];
    for (const path of results) {
      const read = await this.#readResults(job, path, seen);
      isSpoiled ||= read.isSpoiled;
      isSettled &&= read.isSettled;
    }
    if (this.#isStopped) return { due_at_ms: nowMs };
    if (!isSettled && !isLost(job)) return { due_at_ms: nowMs + retryMs.first };
    const isWhole = !isSpoiled && unrun !== null;
    const mayRead = !isWhole && sent.tries < readsMax - 1 && !isLost(job);
    if (mayRead && !(await this.#isDone(sent)))
      return { tries: sent.tries + 1, due_at_ms: nowMs + backoffOf(sent) };
    if (isWhole && isSettled) await this.#endAll(job, isOver ? 'expired' : unrun);
    else await this.#endAll(job, noResult(), { isBilled: true });
    await this.#removeFiles(job, files);
    return null;
  }

  /**
   * Settles the lines of a file. `isSpoiled`: something in it is no result of the batch. `isSettled`:
   * false when a line could not be settled by our own fault, or while the database is down.
   */
  async #readResults(job: Hosted, path: string, seen: Set<number>) {
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
      for await (const line of splitLines(await host.calls.read(path), resultBytesMax)) {
        if (line?.length === 0) continue;
        const result = line && readResult(host.api, line);
        const number = result && numberOf(sent, result.customId);
        if (!line || !result || number === null) isSpoiled = true;
        else if (!seen.has(number)) {
          seen.add(number);
          const row = await this.#parts.sent.line(sent, number);
          if (row) waiting.push(this.#settle(job, row, result));
          waitingBytes += line.length;
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
  async #settle(job: Hosted, row: LineRow, read: RemoteLine): Promise<boolean> {
    try {
      return await this.#settleOnce(job, row, read);
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
    line: LineRow & { readonly isTakenOver: boolean },
    ending: 'canceled' | 'expired' | ApiError,
  ): Promise<void> {
    const isCancelled = ending === 'expired' && batch.state === 'cancelling';
    return this.#lines.endUnrun({ batch, key }, line, isCancelled ? 'canceled' : ending);
  }

  /** Ends the lines without a result. `isBilled`: the provider may have run them. */
  async #endAll(
    job: Job,
    ending: 'canceled' | 'expired' | ApiError,
    { isBilled = false } = {},
  ): Promise<null> {
    for await (const row of this.#parts.sent.lines(job.sent))
      await this.#end(job, { ...row, isTakenOver: isBilled }, ending);
    return null;
  }

  /** The host has no batches after all, or is switched off: our own queue runs the lines. */
  async #giveBack({ sent, batch, nowMs }: Job): Promise<null> {
    const { sent: sentBatches, store } = this.#parts;
    for await (const row of sentBatches.lines(sent)) {
      await this.#lines.endHold({ ...row, isTakenOver: false });
      await sentBatches.giveBack(row, newIdWithPrefix('req'));
    }
    await store.postpone(batch.id, nowMs);
    return null;
  }

  /** They hold the customers' texts. The provider removes what stays. */
  async #removeFiles({ sent, host: { calls } }: Hosted, files: readonly string[]): Promise<void> {
    const all = sent.file_id === null ? files : [...files, `/files/${sent.file_id}`];
    for (const path of all) await calls.call('DELETE', path).catch(ignoreRefusal);
  }

  /** Writes all lines once for their length. A line that cannot be written ends with its error. */
  async #measure(job: Hosted) {
    const { frame } = job.host.api;
    let [bytes, count, path] = [frame.begin.length + frame.end.length, 0, ''];
    const gateway = { ...this.#parts.gateway };
    for await (const row of this.#inTurns(job)) {
      try {
        const written = await this.#writeLine(job, gateway, row);
        bytes += Buffer.byteLength(written.text) + (count === 0 ? 0 : frame.between.length);
        count += 1;
        path = written.path;
      } catch (thrown) {
        if (explainDatabaseOutage(thrown) !== thrown) throw thrown;
        const error = this.#lines.asApiError(thrown, row.request_id);
        await this.#end(job, { ...row, isTakenOver: false }, error);
      }
    }
    return { bytes, count, path, gateway };
  }

  /** Writes them as they were measured, under the same settings. */
  async *#write(
    job: Hosted,
    { gateway }: { readonly gateway: BatchParts['gateway'] },
  ): AsyncGenerator<Buffer> {
    const { frame } = job.host.api;
    let before = frame.begin;
    for await (const row of this.#inTurns(job)) {
      yield Buffer.from(before + (await this.#writeLine(job, gateway, row)).text);
      before = frame.between;
    }
    yield Buffer.from(frame.end);
  }

  async *#inTurns({ sent }: Job): AsyncGenerator<LineRow> {
    const { clock } = this.#parts.gateway;
    let turnEndsMs = 0;
    for await (const row of this.#parts.sent.lines(sent)) {
      yield row;
      if (clock.elapsedMs() < turnEndsMs) continue;
      await setImmediate();
      turnEndsMs = clock.elapsedMs() + turnMs;
    }
  }

  /** Throws the ApiError that refuses the line. */
  async #writeLine(
    { batch, key, sent, host }: Hosted,
    gateway: BatchParts['gateway'],
    row: LineRow,
  ): Promise<{ readonly path: string; readonly text: string }> {
    const { store, endpoints } = this.#parts;
    if (!key) throw new ApiError('invalid_api_key', 'The key of the batch is no more.');
    const { request_id: requestId } = row;
    const { endpoint } = batch;
    const body = JSON.parse(await store.textOf(row)) as JsonObject;
    const incoming = requestOf(JSON.parse(batch.request) as LineContext, {
      requestId,
      key,
      endpoint,
      body,
      record: new RequestRecord(requestId),
      arrivedAtMs: gateway.clock.elapsedMs(),
      passed: { route: routeOf(sent), answer: null },
    });
    const { path, body: text } = estimate(gateway, endpoints[endpoint]!, incoming).firstCall!
      .written;
    // A batch has no stream, and no tier but its own.
    const { stream: _stream, service_tier: _tier, ...params } = JSON.parse(text) as JsonObject;
    const line = host.api.writeLine(`${sent.id}_${row.line}`, path, params);
    return { path, text: JSON.stringify(line) };
  }
}

function routeOf({ provider, model, format }: SentBatch): BatchRoute {
  return { provider, upstreamModel: model, format: format as BatchRoute['format'] };
}

function readResult(api: BatchHost, line: Buffer): RemoteLine | null {
  const parsed = parseJson(line, { depthMax: 1_000 });
  return parsed.ok && isObject(parsed.value) ? api.readLine(parsed.value) : null;
}

/** Returns the number of our line; null: it is none of this batch. */
function numberOf({ id }: SentBatch, customId: string): number | null {
  const [mark, line] = [customId.slice(0, id.length + 1), customId.slice(id.length + 1)];
  return mark === `${id}_` && /^\d{1,6}$/.test(line) ? Number(line) : null;
}

function untilNextLook({ sent_at_ms: sentAtMs }: SentBatch, nowMs: number): number {
  return Math.min(Math.max((nowMs - sentAtMs!) / 8, lookMs.first), lookMs.most);
}

function backoffOf({ tries }: SentBatch): number {
  return Math.min(retryMs.first * 2 ** tries, retryMs.most);
}

/** After as long as the provider asks for, but not beyond the batch's end; `waitMs` at least. */
function dueAfter(
  { batch, nowMs }: Job,
  { retryAfterSeconds }: UpstreamFailure,
  waitMs: number,
): number {
  const askedMs = Math.min((retryAfterSeconds ?? 0) * 1_000, batch.expires_at_ms - nowMs);
  return nowMs + Math.max(askedMs, waitMs);
}

/** The provider ends a batch after a day, too. */
function isLost({ batch, nowMs }: Job): boolean {
  return nowMs > batch.expires_at_ms + hourMs;
}

function noResult(): ApiError {
  return new ApiError(
    'upstream_error',
    'The provider gave no result for this request. Nothing was charged; send it again.',
  );
}

function ignoreRefusal(error: unknown): void {
  if (!(error instanceof UpstreamBroken)) throw error;
}

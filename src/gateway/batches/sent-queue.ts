// Sends lines to the providers' own batch APIs, looks after them there, and settles their results. One
// process has such a batch at a time; each step is stored before the next begins:
//
//   waiting   Nothing is there but perhaps an uploaded file: a killed process's successor sends it again.
//   sending   Stored before the provider is asked to begin. Whoever finds it so later does not know
//             whether it did, so it is looked for, and sent again only when it is certainly not there.
//   sent      The provider's id is stored. It is looked at until it ends; then each line takes the path of
//             any request with the provider's answer in the place of a call (run-line.ts). A line is
//             charged once, however often the results are read.
import { ApiError } from '../../canonical/errors.ts';
import type { UpstreamFailure } from '../../canonical/event.ts';
import { makeFailure } from '../../canonical/make-failure.ts';
import { UpstreamBroken } from '../../canonical/upstream-broken.ts';
import type { SentBatch, SentChanges } from '../../domain/batches/sent-batches.ts';
import { hourMs } from '../../lib/utc-time.ts';
import type { FailedBatch, RemoteBatch } from '../../providers/batches/host.ts';
import { toApiError, withoutProvider } from '../calling/failure-message.ts';
import {
  blamesRequest,
  isCredentialRefused,
  isMissing,
  nextStepAfter,
} from '../calling/retry-policy.ts';
import { CallFailed, callsOf, sendMs } from './host-calls.ts';
import type { LineContext } from './line.ts';
import type { BatchParts } from './parts.ts';
import { type LineRuns, mayRun } from './run-line.ts';
import { type Host, type Hosted, type Job, SentLines } from './sent-lines.ts';

/** Batches at providers that a thread handles at once; fewer at one provider, which may be silent. */
const jobsMax = 3;
const providerJobsMax = 2;
/** How often results that are not whole are read. */
const readsMax = 5;
const retryMs = { first: 30_000, most: 900_000 } as const;
const lookMs = { first: 5_000, most: 300_000 } as const;
/** After so long, a batch that was sent is in the provider's list, or was never begun. */
const unsureMs = sendMs + 300_000;
/** By how much the provider's clock may differ. */
const clockMs = 600_000;

/** The columns to write after a step; null: remove the row, because the batch has ended. */
type Step = SentChanges | null;

export class SentQueue {
  readonly #parts: BatchParts;
  readonly #lines: SentLines;
  readonly #wake: () => void;
  /** Running jobs, and the name of the provider of each. */
  readonly #jobs = new Map<Promise<void>, string>();
  /** Batches whose job failed: this process must still remove its name from them. */
  readonly #givenUp: SentBatch[] = [];

  constructor(parts: BatchParts, lines: LineRuns, wake: () => void) {
    this.#parts = parts;
    this.#lines = new SentLines(parts, lines);
    this.#wake = wake;
  }

  /** Lines that are being settled. */
  get settling(): number {
    return this.#lines.settling;
  }

  stop(): void {
    this.#lines.stop();
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
        if (isOver) return await this.#lines.endAll(job, 'expired');
        if (!(await this.#mayBegin(job))) return await this.#lines.endAll(job, 'canceled');
        return host ? await this.#send({ ...job, host }) : await this.#lines.giveBack(job);
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
    return isLost(job) ? this.#giveUp(job) : { due_at_ms: nowMs + retryMs.most };
  }

  /** Nobody can tell what became of the lines, and no hold lives so long. */
  async #giveUp(job: Job): Promise<null> {
    const { host } = job;
    await this.#lines.endAll(job, 'expired', { isBilled: true });
    if (host) await this.#removeFiles({ ...job, host }, []);
    return null;
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
    const { hosts, clock } = this.#parts.gateway;
    const provider = hosts.providers.byName.get(name);
    const api = provider?.batches;
    if (!api) return null;
    const beta = context.versionHeaders['anthropic-beta'];
    const client = beta === undefined ? {} : { 'anthropic-beta': beta };
    const calls = callsOf({ upstreams: hosts.upstreams, provider, api, clock, client, signal });
    return { api, provider, calls };
  }

  async #send(job: Hosted): Promise<Step> {
    const { sent, host } = job;
    const { api, calls } = host;
    const { sent: sentBatches, store, gateway } = this.#parts;
    const written = await this.#lines.measure(job);
    if (written.count === 0) return null;
    const { linesMin = 1, hasBucket = false } = api;
    if (!written.isTaken || written.count < linesMin) return this.#lines.giveBack(job);
    const { path, bytes, count } = written;
    const lines = { bytes, count, pieces: () => this.#lines.write(job, written) };
    const toSend = { mark: sent.id, path, model: sent.model, lines };
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
      return this.#refused(withFile(), error.failure, {
        isFirst: !api.upload || !isBegun || hasBucket,
      });
    }
  }

  /** `isFirst`: nothing shows yet that the host runs such batches. */
  async #refused(
    job: Hosted,
    failure: UpstreamFailure,
    { isFirst, files = [] }: { readonly isFirst: boolean; readonly files?: readonly string[] },
  ): Promise<Step> {
    const { sent, batch, host } = job;
    const { status } = failure;
    const message = withoutProvider(failure.message, host.provider);
    const about = { provider: sent.provider, batch_id: batch.id, err: message };
    this.#parts.gateway.log.warn(about, 'a provider did not take a batch');
    const next = nextStepAfter(failure);
    const isFinal = blamesRequest(failure);
    // A job in a bucket fails by its bucket, role or model, which are not the client's fault. S3 redirects
    // from a bucket in another region.
    const isOurs = host.api.hasBucket && next !== 'again' && !isCredentialRefused(status);
    // The file of the requests may be missing at first; twice, it is the model.
    const isLacking = isMissing(status) && (isFirst || sent.tries > 0);
    if (isLacking || (isFirst && (status === 405 || isOurs))) {
      await this.#lines.giveBack(job);
      await this.#removeFiles(job, files);
      return null;
    }
    const again = {
      state: 'waiting',
      file_id: null,
      tries: sent.tries + 1,
      due_at_ms: dueAfter(job, failure, backoffOf(sent)),
    } as const;
    if (isFinal) await this.#lines.endAll(job, toApiError({ ...failure, message }));
    else if (!(await this.#parts.sent.change(sent, again))) return again;
    // Last: after a kill, nobody looks for what is deleted.
    await this.#removeFiles(job, files);
    return isFinal ? null : again;
  }

  #found(remoteId: string): Step {
    const dueMs = this.#parts.gateway.clock.nowMs() + lookMs.first;
    return { state: 'sent', remote_id: remoteId, tries: 0, due_at_ms: dueMs };
  }

  async #lookAfter(job: Hosted): Promise<Step> {
    const { sent, batch, nowMs, isOver, host } = job;
    const { api, calls } = host;
    if (sent.state === 'sending') {
      const [sinceMs, untilMs] = [sent.sent_at_ms! - clockMs, sent.sent_at_ms! + sendMs + clockMs];
      const asked = { mark: sent.id, fileId: sent.file_id, lines: sent.lines, sinceMs, untilMs };
      const found = await api.find(calls, asked);
      if (found === null) {
        await this.#removeFiles(job, []);
        return { state: 'waiting', file_id: null, due_at_ms: nowMs };
      }
      if (found !== 'unsure') return this.#found(found.id);
      return isLost(job) ? this.#giveUp(job) : { due_at_ms: nowMs + lookMs.most };
    }
    // After the batch has expired, lines that the provider has not counted are not waited for.
    const counted = nowMs < batch.expires_at_ms ? sent.lines : 0;
    const remote = await api.look(calls, sent.remote_id!, counted);
    switch (remote.state) {
      case 'running':
        if (isLost(job)) return this.#giveUp(job);
        // It may be cancelling already, which is then refused.
        if (isOver) await calls.call('POST', api.cancelPath(sent.remote_id!)).catch(ignoreRefusal);
        return { due_at_ms: nowMs + (isOver ? lookMs.first : untilNextLook(sent, nowMs)) };
      case 'failed':
        return this.#failed(job, remote);
      case 'ended':
        return this.#collect(job, remote);
    }
  }

  /** Lines that it has run before are settled, and not run again; those that failed with it are. */
  async #failed(job: Hosted, failed: FailedBatch): Promise<Step> {
    const { message, mayPass, results, files } = failed;
    const seen = new Set<number>();
    let isSettled = true;
    for (const path of results)
      isSettled &&= (await this.#lines.readResults(job, path, seen, true)).isSettled;
    if (this.#lines.isStopped) return { due_at_ms: job.nowMs };
    if (!isSettled && !isLost(job)) return { due_at_ms: job.nowMs + retryMs.first };
    const plain = makeFailure(mayPass ? 429 : 400, message);
    const failure = job.host.provider.kind.readFailure?.(plain, null) ?? plain;
    return this.#refused(job, failure, { isFirst: true, files });
  }

  async #collect(job: Hosted, remote: Extract<RemoteBatch, { state: 'ended' }>): Promise<Step> {
    const { sent, nowMs, isOver } = job;
    const { unrun, results, files } = remote;
    const seen = new Set<number>();
    let [isSpoiled, isSettled] = [false, true];
    for (const path of results) {
      const read = await this.#lines.readResults(job, path, seen);
      isSpoiled ||= read.isSpoiled;
      isSettled &&= read.isSettled;
    }
    if (this.#lines.isStopped) return { due_at_ms: nowMs };
    if (!isSettled && !isLost(job)) return { due_at_ms: nowMs + retryMs.first };
    const isWhole = !isSpoiled && unrun !== null;
    const mayRead = !isWhole && sent.tries < readsMax - 1 && !isLost(job);
    if (mayRead && !(await this.#isDone(sent)))
      return { tries: sent.tries + 1, due_at_ms: nowMs + backoffOf(sent) };
    if (isWhole && isSettled) await this.#lines.endAll(job, isOver ? 'expired' : unrun);
    else await this.#lines.endAll(job, noResult(), { isBilled: true });
    await this.#removeFiles(job, files);
    return null;
  }

  /**
   * They hold the customers' texts. The requests go first: when their process is killed meanwhile, another
   * finds no more than that the results, or the batch, are gone.
   */
  async #removeFiles({ sent, host }: Hosted, files: readonly string[]): Promise<void> {
    const { api, calls } = host;
    const sentFile = sent.file_id === null ? undefined : api.filePath?.(sent.file_id);
    for (const path of sentFile === undefined ? files : [sentFile, ...files])
      await calls.call('DELETE', path).catch(ignoreRefusal);
  }
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

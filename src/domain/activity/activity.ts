// Counts activity that the ledger does not book: requests answered for free, refused or failed, the
// last use of keys, latencies and provider calls, and keeps the history of requests. Counts are
// summed in memory and written every few seconds, so that noting a request is cheap. A killed
// process loses those seconds. Rows that cannot be written are kept and retried, up to a bound.
import type { CallEnding, RequestEvent } from '../../events/request-events.ts';
import type { ObservedRequest, RequestListener } from '../../events/request-listener.ts';
import { isReplay, type RequestFields } from '../../events/request-fields.ts';
import type { AnswerWorth } from '../../terms/stored-response.ts';
import type { Database } from '../../db/database.ts';
import type { CancelTimer, Clock } from '../../lib/clock.ts';
import type { Micros } from '../../lib/money.ts';
import { oneAtATime } from '../../lib/one-at-a-time.ts';
import { dayMs, dayOf, hourMs, hourOf } from '../../lib/utc-time.ts';
import {
  addKeyUses,
  addRequests,
  addSums,
  keyAndSumsOf,
  type KeyUse,
  readStoredTags,
  removeOutdated,
  type RequestRow,
  type SumRow,
  type Sums,
  type SumTable,
  sumTables,
} from './activity-rows.ts';
import {
  latencySumsOf,
  latencySumsOfTag,
  type MeasuredHour,
  type MeasuredTag,
} from './latency-sums.ts';
import { bucketOf } from './latency.ts';
import { MeasuredTags } from './measured-tags.ts';
import { writeNotes } from './request-notes.ts';
import { SumBuffer, takeSorted, waitingMax } from './sum-buffer.ts';

/** How its answer ended. `path`: the request's route. */
type Ending = {
  readonly path: string;
  readonly status: number;
  readonly tookMs: number;
  readonly isClientGone: boolean;
};

/** A finished call to a provider. */
type EndedCall = {
  readonly provider: string;
  readonly kind: 'stream' | 'whole';
  readonly ending: CallEnding;
  /** Streams are measured to their first chunk, whole answers to their end. */
  readonly ms: number;
};

type ActivityOptions = {
  readonly database: Database;
  /** How long requests are kept in the history; 0: none are written. */
  readonly historyDays: number;
  /** True in one thread of the process. */
  readonly removesOutdated: boolean;
  readonly onError: (error: unknown) => void;
  readonly clock: Clock;
};

type ActivitySum = 'requests' | 'saved_micros' | 'input_tokens' | 'output_tokens';

const flushEveryMs = 5_000;
const removeEveryMs = 60 * 60_000;
/**
 * A history of this length is written at once: a busy thread ends more requests than `waitingMax` in
 * five seconds.
 */
const historyMax = waitingMax / 2;
/**
 * Uncharged requests of one account and mode kept in the history per flush, so that a storm of them
 * does not fill the disk.
 */
const unchargedMax = 100;

export class Activity implements RequestListener {
  readonly #options: ActivityOptions;
  readonly #sums = Object.fromEntries(
    sumTables.map((table) => [table, new SumBuffer<Sums>(...keyAndSumsOf(table))]),
  ) as Readonly<Record<SumTable, SumBuffer<Sums>>>;
  readonly #requests = new Map<string, RequestRow>();
  readonly #unchargedOf = new Map<string, number>();
  readonly #latencies = new SumBuffer<MeasuredHour>(
    ['account_id', 'mode', 'hour', 'key_id', 'model_id', 'provider', 'kind', 'latency_bucket'],
    ['requests'],
  );
  readonly #tagLatencies = new SumBuffer<MeasuredTag>(
    ['account_id', 'mode', 'day', 'tag', 'kind', 'latency_bucket'],
    ['requests'],
  );
  readonly #measuredTags = new MeasuredTags();
  readonly #uses = new Map<string, KeyUse>();
  readonly #timers: readonly CancelTimer[];
  #day = { number: -1, text: '' };
  #hour = { number: -1, text: '' };

  constructor(options: ActivityOptions) {
    this.#options = options;
    const { onError, clock } = options;
    this.#timers = [
      clock.every(flushEveryMs, () => void this.flush().catch(onError)),
      ...(options.removesOutdated ? [clock.every(removeEveryMs, () => this.#remove())] : []),
    ];
  }

  #remove(): void {
    const { database, historyDays, clock, onError } = this.#options;
    void removeOutdated(database, clock.nowMs(), { historyDays }).catch(onError);
  }

  hear(event: RequestEvent, { path, fields }: ObservedRequest): void {
    if (event.type === 'answered') {
      const { status, isClientGone, startMs, endMs } = event;
      this.noteRequest(fields, { path, status, isClientGone, tookMs: endMs - startMs });
    } else if (event.type === 'call-ended' && event.call.baseUrl !== null) {
      const { provider, ownKeyId, isStream, startMs, firstByteMs } = event.call;
      if (ownKeyId !== undefined && event.ending === 'good') this.#noteUse(ownKeyId);
      const ms = (firstByteMs ?? event.endMs) - startMs;
      this.noteCall({ provider, kind: isStream ? 'stream' : 'whole', ending: event.ending, ms });
    }
  }

  noteRequest(request: RequestFields, ending: Ending): void {
    const { accountId, keyId, mode, errorCode, costMicros } = request;
    if (accountId === undefined || keyId === undefined || mode === undefined) return;
    const nowMs = this.#nowMs();
    this.#noteUse(keyId);
    const isCharged = costMicros !== undefined;
    const outcome = isCharged ? undefined : (errorCode ?? request.cache);
    if (!isCharged && outcome === undefined) return;
    const owner = { account_id: accountId, mode, key_id: keyId, model_id: request.model ?? '' };
    const names = { ...owner, day: this.#dayOf(nowMs) };
    const hour = this.#hourOf(nowMs);
    if (outcome !== undefined) {
      this.#count({ ...names, outcome }, request.saved);
      this.#countTags({ ...names, outcome }, request);
    } else this.#measure({ ...names, hour, provider: request.provider ?? '' }, request, ending);
    this.#countHour(names, hour, request);
    if (!this.#takeRoom(accountId, mode, isCharged)) return;
    const row = { ...historyOf(request, ending), ...owner, created_at_ms: nowMs };
    this.#requests.set(row.request_id, row);
    if (this.#requests.size === historyMax) void this.flush().catch(this.#options.onError);
  }

  noteCall({ provider, kind, ending, ms }: EndedCall): void {
    const hour = this.#hourOf(this.#nowMs());
    const latency_bucket = bucketOf(ms);
    this.#add('provider_hours', { hour, provider, kind, ending, latency_bucket, calls: 1 });
  }

  /** Writes the buffered rows. Throws when some could not be written; those are kept. */
  readonly flush = oneAtATime(() => this.#write());

  /** Stops the timers and flushes once more. */
  async close(): Promise<void> {
    for (const cancel of this.#timers) cancel();
    await this.flush().catch(this.#options.onError);
  }

  /** Of an API key, or of an account's own key of a provider. */
  #noteUse(keyId: string): void {
    if (this.#uses.size < waitingMax || this.#uses.has(keyId))
      this.#uses.set(keyId, { key_id: keyId, last_used_at_ms: this.#nowMs() });
  }

  #count(
    dimensions: Omit<SumRow<'activity_days'>, ActivitySum>,
    saved: AnswerWorth | undefined,
  ): void {
    const { costMicros = 0, inputTokens = 0, outputTokens = 0 } = saved ?? {};
    this.#add('activity_days', {
      ...dimensions,
      requests: 1,
      saved_micros: costMicros as Micros,
      input_tokens: inputTokens,
      output_tokens: outputTokens,
    });
  }

  #countTags(
    { account_id, mode, day, outcome }: Omit<SumRow<'activity_days'>, ActivitySum>,
    { tags = [], saved }: RequestFields,
  ): void {
    const saved_micros = (saved?.costMicros ?? 0) as Micros;
    const named = { account_id, mode, day, outcome, requests: 1, saved_micros };
    for (const tag of this.#measuredTags.take(`${account_id} ${mode}`, day, tags))
      this.#add('activity_tag_days', { ...named, tag });
  }

  #countHour(
    { account_id, mode }: Pick<RequestRow, 'account_id' | 'mode'>,
    hour: string,
    { provider = '', errorCode, costMicros = 0, inputTokens = 0, outputTokens = 0 }: RequestFields,
  ): void {
    this.#add('activity_hours', {
      account_id,
      mode,
      hour,
      provider,
      requests: 1,
      errors: errorCode === undefined ? 0 : 1,
      cost_micros: costMicros as Micros,
      input_tokens: inputTokens,
      output_tokens: outputTokens,
    });
  }

  #measure(
    names: Omit<MeasuredHour, 'kind' | 'latency_bucket' | 'requests'>,
    { firstByteMs, tags = [] }: RequestFields,
    { tookMs }: Ending,
  ): void {
    const { account_id, mode, day } = names;
    const measuredTags = this.#measuredTags.take(`${account_id} ${mode}`, day, tags);
    for (const [kind, ms] of [
      ['first', firstByteMs],
      ['whole', tookMs],
    ] as const) {
      if (ms === undefined) continue;
      const measured = { kind, latency_bucket: bucketOf(ms), requests: 1 };
      this.#latencies.add({ ...names, ...measured });
      for (const tag of measuredTags)
        this.#tagLatencies.add({ account_id, mode, day, tag, ...measured });
    }
  }

  /** Returns false when the history does not keep another request of the account now. */
  #takeRoom(accountId: string, mode: string, isCharged: boolean): boolean {
    if (this.#options.historyDays === 0 || this.#requests.size >= waitingMax) return false;
    if (isCharged) return true;
    const owner = `${accountId} ${mode}`;
    const count = this.#unchargedOf.get(owner) ?? 0;
    if (count >= unchargedMax) return false;
    this.#unchargedOf.set(owner, count + 1);
    return true;
  }

  #keepAgain(row: RequestRow): void {
    if (this.#takeRoom(row.account_id, row.mode, row.outcome === 'charged'))
      this.#requests.set(row.request_id, row);
  }

  /** Writes each kind separately, so that one failure does not lose the others. */
  async #write(): Promise<void> {
    const { database } = this.#options;
    const settling = this.#measuredTags.settle((owner, day) =>
      readStoredTags(database, owner, day),
    );
    const [settled] = await Promise.allSettled([settling]);
    // Rows by tag wait while the stored tags cannot be read.
    const takeByTag = <Row extends Sums | MeasuredTag>(buffer: SumBuffer<Row>) =>
      settled.status === 'rejected' ? [] : buffer.take().filter((row) => this.#isMeasured(row));
    this.#unchargedOf.clear();
    const measured = [
      ...this.#latencies.take().flatMap(latencySumsOf),
      ...takeByTag(this.#tagLatencies).flatMap(latencySumsOfTag),
    ];
    for (const sum of measured) this.#add('latency_sums', sum);
    const results = await Promise.allSettled([
      settling,
      ...sumTables.map((table) => {
        const buffer = this.#sums[table];
        const rows = table === 'activity_tag_days' ? takeByTag(buffer) : buffer.take();
        return addSums(database, table, rows, (rest) => rest.forEach((row) => buffer.add(row)));
      }),
      addRequests(database, takeSorted(this.#requests), (rest) =>
        rest.forEach((row) => this.#keepAgain(row)),
      ),
      addKeyUses(database, takeSorted(this.#uses), (rest) =>
        // A use since then is later.
        rest.forEach((use) => this.#uses.set(use.key_id, this.#uses.get(use.key_id) ?? use)),
      ),
    ]);
    const failed = results.find((result) => result.status === 'rejected');
    if (failed) throw failed.reason;
  }

  #isMeasured({ account_id, mode, day, tag }: Sums | MeasuredTag): boolean {
    return this.#measuredTags.has(`${account_id} ${mode}`, String(day), String(tag));
  }

  #add<Table extends SumTable>(table: Table, row: SumRow<Table>): void {
    this.#sums[table].add(row as Sums);
  }

  #dayOf(nowMs: number): string {
    const number = Math.floor(nowMs / dayMs);
    if (number !== this.#day.number) this.#day = { number, text: dayOf(nowMs) };
    return this.#day.text;
  }

  #hourOf(nowMs: number): string {
    const number = Math.floor(nowMs / hourMs);
    if (number !== this.#hour.number) this.#hour = { number, text: hourOf(nowMs) };
    return this.#hour.text;
  }

  #nowMs(): number {
    return this.#options.clock.nowMs();
  }
}

/** Returns the columns of the history that say how the request ended. */
function historyOf(
  request: RequestFields,
  { path, status, tookMs, isClientGone }: Ending,
): Omit<RequestRow, 'account_id' | 'mode' | 'created_at_ms' | 'key_id' | 'model_id'> {
  const { costMicros, cache, saved, errorCode = null, stream = false, firstByteMs } = request;
  const { tags, client = null } = request;
  const free = errorCode === null ? (cache ?? 'failed') : 'failed';
  const outcome = costMicros === undefined ? free : 'charged';
  const worth = isReplay(outcome) ? saved : undefined;
  return {
    request_id: request.requestId,
    path,
    outcome,
    code: errorCode,
    status,
    streamed: stream ? 1 : 0,
    duration_ms: Math.round(tookMs),
    first_byte_ms: firstByteMs ?? null,
    saved_micros: (worth?.costMicros ?? 0) as Micros,
    input_tokens: worth?.inputTokens ?? 0,
    output_tokens: worth?.outputTokens ?? 0,
    client,
    tags: tags === undefined ? null : `,${tags.join(',')},`,
    details: writeNotes(request, isClientGone),
  };
}

// Counts activity that the ledger does not book: requests answered for free, refused or failed, the
// last use of keys, and provider calls. Counts are summed in memory and written every few seconds,
// so that noting a request is cheap. A killed process loses those seconds. Rows that cannot be
// written are kept and retried, up to a bound.
import type { AnswerWorth } from '../../canonical/stored-response.ts';
import type { Database } from '../../db/database.ts';
import type { CancelTimer, Clock } from '../../lib/clock.ts';
import {
  addActivity,
  addErrors,
  addKeyUses,
  addProviderCalls,
  type ActivityRow,
  type ErrorRow,
  type ProviderRow,
  removeOutdated,
} from './activity-rows.ts';
import { bucketOf } from './latency.ts';

/** A finished request. */
export type EndedRequest = {
  readonly requestId: string;
  /** These three are absent together when the request had no valid key. */
  readonly accountId?: string;
  readonly keyId?: string;
  readonly mode?: 'live' | 'test';
  readonly model?: string;
  /** Set when the answer repeated an earlier one. */
  readonly cache?: 'hit' | 'idempotent-replay';
  /** The original cost of that answer, as far as it is known. */
  readonly saved?: AnswerWorth;
  readonly errorCode?: string;
  /** Set when the request was charged: the ledger counts it then. */
  readonly costMicros?: number;
};

/** A finished call to a provider. */
type EndedCall = {
  readonly provider: string;
  readonly kind: 'stream' | 'whole';
  readonly ending: 'good' | 'bad' | 'refused' | 'unknown';
  /** Streams are measured to their first chunk, whole answers to their end. */
  readonly ms: number;
};

type ActivityOptions = {
  readonly database: Database;
  readonly onError: (error: unknown) => void;
  readonly clock: Clock;
};

const flushEveryMs = 5_000;
const removeEveryMs = 60 * 60_000;
/** Buffered rows of each kind; beyond that, requests are not counted until there is room. */
const waitingMax = 20_000;
/** Errors of one account and mode kept per flush, so that an error storm does not fill the disk. */
const errorsMax = 20;
const dayMs = 86_400_000;

export class Activity {
  readonly #options: ActivityOptions;
  readonly #sums = new Map<string, ActivityRow>();
  readonly #errors = new Map<string, ErrorRow[]>();
  readonly #uses = new Map<string, number>();
  readonly #calls = new Map<string, ProviderRow>();
  readonly #timers: readonly CancelTimer[];
  #writing: Promise<void> = Promise.resolve();
  #day = { number: -1, text: '' };

  constructor(options: ActivityOptions) {
    this.#options = options;
    const { onError, clock } = options;
    this.#timers = [
      clock.every(flushEveryMs, () => void this.flush().catch(onError)),
      clock.every(
        removeEveryMs,
        () => void removeOutdated(options.database, clock.nowMs()).catch(onError),
      ),
    ];
  }

  /** `path` is the request's route. */
  noteRequest(request: EndedRequest, path: string): void {
    const { accountId, keyId, mode, errorCode, costMicros } = request;
    if (accountId === undefined || keyId === undefined || mode === undefined) return;
    const nowMs = this.#nowMs();
    if (this.#uses.size < waitingMax || this.#uses.has(keyId)) this.#uses.set(keyId, nowMs);
    const outcome = errorCode ?? request.cache;
    if (outcome === undefined || costMicros !== undefined) return;
    const model = request.model ?? '';
    this.#count(
      {
        account_id: accountId,
        mode,
        day: this.#dayOf(nowMs),
        key_id: keyId,
        model_id: model,
        outcome,
      },
      request.saved,
    );
    if (errorCode === undefined) return;
    this.#keepError({
      account_id: accountId,
      mode,
      created_at_ms: nowMs,
      request_id: request.requestId,
      key_id: keyId,
      model_id: model,
      path,
      code: errorCode,
    });
  }

  noteCall({ provider, kind, ending, ms }: EndedCall): void {
    const hour = new Date(this.#nowMs()).toISOString().slice(0, 13);
    const latency_bucket = bucketOf(ms);
    const name = `${hour} ${provider} ${kind} ${ending} ${latency_bucket}`;
    add(this.#calls, name, { hour, provider, kind, ending, latency_bucket, calls: 1 }, ['calls']);
  }

  /** Writes the buffered rows. Throws when some could not be written; those are kept. */
  async flush(): Promise<void> {
    const before = this.#writing;
    this.#writing = before.catch(() => {}).then(() => this.#write());
    await this.#writing;
  }

  /** Stops the timers and flushes once more. */
  async close(): Promise<void> {
    for (const cancel of this.#timers) cancel();
    await this.flush().catch(this.#options.onError);
  }

  #count(
    dimensions: Omit<ActivityRow, (typeof counted)[number]>,
    saved: AnswerWorth | undefined,
  ): void {
    const name = `${dimensions.account_id} ${dimensions.mode} ${dimensions.day} ${dimensions.key_id} ${dimensions.model_id} ${dimensions.outcome}`;
    const { costMicros = 0, inputTokens = 0, outputTokens = 0 } = saved ?? {};
    const saved_micros = costMicros as ActivityRow['saved_micros'];
    const row = {
      ...dimensions,
      requests: 1,
      saved_micros,
      input_tokens: inputTokens,
      output_tokens: outputTokens,
    };
    add(this.#sums, name, row, counted);
  }

  /** Keeps the newest errors of each account. */
  #keepError(row: ErrorRow): void {
    const name = `${row.account_id} ${row.mode}`;
    const kept = this.#errors.get(name);
    if (kept) {
      kept.push(row);
      if (kept.length > errorsMax) kept.shift();
    } else if (this.#errors.size < waitingMax / errorsMax) this.#errors.set(name, [row]);
  }

  /** Writes each kind separately, so that one failure does not lose the others. */
  async #write(): Promise<void> {
    const { database } = this.#options;
    const [sums, errors, uses, calls] = [
      take(this.#sums),
      take(this.#errors),
      take(this.#uses),
      take(this.#calls),
    ];
    const results = await Promise.allSettled([
      addActivity(database, sums, (rest) =>
        rest.forEach(([name, row]) => add(this.#sums, name, row, counted)),
      ),
      addErrors(database, errors, (rest) =>
        rest.forEach(([, rows]) => rows.forEach((row) => this.#keepError(row))),
      ),
      addKeyUses(database, uses, (rest) =>
        rest.forEach(([id, ms]) => this.#uses.set(id, Math.max(ms, this.#uses.get(id) ?? 0))),
      ),
      addProviderCalls(database, calls, (rest) =>
        rest.forEach(([name, row]) => add(this.#calls, name, row, ['calls'])),
      ),
    ]);
    const failed = results.find((result) => result.status === 'rejected');
    if (failed) throw failed.reason;
  }

  #dayOf(nowMs: number): string {
    const number = Math.floor(nowMs / dayMs);
    if (number !== this.#day.number)
      this.#day = { number, text: new Date(nowMs).toISOString().slice(0, 10) };
    return this.#day.text;
  }

  #nowMs(): number {
    return this.#options.clock.nowMs();
  }
}

const counted = ['requests', 'saved_micros', 'input_tokens', 'output_tokens'] as const;

/** Adds a row's counts to the row of the same name, or inserts it while there is room. */
function add<Row extends object>(
  rows: Map<string, Row>,
  name: string,
  row: Row,
  counts: readonly (keyof Row)[],
): void {
  const known = rows.get(name);
  if (!known) {
    if (rows.size < waitingMax) rows.set(name, row);
    return;
  }
  const numbers = known as Record<keyof Row, number>;
  for (const count of counts) numbers[count] += row[count] as number;
}

/**
 * Takes all rows, sorted: gateways that write the same rows then lock them in one order and do not
 * deadlock.
 */
function take<Value>(values: Map<string, Value>): readonly (readonly [string, Value])[] {
  const taken = [...values].toSorted(([one], [other]) => (one < other ? -1 : 1));
  values.clear();
  return taken;
}

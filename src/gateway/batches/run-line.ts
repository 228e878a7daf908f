// Runs a line of a batch on the path of any request (run.ts), under an Idempotency-Key that its batch and
// number make: one that was answered is not paid twice, however often it is run.
import { ApiError } from '../../canonical/errors.ts';
import type { Batch, LineRow, TakenLine } from '../../domain/batches/batch-store.ts';
import type { ApiKey } from '../../domain/keys/api-key.ts';
import { isDatabaseUnavailable } from '../../domain/ledger/batcher.ts';
import { newIdWithPrefix } from '../../lib/ids.ts';
import { type JsonObject, parseJson } from '../../lib/json.ts';
import { zeroMicros } from '../../lib/money.ts';
import type { LineOutcome } from '../../terms/batch.ts';
import type { Client } from '../client.ts';
import { type Gateway, snapshotOf } from '../gateway.ts';
import type { IncomingRequest, PassedLine } from '../request.ts';
import { RequestRecord } from '../request-record.ts';
import { run } from '../run.ts';
import type { Endpoint } from '../stages.ts';
import { explainDatabaseOutage } from '../unavailable.ts';
import {
  batchRouteOf,
  erroredText,
  estimate,
  type LineContext,
  requestOf,
  succeededText,
  unrunText,
} from './line.ts';
import { reserveOf } from './make-batch.ts';
import type { BatchParts } from './parts.ts';

/** A line that a provider could not answer is tried again after these times. */
const retryMs = [30_000, 300_000];
/** After a failure of our own, a line that a provider has answered is read again. */
const readAgainMs = 30_000;

export type Result = { readonly outcome: LineOutcome; readonly text: string };
/** `againAfterMs`: 0 when the gateway or its database ends. */
export type Ended = Result | { readonly againAfterMs: number };

/** `isCausedByAccount`: the loss counts against the account's loss budget. */
export type EndedHold = Pick<TakenLine, 'request_id' | 'likely_micros' | 'isTakenOver'> & {
  readonly isCausedByAccount?: boolean;
};

/** `key`: null when it is no more. */
export type LineOwner = { readonly batch: Batch; readonly key: ApiKey | null };

type AnsweredLine = PassedLine & { readonly answer: NonNullable<PassedLine['answer']> };

export class LineRuns {
  readonly #parts: BatchParts;

  constructor(parts: BatchParts) {
    this.#parts = parts;
  }

  /**
   * Gives the line another hold for its next try. What the try of a killed process has likely cost is
   * the operator's loss. If it was charged, the line keeps its id, and its answer is replayed.
   */
  async renew(line: TakenLine, key: ApiKey): Promise<TakenLine> {
    const { store, gateway } = this.#parts;
    const { ledger } = gateway.books;
    const requestId = newIdWithPrefix('req');
    if (await this.endHold(line)) return { ...line, isTakenOver: false };
    const isOurs = await store.rename(line, requestId);
    // Nobody would end a hold of a line that another process has.
    if (!isOurs || line.held_micros === 0)
      return { ...line, request_id: requestId, isTakenOver: false };
    const held = await ledger.submit(reserveOf(key, requestId, line.held_micros));
    // When it does not fit any more, the line's run is refused. What a provider has run is charged as far
    // as it fits, and lost beyond.
    if (held.type !== 'held' && line.sent_id !== null)
      await ledger.submit({ ...reserveOf(key, requestId, zeroMicros), isForLoss: true });
    return { ...line, request_id: requestId, isTakenOver: false };
  }

  /** Ends the hold of a line. Returns true when it ended with a charge. */
  async endHold({ request_id: holdId, likely_micros: likely, ...ended }: EndedHold) {
    const lossMicros = ended.isTakenOver ? likely : zeroMicros;
    const { isCausedByAccount } = ended;
    const release = { type: 'release', holdId, lossMicros, isCausedByAccount } as const;
    return (await this.#parts.gateway.books.ledger.submit(release)).type === 'already-resolved';
  }

  /** Ends a line that does not run. One that was charged when its process was killed has its answer. */
  async endUnrun(
    { batch, key }: LineOwner,
    line: LineRow & EndedHold,
    ending: Extract<LineOutcome, 'canceled' | 'expired'> | ApiError,
  ): Promise<void> {
    const wasCharged = await this.endHold(line);
    const ended = wasCharged && key ? await this.answer(batch, line, key) : null;
    const { outcome, text } =
      ended && 'outcome' in ended ? ended : this.#resultOf(batch, line, ending);
    await this.#parts.store.finish(line, outcome, text);
  }

  #resultOf(
    { form, endpoint }: Batch,
    { custom_id: customId, request_id: requestId }: LineRow,
    ending: Extract<LineOutcome, 'canceled' | 'expired'> | ApiError,
  ): Result {
    const named = { form, customId, requestId };
    if (!(ending instanceof ApiError)) return { outcome: ending, text: unrunText(named, ending) };
    const publicUrl = this.#parts.gateway.config.server.public_url;
    return { outcome: 'errored', text: erroredText(named, ending, { endpoint, publicUrl }) };
  }

  /** `passed`: has the provider's answer. Left out: the gateway calls the provider. */
  async answer(batch: Batch, line: LineRow, key: ApiKey, passed?: AnsweredLine): Promise<Ended> {
    const { gateway, store, endpoints, listeners, turnsOf } = this.#parts;
    const { endpoint, form } = batch;
    const { clock, observe } = gateway;
    const { request_id: requestId, custom_id: customId } = line;
    const arrivedAtMs = clock.elapsedMs();
    const record = new RequestRecord(requestId, {
      path: endpoint,
      listeners,
      onError: (err) =>
        gateway.log.error({ err }, 'a listener of requests failed by our own fault'),
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
      // No client knows the id at the provider, so none can have another answer under this key.
      const idempotencyKey = `${line.sent_id ?? batch.id}/${line.line}`;
      const incoming = requestOf(JSON.parse(batch.request) as LineContext, {
        requestId,
        key: passed ? asPayer(key) : key,
        endpoint,
        body,
        record,
        arrivedAtMs,
        nextTurn,
        idempotencyKey,
        passed,
      });
      const client = new LineClient();
      const live = snapshotOf(gateway);
      await run(
        live,
        endpoints[endpoint]!,
        passed || key.mode === 'live'
          ? incoming
          : atBatchPrice(live, endpoints[endpoint]!, incoming),
        client,
      );
      bodies?.noteAnswer(client.answer);
      return {
        outcome: 'succeeded',
        text: succeededText({ form, customId, requestId }, client.answer),
      };
    } catch (thrown) {
      const error = this.asApiError(thrown, requestId);
      status = error.status;
      record.noteError(error);
      if (gateway.runs.isEnding || isDatabaseUnavailable(thrown)) return { againAfterMs: 0 };
      if (passed && error.code === 'internal_error') return { againAfterMs: readAgainMs };
      const againAfterMs = passed ? undefined : retryMs[line.tries - 1];
      // A test shows the failures that it asks for.
      const isAgain = key.mode === 'live' ? mayPass(error) : error.code === 'overloaded';
      if (isAgain && againAfterMs !== undefined) return { againAfterMs };
      const result = this.#resultOf(batch, line, error);
      bodies?.noteAnswer(result.text);
      return result;
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

  /** Logs what is our own fault. */
  asApiError(thrown: unknown, requestId: string): ApiError {
    const error = explainDatabaseOutage(thrown);
    if (error instanceof ApiError) return error;
    this.#parts.gateway.log.error(
      { err: error, request_id: requestId },
      'a request failed by our own fault',
    );
    const message = 'The gateway failed. Nothing was charged.';
    return new ApiError('internal_error', message, { cause: error });
  }
}

export function mayRun({ isDisabled, expiresAtMs }: ApiKey, nowMs: number): boolean {
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

/**
 * The key as it is charged: the account pays for what a provider has run, also if it was frozen or the
 * key's models were changed since.
 */
function asPayer(key: ApiKey): ApiKey {
  return { ...key, accountFrozen: false, models: null };
}

/** The sandbox has no batch API; its lines cost what they would cost there. */
function atBatchPrice(
  gateway: Gateway,
  endpoint: Endpoint,
  incoming: IncomingRequest,
): IncomingRequest {
  const to = batchRouteOf(estimate(gateway, endpoint, incoming).firstCall);
  return to ? { ...incoming, passed: { route: to.route, answer: null } } : incoming;
}

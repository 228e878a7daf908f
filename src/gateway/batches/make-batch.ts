// Creates a batch: reads and estimates every line, stores them, and holds the most that each can cost.
// A line's hold is opened here under the id with which the line will run, so that its run finds the hold
// and settles it: the money is counted once. The holds belong to no process; the batch's end ends them.
import {
  accountFrozen,
  ApiError,
  idempotencyConflict,
  invalidRequest,
  refuseField,
} from '../../canonical/errors.ts';
import type { Batch, NewLine } from '../../domain/batches/batch-store.ts';
import type { RequestName } from '../../domain/idempotency/request-name.ts';
import type { ApiKey } from '../../domain/keys/api-key.ts';
import type { Outcome } from '../../domain/ledger/commands.ts';
import { newIdWithPrefix } from '../../lib/ids.ts';
import { type JsonObject, JsonScan, requestValuesMax } from '../../lib/json.ts';
import { type Micros, micros, zeroMicros } from '../../lib/money.ts';
import { dayMs } from '../../lib/utc-time.ts';
import { type BatchForm, batchLineBytesMax, batchLinesMax, batchOwner } from '../../terms/batch.ts';
import { holdRefused } from '../charging/hold-refusal.ts';
import { reserveFor } from '../charging/open-hold.ts';
import { type Gateway, snapshotOf } from '../gateway.ts';
import { shuttingDown } from '../unavailable.ts';
import { RequestRecord } from '../request-record.ts';
import { inTurns } from './in-turns.ts';
import { batchRouteOf, erroredText, estimate, type LineContext, requestOf } from './line.ts';
import { SentGroups } from './sent-groups.ts';
import type { BatchParts } from './parts.ts';

export type AskedLine = { readonly customId: string; readonly body: JsonObject };

export type AskedBatch = {
  readonly key: ApiKey;
  readonly form: BatchForm;
  readonly endpoint: string;
  /** null: the lines came with the request. */
  readonly fileId: string | null;
  /** The client's, as JSON. */
  readonly metadata: string | null;
  readonly context: LineContext;
  /** null: without an Idempotency-Key. */
  readonly name: RequestName | null;
  /** May throw ApiError, which refuses the batch. */
  readonly lines: AsyncIterable<AskedLine> | Iterable<AskedLine>;
  /** How long after its creation its results are kept. */
  readonly keptForMs: number;
};

/** The field that errors name for a line. */
const placeOf = { openai: 'input_file_id', anthropic: 'requests' } as const;
const idPrefix = { openai: 'batch', anthropic: 'msgbatch' } as const;

/** Lines that are stored, and holds that are opened, at once. */
const stepLines = 200;
const stepBytes = 4 * 1024 * 1024;
const pollMs = 250;
/**
 * The most batches of an account that have not ended. The queue checks batches at providers one by one, so
 * many of one account delay those of others.
 */
const openMax = 1_000;

/**
 * Returns the batch, or that of an earlier request with the same Idempotency-Key. Throws ApiError
 * when a line has a wrong form, when the sum cannot be held, or at the account's limits of a day; then
 * nothing is kept or held. A line that its endpoint refuses has ended with that error, free of charge.
 */
export async function makeBatch(
  parts: BatchParts,
  asked: AskedBatch,
): Promise<{ readonly batch: Batch; readonly isReplay: boolean }> {
  const { gateway, store } = parts;
  const { key, form, name, context } = asked;
  const [nowMs, id] = [gateway.clock.nowMs(), newIdWithPrefix(idPrefix[form])];
  if (key.accountFrozen) throw accountFrozen();
  const row = {
    id,
    account_id: key.accountId,
    mode: key.mode,
    key_id: key.id,
    form,
    endpoint: asked.endpoint,
    file_id: asked.fileId,
    metadata: asked.metadata,
    request: JSON.stringify(context),
    state: 'creating',
    owner: gateway.books.owner,
    name_digest: name?.keyDigest ?? null,
    fingerprint: name?.fingerprint ?? null,
    counts: null,
    created_at_ms: nowMs,
    expires_at_ms: nowMs + dayMs,
    cancelled_at_ms: null,
    ended_at_ms: null,
    kept_until_ms: nowMs + Math.max(asked.keptForMs, dayMs),
    due_at_ms: nowMs,
  } as const;
  for (let tries = 0; !(await store.create(row)); tries += 1) {
    const earlier = await findEarlier(parts, name!);
    if (earlier) return { batch: earlier, isReplay: true };
    if (tries === 10) throw shuttingDown();
  }
  let linesRead = 0;
  const lines = async function* () {
    for await (const line of asked.lines) {
      linesRead += 1;
      yield line;
    }
  };
  let end: ((linesRefused: number) => void) | null = null;
  try {
    end = await gateway.rateLimits.beginBatch(key);
    if ((await store.countOpen(key.accountId)) > openMax) throw tooManyOpen();
    const totals = await storeLines(parts, { ...asked, lines: lines(), id, nowMs });
    // Once more, with those that are created at the same time.
    await store.noteTotals(id, totals);
    refuseOverDay(gateway, await store.since(key.accountId, nowMs - dayMs));
    await hold(parts, asked, { id, ...totals });
    if (!(await store.start(id))) throw shuttingDown();
    end(0);
  } catch (error) {
    const isRefusal = error instanceof ApiError && error.status < 500;
    try {
      await abandon(parts, id);
    } finally {
      // Else a small request could have the lines of a large file read again and again, for nothing.
      end?.(isRefusal ? linesRead : 0);
    }
    throw error;
  }
  return { batch: (await store.find(key, form, id))!, isReplay: false };
}

/** Waits for a batch that is being created. Returns null when it was not created after all. */
async function findEarlier(
  { gateway, store }: BatchParts,
  name: RequestName,
): Promise<Batch | null> {
  for (;;) {
    const batch = await store.findNamed(name.keyId, name.keyDigest);
    if (!batch) return null;
    if (batch.fingerprint !== name.fingerprint) throw idempotencyConflict();
    if (batch.state !== 'creating') return batch;
    if (await store.isAbandoned(batch)) throw shuttingDown();
    await gateway.clock.sleep(pollMs);
  }
}

/** Removes a batch that was not created, and ends its holds. */
export async function abandon({ gateway, store }: BatchParts, id: string): Promise<void> {
  const { ledger } = gateway.books;
  for await (const lines of store.unended(id)) {
    const ended = lines.map(({ request_id: holdId }) =>
      ledger.submit({ type: 'release', holdId, lossMicros: zeroMicros }),
    );
    await Promise.all(ended);
  }
  await ledger.submit({ type: 'release', holdId: id, lossMicros: zeroMicros });
  await store.remove(id);
}

type Creating = AskedBatch & { readonly id: string; readonly nowMs: number };
type Totals = { readonly lines: number; readonly bytes: number; readonly heldMicros: Micros };

async function storeLines(parts: BatchParts, asked: Creating): Promise<Totals> {
  const { gateway, store } = parts;
  const { id, nowMs, form, key } = asked;
  const place = placeOf[form];
  const used = await store.since(key.accountId, nowMs - dayMs);
  const seen = new Set<string>();
  const groups = new SentGroups(asked);
  let waiting: NewLine[] = [];
  let [bytes, waitingBytes, heldMicros] = [0, 0, 0];
  const flush = async () => {
    await parts.sent.add(groups.takeNew());
    await store.addLines(id, seen.size - waiting.length, waiting, nowMs);
    [waiting, waitingBytes] = [[], 0];
  };
  for await (const line of inTurns(asked.lines, gateway.clock)) {
    const at = `${place}[${seen.size}]`;
    if (seen.has(line.customId))
      throw invalidRequest(at, `${at}: \`custom_id\` is the same as that of an earlier line.`);
    if (seen.size === batchLinesMax)
      throw invalidRequest(
        place,
        `${place} must have at most ${batchLinesMax} lines. Split the batch.`,
      );
    seen.add(line.customId);
    const made = newLine(parts, asked, { ...line, groups });
    const lineBytes = Buffer.byteLength(made.text);
    if (lineBytes > batchLineBytesMax)
      refuseField(at, `is longer than ${batchLineBytesMax} bytes. Send it by itself.`);
    bytes += lineBytes;
    waitingBytes += lineBytes;
    heldMicros = micros(heldMicros + made.heldMicros);
    refuseOverDay(gateway, { lines: used.lines + seen.size, bytes: used.bytes + bytes });
    waiting.push(made);
    if (waiting.length === stepLines || waitingBytes > stepBytes) await flush();
  }
  if (seen.size === 0) throw invalidRequest(place, `${place} must have at least one line.`);
  if (waiting.length > 0) await flush();
  return { lines: seen.size, bytes, heldMicros: micros(heldMicros) };
}

function refuseOverDay(
  { config: { limits } }: Gateway,
  { lines, bytes }: Pick<Batch, 'lines' | 'bytes'>,
): void {
  if (lines > limits.batch_lines_per_day) throw overDay('lines', limits.batch_lines_per_day);
  if (bytes > limits.batch_bytes_per_day) throw overDay('bytes', limits.batch_bytes_per_day);
}

export function overDay(unit: 'lines' | 'bytes', max: number): ApiError {
  return new ApiError(
    'rate_limit_exceeded',
    `An account may put ${max} ${unit} into batches and their files in 24 hours (\`limits.batch_${unit}_per_day\`). Send the rest later.`,
    {
      retryAfterSeconds: 3_600,
      details: { limit: `batch_${unit}_per_day` },
    },
  );
}

function tooManyOpen(): ApiError {
  return new ApiError(
    'rate_limit_exceeded',
    `An account may have ${openMax} batches that have not ended. Wait until one has, or put more lines into each.`,
    { retryAfterSeconds: 60, details: { limit: 'open_batches' } },
  );
}

/** Estimates a line. One that is refused has ended. */
function newLine(
  { gateway, endpoints }: BatchParts,
  { form, endpoint, context, key, id }: Creating,
  { customId, body, groups }: AskedLine & { readonly groups: SentGroups },
): NewLine {
  const requestId = newIdWithPrefix('req');
  const record = new RequestRecord(requestId);
  const arrivedAtMs = gateway.clock.elapsedMs();
  const asked = requestOf(context, { requestId, key, endpoint, body, record, arrivedAtMs });
  // Routes of one rank share whole batches, not their lines: a part may be too small for a host.
  const incoming = { ...asked, sessionId: id };
  try {
    const text = JSON.stringify(body);
    // The bound of a request by itself: a body of many requests may have more.
    if (new JsonScan({ valuesMax: requestValuesMax }).findExcess(text) !== null)
      throw invalidRequest(
        null,
        `The request has more than ${requestValuesMax} values; send shorter lists and objects.`,
      );
    const line = { customId, requestId, text, outcome: null };
    const live = snapshotOf(gateway);
    const { firstCall, modelId, ...costs } = estimate(live, endpoints[endpoint]!, incoming);
    const to = batchRouteOf(firstCall);
    if (!to) return { ...line, ...costs, sentId: null };
    const passed = { route: to.route, answer: null };
    // Its alias may lead to another model before it has its answer.
    const named = { ...body, model: modelId };
    const asPassed = { ...incoming, body: named, passed };
    const { heldMicros, likelyMicros } = estimate(live, endpoints[endpoint]!, asPassed);
    // The sandbox has no batch API: our queue runs these lines, at the price of one.
    const sentId = key.mode === 'test' ? null : groups.groupFor(to, Buffer.byteLength(text));
    return { ...line, text: JSON.stringify(named), heldMicros, likelyMicros, sentId };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const publicUrl = gateway.config.server.public_url;
    const text = erroredText({ form, customId, requestId }, error, { endpoint, publicUrl });
    const none = { heldMicros: zeroMicros, likelyMicros: zeroMicros };
    return { customId, requestId, ...none, text, outcome: 'errored', sentId: null };
  }
}

/**
 * Holds for every line. A hold of the sum comes first and is released again, so that a batch that does
 * not fit is refused at once.
 */
async function hold(
  parts: BatchParts,
  { key }: AskedBatch,
  { id, heldMicros }: Totals & { readonly id: string },
): Promise<void> {
  const { gateway, store } = parts;
  const { ledger } = gateway.books;
  const check = (outcome: Outcome) => {
    if (outcome.type !== 'held') throw refused(outcome, heldMicros, gateway.clock.nowMs());
  };
  if (heldMicros === 0) return;
  check(await ledger.submit(reserveOf(key, id, heldMicros)));
  await ledger.submit({ type: 'release', holdId: id, lossMicros: zeroMicros });
  for await (const lines of store.unended(id)) {
    const costly = lines.filter((line) => line.held_micros > 0);
    const held = costly.map((line) =>
      ledger.submit(reserveOf(key, line.request_id, line.held_micros)),
    );
    for (const outcome of await Promise.all(held)) check(outcome);
  }
}

/** Opens the hold of a line that waits. */
export function reserveOf(key: ApiKey, holdId: string, amountMicros: Micros) {
  return reserveFor(key, { holdId, amountMicros, owner: batchOwner });
}

function refused(outcome: Outcome, amountMicros: Micros, nowMs: number): Error {
  if (!('affordableMicros' in outcome))
    return new Error(`the ledger answered a reservation with ${outcome.type}`);
  return holdRefused(outcome, {
    amountMicros,
    nowMs,
    costPart: ' with all its lines',
    fitsPart: ' Send fewer lines, or limit their output tokens.',
    details: {},
  });
}

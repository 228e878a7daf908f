// The fault table: every fault on every pair of formats, streamed and whole, with and without an
// Idempotency-Key. Each cell sends one to three requests on an account that no other cell uses
// meanwhile, so its charge is the exact change of the balance.
import assert from 'node:assert/strict';
import { systemClock } from '../../src/lib/clock.ts';
import { estimateInputTokens } from '../../src/lib/tokens.ts';
import type { UpstreamWireName } from './answers.ts';
import { addressed, promptOf } from './endpoints.ts';
import type { ChargedTokens, Expected, ErrorCode, Fault } from './faults.ts';
import { faults, transportFaults } from './faults.ts';
import {
  faultModel,
  faultPairs,
  faultPrices,
  providerKeyCore,
  type FaultGateway,
  type FaultPair,
} from './fault-gateway.ts';
import {
  answerText,
  canaryCores,
  faultMark,
  goodTokens,
  promptCanary,
  taskHost,
} from './fault-server.ts';
import type { Reply, SendOptions } from './http.ts';
import { asReplayed } from './numbered-answers.ts';
import { readPlainly } from './plain/read-plainly.ts';
import { checkStream } from './stream-rules.ts';
import { taskSamples, type TaskSample } from './task-samples.ts';

export type Cell = {
  readonly id: string;
  readonly fault: Fault;
  readonly pair: FaultPair;
  readonly stream: boolean;
  readonly isKeyed: boolean;
  readonly expected: Expected;
};

export function allCells(): Cell[] {
  const cells: Cell[] = [];
  for (const fault of faults) {
    for (const pair of faultPairs) {
      for (const stream of [false, true]) {
        const expected = fault.expect({ host: pair.host, stream, straight: pair.straight });
        if (!expected || (fault.isHeavy && !pair.straight)) continue;
        for (const isKeyed of [false, true])
          cells.push({ id: `cell-${cells.length}`, fault, pair, stream, isKeyed, expected });
      }
    }
  }
  return cells;
}

/**
 * Returns a cell for each fault, streamed and whole, on the straight path of each format and in
 * translation, on the pair used least so far. So every pair is covered too.
 */
export function coveringCells(): Cell[] {
  const counts = new Map<string, number>();
  const kinds = Map.groupBy(allCells(), ({ fault, pair, stream }) => {
    const path = pair.straight && !fault.isHeavy ? pair.client.name : 'any';
    return `${fault.name} ${stream} ${path}`;
  });
  return Array.from(kinds.values(), (cells) => {
    const placeOf = ({ pair, stream, isKeyed }: Cell) => `${pair.name} ${stream} ${isKeyed}`;
    const countOf = (cell: Cell) => counts.get(placeOf(cell)) ?? 0;
    const cell = cells.reduce((fewest, other) =>
      countOf(other) < countOf(fewest) ? other : fewest,
    );
    counts.set(placeOf(cell), countOf(cell) + 1);
    return cell;
  });
}

export type CellResult = { readonly cell: Cell; readonly problem: string | null };

/** The longest a request may take on the gateway's clock: far above every configured timeout. */
const hangMs = 30_000;
/** The longest it may take in real time; a limit for hangs only. */
const realHangMs = 300_000;

/** The gateway, key and account that run one cell at a time. */
export type Lane = {
  readonly faulty: FaultGateway;
  readonly key: string;
  readonly account: string;
};

export async function newLane(faulty: FaultGateway): Promise<Lane> {
  const { key, account } = await faulty.gateway.makeKey({ mode: 'live', creditUsd: 1_000 });
  return { faulty, key, account };
}

/** Runs the cells on these lanes; heavy ones on two lanes only. */
export async function runCells(
  cells: readonly Cell[],
  lanes: readonly Lane[],
): Promise<CellResult[]> {
  const results: CellResult[] = [];
  for (const isHeavy of [false, true]) {
    const queue = cells.filter(({ fault }) => (fault.isHeavy ?? false) === isHeavy);
    const workers = lanes.slice(0, isHeavy ? 2 : lanes.length).map(async (lane) => {
      for (let cell = queue.shift(); cell; cell = queue.shift())
        results.push({ cell, problem: await problemOf(lane, cell) });
    });
    await Promise.all(workers);
  }
  return results;
}

/** Returns what is wrong with a cell; null: nothing. */
export async function problemOf(lane: Lane, cell: Cell): Promise<string | null> {
  try {
    await runCell(lane, cell);
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

async function runCell(lane: Lane, cell: Cell): Promise<void> {
  const first = await askAndCheck(lane, cell, cell.expected);
  if (!cell.isKeyed) return;
  if (first.isSuccess) return checkReplay(lane, cell, first.reply, 1);
  // The Idempotency-Key is free again. A port without a listener stays one; every other fault is
  // over.
  if (cell.fault.play === null) return void (await askAndCheck(lane, cell, cell.expected));
  const second = await askAndCheck(lane, cell, { kind: 'complete' });
  await checkReplay(lane, cell, second.reply, 2);
}

async function checkReplay(lane: Lane, cell: Cell, stored: Reply, calls: number): Promise<void> {
  const before = await lane.faulty.gateway.balance(lane.account);
  const reply = await ask(lane, cell);
  assert.deepEqual(
    [reply.status, reply.headers['x-service-cache'], reply.costMicros],
    [200, 'idempotent-replay', 0],
    'the replay',
  );
  assert.equal(reply.text, asReplayed(stored.text), 'the replay');
  assert.deepEqual(
    await lane.faulty.gateway.balance(lane.account),
    before,
    'the charge of a replay',
  );
  assert.equal(lane.faulty.server.callsOf(cell.id), calls, 'the requests upstream');
}

/** Sends one request and checks everything about it. */
async function askAndCheck(
  lane: Lane,
  cell: Cell,
  expected: Expected,
): Promise<{ reply: Reply; isSuccess: boolean }> {
  const { gateway } = lane.faulty;
  const before = await gateway.balance(lane.account);
  const reply = await ask(lane, cell);
  const after = await gateway.balance(lane.account);
  const isSuccess = checkReply(cell, expected, reply);
  if (isSuccess) checkContent(cell, expected, reply);
  const chargedMicros = before.postedMicros - after.postedMicros;
  assert.equal(after.heldMicros, 0, 'something stays held');
  assert.equal(
    chargedMicros,
    isSuccess ? costOf(cell, expected) : 0,
    `the charge: ${reply.status} ${reply.text.slice(-300)}`,
  );
  assert.equal(reply.costMicros, isSuccess ? chargedMicros : null, 'the reported charge');
  return { reply, isSuccess };
}

/** Throws when the reply is not of the expected kind. Returns true for a success. */
function checkReply(cell: Cell, expected: Expected, reply: Reply): boolean {
  const { pair, stream } = cell;
  const start = `${reply.status} ${reply.text.slice(0, 400)}`;
  assert.match(reply.requestId, /^req_/);
  checkConfidence(cell, reply);
  if (reply.status !== 200) {
    if (expected.kind === 'complete') assert.fail(`the ending: ${start}`);
    checkRefusal(pair.client.name, expected, reply);
    return false;
  }
  assert.notEqual(expected.kind, 'refused', `the ending: ${start}`);
  if (!stream) {
    assert.notEqual(expected.kind, 'broken', `the ending: ${start}`);
    return true;
  }
  const { ending } = checkStream(pair.client.name, reply.text, { straight: pair.straight });
  const isSuccess = ending === 'success';
  if (expected.kind !== 'either')
    assert.equal(isSuccess, expected.kind === 'complete', `the ending: ${reply.text.slice(-400)}`);
  if (expected.kind === 'broken')
    assert.ok(reply.text.includes(`"${expected.code}"`), `the code: ${reply.text.slice(-400)}`);
  return isSuccess;
}

/**
 * Checks that the answer belongs to the cell, and that the client sees our own count when it is
 * charged by that.
 */
function checkContent(cell: Cell, expected: Expected, reply: Reply): void {
  if (expected.kind !== 'complete') return;
  const { text, usage } = readPlainly(cell.pair.client.name, cell.stream, reply.text);
  assert.equal(text, answerText(cell.id), 'the text');
  if (typeof expected.tokens !== 'string' || !usage) return;
  const { input, output } = tokensOf(cell, expected);
  assert.deepEqual([usage.input, usage.output], [input, output], 'the usage that is shown');
}

/** Checks that the reply contains no key, and no text of another cell's request or answer. */
function checkConfidence({ id }: Pick<Cell, 'id'>, reply: Reply): void {
  const head = JSON.stringify([reply.headers, reply.trailers]);
  for (const secret of [providerKeyCore, idempotencyKeyCore, 'tg_live_']) {
    assert.ok(
      !head.includes(secret) && !reply.text.includes(secret),
      `a leak: ${secret} in ${reply.text.slice(0, 600)}`,
    );
  }
  for (const core of Object.values(canaryCores)) {
    const pieces = `${head} ${reply.text}`.replaceAll('\\"', '"').split(core).slice(1);
    for (const piece of pieces)
      assert.ok(
        piece.startsWith(`${id}~`),
        `a leak of another request: ${core}${piece.slice(0, 20)}`,
      );
  }
}

const statuses: Readonly<Record<ErrorCode, number>> = {
  invalid_request: 400,
  upstream_error: 502,
  upstream_unavailable: 503,
  upstream_timeout: 504,
};

function checkRefusal(client: UpstreamWireName, expected: Expected, reply: Reply): void {
  const where = reply.text.slice(0, 400);
  const { code, message } = reply.error;
  const wanted = 'code' in expected ? expected.code : 'upstream_error';
  assert.deepEqual([reply.status, code], [statuses[wanted], wanted], `the status: ${where}`);
  assert.match(String(reply.headers['content-type']), /^application\/json/, where);
  assert.equal(reply.json()['type'] === 'error', client === 'messages', where);
  assert.ok(message.length > 10 && message.length <= 500, where);
  const [least, most] = (expected.kind === 'refused' && expected.retryAfterSeconds) || [1, 10];
  if (reply.status !== 503) return;
  const seconds = Number(reply.headers['retry-after']);
  assert.ok(
    Number.isInteger(seconds) && seconds >= least && seconds <= most,
    `Retry-After: ${reply.headers['retry-after']}`,
  );
}

function costOf(cell: Cell, expected: Expected): number {
  const { input, cacheRead = 0, output } = tokensOf(cell, expected);
  return Math.ceil(
    input * faultPrices.input + cacheRead * faultPrices.cache_read + output * faultPrices.output,
  );
}

function tokensOf(cell: Cell, expected: Expected): Exclude<ChargedTokens, string> {
  const tokens = (expected.kind === 'complete' && expected.tokens) || goodTokens;
  if (typeof tokens !== 'string') return tokens;
  const { likely, most } = estimateInputTokens(bodyOf(cell));
  // With what a provider may add to the input, and the request's own output limit.
  if (tokens === 'most') return { input: most + 3_000, output: 200 };
  const input = tokens === 'own' ? likely : goodTokens.input;
  return { input, output: Math.ceil(answerText(cell.id).length / 4) };
}

function ask(lane: Lane, cell: Cell): Promise<Reply> {
  const { path, body } = addressed(cell.pair.client, bodyOf(cell));
  return askWithin(lane, cell.id, path, {
    body,
    headers: cell.isKeyed ? { 'idempotency-key': `${idempotencyKeyCore}${cell.id}` } : {},
  });
}

async function askWithin(
  { faulty: { gateway, server }, key }: Lane,
  id: string,
  path: string,
  request: SendOptions,
): Promise<Reply> {
  server.asked(id);
  const sent = gateway.post(path, { key, ...request });
  const { promise: hung, reject } = Promise.withResolvers<never>();
  const timers = [
    gateway.program.clock.after(hangMs, () =>
      reject(new Error(`a hang: no answer within ${hangMs} ms`)),
    ),
    systemClock.after(realHangMs, () =>
      reject(new Error(`a hang: no answer within ${realHangMs} ms of real time`)),
    ),
  ];
  try {
    return await Promise.race([sent, hung]);
  } finally {
    server.answered(id);
    for (const cancel of timers) cancel();
  }
}

type TaskCell = {
  readonly id: string;
  readonly fault: Fault;
  readonly task: TaskSample;
  readonly expected: Expected;
};

/** Every fault of the transport on every task. */
export function taskCells(): TaskCell[] {
  return transportFaults.flatMap((fault) => {
    const expected = fault.expect({ host: taskHost, stream: false, straight: true });
    if (!expected || fault.isHeavy) return [];
    return taskSamples.map((task) => ({
      id: `task-${fault.name}-${task.type}`,
      fault,
      task,
      expected,
    }));
  });
}

/** Returns what is wrong; null: nothing. */
export async function taskProblemOf(lane: Lane, cell: TaskCell): Promise<string | null> {
  const { id, fault, task, expected } = cell;
  const { gateway } = lane.faulty;
  try {
    const words = `Hello! ${faultMark(fault.name, id, 9)} ${promptCanary(id)}`;
    const request = task.request(faultModel(task.type, fault.play === null), words);
    const before = await gateway.balance(lane.account);
    const reply = await askWithin(lane, id, task.path, request);
    const after = await gateway.balance(lane.account);
    checkConfidence(cell, reply);
    const isSuccess = reply.status === 200;
    if (expected.kind !== 'either')
      assert.equal(isSuccess, expected.kind === 'complete', `the ending: ${reply.text}`);
    if (!isSuccess) checkRefusal('responses', expected, reply);
    const charged = before.postedMicros - after.postedMicros;
    assert.deepEqual([charged, after.heldMicros], [isSuccess ? task.costOf(words) : 0, 0]);
    return null;
  } catch (error) {
    return `${id}: ${error instanceof Error ? error.message : String(error)}`;
  }
}

/** The prefix of every Idempotency-Key of the table. */
export const idempotencyKeyCore = 'idempotency-k3y/of+';

function bodyOf({ id, fault, pair, stream, isKeyed }: Cell): Record<string, unknown> {
  const text = `Hello! ${faultMark(fault.name, id, isKeyed ? 1 : 9)} ${promptCanary(id)}`;
  return pair.client.body({
    model: faultModel(pair.host.name, fault.play === null),
    stream,
    ...promptOf(pair.client.name, text),
  });
}

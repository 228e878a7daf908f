// Clients that disconnect, as a table: format × streamed or whole × with or without an
// Idempotency-Key × progress of the answer × whether the upstream ends while the gateway still
// reads it. Checks the charge, what the upstream saw, and what a retry gets.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { after, describe, test } from 'node:test';
import { streamFrames, wholeAnswer } from '../support/answers.ts';
import { addressed, clients, endpoint, promptOf, type Client } from '../support/endpoints.ts';
import { startGateway } from '../support/gateway.ts';
import type { Reply } from '../support/http.ts';
import { hostNamed } from '../support/model-hosts.ts';
import { pairModels, pairPrices } from '../support/pairs.ts';
import { TestClock } from '../support/test-clock.ts';
import { until } from '../support/until.ts';
import { framesText, hang, type Script } from '../support/upstream.ts';

/** What had arrived when the client left. A whole answer only begins when it is complete. */
const moments = ['nothing', 'two frames', 'all but the end'] as const;
type Moment = (typeof moments)[number];

/** How long the gateway reads the upstream on. */
const readOnMs = 5_000;
/** `soon`: the upstream ends while it is still read. `late`: it does not. */
const ends = ['soon', 'late'] as const;

type Cell = {
  readonly name: string;
  readonly at: Client;
  readonly stream: boolean;
  readonly hasKey: boolean;
  readonly moment: Moment;
  readonly end: (typeof ends)[number];
};

const cells: readonly Cell[] = clients.flatMap((at) =>
  [false, true].flatMap((stream) =>
    [false, true].flatMap((hasKey) =>
      (stream ? moments : moments.slice(0, 1)).flatMap((moment) =>
        ends.map((end) => ({
          name: [at.name, stream ? 'stream' : 'whole', hasKey ? 'key' : 'no key', moment, end]
            .join(', ')
            .replaceAll(/\W+/g, '-'),
          at,
          stream,
          hasKey,
          moment,
          end,
        })),
      ),
    ),
  ),
);

const words = ['one', ' two', ' three', ' four'];
const content = { text: words.join(''), tokens: { input: 100, output: 20 } };
const fullCost = 100 * pairPrices.input + 20 * pairPrices.output;
/** Our own count of what had arrived: a token per four bytes. */
const tokensAt: Readonly<Record<Moment, number>> = {
  nothing: 0,
  'two frames': Math.ceil(words.slice(0, 2).join('').length / 4),
  'all but the end': Math.ceil(content.text.length / 4),
};

const clock = new TestClock();
/** Upstream answers by cell. */
const left = new Map<Cell, Left>();
/** Releases the upstreams that end in time, or the others. */
const release = { soon: Promise.withResolvers<void>(), late: Promise.withResolvers<void>() };

type UpstreamRequest = Parameters<Script>[1];
type Left = {
  readonly key: string;
  readonly account: string;
  readonly retry: Promise<Reply> | null;
  /** How the upstream request ended; null before it has. */
  ended: Awaited<UpstreamRequest['ended']> | null;
};

/** Nobody can see yet what the model writes, so the answer is read to its end. */
const isHidden = ({ stream, moment }: Cell) => !stream || moment === 'nothing';
/** Ends only after the gateway has stopped those that it stops. */
const runsOn = (cell: Cell) => cell.end === 'late' && (cell.hasKey || isHidden(cell));

/** All clients leave at the same moment of the clock. */
const gateway = await startGateway({ models: pairModels, log: { level: 'error' } }, { clock });
const arrived = new Map(cells.map((cell) => [cell, Promise.withResolvers<UpstreamRequest>()]));
for (const path of clients.flatMap(({ name }) => hostNamed(name).paths('upstream-model'))) {
  gateway.upstream.on(path, async (response, request) => {
    const text = JSON.stringify(request.body);
    const cell = cells.find(({ name }) => text.includes(`[${name}]`))!;
    arrived.get(cell)!.resolve(request);
    await play(cell, response);
  });
}
await Promise.all(
  cells.map(async (cell) => left.set(cell, await leave(cell, arrived.get(cell)!.promise))),
);
// Whole answers are never stopped.
const watched = cells.filter(({ hasKey, stream }) => !hasKey && stream);
await until(() => clock.dueIn(readOnMs) === watched.length);

await clock.advance(readOnMs - 1);
assert.ok(left.values().every(({ ended }) => ended === null));
release.soon.resolve();
for (const [{ end }, { key }] of left) if (end === 'soon') await waitForRecord(key);
await clock.advance(1);
await until(() => [...left].every(([cell, { ended }]) => runsOn(cell) || ended !== null));
await clock.advance(10 * readOnMs);
release.late.resolve();
after(() => gateway.stop());

async function play(
  { at, stream, moment, end }: Cell,
  response: Parameters<Script>[0],
): Promise<void> {
  const frames = streamFrames(at.name, content);
  const shown = { nothing: 0, 'two frames': 2, 'all but the end': frames.deltas.length }[moment];
  if (moment !== 'nothing') {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(framesText([...frames.start, ...frames.deltas.slice(0, shown)]));
  }
  await release[end].promise;
  if (response.destroyed) return;
  if (!stream) {
    response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify(wholeAnswer(at.name, content)));
    return;
  }
  if (moment === 'nothing')
    response
      .writeHead(200, { 'content-type': 'text/event-stream' })
      .write(framesText(frames.start));
  response.end(framesText([...frames.deltas.slice(shown), ...frames.end]));
}

async function leave(cell: Cell, asked: Promise<UpstreamRequest>): Promise<Left> {
  const { at, hasKey, moment } = cell;
  const { key, account } = await gateway.makeKey({ mode: 'live', creditUsd: 5 });
  const headers: Record<string, string> = hasKey ? { 'idempotency-key': cell.name } : {};
  const { path, body } = addressed(at, bodyOf(cell));
  const options = { key, headers, body };
  const { request, response } = gateway.open(path, options);
  const upstreamRequest = await asked;
  if (moment !== 'nothing')
    await readUntil(await response, words[moment === 'two frames' ? 1 : 3]!.trim());
  request.destroy();
  // A retry waits for the running request.
  const retry = hasKey ? gateway.post(path, options) : null;
  const leaving: Left = { key, account, retry, ended: null };
  void upstreamRequest.ended.then((ended) => (leaving.ended = ended));
  return leaving;
}

void describe('who leaves pays for what was done for them, once, and the upstream is stopped unless a retry may come', () => {
  for (const cell of cells) test(cell.name, () => assertLeft(cell));
});

async function assertLeft(cell: Cell): Promise<void> {
  const { at, moment, end } = cell;
  const leaving = left.get(cell)!;
  const { key, account } = leaving;
  const ended = await until(() => leaving.ended);
  const record = await waitForRecord(key);
  const cost = record.input_tokens * pairPrices.input + record.output_tokens * pairPrices.output;
  if (end === 'soon' || runsOn(cell)) {
    assert.equal(ended, 'answered');
    assert.equal(cost, fullCost);
  } else {
    assert.equal(ended, 'aborted');
    assert.equal(record.output_tokens, tokensAt[moment]);
    // Anthropic and Google report the input at a stream's start; otherwise it is our own estimate.
    assert.ok(
      at.name === 'messages' || at.name === 'gemini'
        ? record.input_tokens === 100
        : record.input_tokens > 0 && record.input_tokens < 100,
    );
  }
  const retry = await leaving.retry;
  if (retry) {
    assert.equal(retry.status, 200);
    assert.equal(
      retry.headers['x-service-cache'] ?? retry.trailers['x-service-cache'],
      'idempotent-replay',
    );
    assert.match(retry.text, /four/);
    assert.equal(retry.costMicros, 0);
  }
  const data = await gateway.usage(key);
  assert.equal(data.length, 1);
  await gateway.assertLeft(account, 5_000_000 - cost);
}

function bodyOf({ name, at, stream }: Cell): Record<string, unknown> {
  return at.body({ model: `to-${at.name}`, stream, ...promptOf(at.name, `[${name}]`) });
}

async function readUntil(stream: NodeJS.ReadableStream, word: string): Promise<void> {
  stream.on('error', () => {});
  let text = '';
  while (!text.includes(word)) text += String((await once(stream, 'data'))[0]);
}

type UsageRecord = { readonly input_tokens: number; readonly output_tokens: number };

async function waitForRecord(key: string): Promise<UsageRecord> {
  return until(async () => (await gateway.usage<UsageRecord>(key))[0]);
}

test('a client that half-closes its connection counts as gone, because the two look the same', async () => {
  const chat = endpoint('chat');
  const { key, account } = await gateway.makeKey({ mode: 'live', creditUsd: 5 });
  gateway.upstream.on(chat.upstreamPath, hang);
  const next = gateway.upstream.requests.length;
  const { hostname, port } = new URL(gateway.url);
  const socket = connect({ port: Number(port), host: hostname, allowHalfOpen: true });
  const text = JSON.stringify(chat.body({ stream: true }));
  const head = [
    `POST ${chat.path} HTTP/1.1`,
    'Host: x',
    `Authorization: Bearer ${key}`,
    'Content-Type: application/json',
  ];
  const timers = clock.dueIn(readOnMs);
  socket.end([...head, `Content-Length: ${text.length}`, '', text].join('\r\n'));
  socket.resume();
  const request = await gateway.upstream.request(next);
  // The provider hangs, and its time ends.
  await until(() => clock.dueIn(readOnMs) === timers + 1);
  await clock.advance(600_000);
  assert.equal(await request.ended, 'aborted');
  await until(async () => (await gateway.balance(account)).heldMicros === 0);
  assert.equal((await gateway.balance(account)).availableMicros, 5_000_000);
  assert.deepEqual(await gateway.usage(key), []);
  socket.destroy();
});

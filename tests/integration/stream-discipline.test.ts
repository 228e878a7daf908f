// How streams are sent, on every pair of formats: event by event, with keep-alives in silence, no faster than the client reads, and no
// longer than it is there.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, before, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { streamFrames } from '../support/answers.ts';
import { startGatewayProgram, type TestGateway } from '../support/gateway.ts';
import type { Reply } from '../support/http.ts';
import { residentMegabytes } from '../support/memory.ts';
import { pairModels, pairPrices, pairs, type Pair } from '../support/pairs.ts';
import { checkStream } from '../support/stream-rules.ts';
import { until } from '../support/until.ts';
import { answerSse, answerStatus, framesText, roomToWrite, type Script } from '../support/upstream.ts';
import type { Program } from '../support/program.ts';

const keepAliveMs = 150;
const stallMs = 2_500;
const content = { text: 'one two three four', tokens: { input: 100, output: 20 } };
const cost = 100 * pairPrices.input + 20 * pairPrices.output;

let gateway: TestGateway<Program>;

before(async () => {
  gateway = await startGatewayProgram({
    models: pairModels,
    limits: { stream_keep_alive_ms: keepAliveMs, stream_stall_ms: stallMs },
    log: { level: 'error' },
  });
});
after(() => gateway.stop());

const newKey = () => gateway.makeKey({ mode: 'live', creditUsd: 5 });

async function askStream(pair: Pair, key: string): Promise<Reply> {
  return gateway.post(pair.client.path, { key, body: pair.body({ stream: true }) });
}

/** The frames of the answer, with silence before the head and in the middle. */
function silentScript(pair: Pair, silenceMs: number): Script {
  const { start, deltas, end } = streamFrames(pair.upstream, content);
  return async (response) => {
    await setTimeout(silenceMs);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(framesText([...start, ...deltas.slice(0, 2)]));
    await setTimeout(silenceMs);
    response.end(framesText([...deltas.slice(2), ...end]));
  };
}

/** Sets the script of each upstream, and then runs all pairs at once. */
async function withScripts(scriptOf: (pair: Pair) => Script, run: (pair: Pair) => Promise<void>): Promise<void> {
  for (const pair of pairs.filter(({ straight }) => straight)) gateway.upstream.on(pair.upstreamPath, scriptOf(pair));
  await Promise.all(pairs.map(run));
}

test(
  'a silent stream gets keep-alives, before its first event and after it, and costs what it costs',
  { timeout: 30_000 },
  async () => {
    const { key } = await newKey();
    await withScripts(
      (pair) => silentScript(pair, keepAliveMs * 4),
      async (pair) => {
        const reply = await askStream(pair, key);
        const { ending, text } = checkStream(pair.client.name, reply.text, pair);
        assert.deepEqual([ending, text, reply.costMicros], ['success', content.text, cost]);
        const kinds = reply.frames.map((frame) =>
          frame.comment === 'keep-alive' ? 'comment' : frame.event === 'ping' ? 'ping' : 'frame',
        );
        const first = kinds.indexOf('frame');
        assert.ok(first >= 2, `${pair.name}: keep-alives before the first event: ${kinds.join(' ')}`);
        assert.deepEqual(
          new Set(kinds.slice(0, first)),
          new Set(['comment']),
          'they are comments, which no client takes for a start',
        );
        // The upstream's own ping is one of them on the straight path.
        const later = kinds.slice(first).filter((kind) => kind === (pair.client.name === 'messages' ? 'ping' : 'comment'));
        assert.ok(later.length >= 2, `${pair.name}: keep-alives in the middle: ${kinds.join(' ')}`);
      },
    );
  },
);

test('a stream that moves gets none, however long it takes', { timeout: 30_000 }, async () => {
  const { key } = await newKey();
  const words = Array.from({ length: 40 }, (_, index) => `word${index}`).join(' ');
  const moves = async (pair: Pair) => {
    const { start, deltas, end } = streamFrames(pair.upstream, { ...content, text: words });
    const frames = [...start.slice(0, 2), ...deltas, ...end];
    gateway.upstream.on(pair.upstreamPath, answerSse(frames, { paceMs: (4 * keepAliveMs) / frames.length }));
    return !/keep-alive|ping/.test((await askStream(pair, key)).text);
  };
  for (const pair of pairs) {
    // A machine with much to do lets the upstream pause.
    let tries = 0;
    while (!(await moves(pair))) assert.ok(++tries < 5, `${pair.name}: keep-alives in a stream that moves`);
  }
});

/** An error of the upstream that comes when a keep-alive has gone out. */
function lateRefusal(): Script {
  const overloaded = answerStatus(529);
  return async (response, request) => {
    await setTimeout(keepAliveMs * 2);
    await overloaded(response, request);
  };
}

test('what fails after a keep-alive is told by an error event, free of charge', { timeout: 20_000 }, async () => {
  const { key, account } = await newKey();
  await withScripts(lateRefusal, async (pair) => {
    const reply = await askStream(pair, key);
    assert.equal(reply.status, 200, pair.name);
    assert.match(reply.text, /^: keep-alive\n\n/);
    assert.equal(checkStream(pair.client.name, reply.text, pair).ending, 'error', pair.name);
    assert.match(reply.text, /upstream_unavailable/);
    assert.equal(reply.costMicros, null);
  });
  const { availableMicros, heldMicros } = await gateway.balance(account);
  assert.deepEqual([availableMicros, heldMicros], [5_000_000, 0]);
});

test('the official clients read a stream with keep-alives, and throw on an error after one', { timeout: 30_000 }, async () => {
  const { key } = await newKey();
  const openai = new OpenAI({ apiKey: key, baseURL: `${gateway.url}/v1`, maxRetries: 0 });
  const anthropic = new Anthropic({ apiKey: key, baseURL: gateway.url, maxRetries: 0 });
  const ask = { role: 'user', content: 'Hello!' } as const;
  const readers: Readonly<Record<string, (model: string) => Promise<string | null | undefined>>> = {
    responses: async (model) => (await openai.responses.stream({ model, input: 'Hello!' }).finalResponse()).output_text,
    chat: async (model) => openai.chat.completions.stream({ model, messages: [ask] }).finalContent(),
    messages: async (model) => anthropic.messages.stream({ model, max_tokens: 100, messages: [ask] }).finalText(),
  };
  const read = (pair: Pair) => readers[pair.client.name]!(`to-${pair.upstream}`);
  await withScripts(
    (pair) => silentScript(pair, keepAliveMs * 3),
    async (pair) => assert.equal(await read(pair), content.text, pair.name),
  );
  await withScripts(lateRefusal, (pair) => assert.rejects(read(pair), /overloaded/, pair.name));
});

test('each event is sent at once and whole, however the upstream cuts its bytes', async (t) => {
  for (const pair of pairs) {
    await t.test(pair.name, { timeout: 10_000 }, async () => {
      const { key } = await newKey();
      const { start, deltas, end } = streamFrames(pair.upstream, content);
      let received = '';
      gateway.upstream.on(pair.upstreamPath, async (response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write(framesText(start));
        for (const [index, delta] of deltas.entries()) {
          for (const piece of piecesOf(framesText([delta]), 11)) {
            response.write(piece);
            await setTimeout(1);
          }
          // The next word is not said before the client has read this one: what is held back would be waited for in vain.
          const word = content.text.split(' ')[index]!;
          while (!received.includes(word) && !response.destroyed) await setTimeout(2);
        }
        response.end(framesText(end));
      });
      const { response } = gateway.open(pair.client.path, { key, body: pair.body({ stream: true }) });
      for await (const piece of (await response).setEncoding('utf8')) {
        assert.ok(String(piece).endsWith('\n\n'), `a piece ends in the middle of a frame: ${piece}`);
        received += piece;
      }
      assert.equal(checkStream(pair.client.name, received, pair).text, content.text);
    });
  }
});

test(
  'a reader that stops reading stops the upstream, costs no memory, and counts as gone after a while',
  { timeout: 90_000 },
  async () => {
    const memoryBefore = residentMegabytes(gateway.program.pid);
    await Promise.all(pairs.map((pair) => stall(pair, memoryBefore)));
  },
);

const wordBytes = 60_000;
const upstreamBytes = 200_000_000;

async function stall(pair: Pair, memoryBefore: number): Promise<void> {
  const { key, account } = await newKey();
  const ended = playOnce(pair, (response) => playEndlessly(pair, response));
  const { response } = gateway.open(pair.client.path, { key, body: pair.body({ stream: true, ...mark(pair) }) });
  const stream = await response;
  stream.on('error', () => {});
  const request = await ended;
  // Until nothing moves any more.
  for (let sent = -1; sent !== request.bytesSent(); await setTimeout(stallMs / 4)) {
    sent = request.bytesSent();
    assert.ok(sent < upstreamBytes / 5, `${pair.name}: ${sent} bytes were taken from the upstream without a reader`);
  }
  const grown = residentMegabytes(gateway.program.pid) - memoryBefore;
  assert.ok(grown < 250, `nine readers that stand still cost ${grown} MB`);
  const record = await waitForRecord(key, String(stream.headers['x-request-id']));
  assert.equal(record.output_tokens, 8_000, `${pair.name}: all that the model may give had been generated`);
  const { heldMicros, availableMicros } = await gateway.balance(account);
  assert.deepEqual([heldMicros, availableMicros < 5_000_000], [0, true], pair.name);
  await request.ended;
}

/** Deltas without an end, as fast as they are taken. */
async function playEndlessly({ upstream }: Pair, response: Parameters<Script>[0]): Promise<void> {
  const { start, deltas } = streamFrames(upstream, { text: 'x'.repeat(wordBytes), tokens: content.tokens });
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write(framesText(start));
  const delta = framesText(deltas);
  for (let sent = 0; sent < upstreamBytes && !response.destroyed; sent += delta.length) {
    if (!response.write(delta)) await roomToWrite(response);
  }
}

test('a client that leaves in mid-stream stops the upstream, and pays for what was generated', { timeout: 30_000 }, async () => {
  await Promise.all(pairs.map(leave));
});

async function leave(pair: Pair): Promise<void> {
  const { key, account } = await newKey();
  const { start, deltas } = streamFrames(pair.upstream, content);
  const asked = playOnce(pair, (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(framesText([...start, ...deltas]));
  });
  const { request, response } = gateway.open(pair.client.path, { key, body: pair.body({ stream: true, ...mark(pair) }) });
  const stream = await response;
  stream.on('error', () => {});
  await once(stream, 'data');
  const upstreamRequest = await asked;
  await setTimeout(100);
  const leftAtMs = performance.now();
  request.destroy();
  assert.equal(await upstreamRequest.ended, 'aborted', pair.name);
  const tookMs = performance.now() - leftAtMs;
  assert.ok(tookMs < 6_500, `${pair.name}: the upstream ran on for ${tookMs} ms`);
  const record = await waitForRecord(key, String(stream.headers['x-request-id']));
  // 18 bytes are five tokens by our own count.
  assert.equal(record.output_tokens, 5, pair.name);
  assert.ok(record.input_tokens > 0, pair.name);
  const micros = record.input_tokens * pairPrices.input + record.output_tokens * pairPrices.output;
  const { availableMicros, heldMicros } = await gateway.balance(account);
  assert.deepEqual([availableMicros, heldMicros], [5_000_000 - micros, 0], pair.name);
}

/** A prompt that names the pair: three pairs run on each upstream at the same moment. */
function mark({ name, client }: Pair): object {
  return client.name === 'responses' ? { input: name } : { messages: [{ role: 'user', content: name }] };
}

type UpstreamRequest = Parameters<Script>[1];
const waiting = new Map<string, (response: Parameters<Script>[0], request: UpstreamRequest) => void>();

/** Plays the script for the marked request of the pair; resolves with that request. */
function playOnce(pair: Pair, script: Script): Promise<UpstreamRequest> {
  gateway.upstream.on(pair.upstreamPath, (response, request) => {
    const text = JSON.stringify(request.body);
    const [name, play] = [...waiting].find(([marked]) => text.includes(marked))!;
    waiting.delete(name);
    play(response, request);
  });
  const { promise, resolve } = Promise.withResolvers<UpstreamRequest>();
  waiting.set(pair.name, (response, request) => {
    resolve(request);
    void script(response, request);
  });
  return promise;
}

type UsageRecord = { readonly input_tokens: number; readonly output_tokens: number };

async function waitForRecord(key: string, requestId: string): Promise<UsageRecord> {
  return until(async () => {
    const { data } = (await gateway.get(`/v1/usage?request_id=${requestId}`, { key })).json<{ data: UsageRecord[] }>();
    return data[0];
  });
}

function piecesOf(text: string, size: number): string[] {
  return text.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? [];
}

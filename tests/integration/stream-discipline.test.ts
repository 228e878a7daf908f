// How streams are sent, on every pair of formats: event by event, with keep-alives during silence,
// no faster than the client reads, and not after it has left. `npm run test:all -- memory` measures
// the cost of stalled readers.
import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { after, test } from 'node:test';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { streamFrames } from '../support/answers.ts';
import { startGateway } from '../support/gateway.ts';
import { Reply } from '../support/http.ts';
import { isPending } from '../support/is-pending.ts';
import { pairModels, pairPrices, pairs, type Pair } from '../support/pairs.ts';
import { checkStream } from '../support/stream-rules.ts';
import { usualTuning } from '../../src/config/tuning.ts';
import { keepAliveMs } from '../../src/gateway/keep-alives.ts';
import { flushEventLoop, TestClock } from '../support/test-clock.ts';
import { until } from '../support/until.ts';
import {
  answerEndlessly,
  answerStatus,
  framesText,
  thenHang,
  type Script,
} from '../support/upstream.ts';

const { stallMs } = usualTuning;
/** How long the gateway reads an upstream on after its client has left. */
const readOnMs = 5_000;
const content = { text: 'one two three four', tokens: { input: 100, output: 20 } };
const cost = 100 * pairPrices.input + 20 * pairPrices.output;

const clock = new TestClock();

const gateway = await startGateway({ models: pairModels }, { clock });
after(() => gateway.stop());

const newKey = () => gateway.makeKey({ mode: 'live', creditUsd: 5 });

/** Plays an answer. `hasReceived` resolves when the client has read that text. */
type Play = (
  response: ServerResponse,
  hasReceived: (text: string) => Promise<unknown>,
) => Promise<void>;

async function stream(pair: Pair, key: string, play: Play): Promise<Reply> {
  let received = '';
  const hasReceived = (text: string) => until(() => received.includes(text));
  gateway.upstream.on(pair.upstreamPath, (response) => play(response, hasReceived));
  const response = await gateway.open(pair.client.path, { key, body: pair.body({ stream: true }) })
    .response;
  for await (const piece of response.setEncoding('utf8')) {
    assert.ok(
      String(piece).endsWith('\n\n'),
      `${pair.name}: a piece ends in the middle of a frame: ${piece}`,
    );
    received += piece;
  }
  return new Reply(response, received);
}

/** Silence before the headers and in the middle. */
function playSilently({ upstream }: Pair, silenceMs: number): Play {
  const { start, deltas, end } = streamFrames(upstream, content);
  return async (response, hasReceived) => {
    await clock.advance(silenceMs);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(framesText([...start, ...deltas.slice(0, 2)]));
    await hasReceived('two');
    await clock.advance(silenceMs);
    response.end(framesText([...deltas.slice(2), ...end]));
  };
}

for (const pair of pairs) {
  test(`a silent stream gets keep-alives before and after its first event, at no extra cost: ${pair.name}`, async () => {
    const { key } = await newKey();
    const reply = await stream(pair, key, playSilently(pair, keepAliveMs * 4.5));
    const { ending, text } = checkStream(pair.client.name, reply.text, pair);
    assert.deepEqual([ending, text, reply.costMicros], ['success', content.text, cost]);
    const kinds = reply.frames.map((frame) =>
      frame.comment === 'keep-alive' ? 'comment' : frame.event === 'ping' ? 'ping' : 'frame',
    );
    const first = kinds.indexOf('frame');
    // Each is sent late by at most an eighth of its interval.
    assert.deepEqual(
      kinds.slice(0, first),
      Array(4).fill('comment'),
      'they are comments, which no client takes for a start',
    );
    const later = kinds
      .slice(first)
      .filter((kind) => kind === (pair.client.name === 'messages' ? 'ping' : 'comment'));
    // On the straight path the upstream's own ping arrives too.
    assert.equal(
      later.length,
      pair.straight && pair.client.name === 'messages' ? 5 : 4,
      kinds.join(' '),
    );
  });
}

test('a silent stream of Gemini’s format gets what Google’s SDKs read: empty chunks, or line breaks in an array', async () => {
  const { key } = await newKey();
  for (const pair of pairs.filter(({ client }) => client.name === 'messages')) {
    for (const alt of ['sse', 'json']) {
      const path = `/v1beta/models/to-${pair.upstream}:streamGenerateContent?alt=${alt}`;
      let received = '';
      const play = playSilently(pair, keepAliveMs * 2.5);
      const hasReceived = (text: string) => until(() => received.includes(text));
      gateway.upstream.on(pair.upstreamPath, (response) => play(response, hasReceived));
      const body = { contents: [{ parts: [{ text: 'Hello!' }] }] };
      const { response } = gateway.open(path, { key, body });
      const opened = await response;
      for await (const piece of opened.setEncoding('utf8')) received += piece;
      if (alt === 'sse') {
        assert.equal(checkStream('gemini', received).text, content.text);
        const keepAlives = received.match(/\{"text":""\}\],"role":"model"\},"index":0\}\]\}/g);
        assert.equal(keepAlives?.length, 4, received);
        continue;
      }
      assert.equal(opened.headers['content-type'], 'application/json');
      assert.match(received, /^\n\n\[\{.*two.*\}\n\n,.*\]$/s);
      const chunks = JSON.parse(received) as { usageMetadata: { cost: number } }[];
      assert.equal(chunks.at(-1)!.usageMetadata.cost, cost / 1_000_000);
    }
  }
});

test('an active stream gets no keep-alives, however long it takes', async () => {
  const { key } = await newKey();
  const words = Array.from({ length: 8 }, (_, index) => `word${index}`);
  for (const pair of pairs) {
    const { start, deltas, end } = streamFrames(pair.upstream, {
      ...content,
      text: words.join(' '),
    });
    const reply = await stream(pair, key, async (response, hasReceived) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(framesText(start.slice(0, 2)));
      for (const [index, word] of words.entries()) {
        response.write(framesText([deltas[index]!]));
        await hasReceived(word);
        await clock.advance(keepAliveMs / 2);
      }
      response.end(framesText(end));
    });
    assert.doesNotMatch(reply.text, /keep-alive|ping/, pair.name);
  }
});

/** An upstream error after a keep-alive was sent. */
const lateRefusal: Script = async (response, request) => {
  await clock.advance(keepAliveMs * 2);
  await answerStatus(529)(response, request);
};

test('a failure after a keep-alive is an error event, free of charge', async () => {
  const { key, account } = await newKey();
  for (const pair of pairs) {
    gateway.upstream.on(pair.upstreamPath, lateRefusal);
    const reply = await gateway.post(pair.client.path, { key, body: pair.body({ stream: true }) });
    assert.equal(reply.status, 200, pair.name);
    assert.match(reply.text, /^: keep-alive\n\n/);
    assert.equal(checkStream(pair.client.name, reply.text, pair).ending, 'error', pair.name);
    assert.match(reply.text, /upstream_unavailable/);
    assert.equal(reply.costMicros, null);
  }
  await gateway.assertLeft(account, 5_000_000);
});

test('the official clients read a stream with keep-alives, and throw on an error after one', async () => {
  const { key } = await newKey();
  const openai = new OpenAI({ apiKey: key, baseURL: `${gateway.url}/v1`, maxRetries: 0 });
  const anthropic = new Anthropic({ apiKey: key, baseURL: gateway.url, maxRetries: 0 });
  const ask = { role: 'user', content: 'Hello!' } as const;
  const readers: Readonly<Record<string, (model: string) => Promise<string | null | undefined>>> = {
    responses: async (model) =>
      (await openai.responses.stream({ model, input: 'Hello!' }).finalResponse()).output_text,
    chat: async (model) =>
      openai.chat.completions.stream({ model, messages: [ask] }).finalContent(),
    messages: async (model) =>
      anthropic.messages.stream({ model, max_tokens: 100, messages: [ask] }).finalText(),
  };
  for (const pair of pairs) {
    const read = () => readers[pair.client.name]!(`to-${pair.upstream}`);
    const play = playSilently(pair, keepAliveMs * 3);
    gateway.upstream.on(pair.upstreamPath, (response) => play(response, flushEventLoop));
    assert.equal(await read(), content.text, pair.name);
    gateway.upstream.on(pair.upstreamPath, lateRefusal);
    await assert.rejects(read(), /overloaded/, pair.name);
  }
});

for (const pair of pairs) {
  test(`each event is sent at once and whole, however the upstream cuts its bytes: ${pair.name}`, async () => {
    const { key } = await newKey();
    const { start, deltas, end } = streamFrames(pair.upstream, content);
    const reply = await stream(pair, key, async (response, hasReceived) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(framesText(start));
      for (const [index, word] of content.text.split(' ').entries()) {
        for (const piece of piecesOf(framesText([deltas[index]!]), 11)) {
          response.write(piece);
          await flushEventLoop();
        }
        // The upstream sends the next word after the client has read this one, so a buffered event
        // ends the test.
        await hasReceived(word);
      }
      response.end(framesText(end));
    });
    assert.equal(checkStream(pair.client.name, reply.text, pair).text, content.text);
  });
}

for (const pair of pairs) {
  test(`a reader that stalls pauses the upstream, and counts as gone after a while: ${pair.name}`, async () => {
    const { key, account } = await newKey();
    const { start, deltas } = streamFrames(pair.upstream, { ...content, text: 'x'.repeat(60_000) });
    // More than socket buffers hold: the rest is read only once the client counts as gone.
    gateway.upstream.on(pair.upstreamPath, answerEndlessly(start, deltas, 60_000_000));
    const asked = gateway.upstream.request(gateway.upstream.requests.length);
    const response = await gateway.open(pair.client.path, {
      key,
      body: pair.body({ stream: true }),
    }).response;
    response.on('error', () => {});
    const { ended } = await asked;
    // The client's buffer is full: more was generated than the request allows.
    await until(() => response.readableLength >= 60_000);
    const fullAtMs = clock.elapsedMs();
    await clock.advanceUntil(async () => !(await isPending(ended)), {
      stepMs: 1_000,
      withinMs: 3 * stallMs,
    });
    assert.equal(await ended, 'aborted');
    assert.ok(clock.elapsedMs() - fullAtMs >= stallMs + readOnMs);
    const record = await waitForRecord(key, String(response.headers['x-request-id']));
    assert.equal(record.output_tokens, 200, 'all that the request allows had been generated');
    const { heldMicros, availableMicros } = await gateway.balance(account);
    assert.deepEqual([heldMicros, availableMicros < 5_000_000], [0, true]);
  });
}

for (const pair of pairs) {
  test(`a client that leaves mid-stream stops the upstream and pays for the generated output: ${pair.name}`, async () => {
    const { key, account } = await newKey();
    const { start, deltas } = streamFrames(pair.upstream, content);
    gateway.upstream.on(pair.upstreamPath, thenHang(framesText([...start, ...deltas])));
    const asked = gateway.upstream.request(gateway.upstream.requests.length);
    const { request, response } = gateway.open(pair.client.path, {
      key,
      body: pair.body({ stream: true }),
    });
    const answer = await response;
    let received = '';
    answer.on('error', () => {}).on('data', (piece: Buffer) => (received += piece.toString()));
    await until(() => received.includes('four'));
    request.destroy();
    const { ended } = await asked;
    await until(() => clock.dueIn(readOnMs) > 0);
    await clock.advance(readOnMs - 1);
    assert.ok(await isPending(ended), 'the usage of the upstream is waited for');
    await clock.advance(1);
    assert.equal(await ended, 'aborted');
    const record = await waitForRecord(key, String(answer.headers['x-request-id']));
    // 18 bytes are five tokens by our own count.
    assert.equal(record.output_tokens, 5);
    assert.ok(record.input_tokens > 0);
    const micros =
      record.input_tokens * pairPrices.input + record.output_tokens * pairPrices.output;
    await gateway.assertLeft(account, 5_000_000 - micros);
  });
}

type UsageRecord = { readonly input_tokens: number; readonly output_tokens: number };

async function waitForRecord(key: string, requestId: string): Promise<UsageRecord> {
  return until(async () => (await gateway.usage<UsageRecord>(key, requestId))[0]);
}

function piecesOf(text: string, size: number): string[] {
  return text.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? [];
}

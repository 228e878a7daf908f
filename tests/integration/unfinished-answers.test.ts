// Streams that end early because their time ends while the model writes, or because their client does
// not read, are charged for what came. All others that end early are free. On every pair of formats.
import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { once } from 'node:events';
import { after, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { streamFrames } from '../support/answers.ts';
import { startGateway } from '../support/gateway.ts';
import { Reply } from '../support/http.ts';
import { pairModels, pairPrices, pairs, type Pair } from '../support/pairs.ts';
import { readPlainly } from '../support/plain/read-plainly.ts';
import { checkStream } from '../support/stream-rules.ts';
import { TestClock } from '../support/test-clock.ts';
import { until } from '../support/until.ts';
import { framesText, thenHang, type Script } from '../support/upstream.ts';

const totalMs = 60_000;
const clock = new TestClock();

const timeouts = { total_ms: totalMs, idle_ms: 2 * totalMs, first_byte_ms: 2 * totalMs };
const models = Object.fromEntries(
  Object.entries(pairModels).map(([name, model]) => [name, { ...model, timeouts }]),
);
const gateway = await startGateway({ models, log: { level: 'error' } }, { clock });
after(() => gateway.stop());

const content = { text: 'one two three four', tokens: { input: 100, output: 20 } };

for (const pair of pairs) {
  const { start, deltas } = streamFrames(pair.upstream, content);

  test(`an answer whose time ends while the model writes ends as at its length limit, and is charged: ${pair.name}`, async () => {
    gateway.upstream.on(pair.upstreamPath, async (response, request) => {
      await thenHang(framesText(start))(response, request);
      const stop = clock.every(1_000, () => response.write(framesText(deltas)));
      response.once('close', stop);
    });
    const { key, account } = await newKey();
    const reply = await clock.hurry(
      gateway.post(pair.client.path, { key, body: pair.body({ stream: true }) }),
    );
    const { text } = checkStream(pair.client.name, reply.text, pair);
    assert.match(text, /^(one two three four){50,61}$/);
    assert.equal(endingOf(pair, reply), 'length');
    const { heldMicros, availableMicros, outputTokens } = await gateway.balance(account);
    const tokens = Math.min(Math.ceil(text.length / 4), 200);
    assert.deepEqual([heldMicros, outputTokens], [0, tokens], 'the request allows 200 tokens');
    assert.ok(availableMicros <= 5_000_000 - tokens * pairPrices.output);
    assert.equal(reply.costMicros, 5_000_000 - availableMicros);
  });

  const others = {
    'before any output': start,
    'after the model fell silent': [...start, ...deltas],
  };
  for (const [when, frames] of Object.entries(others)) {
    test(`an answer whose time ends ${when} is free: ${pair.name}`, async () => {
      gateway.upstream.on(pair.upstreamPath, thenHang(framesText(frames)));
      const { key, account } = await newKey();
      const reply = await clock.hurry(
        gateway.post(pair.client.path, { key, body: pair.body({ stream: true }) }),
      );
      assert.equal(endingOf(pair, reply), 'error');
      assert.equal((await gateway.balance(account)).availableMicros, 5_000_000);
    });
  }

  const slow = {
    'for seconds': [11_000],
    ...(pair.straight && { 'for a moment': [9_000], 'for moments': [6_000, 6_000] }),
  };
  for (const [howLong, pausesMs] of Object.entries(slow)) {
    const is = howLong === 'for a moment' ? 'free' : 'charged';
    test(`an answer that breaks off while its client reads nothing ${howLong} is ${is}: ${pair.name}`, async () => {
      const filling = new Filling(pair);
      gateway.upstream.on(pair.upstreamPath, filling.script);
      const { key, account } = await newKey();
      const response = await gateway.open(pair.client.path, {
        key,
        body: pair.body({ stream: true, [pair.client.limitField]: 8_000 }),
      }).response;
      let text = '';
      response.setEncoding('utf8');
      for (const [index, pauseMs] of pausesMs.entries()) {
        // From now on nothing moves: all buffers between provider and client are full.
        await filling.untilFull();
        await clock.advance(pauseMs);
        if (index === pausesMs.length - 1) break;
        const read = (piece: string) => (text += piece);
        response.on('data', read);
        await filling.untilDrained();
        response.off('data', read).pause();
      }
      filling.reset();
      for await (const piece of response) text += piece as string;
      assert.equal(endingOf(pair, new Reply(response, text)), is === 'free' ? 'error' : 'length');
      await until(async () => (await gateway.balance(account)).heldMicros === 0);
      const { availableMicros, outputTokens } = await gateway.balance(account);
      assert.equal(outputTokens, is === 'free' ? 0 : 8_000);
      assert.equal(availableMicros === 5_000_000, is === 'free');
    });
  }
}

const newKey = () => gateway.makeKey({ mode: 'live', creditUsd: 5 });

function endingOf({ client }: Pair, reply: Reply) {
  const { ending } = checkStream(client.name, reply.text);
  return ending === 'error' ? ending : readPlainly(client.name, true, reply.text).stop;
}

/** A provider that writes for as long as somebody reads, until it resets the connection. */
class Filling {
  readonly script: Script;
  readonly #response = Promise.withResolvers<ServerResponse>();
  readonly #piece: string;

  constructor(pair: Pair) {
    const { start, deltas } = streamFrames(pair.upstream, { ...content, text: 'x'.repeat(60_000) });
    this.#piece = framesText(deltas);
    this.script = (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      // The head of the answer goes out with its first words.
      response.write(framesText(start) + this.#piece);
      this.#response.resolve(response);
    };
  }

  async untilFull(): Promise<void> {
    const response = await this.#response.promise;
    while (response.write(this.#piece) || (await hasRoom(response)));
  }

  async untilDrained(): Promise<void> {
    await once(await this.#response.promise, 'drain');
  }

  reset(): void {
    void this.#response.promise.then((response) => response.socket?.resetAndDestroy());
  }
}

/**
 * Returns false when nobody reads any more. Provider, gateway and client share this event loop, so
 * each of them could read in each round.
 */
async function hasRoom(response: ServerResponse): Promise<boolean> {
  for (let round = 0; round < 100 && response.writableNeedDrain; round++) await setTimeout(1);
  return !response.writableNeedDrain;
}

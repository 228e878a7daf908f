// Providers that send a whole stream and leave the connection open: after its last event a stream
// is over, in every pair of formats. The silence behind it is no output.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { after, test } from 'node:test';
import { streamFrames, type UpstreamWireName } from '../support/answers.ts';
import { endpoints, type Endpoint } from '../support/endpoints.ts';
import { startGateway } from '../support/gateway.ts';
import { Reply } from '../support/http.ts';
import { pairModels, pairPrices } from '../support/pairs.ts';
import { checkStream } from '../support/stream-rules.ts';
import { TestClock } from '../support/test-clock.ts';
import { until } from '../support/until.ts';
import { framesText, type SseFrame } from '../support/upstream.ts';

/** How long the gateway waits for what a provider may send behind a complete answer. */
const graceMs = 5_000;
const clock = new TestClock();
const content = { text: 'one two three four', tokens: { input: 100, output: 20 } };
const cost = 100 * pairPrices.input + 20 * pairPrices.output;

const limits = { max_input_tokens: 100_000, max_output_tokens: 8_000, prices: pairPrices };
const route = { provider: 'google', model: 'upstream-model' };
const gemini = { routes: [route], ...limits };
const thinking = Object.fromEntries(
  Object.entries({ ...pairModels, 'to-gemini': gemini }).map(([name, model]) => [
    name,
    { ...model, supports: { thinking: true } },
  ]),
);
const gateway = await startGateway({ models: thinking }, { clock });
after(() => gateway.stop());

const upstreams: Readonly<Record<UpstreamWireName, string>> = {
  responses: '/v1/responses',
  chat: '/v1/chat/completions',
  messages: '/v1/messages',
  gemini: '/v1beta/models/upstream-model:streamGenerateContent',
};
const { start, deltas, end } = streamFrames('gemini', content);
const geminiWord = (index: number, finishReason: string | null, usage: object | undefined) => {
  const { data } = deltas[index] as { data: { candidates: { finishReason?: string }[] } };
  const candidates = [{ ...data.candidates[0], ...(finishReason && { finishReason }) }];
  return { data: { ...data, candidates, usageMetadata: usage } };
};
const { data: last } = end[0] as { data: { usageMetadata: object; candidates: object[] } };

/** Complete streams of each format, as hosts end them. */
const streams: Readonly<Record<UpstreamWireName, Record<string, readonly SseFrame[]>>> = {
  responses: { 'with its last event': framesOf('responses') },
  chat: {
    'with its last event': framesOf('chat'),
    'without [DONE]': framesOf('chat').slice(0, -1),
    'with usage only before the finish reason': usageFirst(framesOf('chat').slice(0, -1)),
  },
  messages: {
    'with its last event': framesOf('messages'),
    'without message_stop': framesOf('messages').slice(0, -1),
  },
  gemini: {
    'with usage beside the finish reason': framesOf('gemini'),
    'with usage behind the finish reason': [
      ...start,
      ...deltas.map((_, index) => geminiWord(index, index === 3 ? 'STOP' : null, undefined)),
      { data: { usageMetadata: last.usageMetadata } },
    ],
    'with a finish reason in every chunk': deltas.map((_, index) =>
      geminiWord(index, 'STOP', last.usageMetadata),
    ),
    'with a second candidate': [
      { data: { ...last, candidates: [{ ...last.candidates[0], index: 1 }] } },
      ...framesOf('gemini'),
    ],
  },
};

function framesOf(wire: UpstreamWireName): SseFrame[] {
  const frames = streamFrames(wire, content);
  return [...frames.start, ...frames.deltas, ...frames.end];
}

/** The chunk with usage before the one with the finish reason. */
function usageFirst(frames: readonly SseFrame[]): SseFrame[] {
  return [...frames.slice(0, -2), frames.at(-1)!, frames.at(-2)!];
}

/** Asks, and resolves when the upstream has sent the frames and hangs. */
async function ask(client: Endpoint, upstream: UpstreamWireName, frames: readonly SseFrame[]) {
  const asked = Promise.withResolvers<ServerResponse>();
  gateway.upstream.on(upstreams[upstream], (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(framesText(frames));
    asked.resolve(response);
  });
  const { key, account } = await gateway.makeKey({ mode: 'live', creditUsd: 5 });
  const body = client.body({
    model: `to-${upstream}`,
    stream: true,
    ...(client.name === 'chat' && { stream_options: { include_usage: true } }),
  });
  const { request, response } = gateway.open(client.path, { key, body });
  response.catch(() => {});
  const answer = await asked.promise;
  return { key, account, request, response: await response, answer };
}

for (const client of endpoints) {
  for (const [upstream, variants] of Object.entries(streams) as [
    UpstreamWireName,
    Record<string, readonly SseFrame[]>,
  ][]) {
    for (const [name, frames] of Object.entries(variants)) {
      test(`${client.name} on ${upstream}: a whole stream ${name} ends, though its connection stays open`, async () => {
        const { account, response, answer } = await ask(client, upstream, frames);
        const closed = once(answer, 'close');
        let text = '';
        const read = (async () => {
          for await (const piece of response.setEncoding('utf8')) text += String(piece);
        })();
        await until(() => text.includes('four'));
        await clock.advance(graceMs);
        await read;
        await clock.advance(1_000);
        await closed;
        const reply = new Reply(response, text);
        const checked = checkStream(client.name, text, {
          usageAsked: client.name === 'chat',
          straight: client.name === upstream,
        });
        assert.deepEqual([checked.ending, checked.text], ['success', content.text]);
        assert.equal(reply.costMicros, cost);
        assert.deepEqual(await moneyOf(account, response), { spent: cost, losses: 0 });
      });
    }
  }
  test(`${client.name} on gemini: who leaves in the silence behind a whole stream pays its count`, async () => {
    const { key, account, request, response, answer } = await ask(
      client,
      'gemini',
      streams.gemini['with usage beside the finish reason']!,
    );
    for await (const piece of response.setEncoding('utf8'))
      if (String(piece).includes('four')) break;
    const closed = once(answer, 'close');
    request.destroy();
    await clock.advance(graceMs + 1_000);
    await closed;
    await until(async () => (await gateway.usage(key)).length === 1);
    assert.deepEqual(await moneyOf(account, response), { spent: cost, losses: 0 });
  });
}

test('comments and silence behind a whole stream do not keep it open; events do', async () => {
  const [client] = endpoints;
  const { response, answer } = await ask(client!, 'gemini', [
    geminiWord(0, 'STOP', last.usageMetadata),
  ]);
  let text = '';
  const read = (async () => {
    for await (const piece of response.setEncoding('utf8')) text += String(piece);
  })();
  for (const index of [1, 2, 3]) {
    await clock.advance(graceMs - 1_000);
    answer.write(framesText([geminiWord(index, 'STOP', last.usageMetadata)]));
    await until(() => text.includes(content.text.split(' ')[index]!));
  }
  for (let sent = 0; sent < 6; sent++) {
    answer.write(': ping\n\n');
    await clock.advance(1_000);
  }
  await read;
  assert.equal(checkStream(client!.name, text, {}).text, content.text);
});

test('a reset behind a whole stream does not spoil it', async () => {
  for (const [upstream, variants] of Object.entries(streams) as [
    UpstreamWireName,
    Record<string, readonly SseFrame[]>,
  ][]) {
    for (const [name, frames] of Object.entries(variants)) {
      const [client] = endpoints;
      const { account, response, answer } = await ask(client!, upstream, frames);
      let text = '';
      for await (const piece of response.setEncoding('utf8')) {
        text += String(piece);
        if (text.includes('four')) answer.socket?.resetAndDestroy();
      }
      assert.equal(checkStream(client!.name, text, {}).ending, 'success', `${upstream} ${name}`);
      assert.deepEqual(await moneyOf(account, response), { spent: cost, losses: 0 }, name);
    }
  }
});

async function moneyOf(account: string, response: IncomingMessage) {
  const lost = await gateway.lossesOf(String(response.headers['x-request-id']));
  const { availableMicros } = await gateway.balance(account);
  return { spent: 5_000_000 - availableMicros, losses: lost.reduce((sum, loss) => sum + loss, 0) };
}

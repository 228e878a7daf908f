// Sound in a conversation: it is held by its length and charged at the model's own price of sound, on the
// straight path and translated. `gateway.stop` recomputes every charge from its kept price.
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import {
  answerContent,
  streamFrames,
  wholeAnswer,
  type UpstreamWireName,
} from '../support/answers.ts';
import { addressed, clients, type Client } from '../support/endpoints.ts';
import { startGateway } from '../support/gateway.ts';
import { modelOf } from '../support/model-of.ts';
import { wav } from '../support/task-samples.ts';
import type { Tokens } from '../support/turn-format.ts';
import { answerJson, framesText, thenReset } from '../support/upstream.ts';
import { rowOf } from '../support/rows.ts';

const prices = { input: 1, output: 10, cache_read: 0.1 };
const modelAt = (provider: string, api: string | null, fields: object = {}) =>
  modelOf([{ provider, model: 'upstream-model', ...(api && { api }) }], {
    prices: { ...prices, audio: 20 },
    supports: { thinking: false, audio: true },
    owned_by: provider,
    ...fields,
  });
const gateway = await startGateway({
  pricing: { markup: 2 },
  models: {
    'by-chat': modelAt('openai', 'chat'),
    'by-responses': modelAt('openai', 'responses'),
    'by-gemini': modelAt('google', null),
    'by-messages': modelAt('anthropic', null),
    'one-price': modelAt('openai', 'chat', { prices }),
    deaf: modelAt('openai', 'chat', { prices, supports: { thinking: false } }),
  },
});
after(() => gateway.stop());
const { key, account } = await gateway.makeKey({ mode: 'live', creditUsd: 50 });
const { key: testKey } = await gateway.makeKey({ mode: 'test', account });

const seconds = 5;
/** Not longer, its header included. */
const data = wav(seconds - 0.01).toString('base64');
const text = 'What do you hear?';
const inputAudio = { type: 'input_audio', input_audio: { data, format: 'wav' } };
const user = (content: readonly object[]) => [{ role: 'user', content }];

/** A question and the sound, in each format that has a part for it. */
const conversations: Readonly<Record<string, object>> = {
  chat: { messages: user([{ type: 'text', text }, inputAudio]) },
  responses: { input: user([{ type: 'input_text', text }, inputAudio]) },
  gemini: {
    contents: [
      { role: 'user', parts: [{ text }, { inlineData: { mimeType: 'audio/wav', data } }] },
    ],
  },
};
const soundClients = clients.filter(({ name }) => name in conversations);

const upstreams: Readonly<Record<'chat' | 'responses' | 'gemini', readonly string[]>> = {
  chat: ['/v1/chat/completions'],
  responses: ['/v1/responses'],
  gemini: [
    '/v1beta/models/upstream-model:generateContent',
    '/v1beta/models/upstream-model:streamGenerateContent',
  ],
};
const tokensPerSecond = { chat: 10, responses: 10, gemini: 32 } as const;

function playAll(wire: UpstreamWireName & keyof typeof upstreams, tokens: Tokens): void {
  for (const path of upstreams[wire])
    gateway.upstream.on(path, answerContent(wire, { text: 'one two', tokens }));
}

function ask(client: Client, fields: object, { as = key } = {}) {
  const sent = addressed(client, client.body({ ...conversations[client.name], ...fields }));
  return gateway.post(sent.path, { key: as, body: sent.body });
}

for (const wire of ['chat', 'responses', 'gemini'] as const) {
  describe(`sound for a model by ${wire}`, () => {
    for (const client of soundClients)
      for (const stream of [false, true])
        test(`${client.name}, ${stream ? 'streamed' : 'whole'}`, async () => {
          const audio = seconds * tokensPerSecond[wire];
          playAll(wire, { input: 10 + audio, audio, output: 20 });
          const { reply, asked } = await gateway.recordUpstream(() =>
            ask(client, { model: `by-${wire}`, stream }),
          );
          assert.equal(reply.status, 200, reply.text);
          assert.ok(JSON.stringify(asked[0]!.body).includes(data));
          // The markup does not apply to a price that the operator set. Responses has no count of sound:
          // ours is charged.
          const costMicros = 10 * 1 + audio * 20 + 20 * 10;
          assert.equal(reply.costMicros, costMicros);
          const [charge] = await gateway.usage<{ input_tokens: number; request_id: string }>(key);
          assert.equal(charge!.input_tokens, 10 + audio);
          const row = await rowOf(gateway.database, 'charges', { id: charge!.request_id });
          // Besides the text: the output limit, and the sound with a margin.
          const leastMicros = audio * 20 + 200 * 10;
          const mostMicros = audio * 20 * 1.15 + 200 * 10 + 200;
          assert.ok(row.hold_micros > leastMicros, `${row.hold_micros} held`);
          assert.ok(row.hold_micros < mostMicros, `${row.hold_micros} held`);
        });
  });
}

test('clients see the tokens of sound where their format has a field for them', async () => {
  playAll('gemini', { input: 170, audio: 160, output: 20 });
  const [chat] = soundClients.filter(({ name }) => name === 'chat');
  const inChat = await ask(chat!, { model: 'by-gemini' });
  const { usage } = inChat.json<{ usage: { prompt_tokens_details: { audio_tokens: number } } }>();
  assert.equal(usage.prompt_tokens_details.audio_tokens, 160);
  playAll('chat', { input: 60, audio: 50, output: 20 });
  const [gemini] = soundClients.filter(({ name }) => name === 'gemini');
  const inGemini = await ask(gemini!, { model: 'by-chat' });
  const { usageMetadata } = inGemini.json<{ usageMetadata: { promptTokensDetails: unknown } }>();
  assert.deepEqual(usageMetadata.promptTokensDetails, [{ modality: 'AUDIO', tokenCount: 50 }]);
});

test('clients see our own count of sound where the host has none', async () => {
  const sound = { input: 60, output: 20 };
  const [chat] = soundClients.filter(({ name }) => name === 'chat');
  for (const wire of ['chat', 'responses'] as const)
    for (const stream of [false, true]) {
      playAll(wire, sound);
      const fields = stream && { stream, stream_options: { include_usage: true } };
      const reply = await ask(chat!, { model: `by-${wire}`, ...fields });
      assert.match(reply.text, /"audio_tokens":50/, `${wire} ${stream}`);
    }
});

test('sound that Gemini read from its cache costs as such, where only the prompt’s details tell it', async () => {
  const whole = wholeAnswer('gemini', { text: 'one', tokens: { input: 1, output: 20 } });
  const usageMetadata = {
    promptTokenCount: 170,
    cachedContentTokenCount: 165,
    candidatesTokenCount: 20,
    promptTokensDetails: [{ modality: 'AUDIO', tokenCount: 160 }],
  };
  gateway.upstream.on(upstreams.gemini[0]!, answerJson({ ...whole, usageMetadata }));
  const reply = await ask(soundClients[0]!, { model: 'by-gemini' });
  // 5 of the 160 may not be from the cache, where they cost a tenth.
  assert.equal(reply.costMicros, Math.ceil(5 * 20 + 155 * 2 + 10 * 0.1 + 20 * 10));
});

test('sound without a price of its own costs as other input', async () => {
  playAll('chat', { input: 60, audio: 50, output: 20 });
  const reply = await ask(soundClients[0]!, { model: 'one-price' });
  assert.equal(reply.costMicros, 60 + 200);
});

test('a count of more sound than was sent is not charged, and is a loss', async () => {
  playAll('chat', { input: 500, audio: 480, output: 20 });
  const reply = await ask(soundClients[0]!, { model: 'by-chat' });
  assert.equal(reply.status, 200);
  // Twice the 55 tokens that were held for.
  assert.equal(reply.costMicros, 500 + 110 * 19 + 200);
  const id = String(reply.headers['x-request-id']);
  assert.deepEqual(await gateway.lossesOf(id), [(480 - 110) * 19]);
});

describe('when the provider fails', () => {
  const [chatPath] = upstreams.chat;
  const soundMicros = 50 * 20;

  test('without a count of the sound, or of anything, our own count is charged', async () => {
    for (const stream of [false, true]) {
      playAll('chat', { input: 60, output: 20 });
      const uncounted = await ask(soundClients[0]!, { model: 'by-chat', stream });
      assert.equal(uncounted.costMicros, 10 + soundMicros + 200);
      gateway.upstream.on(chatPath!, answerContent('chat', { text: 'one two', tokens: null }));
      const nothing = await ask(soundClients[0]!, { model: 'by-chat', stream });
      assert.ok(nothing.costMicros! > soundMicros && nothing.costMicros! < soundMicros + 200);
    }
  });

  test('an answer that breaks off is free, and its sound is a loss', async () => {
    const { start, deltas } = streamFrames('chat', { text: 'one two', tokens: null });
    gateway.upstream.on(chatPath!, thenReset(framesText([...start, ...deltas])));
    const reply = await ask(soundClients[0]!, { model: 'by-chat', stream: true });
    assert.match(reply.text, /error/);
    const [loss] = await gateway.lossesOf(String(reply.headers['x-request-id']));
    assert.ok(loss! > soundMicros, String(loss));
  });
});

describe('a model that does not hear', () => {
  const places: Readonly<Record<string, string>> = {
    chat: 'messages[0].content[1].type',
    responses: 'input[0].content[1].type',
    gemini: 'contents[0].parts[1].inlineData.mimeType',
  };
  for (const client of soundClients)
    test(`${client.name}: the error names the field and a model that hears`, async () => {
      const { reply, asked } = await gateway.recordUpstream(() => ask(client, { model: 'deaf' }));
      assert.equal(reply.status, 400);
      assert.ok(reply.text.includes(places[client.name]!), reply.text);
      assert.match(reply.text, /deaf does not hear\. Use a model that hears, such as \S+\./);
      assert.deepEqual(asked, []);
    });

  test('sound in the place of an image is refused too', async () => {
    const image = { type: 'image_url', image_url: { url: `data:audio/wav;base64,${data}` } };
    const reply = await ask(
      soundClients.find(({ name }) => name === 'chat')!,
      {
        model: 'deaf',
        messages: user([image]),
      },
    );
    assert.equal(reply.status, 400, reply.text);
    assert.match(reply.error.message, /image_url\.url has sound, which deaf does not hear/);
  });

  test('a model whose provider has no part for sound refuses it', async () => {
    const reply = await ask(soundClients[0]!, { model: 'by-messages' });
    assert.equal(reply.status, 400);
    assert.match(reply.text, /audio\/wav.*cannot be read by this model/);
  });
});

test('in test mode the sandbox counts the sound as the hold does', async () => {
  for (const model of ['by-chat', 'by-responses', 'by-gemini'])
    for (const client of soundClients) {
      const reply = await ask(client, { model }, { as: testKey });
      assert.equal(reply.status, 200, reply.text);
      const [charge] = await gateway.usage<{ input_tokens: number; output_tokens: number }>(
        testKey,
      );
      const { input_tokens: input, output_tokens: output } = charge!;
      assert.equal(reply.costMicros, input + 50 * 19 + output * 10, `${client.name} ${model}`);
    }
});

// Vercel's `ai` with its three providers against the started program: text, usage and finish
// reasons, whole and streamed.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { APICallError, generateText, streamText, type LanguageModel } from 'ai';
import { zeroMicros } from '../../src/lib/money.ts';
import { answerContent } from '../support/answers.ts';
import { endpoints } from '../support/endpoints.ts';
import { startGateway, type KeyOptions } from '../support/gateway.ts';

const gateway = await startGateway();
const liveKey = (await gateway.makeKey({ mode: 'live', creditUsd: 5 })).key;
after(() => gateway.stop());

/** Each of the package's providers that can reach the gateway. */
const ways: Readonly<Record<string, (key: string) => LanguageModel>> = {
  'openai responses': (apiKey) =>
    createOpenAI({ baseURL: `${gateway.url}/v1`, apiKey }).responses('gpt-6-luna'),
  'openai chat': (apiKey) =>
    createOpenAI({ baseURL: `${gateway.url}/v1`, apiKey }).chat('gpt-6-luna'),
  anthropic: (apiKey) =>
    createAnthropic({ baseURL: `${gateway.url}/v1`, apiKey })('claude-haiku-4-5'),
  'openai-compatible': (apiKey) =>
    createOpenAICompatible({
      name: 'tollgate',
      baseURL: `${gateway.url}/v1`,
      apiKey,
      includeUsage: true,
    })('gpt-6-luna'),
};
const sandboxText = 'You said: Hello!\n\nThis is the sandbox: no model ran.';
const content = { text: 'Paris is the capital.', tokens: { input: 12, output: 5 } };

for (const [name, modelOf] of Object.entries(ways)) {
  test(`${name}: an answer in test mode and a live one, whole and streamed`, async () => {
    for (const endpoint of endpoints) gateway.answer(endpoint, content);
    for (const [key, text, counts] of [
      [gateway.program.firstTestKey, sandboxText, [2, 13]],
      [liveKey, content.text, [12, 5]],
    ] as const) {
      const asked = { model: modelOf(key), prompt: 'Hello!', maxRetries: 0 };
      const whole = await generateText(asked);
      const streamed = streamText(asked);
      const pieces = await Array.fromAsync(streamed.textStream);
      assert.ok(pieces.length > 1, 'it came in pieces');
      assert.deepEqual([whole.text, pieces.join('')], [text, text]);
      assert.deepEqual([whole.finishReason, await streamed.finishReason], ['stop', 'stop']);
      for (const usage of [whole.usage, await streamed.usage])
        assert.deepEqual([usage.inputTokens, usage.outputTokens], counts);
    }
  });

  test(`${name}: an answer that reaches its limit has that finish reason`, async () => {
    const model = modelOf(gateway.program.firstTestKey);
    const result = await generateText({
      model,
      prompt: 'sandbox: tokens=100',
      maxOutputTokens: 20,
      maxRetries: 0,
    });
    assert.equal(result.finishReason, 'length');
    assert.equal(result.usage.outputTokens, 20);
  });

  test(`${name}: errors carry their status and the gateway's message`, async () => {
    const table: readonly (readonly [string, number, RegExp])[] = [
      ['tg_test_wrong', 401, /API key/],
      [await newKey({ mode: 'live' }), 402, /balance/i],
      [await newKey({ models: ['gpt-4o'] }), 403, /may not use/],
      [await newKey({ dailyCapMicros: zeroMicros }), 429, /daily cap/],
    ];
    for (const [key, status, message] of table) {
      await assert.rejects(
        generateText({ model: modelOf(key), prompt: 'Hello!', maxRetries: 0 }),
        (error: unknown) => {
          assert.ok(APICallError.isInstance(error), String(error));
          assert.equal(error.statusCode, status);
          assert.match(error.message, message);
          return true;
        },
      );
    }
  });

  test(`${name}: a stream that breaks off is an error, not a short answer`, async () => {
    const errors: unknown[] = [];
    const result = streamText({
      model: modelOf(gateway.program.firstTestKey),
      prompt: 'sandbox: cut_after=3',
      maxRetries: 0,
      onError: ({ error }) => void errors.push(error),
    });
    await result.consumeStream();
    assert.equal(errors.length, 1);
  });
}

async function newKey(options: KeyOptions): Promise<string> {
  return (await gateway.makeKey(options)).key;
}

test('openai responses: an answer with a warning about previous_response_id is read like any other', async () => {
  for (const { name, upstreamPath } of endpoints)
    gateway.upstream.on(upstreamPath, answerContent(name, content));
  const model = ways['openai responses']!(liveKey);
  const asked = {
    model,
    prompt: 'Hello!',
    maxRetries: 0,
    providerOptions: { openai: { previousResponseId: 'resp_1' } },
  };
  assert.equal((await generateText(asked)).text, content.text);
  assert.equal(await streamText(asked).text, content.text);
});

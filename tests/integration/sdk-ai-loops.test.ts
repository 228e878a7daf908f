// Vercel's `ai` with its three providers runs complete tool loops on models of every upstream
// format, whole and streamed, and reads objects.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import {
  generateText,
  isStepCount,
  jsonSchema,
  Output,
  streamText,
  tool,
  type LanguageModel,
} from 'ai';
import { z } from 'zod';
import { startLoopGateway, wireModels } from '../support/loop-gateway.ts';
import { forecast, report, reportWithoutReasoning, weatherOf } from '../support/tool-loop.ts';

const loop = await startLoopGateway();
after(() => loop.gateway.stop());

const settings = () => ({ baseURL: `${loop.gateway.url}/v1`, apiKey: loop.key });
const ways: Readonly<Record<string, (model: string) => LanguageModel>> = {
  // By default it refers to earlier reasoning by id, and nothing is stored here.
  'openai responses': (model) => createOpenAI(settings()).responses(model),
  'openai responses, thinking': (model) => createOpenAI(settings()).responses(model),
  'openai responses, thinking, store: false': (model) => createOpenAI(settings()).responses(model),
  'openai chat': (model) => createOpenAI(settings()).chat(model),
  anthropic: (model) => createAnthropic(settings())(model),
  'openai-compatible': (model) =>
    createOpenAICompatible({
      name: 'tollgate',
      includeUsage: true,
      supportsStructuredOutputs: true,
      ...settings(),
    })(model),
};

const thinking = { forceReasoning: true, reasoningEffort: 'low' };
const optionsOf: Readonly<Record<string, Record<string, string | boolean>>> = {
  'openai responses, thinking': thinking,
  'openai responses, thinking, store: false': { ...thinking, store: false },
};

/**
 * Models that lack the first step's reasoning in the second, because the client does not send it
 * back. Gemini signs its calls unasked.
 */
const forgetful: Readonly<Record<string, readonly string[]>> = {
  'openai responses': ['on-gemini'],
  // On Messages the second step runs without thinking, because the first step's thinking is
  // missing.
  'openai responses, thinking': ['on-responses', 'on-chat', 'on-gemini'],
  'openai chat': ['on-gemini'],
};

for (const [way, modelOf] of Object.entries(ways)) {
  for (const { id } of wireModels) {
    test(`${way} on ${id}: runs a tool loop, whole and streamed`, async () => {
      const asked: string[] = [];
      const expected = forgetful[way]?.includes(id) ? reportWithoutReasoning : report;
      const weather = tool({
        inputSchema: jsonSchema<{ city: string }>({
          type: 'object',
          properties: { city: { type: 'string' } },
          required: ['city'],
          additionalProperties: false,
        }),
        execute: async ({ city }) => {
          asked.push(city);
          return weatherOf(city);
        },
      });
      const question = {
        model: modelOf(id),
        maxOutputTokens: 1_000,
        prompt: 'Weather?',
        tools: { get_weather: weather },
        providerOptions: { openai: optionsOf[way] ?? {} },
        stopWhen: isStepCount(3),
        maxRetries: 0,
      };
      const whole = await generateText(question);
      assert.equal(whole.text, expected);
      assert.deepEqual([whole.steps[0]!.finishReason, whole.finishReason], ['tool-calls', 'stop']);
      assert.deepEqual([whole.usage.inputTokens, whole.usage.outputTokens], [40, 20], 'both steps');
      const streamed = streamText(question);
      assert.equal(await streamed.text, expected);
      assert.equal(await streamed.finishReason, 'stop');
      assert.deepEqual(asked, ['Paris', 'Rome', 'Paris', 'Rome']);
    });

    test(`${way} on ${id}: reads an object by a schema, whole and streamed`, async () => {
      const output = Output.object({ schema: z.object({ city: z.string(), degrees: z.number() }) });
      const question = {
        model: modelOf(id),
        maxOutputTokens: 1_000,
        prompt: 'Forecast?',
        output,
        maxRetries: 0,
      };
      assert.deepEqual((await generateText(question)).output, forecast);
      assert.deepEqual(await streamText(question).output, forecast);
    });
  }
}

test('openai responses: earlier answers sent by id are a 400 that says how to send them whole', async () => {
  const model = createOpenAI(settings()).responses('on-messages');
  const first = await generateText({ model, prompt: 'Hello!', maxRetries: 0 });
  const messages = [{ role: 'user' as const, content: 'Hello!' }, ...first.response.messages];
  const next = {
    model,
    messages: [...messages, { role: 'user' as const, content: 'And now?' }],
    maxRetries: 0,
  };
  await assert.rejects(
    generateText(next),
    /input\[1\] refers to an item by its id.*`store: false`/,
  );
  const whole = await generateText({ ...next, providerOptions: { openai: { store: false } } });
  assert.equal(whole.text, 'Hello.');
});

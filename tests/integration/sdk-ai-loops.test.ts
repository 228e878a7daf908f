// Vercel's `ai` with its three providers runs whole tool loops on models of every upstream format, whole and streamed, and reads objects.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { generateText, isStepCount, jsonSchema, Output, streamText, tool, type LanguageModel } from 'ai';
import { z } from 'zod';
import { loopModels, startLoopGateway, type LoopGateway } from '../support/loop-gateway.ts';
import { chatReportOf, forecast, report, weatherOf } from '../support/tool-loop.ts';

let loop: LoopGateway;

before(async () => {
  loop = await startLoopGateway();
});
after(() => loop.gateway.stop());

const settings = () => ({ baseURL: `${loop.gateway.url}/v1`, apiKey: loop.key });
const ways: Readonly<Record<string, (model: string) => LanguageModel>> = {
  'openai responses': (model) => createOpenAI(settings()).responses(model),
  'openai chat': (model) => createOpenAI(settings()).chat(model),
  anthropic: (model) => createAnthropic(settings())(model),
  'openai-compatible': (model) =>
    createOpenAICompatible({ name: 'tollgate', includeUsage: true, supportsStructuredOutputs: true, ...settings() })(model),
};

for (const [way, modelOf] of Object.entries(ways)) {
  for (const { id } of loopModels) {
    test(`${way} on ${id}: a tool loop, whole and streamed`, async () => {
      const asked: string[] = [];
      const told = way === 'openai chat' ? chatReportOf(id) : report;
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
        // By default it refers to reasoning by its id, and nothing is kept here.
        providerOptions: { openai: { store: false } },
        stopWhen: isStepCount(3),
        maxRetries: 0,
      };
      const whole = await generateText(question);
      assert.equal(whole.text, told);
      assert.deepEqual([whole.steps[0]!.finishReason, whole.finishReason], ['tool-calls', 'stop']);
      assert.deepEqual([whole.usage.inputTokens, whole.usage.outputTokens], [40, 20], 'both steps');
      const streamed = streamText(question);
      assert.equal(await streamed.text, told);
      assert.equal(await streamed.finishReason, 'stop');
      assert.deepEqual(asked, ['Paris', 'Rome', 'Paris', 'Rome']);
    });

    test(`${way} on ${id}: an object by a schema, whole and streamed`, async () => {
      const output = Output.object({ schema: z.object({ city: z.string(), degrees: z.number() }) });
      const question = { model: modelOf(id), maxOutputTokens: 1_000, prompt: 'Forecast?', output, maxRetries: 0 };
      assert.deepEqual((await generateText(question)).output, forecast);
      assert.deepEqual(await streamText(question).output, forecast);
    });
  }
}

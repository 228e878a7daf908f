// OpenAI's `@openai/agents` runs an agent with a tool on models of every upstream format, through
// Responses and Chat.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { Agent, OpenAIProvider, Runner, tool } from '@openai/agents';
import OpenAI from 'openai';
import { z } from 'zod';
import { startLoopGateway, wireModels } from '../support/loop-gateway.ts';
import { askToSpeak, chatReportOf, forecast, report, weatherOf } from '../support/tool-loop.ts';

const loop = await startLoopGateway();
after(() => loop.gateway.stop());

for (const useResponses of [true, false]) {
  const way = useResponses ? 'responses' : 'chat';
  for (const { id: model } of wireModels) {
    test(`${way} on ${model}: an agent calls its tool and reports the result, whole and streamed`, async () => {
      const asked: string[] = [];
      const weather = tool({
        name: 'get_weather',
        description: 'The weather of a city',
        parameters: z.object({ city: z.string() }),
        execute: ({ city }) => {
          asked.push(city);
          return weatherOf(city);
        },
      });
      const agent = new Agent({
        name: 'Weather',
        instructions: 'Tell the weather.',
        model,
        tools: [weather],
      });
      const whole = await runner(useResponses).run(agent, 'Weather?');
      assert.equal(whole.finalOutput, report);
      const streamed = await runner(useResponses).run(agent, 'Weather?', { stream: true });
      await streamed.completed;
      // In a Chat stream the package keeps only a call's known fields; in a whole answer it keeps
      // all.
      assert.equal(streamed.finalOutput, useResponses ? report : chatReportOf(model));
      assert.deepEqual(asked.toSorted(), ['Paris', 'Paris', 'Rome', 'Rome']);
    });

    test(`${way} on ${model}: an agent that speaks before its calls goes on after them, whole and streamed`, async () => {
      const weather = tool({
        name: 'get_weather',
        description: 'The weather of a city',
        parameters: z.object({ city: z.string() }),
        execute: ({ city }) => weatherOf(city),
      });
      const agent = new Agent({
        name: 'Weather',
        instructions: askToSpeak,
        model,
        tools: [weather],
      });
      const whole = await runner(useResponses).run(agent, 'Weather?');
      assert.equal(whole.finalOutput, report);
      const streamed = await runner(useResponses).run(agent, 'Weather?', { stream: true });
      await streamed.completed;
      assert.equal(streamed.finalOutput, useResponses ? report : chatReportOf(model));
      // The next turn holds the whole conversation so far.
      const more = [...streamed.history, { role: 'user' as const, content: 'And now?' }];
      assert.match(String((await runner(useResponses).run(agent, more)).finalOutput), /Reports/);
    });

    test(`${way} on ${model}: an agent answers with an object`, async () => {
      const outputType = z.object({ city: z.string(), degrees: z.number() });
      const agent = new Agent({
        name: 'Forecast',
        instructions: 'Tell the forecast.',
        model,
        outputType,
      });
      assert.deepEqual((await runner(useResponses).run(agent, 'Forecast?')).finalOutput, forecast);
    });
  }
}

/** Without traces, which would go to OpenAI. */
function runner(useResponses: boolean): Runner {
  const openAIClient = new OpenAI({
    baseURL: `${loop.gateway.url}/v1`,
    apiKey: loop.key,
    maxRetries: 0,
  });
  return new Runner({
    modelProvider: new OpenAIProvider({ openAIClient, useResponses }),
    tracingDisabled: true,
  });
}

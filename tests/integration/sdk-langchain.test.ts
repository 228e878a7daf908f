// LangChain's models for OpenAI (Chat and Responses) and Anthropic run complete tool loops on
// models of every upstream format: bound tools, streams whose chunks are joined, and structured
// output.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { ChatAnthropic } from '@langchain/anthropic';
import type { BaseChatModel } from '@langchain/core/language_models/chat_models';
import {
  AIMessageChunk,
  HumanMessage,
  ToolMessage,
  type BaseMessage,
} from '@langchain/core/messages';
import { concat } from '@langchain/core/utils/stream';
import { tool } from '@langchain/core/tools';
import { ChatOpenAI } from '@langchain/openai';
import { z } from 'zod';
import { startLoopGateway, wireModels } from '../support/loop-gateway.ts';
import { chatReportOf, forecast, report, weatherOf } from '../support/tool-loop.ts';

const loop = await startLoopGateway();
after(() => loop.gateway.stop());

const ways: Readonly<Record<string, (model: string) => BaseChatModel>> = {
  'openai chat': (model) => openai(model, false),
  'openai responses': (model) => openai(model, true),
  anthropic: (model) =>
    new ChatAnthropic({
      model,
      apiKey: loop.key,
      anthropicApiUrl: loop.gateway.url,
      maxTokens: 1_000,
      maxRetries: 0,
    }),
};
const weather = tool(({ city }) => weatherOf(city), {
  name: 'get_weather',
  description: 'The weather of a city',
  schema: z.object({ city: z.string() }),
});
const Forecast = z.object({ city: z.string(), degrees: z.number() });

for (const [way, modelOf] of Object.entries(ways)) {
  for (const { id } of wireModels) {
    for (const isStream of [false, true]) {
      test(`${way} on ${id}, ${isStream ? 'streamed' : 'whole'}: runs a loop with a bound tool`, async () => {
        const model = modelOf(id).bindTools!([weather]);
        const ask = async (messages: BaseMessage[]) => {
          if (!isStream) return model.invoke(messages);
          const chunks = await Array.fromAsync(await model.stream(messages));
          return chunks.reduce((sum, chunk) => concat(sum, chunk), new AIMessageChunk(''));
        };
        const messages: BaseMessage[] = [new HumanMessage('Weather?')];
        const first = await ask(messages);
        assert.deepEqual(
          first.tool_calls?.map(({ name, args }) => [name, args]),
          ['Paris', 'Rome'].map((city) => ['get_weather', { city }]),
        );
        messages.push(first);
        for (const { id: callId, args } of first.tool_calls) {
          messages.push(
            new ToolMessage({ tool_call_id: callId!, content: weatherOf(String(args.city)) }),
          );
        }
        assert.equal((await ask(messages)).text, way === 'openai chat' ? chatReportOf(id) : report);
      });
    }

    test(`${way} on ${id}: parses structured output`, async () => {
      assert.deepEqual(
        await modelOf(id).withStructuredOutput(Forecast, { name: 'forecast' }).invoke('Forecast?'),
        forecast,
      );
    });
  }
}

function openai(model: string, useResponsesApi: boolean): ChatOpenAI {
  const configuration = { baseURL: `${loop.gateway.url}/v1` };
  return new ChatOpenAI({ model, useResponsesApi, apiKey: loop.key, configuration, maxRetries: 0 });
}

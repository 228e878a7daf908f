// The official `@anthropic-ai/sdk` runs complete tool loops on models of every upstream format:
// whole and streamed, by hand and with its tool runner, with thinking whose signatures must come
// back. `schemas.test.ts` has the structured output that it parses.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import Anthropic from '@anthropic-ai/sdk';
import { betaZodTool } from '@anthropic-ai/sdk/helpers/beta/zod';
import { z } from 'zod';
import { everyLoopModel, startLoopGateway } from '../support/loop-gateway.ts';
import { report, weatherOf } from '../support/tool-loop.ts';

const loop = await startLoopGateway();
const client = new Anthropic({ baseURL: loop.gateway.url, apiKey: loop.key, maxRetries: 0 });
after(() => loop.gateway.stop());

const question: Anthropic.MessageParam = { role: 'user', content: 'Weather?' };
const weatherTool: Anthropic.Tool = {
  name: 'get_weather',
  input_schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
};
const thinking = { type: 'enabled', budget_tokens: 1_024 } as const;

for (const { id: model } of everyLoopModel) {
  for (const isStream of [false, true]) {
    const how = isStream ? 'streamed' : 'whole';
    const ask = async (body: Anthropic.MessageCreateParamsNonStreaming) =>
      isStream ? client.messages.stream(body).finalMessage() : client.messages.create(body);

    test(`${model}, ${how}: runs a tool loop with thinking by sending the content back`, async () => {
      const body = {
        model,
        max_tokens: 4_000,
        messages: [question],
        tools: [weatherTool],
        thinking,
      };
      const first = await ask(body);
      assert.equal(first.stop_reason, 'tool_use');
      const calls = first.content.filter((block) => block.type === 'tool_use');
      assert.deepEqual(
        calls.map(({ input }) => input),
        [{ city: 'Paris' }, { city: 'Rome' }],
      );
      const results = calls.map(({ id, input }): Anthropic.ToolResultBlockParam => ({
        type: 'tool_result',
        tool_use_id: id,
        content: weatherOf((input as { city: string }).city),
      }));
      const messages = [
        question,
        { role: 'assistant' as const, content: first.content },
        { role: 'user' as const, content: results },
      ];
      const second = await ask({ ...body, messages });
      assert.equal(
        second.content.map((block) => (block.type === 'text' ? block.text : '')).join(''),
        report,
      );
      assert.equal(second.stop_reason, 'end_turn');
      assert.deepEqual([second.usage.input_tokens, second.usage.output_tokens], [20, 10]);
    });

    test(`${model}, ${how}: the tool runner runs the loop by itself`, async () => {
      const asked: string[] = [];
      const tool = betaZodTool({
        name: 'get_weather',
        description: 'The weather of a city',
        inputSchema: z.object({ city: z.string() }),
        run: ({ city }) => {
          asked.push(city);
          return weatherOf(city);
        },
      });
      const runner = client.beta.messages.toolRunner({
        model,
        max_tokens: 4_000,
        messages: [{ role: 'user', content: 'Weather?' }],
        tools: [tool],
        thinking,
        stream: isStream,
      });
      const final = await runner.runUntilDone();
      assert.equal(
        final.content.map((block) => (block.type === 'text' ? block.text : '')).join(''),
        report,
      );
      assert.deepEqual(asked, ['Paris', 'Rome']);
    });
  }

  test(`${model}: a stream shows thinking and the pieces of the input before its end`, async () => {
    const stream = client.messages.stream({
      model,
      max_tokens: 4_000,
      messages: [question],
      tools: [weatherTool],
      thinking,
    });
    let thoughts = '';
    let input = '';
    stream.on('thinking', (delta) => (thoughts += delta));
    stream.on('inputJson', (delta) => (input += delta));
    await stream.finalMessage();
    assert.equal(thoughts, 'I need the weather.');
    assert.equal(input, '{"city":"Paris"}{"city":"Rome"}');
  });
}

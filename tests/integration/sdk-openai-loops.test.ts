// The official `openai` package runs complete tool loops on models of every upstream format: Chat
// and Responses, whole and streamed, by hand and with its own helpers, with reasoning that must
// come back. `schemas.test.ts` has the structured output that it parses.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import OpenAI from 'openai';
import type {
  ChatCompletionMessageParam,
  ChatCompletionTool,
} from 'openai/resources/chat/completions';
import type { FunctionTool, ResponseInput } from 'openai/resources/responses/responses';
import { everyLoopModel, startLoopGateway } from '../support/loop-gateway.ts';
import { report, weatherOf } from '../support/tool-loop.ts';

const loop = await startLoopGateway();
const client = new OpenAI({ baseURL: `${loop.gateway.url}/v1`, apiKey: loop.key, maxRetries: 0 });
after(() => loop.gateway.stop());

const parameters = {
  type: 'object',
  properties: { city: { type: 'string' } },
  required: ['city'],
  additionalProperties: false,
};
const chatTools: ChatCompletionTool[] = [
  { type: 'function', function: { name: 'get_weather', parameters } },
];
const responsesTools: FunctionTool[] = [
  { type: 'function', name: 'get_weather', parameters, strict: true },
];

for (const { id: model } of everyLoopModel) {
  for (const isStream of [false, true]) {
    const how = isStream ? 'streamed' : 'whole';

    test(`${model}, ${how}: runs a chat tool loop with reasoning by sending the messages back`, async () => {
      const messages: ChatCompletionMessageParam[] = [{ role: 'user', content: 'Weather?' }];
      const body = { model, messages, tools: chatTools, reasoning_effort: 'low' as const };
      const first = isStream
        ? await readChatStream(body)
        : await client.chat.completions.create(body);
      const message = first.choices[0]!.message;
      assert.equal(first.choices[0]!.finish_reason, 'tool_calls');
      messages.push(message, ...chatResults(message));
      const second = isStream
        ? await readChatStream(body)
        : await client.chat.completions.create(body);
      assert.equal(second.choices[0]!.message.content, report);
      assert.equal(second.choices[0]!.finish_reason, 'stop');
      assert.deepEqual([second.usage?.prompt_tokens, second.usage?.completion_tokens], [20, 10]);
    });

    test(`${model}, ${how}: runs a responses tool loop with reasoning by sending the output back`, async () => {
      const input: ResponseInput = [{ role: 'user', content: 'Weather?' }];
      const body = { model, input, tools: responsesTools, reasoning: { effort: 'low' as const } };
      const first = isStream
        ? await client.responses.stream(body).finalResponse()
        : await client.responses.create(body);
      const calls = first.output.flatMap((item) => (item.type === 'function_call' ? [item] : []));
      assert.equal(calls.length, 2);
      input.push(...(first.output as ResponseInput));
      for (const { call_id: callId, arguments: text } of calls) {
        const { city } = JSON.parse(text) as { city: string };
        input.push({ type: 'function_call_output', call_id: callId, output: weatherOf(city) });
      }
      const second = isStream
        ? await client.responses.stream(body).finalResponse()
        : await client.responses.create(body);
      assert.equal(second.output_text, report);
      assert.equal(second.status, 'completed');
      assert.deepEqual([second.usage?.input_tokens, second.usage?.output_tokens], [20, 10]);
    });

    test(`${model}, ${how}: runTools runs the loop by itself`, async () => {
      const asked: string[] = [];
      const tool = {
        type: 'function' as const,
        function: {
          name: 'get_weather',
          description: 'The weather of a city',
          parameters,
          parse: JSON.parse as (text: string) => { city: string },
          function: ({ city }: { city: string }) => {
            asked.push(city);
            return weatherOf(city);
          },
        },
      };
      const body = {
        model,
        messages: [{ role: 'user' as const, content: 'Weather?' }],
        tools: [tool],
      };
      const runner = isStream
        ? client.chat.completions.runTools({ ...body, stream: true })
        : client.chat.completions.runTools(body);
      assert.match((await runner.finalContent()) ?? '', /^Reports: Paris: .*; Rome: /);
      assert.deepEqual(asked, ['Paris', 'Rome']);
    });
  }

  test(`${model}: the deltas of a responses stream add up to its final arguments and text`, async () => {
    const stream = client.responses.stream({ model, input: 'Weather?', tools: responsesTools });
    const texts = new Map<number, string>();
    stream.on('response.function_call_arguments.delta', ({ output_index: index, delta }) => {
      texts.set(index, (texts.get(index) ?? '') + delta);
    });
    const final = await stream.finalResponse();
    const calls = [...final.output.entries()].filter(([, item]) => item.type === 'function_call');
    assert.deepEqual(
      calls.map(([index, item]) => [
        texts.get(index),
        item.type === 'function_call' && JSON.parse(item.arguments),
      ]),
      ['Paris', 'Rome'].map((city) => [JSON.stringify({ city }), { city }]),
    );
  });
}

/**
 * Reads a stream as a client that keeps every field of the deltas, including reasoning. The
 * package's helper keeps only its own fields.
 */
async function readChatStream(
  body: OpenAI.ChatCompletionCreateParamsNonStreaming,
): Promise<OpenAI.ChatCompletion> {
  const stream = client.chat.completions.stream({
    ...body,
    stream: true,
    stream_options: { include_usage: true },
  });
  const text: string[] = [];
  const details: unknown[] = [];
  stream.on('chunk', ({ choices }) => {
    const delta = choices[0]?.delta as
      | { reasoning_content?: string; reasoning_details?: unknown[] }
      | undefined;
    if (delta?.reasoning_content) text.push(delta.reasoning_content);
    details.push(...(delta?.reasoning_details ?? []));
  });
  const completion = await stream.finalChatCompletion();
  const reasoning = {
    ...(text.length > 0 && { reasoning_content: text.join('') }),
    ...(details.length > 0 && { reasoning_details: details }),
  };
  Object.assign(completion.choices[0]!.message, reasoning);
  return completion;
}

function chatResults({
  tool_calls: calls = [],
}: OpenAI.ChatCompletionMessage): ChatCompletionMessageParam[] {
  assert.equal(calls.length, 2);
  return calls.map((call) => {
    assert.ok(call.type === 'function');
    const { city } = JSON.parse(call.function.arguments) as { city: string };
    return { role: 'tool', tool_call_id: call.id, content: weatherOf(city) };
  });
}

// Schemas as the official packages write them, with bounds and formats, on providers that refuse
// keywords they do not support; and tools without arguments on providers that require properties.
// Each provider here answers 400 as the real one does.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { zodResponseFormat, zodTextFormat } from 'openai/helpers/zod';
import { zodOutputFormat } from '@anthropic-ai/sdk/helpers/zod';
import { z } from 'zod';
import { startLoopGateway, wireModels } from '../support/loop-gateway.ts';
import type { Framing } from '../support/model-hosts.ts';
import { forecast, playToolLoop, type LoopWire } from '../support/tool-loop.ts';
import { answerStatus, type Script } from '../support/upstream.ts';

const loop = await startLoopGateway();
const openai = new OpenAI({ baseURL: `${loop.gateway.url}/v1`, apiKey: loop.key, maxRetries: 0 });
const anthropic = new Anthropic({ baseURL: loop.gateway.url, apiKey: loop.key, maxRetries: 0 });
loop.play(judged);
after(() => loop.gateway.stop());

const byClaude = [
  'minimum',
  'maximum',
  'minLength',
  'maxItems',
  'pattern',
  '$schema',
  'oneOf',
  'exclusiveMinimum',
];
/** Schema keywords that a provider refuses, wherever they occur as keywords. */
const refused: Readonly<Record<LoopWire, readonly string[]>> = {
  messages: byClaude,
  converse: byClaude,
  gemini: ['minLength', 'pattern', '$schema', 'exclusiveMinimum', 'const', 'definitions'],
  responses: ['oneOf', 'allOf', 'uniqueItems', 'propertyNames', 'not'],
  chat: [],
};

function judged(wire: LoopWire, framing: Framing): Script {
  const play = playToolLoop(wire, framing);
  return (response, request) => {
    const problem = problemOf(wire, request.body as Body);
    if (problem === null) return play(response, request);
    return answerStatus(400, {
      body: { error: { type: 'invalid_request_error', message: problem } },
    })(response, request);
  };
}

type Format = { readonly schema?: object; readonly strict?: boolean };
type Parameters = { readonly type?: unknown; readonly properties?: unknown };
type Body = {
  readonly output_config?: { readonly format?: Format };
  readonly text?: { readonly format?: Format };
  readonly outputConfig?: {
    readonly textFormat?: {
      readonly structure: { readonly jsonSchema: { readonly schema: string } };
    };
  };
  readonly generationConfig?: { readonly responseJsonSchema?: object };
  readonly tools?: readonly {
    readonly parameters?: Parameters;
    readonly function?: { readonly parameters?: Parameters };
  }[];
};

function problemOf(
  wire: LoopWire,
  { output_config: config, outputConfig, text, generationConfig, tools = [] }: Body,
): string | null {
  const strict = text?.format?.strict ? text.format : undefined;
  const schemaText = outputConfig?.textFormat?.structure.jsonSchema.schema;
  const schema =
    (config?.format ?? strict)?.schema ??
    generationConfig?.responseJsonSchema ??
    (schemaText === undefined ? undefined : (JSON.parse(schemaText) as object));
  const word = wordsOf(schema).find((name) => refused[wire].includes(name));
  if (word !== undefined) return `schema: '${word}' is not supported`;
  if (wire !== 'responses' && wire !== 'chat') return null;
  const all = tools.map((tool) => tool.parameters ?? tool.function?.parameters);
  const isBroken = all.some(
    (parameters) => parameters?.type !== 'object' || !parameters.properties,
  );
  return isBroken ? 'Invalid schema for function: object schema missing properties.' : null;
}

function wordsOf(schema: unknown): string[] {
  if (typeof schema !== 'object' || schema === null) return [];
  if (Array.isArray(schema)) return schema.flatMap(wordsOf);
  return Object.entries(schema).flatMap(([word, value]) => {
    const inner = ['properties', '$defs', 'definitions'].includes(word)
      ? Object.values(value as object)
      : value;
    return [word, ...wordsOf(inner)];
  });
}

const Forecast = z.object({
  city: z.string().min(1).max(80).describe('The name of the city'),
  degrees: z.number().int().min(-90).max(60),
});

for (const { id: model } of wireModels) {
  for (const isStream of [false, true]) {
    const how = isStream ? 'streamed' : 'whole';

    test(`${model}, ${how}: a zod schema with bounds is parsed in chat, in responses and in messages`, async () => {
      const chatBody = {
        model,
        messages: [{ role: 'user' as const, content: 'Forecast?' }],
        response_format: zodResponseFormat(Forecast, 'forecast'),
      };
      const completion = isStream
        ? await openai.chat.completions.stream(chatBody).finalChatCompletion()
        : await openai.chat.completions.parse(chatBody);
      assert.deepEqual(completion.choices[0]!.message.parsed, forecast);

      const responseBody = {
        model,
        input: 'Forecast?',
        text: { format: zodTextFormat(Forecast, 'forecast') },
      };
      const response = isStream
        ? await openai.responses.stream(responseBody).finalResponse()
        : await openai.responses.parse(responseBody);
      assert.deepEqual(response.output_parsed, forecast);

      const body = {
        model,
        max_tokens: 1_000,
        messages: [{ role: 'user' as const, content: 'Forecast?' }],
        output_config: { format: zodOutputFormat(Forecast) },
      };
      const message = isStream
        ? await anthropic.messages.stream(body).finalMessage()
        : await anthropic.messages.parse(body);
      assert.deepEqual(message.parsed_output, forecast);
    });

    test(`${model}, ${how}: tools without arguments run from every client`, async () => {
      const bare = { type: 'object' };
      const chat = {
        model,
        messages: [{ role: 'user' as const, content: 'Weather?' }],
        tools: [{ type: 'function' as const, function: { name: 'get_weather', parameters: bare } }],
      };
      const completion = isStream
        ? await openai.chat.completions.stream(chat).finalChatCompletion()
        : await openai.chat.completions.create(chat);
      assert.equal(completion.choices[0]!.finish_reason, 'tool_calls');

      const tool = {
        type: 'function' as const,
        name: 'get_weather',
        parameters: bare,
        strict: null,
      };
      const responses = {
        model,
        input: 'Weather?',
        tools: [tool as OpenAI.Responses.FunctionTool],
      };
      const response = isStream
        ? await openai.responses.stream(responses).finalResponse()
        : await openai.responses.create(responses);
      assert.deepEqual(
        response.output.flatMap((item) => (item.type === 'function_call' ? [item.name] : [])),
        ['get_weather', 'get_weather'],
      );

      const messages = {
        model,
        max_tokens: 1_000,
        messages: [{ role: 'user' as const, content: 'Weather?' }],
        tools: [{ name: 'get_weather', input_schema: { type: 'object' as const } }],
      };
      const message = isStream
        ? await anthropic.messages.stream(messages).finalMessage()
        : await anthropic.messages.create(messages);
      assert.equal(message.stop_reason, 'tool_use');
    });
  }
}

test('keywords moved into the description are listed, and the model reads them there', async () => {
  const schema = {
    type: 'object',
    properties: { age: { type: 'integer', minimum: 18, description: 'In years' } },
    required: ['age'],
  };
  const { response } = await openai.chat.completions
    .create({
      model: 'on-messages',
      messages: [{ role: 'user', content: 'Forecast?' }],
      response_format: { type: 'json_schema', json_schema: { name: 'x', schema } },
    })
    .withResponse();
  assert.equal(response.headers.get('x-service-ignored'), 'schema.minimum');
  const { output_config: config } = loop.gateway.upstream.requests.at(-1)!.body as Body;
  assert.deepEqual(config?.format?.schema, {
    type: 'object',
    properties: { age: { type: 'integer', description: 'In years\n\n{minimum: 18}' } },
    required: ['age'],
    additionalProperties: false,
  });
});

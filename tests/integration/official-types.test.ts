// Every sandbox answer, for every directive, matches the official SDKs' types, whole and streamed,
// in each format.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { ClientFormatName } from '../../src/terms/format-name.ts';
import { startGateway } from '../support/gateway.ts';
import { findBreaches, findEventBreaches } from '../support/official-types.ts';
import { eventsOf, type Json } from '../support/plain/reading.ts';
import { checkStream } from '../support/stream-rules.ts';

const parameters = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
const jsonSchema = {
  name: 'answer',
  schema: { ...parameters, additionalProperties: false },
  strict: true,
};

type Client = {
  readonly path: string;
  readonly body: (prompt: string) => object;
  readonly variants: readonly object[];
};

/** `variants`: request options that change the answer's shape. */
const clients: Readonly<Record<ClientFormatName, Client>> = {
  responses: {
    path: '/v1/responses',
    body: (prompt) => ({
      input: prompt,
      tools: [{ type: 'function', name: 'look', parameters, strict: false }],
    }),
    variants: [
      {},
      { reasoning: { effort: 'high', summary: 'auto' } },
      {
        instructions: 'Be brief.',
        temperature: 0.5,
        top_p: 0.9,
        max_output_tokens: 900,
        parallel_tool_calls: false,
        truncation: 'auto',
      },
      { text: { format: { type: 'json_schema', ...jsonSchema } } },
      {
        metadata: { a: 'b' },
        user: 'u',
        safety_identifier: 's',
        prompt_cache_key: 'k',
        store: true,
        service_tier: 'default',
      },
      { tools: [{ type: 'custom', name: 'look' }], tool_choice: 'auto', max_output_tokens: 16 },
    ],
  },
  chat: {
    path: '/v1/chat/completions',
    body: (prompt) => ({
      messages: [{ role: 'user', content: prompt }],
      tools: [{ type: 'function', function: { name: 'look', parameters } }],
    }),
    variants: [
      {},
      { stream_options: { include_usage: true } },
      { reasoning_effort: 'high', max_completion_tokens: 2_000 },
      { response_format: { type: 'json_schema', json_schema: jsonSchema } },
      { max_tokens: 10 },
    ],
  },
  messages: {
    path: '/v1/messages',
    body: (prompt) => ({
      max_tokens: 4_000,
      messages: [{ role: 'user', content: prompt }],
      tools: [{ name: 'look', input_schema: parameters }],
    }),
    variants: [
      {},
      { thinking: { type: 'enabled', budget_tokens: 1_024 } },
      { output_config: { format: { type: 'json_schema', schema: jsonSchema.schema } } },
      { max_tokens: 10 },
    ],
  },
  gemini: {
    path: '/v1beta/models/claude-sonnet-4-5:',
    body: (prompt) => ({
      contents: [{ role: 'user', parts: [{ text: prompt }] }],
      tools: [{ functionDeclarations: [{ name: 'look', parametersJsonSchema: parameters }] }],
    }),
    variants: [
      {},
      { generationConfig: { thinkingConfig: { includeThoughts: true, thinkingBudget: 1_024 } } },
      {
        generationConfig: {
          responseMimeType: 'application/json',
          responseJsonSchema: jsonSchema.schema,
        },
      },
      { generationConfig: { maxOutputTokens: 10 } },
    ],
  },
};

const prompts = [
  'Hello!',
  'sandbox: tool=look {"city":"Oslo"}\nsandbox: tool=look {"city":"Rome"}',
  'sandbox: think=Let me see.\nHello!',
  'sandbox: think=Let me see.\nsandbox: tool=look {"city":"Oslo"}',
  'sandbox: tokens=50',
  'sandbox: tokens=300',
  'sandbox: usage=none\nHello!',
  'sandbox: delay_ms=5\nsandbox: pace_ms=1\nHello!',
];

const failing = [
  'sandbox: cut_after=2\nHello, how are you?',
  'sandbox: status=529',
  'sandbox: status=400',
  'sandbox: tool=look no JSON',
  'sandbox: odd',
];

const gateway = await startGateway();
const { key } = await gateway.makeKey();
after(() => gateway.stop());

for (const [name, { path, body, variants }] of Object.entries(clients)) {
  const client = name as ClientFormatName;
  const ask = (prompt: string, fields: object & { readonly stream?: boolean }) => {
    const { stream, ...others } = fields;
    const asked = { ...body(prompt), ...others };
    const method = stream ? 'streamGenerateContent?alt=sse' : 'generateContent';
    if (client === 'gemini') return gateway.post(path + method, { key, body: asked });
    const named = { model: 'claude-sonnet-4-5', ...asked, ...(stream !== undefined && { stream }) };
    return gateway.post(path, { key, body: named });
  };

  for (const prompt of prompts) {
    test(`${client}: ${prompt.replaceAll('\n', ' / ')}`, async () => {
      for (const variant of variants) {
        const whole = await ask(prompt, variant);
        assert.equal(whole.status, 200, whole.text);
        assert.deepEqual(findBreaches(client, whole.json()), []);
        const streamed = await ask(prompt, { ...variant, stream: true });
        assert.equal(streamed.status, 200, streamed.text);
        const usageAsked = 'stream_options' in variant;
        assert.equal(checkStream(client, streamed.text, { usageAsked }).ending, 'success');
        assert.deepEqual(findEventBreaches(client, eventsOf(streamed.text)), []);
      }
    });
  }

  for (const prompt of failing) {
    test(`${client} fails as directed:  ${prompt.replaceAll('\n', ' / ')}`, async () => {
      for (const stream of [false, true]) {
        const reply = await ask(prompt, { stream });
        if (reply.status === 200) {
          assert.ok(stream);
          assert.equal(checkStream(client, reply.text).ending, 'error');
          assert.deepEqual(findEventBreaches(client, eventsOf(reply.text).filter(isTyped)), []);
        } else {
          assert.ok(reply.status >= 400 && reply.error.message.length > 10, reply.text);
        }
      }
    });
  }
}

/** Anthropic's SDK throws on an `error` event and has no type for it. */
function isTyped(event: Json): boolean {
  return event['type'] !== 'error' || 'sequence_number' in event;
}

// Answers that a filter or the output limit ended before any text. Providers omit the field for the
// text. The provider ran the request and bills it, so it is an answer: the client learns why it is
// empty, and pays.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { WireName } from '../support/answers.ts';
import { startGateway } from '../support/gateway.ts';
import { findBreaches, findEventBreaches } from '../support/official-types.ts';
import { pairModels, pairPrices, pairs } from '../support/pairs.ts';
import { readPlainly } from '../support/plain/read-plainly.ts';
import { eventsOf, type Json } from '../support/plain/reading.ts';
import { answerJson, answerSse, type SseFrame } from '../support/upstream.ts';

const gateway = await startGateway({ models: pairModels });
after(() => gateway.stop());

const chatUsage = { prompt_tokens: 100, completion_tokens: 7, total_tokens: 107 };
const usage = { input_tokens: 100, output_tokens: 7, total_tokens: 107 };
const verdicts = { violence: { filtered: true, severity: 'medium' } };
const chunk = { id: 'x', object: 'chat.completion.chunk', created: 9, model: 'upstream-model' };

type Odd = {
  readonly name: string;
  readonly upstream: WireName;
  readonly stop: 'filter' | 'length';
  readonly whole?: object;
  readonly frames?: readonly SseFrame[];
};
const responses = {
  id: 'resp_1',
  object: 'response',
  created_at: 9,
  model: 'upstream-model',
  usage,
};
const messages = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'upstream-model',
  stop_sequence: null,
  usage,
};

const answers: readonly Odd[] = [
  // https://learn.microsoft.com/azure/ai-foundry/openai/concepts/content-filter: no message, and no
  // delta in streams.
  {
    name: "Azure's filtered choice without a message",
    upstream: 'chat',
    stop: 'filter',
    whole: { ...chunk, object: 'chat.completion', choices: [filteredChoice()], usage: chatUsage },
  },
  {
    name: "Azure's filtered choice without a delta",
    upstream: 'chat',
    stop: 'filter',
    frames: [
      {
        data: {
          ...chunk,
          choices: [],
          prompt_filter_results: [{ prompt_index: 0, content_filter_results: {} }],
        },
      },
      {
        data: {
          ...chunk,
          choices: [
            { index: 0, finish_reason: null, content_filter_offsets: { check_offset: 44 } },
          ],
        },
      },
      { data: { ...chunk, choices: [filteredChoice()] } },
      { data: { ...chunk, choices: [], usage: chatUsage } },
      'data: [DONE]\n\n',
    ],
  },
  {
    name: 'a choice that ends at its limit with `message: null`',
    upstream: 'chat',
    stop: 'length',
    whole: {
      ...chunk,
      choices: [{ index: 0, message: null, finish_reason: 'length' }],
      usage: chatUsage,
    },
  },
  {
    name: 'a refusal without `content`',
    upstream: 'messages',
    stop: 'filter',
    whole: { ...messages, stop_reason: 'refusal' },
  },
  {
    name: 'a message that ends at its limit with `content: null`',
    upstream: 'messages',
    stop: 'length',
    whole: { ...messages, content: null, stop_reason: 'max_tokens' },
  },
  {
    name: 'a filtered response without `output`',
    upstream: 'responses',
    stop: 'filter',
    whole: { ...responses, status: 'incomplete', incomplete_details: { reason: 'content_filter' } },
  },
  {
    name: 'a filtered response without `output`, streamed',
    upstream: 'responses',
    stop: 'filter',
    frames: [
      {
        event: 'response.created',
        data: { type: 'response.created', response: { ...responses, status: 'in_progress' } },
      },
      {
        event: 'response.incomplete',
        data: {
          type: 'response.incomplete',
          response: {
            ...responses,
            status: 'incomplete',
            incomplete_details: { reason: 'content_filter' },
          },
        },
      },
    ],
  },
];

function filteredChoice(): object {
  return { index: 0, finish_reason: 'content_filter', content_filter_results: verdicts };
}

for (const { name, upstream, stop, whole, frames } of answers) {
  for (const pair of pairs.filter((candidate) => candidate.upstream === upstream)) {
    test(`${name} gives an empty answer that is charged, ${pair.name}`, async () => {
      const stream = frames !== undefined;
      gateway.upstream.on(pair.upstreamPath, stream ? answerSse(frames) : answerJson(whole));
      const { key, account } = await gateway.makeKey({ mode: 'live', creditUsd: 1 });
      const { postedMicros } = await gateway.balance(account);
      const reply = await gateway.post(pair.client.path, { key, body: pair.body({ stream }) });
      assert.equal(reply.status, 200, reply.text);
      const reading = readPlainly(pair.client.name, stream, reply.text);
      assert.deepEqual([reading.stop, reading.text, reading.calls], [stop, '', []]);
      const cost = 100 * pairPrices.input + 7 * pairPrices.output;
      assert.equal(postedMicros - (await gateway.balance(account)).postedMicros, cost);
      const bodies = stream ? eventsOf(reply.text) : [reply.json()];
      if (pair.straight) bodies.forEach(assertHolds);
      else
        assert.deepEqual(
          stream
            ? findEventBreaches(pair.client.name, bodies)
            : findBreaches(pair.client.name, bodies[0]),
          [],
        );
    });
  }
}

/** Fields that SDKs read without checking that they exist. */
function assertHolds(body: Json): void {
  const held = [
    ...(body['choices'] ?? []).map((choice: Json) => choice['message'] ?? choice['delta']),
    ...('stop_reason' in body ? [body['content']] : []),
  ];
  if ('status' in body) held.push(body['output']);
  for (const value of held)
    assert.ok(typeof value === 'object' && value !== null, JSON.stringify(body));
}

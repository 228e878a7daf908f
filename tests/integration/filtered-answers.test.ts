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

const responses = {
  id: 'resp_1',
  object: 'response',
  created_at: 9,
  model: 'upstream-model',
  usage,
};
const filtered = {
  ...responses,
  status: 'incomplete',
  incomplete_details: { reason: 'content_filter' },
};
const begun = { ...responses, status: 'in_progress' };
const messages = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'upstream-model',
  stop_sequence: null,
  usage,
};
const chunkOf = (choices: object[], more: object = {}) => ({
  data: { ...chunk, choices, ...more },
});
const checking = { index: 0, finish_reason: null, content_filter_offsets: { check_offset: 44 } };
const prompted = { prompt_index: 0, content_filter_results: {} };
const event = (type: string, response: object) => ({ event: type, data: { type, response } });

type Odd = readonly [
  name: string,
  upstream: WireName,
  stop: 'filter' | 'length',
  answer: object | readonly SseFrame[],
];
const answers: readonly Odd[] = [
  // https://learn.microsoft.com/azure/ai-foundry/openai/concepts/content-filter: no message, and no
  // delta in streams.
  [
    "Azure's filtered choice without a message",
    'chat',
    'filter',
    { ...chunk, object: 'chat.completion', choices: [filteredChoice()], usage: chatUsage },
  ],
  [
    "Azure's filtered choice without a delta",
    'chat',
    'filter',
    [
      chunkOf([], { prompt_filter_results: [prompted] }),
      chunkOf([checking]),
      chunkOf([filteredChoice()]),
      chunkOf([], { usage: chatUsage }),
      'data: [DONE]\n\n',
    ],
  ],
  [
    'a choice that ends at its limit with `message: null`',
    'chat',
    'length',
    { ...chunk, choices: [{ index: 0, message: null, finish_reason: 'length' }], usage: chatUsage },
  ],
  ['a refusal without `content`', 'messages', 'filter', { ...messages, stop_reason: 'refusal' }],
  [
    'a message that ends at its limit with `content: null`',
    'messages',
    'length',
    { ...messages, content: null, stop_reason: 'max_tokens' },
  ],
  ['a filtered response without `output`', 'responses', 'filter', filtered],
  [
    'a filtered response without `output`, streamed',
    'responses',
    'filter',
    [event('response.created', begun), event('response.incomplete', filtered)],
  ],
];

function filteredChoice(): object {
  return { index: 0, finish_reason: 'content_filter', content_filter_results: verdicts };
}

for (const [name, upstream, stop, answer] of answers) {
  for (const pair of pairs.filter((candidate) => candidate.upstream === upstream)) {
    test(`${name} gives an empty answer that is charged, ${pair.name}`, async () => {
      const stream = Array.isArray(answer);
      const script = stream ? answerSse(answer as SseFrame[]) : answerJson(answer);
      gateway.upstream.on(pair.upstreamPath, script);
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
      else if (stream) assert.deepEqual(findEventBreaches(pair.client.name, bodies), []);
      else assert.deepEqual(findBreaches(pair.client.name, bodies[0]), []);
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

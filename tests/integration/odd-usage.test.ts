// Chat hosts that count parts of the input or output beside `prompt_tokens` and
// `completion_tokens`: each token is charged once, and the client sees what it is charged.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { endpoints } from '../support/endpoints.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { pairModels, pairPrices } from '../support/pairs.ts';
import { readPlainly } from '../support/plain/read-plainly.ts';
import { answerJson, answerSse, type Script } from '../support/upstream.ts';

type Answered = { readonly model?: string; readonly usage: object };
type Case = Answered & {
  readonly name: string;
  readonly charged: { readonly input: number; readonly cacheRead: number; readonly output: number };
};

const cacheReadPrice = 0.3;
const models = {
  'to-chat': {
    ...pairModels['to-chat'],
    prices: { ...pairPrices, cache_read: cacheReadPrice },
  },
};

const cases: readonly Case[] = [
  {
    name: 'cached input beside the prompt',
    usage: {
      prompt_tokens: 368,
      completion_tokens: 19,
      total_tokens: 10_923,
      cache_read_input_tokens: 10_536,
      cache_creation_input_tokens: 0,
    },
    charged: { input: 368, cacheRead: 10_536, output: 19 },
  },
  {
    name: 'thoughts of Google’s endpoint',
    model: 'gemini-2.5-flash',
    usage: { prompt_tokens: 20, completion_tokens: 12, total_tokens: 94 },
    charged: { input: 20, cacheRead: 0, output: 74 },
  },
  {
    name: 'reasoning of xAI',
    usage: {
      prompt_tokens: 12,
      completion_tokens: 1,
      total_tokens: 241,
      completion_tokens_details: { reasoning_tokens: 228 },
    },
    charged: { input: 12, cacheRead: 0, output: 229 },
  },
  {
    name: 'a surplus that nothing explains',
    usage: { prompt_tokens: 20, completion_tokens: 12, total_tokens: 5_000 },
    charged: { input: 20, cacheRead: 0, output: 12 },
  },
];

function answer(stream: boolean, { model = 'upstream-model', usage }: Answered): Script {
  const head = { id: 'chatcmpl-1', created: 1_790_000_000, model };
  const message = { role: 'assistant', content: 'Hi.' };
  const choice = { index: 0, finish_reason: 'stop' };
  if (!stream)
    return answerJson({
      ...head,
      object: 'chat.completion',
      choices: [{ ...choice, message }],
      usage,
    });
  const chunk = { ...head, object: 'chat.completion.chunk' };
  return answerSse([
    { data: { ...chunk, choices: [{ ...choice, delta: message }] } },
    { data: { ...chunk, choices: [], usage } },
    '[DONE]',
  ]);
}

async function ask(gateway: TestGateway, { client, stream, answered }: Asked) {
  gateway.upstream.on('/v1/chat/completions', answer(stream, answered));
  const { key } = await gateway.makeKey({ mode: 'live', creditUsd: 1 });
  const asked = client.name === 'chat' && stream && { stream_options: { include_usage: true } };
  const prompt = ' the'.repeat(10_000);
  const input =
    client.name === 'responses'
      ? { input: prompt }
      : { messages: [{ role: 'user', content: prompt }] };
  const limit = { [client.limitField]: 1_000 };
  const body = client.body({ model: 'to-chat', stream, ...asked, ...input, ...limit });
  return { key, reply: await gateway.post(client.path, { key, body }) };
}
type Asked = {
  readonly client: (typeof endpoints)[number];
  readonly stream: boolean;
  readonly answered: Answered;
};

test('what hosts count beside the prompt and the output is charged once and shown as charged', async (t) => {
  const gateway = await startGateway({ models });
  t.after(() => gateway.stop());
  for (const { name, charged, ...answered } of cases) {
    for (const client of endpoints) {
      for (const stream of [false, true]) {
        await t.test(`${name}: ${client.name}, ${stream ? 'streamed' : 'whole'}`, async () => {
          const { reply } = await ask(gateway, { client, stream, answered });
          const { usage } = readPlainly(client.name, stream, reply.text);
          assert.ok(usage, reply.text);
          const { input, cacheRead, output } = charged;
          assert.deepEqual([usage.input, usage.output], [input + cacheRead, output]);
          const cost =
            input * pairPrices.input + cacheRead * cacheReadPrice + output * pairPrices.output;
          assert.equal(reply.costMicros, Math.ceil(Number(cost.toFixed(6))));
        });
      }
    }
  }
});

test('the operator is told once of a provider whose counts do not add up', async (t) => {
  const gateway = await startGateway({ models });
  t.after(() => gateway.stop());
  for (const stream of [false, true])
    await ask(gateway, { client: endpoints[0]!, stream, answered: cases.at(-1)! });
  const warnings = gateway.program.output.split('\n').filter((line) => /add up/.test(line));
  assert.equal(warnings.length, 1);
  assert.match(warnings[0]!, /"provider":"openai".*"unexplained_tokens":4968/);
});

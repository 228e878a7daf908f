// Batches that are passed to a provider's own batch API: their price, their settlement, and every way in
// which the provider, or a gateway between two steps, can fail. What the provider bills is what accounts
// pay and the operator loses.
import assert from 'node:assert/strict';
import { after, beforeEach, test } from 'node:test';
import Anthropic from '@anthropic-ai/sdk';
import { wholeAnswer } from '../support/answers.ts';
import { BatchProvider, type Answer } from '../support/batch-provider.ts';
import { startGateway, type KeyOptions } from '../support/gateway.ts';
import { until } from '../support/until.ts';

/** A microdollar for each token of the input, and two for each of the output, in a batch. */
const prices = { input: 2, output: 4, batch: 0.5 };
const gateway = await startGateway({
  models: {
    claude: { prices, routes: [{ provider: 'anthropic', model: 'claude' }] },
    gpt: { prices, routes: [{ provider: 'openai', model: 'gpt' }] },
  },
});
after(() => gateway.stop());
const { upstream, database } = gateway;
const creditUsd = 1;
const hangMs = 20_000;
const tokens = { input: 10, output: 5 };
const costMicros = tokens.input + 2 * tokens.output;

let provider: BatchProvider;
beforeEach(() => {
  provider = new BatchProvider(answerByPrompt);
  upstream.on('*', provider.script);
});

/** Answers by the prompt: `fail` with an error, others as usual. */
function answerByPrompt(body: Record<string, unknown>): Answer {
  if (/fail/.test(JSON.stringify(body)))
    return {
      status: 400,
      body: { type: 'error', error: { type: 'invalid_request_error', message: 'too odd' } },
      billedMicros: 0,
    };
  const wire = body['max_tokens'] ? 'messages' : 'input' in body ? 'responses' : 'chat';
  return {
    status: 200,
    body: wholeAnswer(wire, { text: 'Yes.', tokens }),
    billedMicros: costMicros,
  };
}

type Made = Awaited<ReturnType<typeof newKey>>;
const newKey = (options: KeyOptions = {}) =>
  gateway.makeKey({ mode: 'live', creditUsd, ...options });
const anthropic = ({ key }: Pick<Made, 'key'>) =>
  new Anthropic({ apiKey: key, baseURL: gateway.url, maxRetries: 0 });

const request = (customId: string, fields: object = {}) => ({
  custom_id: customId,
  params: {
    model: 'claude',
    max_tokens: 100,
    messages: [{ role: 'user' as const, content: customId }],
    ...fields,
  },
});

/** Batches at providers are looked at now, as if their time had come. */
const hurry = () => database.write.updateTable('sent_batches').set({ due_at_ms: 1 }).execute();

const end = (made: Pick<Made, 'key'>, id: string) =>
  until(async () => {
    await hurry();
    const batch = await anthropic(made).messages.batches.retrieve(id);
    return batch.processing_status === 'ended' && batch;
  }, hangMs);

async function resultsOf(made: Pick<Made, 'key'>, id: string) {
  const results = [];
  for await (const result of await anthropic(made).messages.batches.results(id))
    results.push(result);
  return results;
}

/** Nothing is held, and that is what was spent. */
async function assertSpent(made: Pick<Made, 'account'>, micros: number): Promise<void> {
  const { availableMicros, heldMicros, postedMicros } = await gateway.balance(made.account);
  const left = creditUsd * 1_000_000 - micros;
  assert.deepEqual([availableMicros, heldMicros, postedMicros], [left, 0, left]);
}

test("Anthropic's SDK runs a batch that is passed on, at half the price", async () => {
  const made = await newKey();
  const { batches } = anthropic(made).messages;
  const { id } = await batches.create({ requests: [request('one'), request('fail')] });
  const done = await end(made, id);
  assert.deepEqual(done.request_counts, {
    processing: 0,
    succeeded: 1,
    errored: 1,
    canceled: 0,
    expired: 0,
  });
  const results = await resultsOf(made, id);
  assert.deepEqual(
    results.map(({ custom_id, result }) => [custom_id, result.type]),
    [
      ['one', 'succeeded'],
      ['fail', 'errored'],
    ],
  );
  await assertSpent(made, costMicros);
  assert.equal(provider.billMicros, costMicros);
});

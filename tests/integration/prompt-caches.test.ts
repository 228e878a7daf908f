// Compares what an agent's conversation with a Claude model costs through each client format with
// the same conversation sent to the provider by a client that marks its prompts.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { JsonObject } from '../../src/lib/json.ts';
import { agents, converse, mark, type Agent } from '../support/agent-conversations.ts';
import { cachingPrices, cachingProvider, costOf } from '../support/caching-provider.ts';
import { wholeAnswer } from '../support/answers.ts';
import { startGateway } from '../support/gateway.ts';
import { numberedContent } from '../support/numbered-answers.ts';
import { TestClock } from '../support/test-clock.ts';
import { answerJson } from '../support/upstream.ts';

const turns = 40;
const clock = new TestClock();

const claude = {
  routes: [{ provider: 'anthropic', model: 'claude-sonnet-5' }],
  max_input_tokens: 500_000,
  max_output_tokens: 8_000,
  prices: cachingPrices,
};
const gateway = await startGateway(
  { models: { claude, unmarked: { ...claude, cache_marks: false } } },
  { clock },
);
const { key } = await gateway.makeKey({ mode: 'live', creditUsd: 1_000 });
after(() => gateway.stop());
const task = 'Mend the failing test.';

/** Runs a turn each twenty seconds. */
async function run(agent: Agent, send: (request: JsonObject) => Promise<JsonObject>) {
  await converse(agent, turns, async (request) => {
    const answer = await send(request);
    await clock.advance(20_000);
    return answer;
  });
}

async function conversedThrough(client: Agent, model: string) {
  const provider = cachingProvider(clock);
  gateway.upstream.on('/v1/messages', provider.script);
  let chargedUsd = 0;
  await run(client, async (request) => {
    const reply = await gateway.post(client.path, { key, body: { model, ...request } });
    assert.equal(reply.status, 200, reply.text);
    chargedUsd += reply.costMicros! / 1_000_000;
    return reply.json<JsonObject>();
  });
  return { chargedUsd, billed: provider.billed };
}

async function billDirectly(): Promise<number> {
  const provider = cachingProvider(clock);
  await run(agents.messages(task), async (request) =>
    provider.answer({ model: 'claude', ...request }),
  );
  return costOf(provider.billed);
}
const directUsd = await billDirectly();

for (const [name, client] of Object.entries(agents))
  test(`a conversation of ${turns} turns from a ${name} client costs what it costs at the provider`, async () => {
    const { chargedUsd, billed } = await conversedThrough(client(task), 'claude');
    assert.ok(Math.abs(costOf(billed) - chargedUsd) < 0.0001, 'the charge is the provider’s bill');
    const ratio = chargedUsd / directUsd;
    assert.ok(ratio > 0.98 && ratio < 1.02, `${ratio.toFixed(3)} of the direct bill`);
  });

test('without marks nothing is read from the cache, which costs several times as much', async () => {
  const { chargedUsd, billed } = await conversedThrough(agents.chat(task), 'unmarked');
  assert.ok(billed.every((usage) => usage.cache_read_input_tokens === 0));
  assert.ok(chargedUsd / directUsd > 4, `${(chargedUsd / directUsd).toFixed(1)} times`);
});

test('a limit of 0 fills Claude’s cache without an answer, and other models’ with the least they write', async () => {
  const usage = {
    input_tokens: 3,
    cache_creation_input_tokens: 2_000,
    cache_read_input_tokens: 0,
    output_tokens: 0,
  };
  const empty = { type: 'message', content: [], stop_reason: 'max_tokens', usage };
  gateway.upstream.on('/v1/messages', answerJson(empty));
  gateway.upstream.on('/v1/responses', answerJson(wholeAnswer('responses', numberedContent)));
  for (const [model, field, limit] of [
    ['claude', 'max_tokens', 0],
    ['gpt-6-luna', 'max_output_tokens', 16],
  ] as const) {
    const messages = [{ role: 'user', content: 'Hello' }];
    const { reply, asked } = await gateway.postRecorded('/v1/messages', {
      key,
      body: { model, max_tokens: 0, messages },
    });
    assert.equal(reply.status, 200, reply.text);
    assert.equal((asked[0]!.body as JsonObject)[field], limit);
    if (limit === 0) {
      const answer = reply.json();
      assert.deepEqual([answer.content, answer.stop_reason], [[], 'max_tokens']);
    }
  }
});

test('a Messages client that marks its prompts names one prompt cache in all turns with OpenAI', async () => {
  const { upstream } = gateway;
  upstream.on('/v1/responses', answerJson(wholeAnswer('responses', numberedContent)));
  const say = (role: string, text: string, fields: object = {}) => ({
    role,
    content: [{ type: 'text', text, ...fields }],
  });
  const keyOf = async (body: object, from = key, headers: Record<string, string> = {}) => {
    const sent = upstream.requests.length;
    const model = 'gpt-6-luna';
    const reply = await gateway.post('/v1/messages', {
      key: from,
      headers,
      body: { model, max_tokens: 200, ...body },
    });
    assert.equal(reply.status, 200, reply.text);
    return ((await upstream.request(sent)).body as JsonObject).prompt_cache_key;
  };
  const opening = [say('user', 'Hello', mark)];
  const later = [say('user', 'Hello'), say('assistant', 'Yes?'), say('user', 'More', mark)];
  const name = await keyOf({ messages: opening });
  assert.match(String(name), /^[\w-]{43}$/);
  assert.equal(await keyOf({ messages: later }), name);
  assert.equal(await keyOf({ ...mark, messages: [say('user', 'Hello')] }), name);
  assert.equal(await keyOf({ messages: [say('user', 'Hello')] }), undefined);
  const { key: other } = await gateway.makeKey({ mode: 'live', creditUsd: 10 });
  const session = { 'x-claude-code-session-id': 'session-1' };
  const others = [
    await keyOf({ messages: opening }, other),
    await keyOf({ messages: opening }, key, session),
    await keyOf({ messages: [say('user', 'Good bye', mark)] }),
  ];
  assert.equal(new Set([name, ...others]).size, 4);
  assert.equal(await keyOf({ messages: later }, key, session), others[1]);
});

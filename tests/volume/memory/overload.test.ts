// An overloaded gateway: running requests finish, new ones get a 503 and may retry, health checks
// are answered, and it recovers by itself.
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { answerContent } from '../../support/answers.ts';
import { endpoint, endpoints } from '../../support/endpoints.ts';
import { metricsToken, startGatewayProgram, type TestGateway } from '../../support/gateway.ts';
import type { Reply } from '../../support/http.ts';
import { until } from '../../support/until.ts';
import type { Script } from '../../support/upstream.ts';

const chat = endpoint('chat');
/** A limit for hangs only. */
const hangMs = 180_000;
const words = Array.from({ length: 60 }, (_, index) => `word${index}`).join(' ');
const long = { text: words, tokens: { input: 100, output: 60 } };

async function start(t: TestContext, overload: object): Promise<TestGateway> {
  const gateway = await startGatewayProgram({ overload, metrics: { token: metricsToken } });
  t.after(() => gateway.stop());
  return gateway;
}

const megabytes = (count: number) => 'x'.repeat(count * 1_000_000);
const isOverloaded = (reply: Reply) => reply.status === 503 && reply.error.code === 'overloaded';

/** Opens a stream of some seconds on each endpoint. */
function openStreams(gateway: TestGateway, key: string, paceMs = 80): Promise<Reply[]> {
  for (const { name, upstreamPath } of endpoints)
    gateway.upstream.on(upstreamPath, answerContent(name, long, { paceMs }));
  return Promise.all(
    endpoints.map(({ path, body }) => gateway.post(path, { key, body: body({ stream: true }) })),
  );
}

function assertWhole(replies: readonly Reply[]): void {
  for (const { status, text } of replies) {
    assert.equal(status, 200);
    assert.match(text, /word59/);
    assert.match(text, /(\[DONE\]|response\.completed|message_stop)/);
  }
}

/** Memory full for longer than this is in use: the gateway collects garbage every 5 s meanwhile. */
const collectedMs = 6_000;

/** The operator's view, which must be answered under any load. */
async function health(gateway: TestGateway) {
  const [live, ready, metrics] = await Promise.all([
    gateway.get('/healthz'),
    gateway.get('/readyz', { key: metricsToken }),
    gateway.get('/metrics', { key: metricsToken }),
  ]);
  assert.deepEqual([live.status, metrics.status], [200, 200]);
  return {
    ready,
    refusesFor: (reason: string) =>
      metrics.text.includes(`tollgate_overloaded{reason="${reason}"} 1`),
  };
}

/** The log is written in batches. */
async function logged({ program }: TestGateway, pattern: RegExp): Promise<void> {
  await until(() => pattern.test(program.output), hangMs);
}

async function askOfficially(
  { url }: TestGateway,
  key: string,
): Promise<(string | null | undefined)[]> {
  const openai = new OpenAI({ apiKey: key, baseURL: `${url}/v1`, maxRetries: 20 });
  const anthropic = new Anthropic({ apiKey: key, baseURL: url, maxRetries: 20 });
  const messages = [{ role: 'user', content: 'Hello!' } as const];
  const [completion, message] = await Promise.all([
    openai.chat.completions.create({ model: 'gpt-6-luna', messages }),
    anthropic.messages.create({ model: 'claude-haiku-4-5', max_tokens: 100, messages }),
  ]);
  const [block] = message.content;
  return [completion.choices[0]?.message.content, block?.type === 'text' ? block.text : null];
}

async function recovers(gateway: TestGateway, key: string): Promise<void> {
  await until(async () => {
    const reply = await gateway.post(chat.path, { key, body: chat.body() });
    assert.ok(reply.status === 200 || isOverloaded(reply), reply.text);
    return reply.status === 200;
  }, hangMs);
}

test('a lagging event loop refuses new requests until it has caught up', async (t) => {
  const gateway = await start(t, { lag_ms: 10 });
  const { key } = await gateway.makeKey({ mode: 'live', creditUsd: 5 });
  const { key: testKey } = await gateway.makeKey();
  const streams = openStreams(gateway, key);
  // More large requests than can be parsed in time: each occupies the event loop for some
  // milliseconds at a time.
  const state = { isOver: false, served: 0 };
  const refused: Reply[] = [];
  const body = JSON.stringify(
    chat.body({
      messages: Array.from({ length: 16_000 }, () => ({ role: 'user', content: 'Hi!' })),
    }),
  );
  const clients = Array.from({ length: 30 }, async () => {
    while (!state.isOver) {
      const reply = await gateway.post(chat.path, { key: testKey, body });
      if (reply.status === 503) refused.push(reply);
      else state.served += 1;
    }
  });
  await until(async () => {
    const { ready, refusesFor } = await health(gateway);
    return refusesFor('lag') && ready.status === 200;
  }, hangMs);
  await until(() => state.served >= 10 && refused.length >= 100, hangMs);
  state.isOver = true;
  await Promise.all(clients);
  assertWhole(await streams);
  assert.ok(refused.every(isOverloaded));
  for (const { headers } of refused) assert.match(String(headers['retry-after']), /^[123]$/);
  await recovers(gateway, key);
  await logged(
    gateway,
    /"reason":"lag","msg":"overloaded: new requests are refused[^]*"msg":"no longer overloaded/,
  );
  t.diagnostic(`${state.served} served, ${refused.length} refused`);
});

/**
 * The answer comes before the body is complete, so a client that goes on writing may find the connection
 * closed before it reads. Returns the status of such a refusal.
 */
function refusedEarly(error: unknown): 503 {
  if (!['ECONNRESET', 'EPIPE'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
  return 503;
}

test('memory near its limit refuses new requests until it is free again', async (t) => {
  const bound = 260_000_000;
  const gateway = await start(t, { memory_bytes: bound, lag_ms: null });
  const { key } = await gateway.makeKey({ mode: 'live', creditUsd: 50 });
  const streams = openStreams(gateway, key, 500);
  await gateway.upstream.request(endpoints.length - 1);
  // Large requests that must stay in memory while they wait for their upstream.
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const answer = answerContent('chat', long);
  const waits: Script = async (response, request) => {
    await released;
    await answer(response, request);
  };
  gateway.upstream.on('/v1/chat/completions', waits);
  const body = chat.body({
    messages: [{ role: 'user', content: megabytes(10) }],
    max_completion_tokens: 16,
  });
  const large: Promise<number>[] = [];
  const sendLarge = () =>
    large.push(gateway.post(chat.path, { key, body }).then(({ status }) => status, refusedEarly));
  let fullSinceMs: number | null = null;
  while (!fullSinceMs || performance.now() - fullSinceMs < collectedMs) {
    if ((await health(gateway)).refusesFor('memory')) fullSinceMs ??= performance.now();
    else {
      fullSinceMs = null;
      sendLarge();
    }
    // The gateway measures its load every 100 ms.
    await setTimeout(250);
  }
  const { ready, refusesFor } = await health(gateway);
  assert.deepEqual(
    [ready.status, ready.json()['overloaded'], refusesFor('memory')],
    [200, 'memory', true],
  );
  sendLarge();
  for (const at of endpoints) {
    const reply = await gateway.post(at.path, { key, body: at.body({ stream: true }) });
    assert.ok(isOverloaded(reply));
    assert.equal(
      reply.error.type,
      { messages: 'overloaded_error', chat: 'server_error', responses: 'overloaded' }[at.name],
    );
  }
  const comingAgain = askOfficially(gateway, key);
  release();
  // They retried when `Retry-After` said, and were served.
  for (const text of await comingAgain) assert.match(text ?? '', /word59/);
  const statuses = await Promise.all(large);
  assert.deepEqual(new Set(statuses), new Set([200, 503]));
  assertWhole(await streams);
  gateway.upstream.on('/v1/chat/completions', answer);
  await recovers(gateway, key);
  await logged(gateway, /"reason":"memory","msg":"overloaded[^]*"msg":"no longer overloaded/);
  const served = statuses.filter((status) => status === 200).length;
  t.diagnostic(`${served} of ${statuses.length} requests of 10 MB served`);
});

test('eighty clients that send 32 MB each do not end the process', async (t) => {
  const gateway = await start(t, { memory_bytes: 512_000_000, lag_ms: null });
  const { key } = await gateway.makeKey();
  const body = Buffer.from(
    JSON.stringify(chat.body({ messages: [{ role: 'user', content: megabytes(32) }] })),
  );
  const outcomes = await Promise.all(
    Array.from({ length: 80 }, () =>
      gateway.post(chat.path, { key, body }).then(
        (reply) => (isOverloaded(reply) ? 'refused' : reply.error.code),
        (error: unknown) => refusedEarly(error) && 'refused',
      ),
    ),
  );
  const counts = Map.groupBy(outcomes, (outcome) => outcome);
  t.diagnostic(Array.from(counts, ([outcome, { length }]) => `${length} × ${outcome}`).join(', '));
  assert.ok(
    outcomes.every((outcome) => outcome === 'refused' || outcome === 'context_length_exceeded'),
    outcomes.join(),
  );
  assert.ok(outcomes.includes('refused') && outcomes.includes('context_length_exceeded'));
  assert.equal((await gateway.post(chat.path, { key, body: chat.body() })).status, 200);
});

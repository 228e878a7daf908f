// Requests whose cost nobody can estimate before their end: their client leaves, or has all the text
// that it wanted. They run on, and the provider's own count is charged.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { streamFrames, wholeAnswer } from '../support/answers.ts';
import { endpoint } from '../support/endpoints.ts';
import { startGateway } from '../support/gateway.ts';
import { TestClock, flushEventLoop } from '../support/test-clock.ts';
import { until } from '../support/until.ts';
import { answerInParts, answerJson, answerSse, holdBack } from '../support/upstream.ts';

/** USD per million tokens. */
const prices = { input: 1, output: 10 };
const clock = new TestClock();

const model = (route: object) => ({
  routes: [{ ...route, model: 'upstream-model' }],
  max_input_tokens: 200_000,
  max_output_tokens: 8_000,
  supports: { thinking: false },
  prices,
  // The host stands for one on the web, which fetches addresses itself.
  pass_fields: ['input.content.input_file'],
});
const models = {
  'by-responses': model({ provider: 'openai', api: 'responses' }),
};
const gateway = await startGateway({ models, log: { level: 'error' } }, { clock });
after(() => gateway.stop());

const tokens = { input: 150_000, output: 20 };
const costMicros = tokens.input * prices.input + tokens.output * prices.output;
const text = 'one two three four';
const file = { type: 'input_file', file_url: 'https://example.com/long.pdf' };
const document = {
  input: [{ role: 'user', content: [file, { type: 'input_text', text: 'Sum it up.' }] }],
};

const cases = [
  { what: 'a document by address', stream: true, fields: document },
  { what: 'a document by address', stream: false, fields: document },
  {
    what: 'a web search',
    stream: false,
    fields: { tools: [{ type: 'web_search' }] },
  },
] as const;

const responses = endpoint('responses');

for (const { what, stream, fields } of cases) {
  const how = stream ? 'streamed' : 'whole';
  test(`a client that leaves pays what the provider counts for ${what}, ${how}`, async () => {
    const { start, deltas, end } = streamFrames('responses', { text, tokens });
    const late = stream
      ? answerInParts([...start, ...deltas], end)
      : holdBack(answerJson(wholeAnswer('responses', { text, tokens })));
    const { key, account } = await gateway.makeKey({ mode: 'live', creditUsd: 5 });
    const body = responses.body({ model: 'by-responses', stream, ...fields });
    await leaveEarly(late, { key, body });
    await until(async () => (await gateway.usage(key)).length > 0);
    assert.equal((await gateway.balance(account)).availableMicros, 5_000_000 - costMicros);
  });
}

test('a client whose stop sequence came early pays what the provider counts in the end', async () => {
  const messages = endpoint('messages');
  const { start, deltas, end } = streamFrames('responses', { text, tokens });
  const late = answerInParts([...start, ...deltas], end);
  gateway.upstream.on(responses.upstreamPath, late.script);
  const { key } = await gateway.makeKey({ mode: 'live', creditUsd: 5 });
  const source = { type: 'url', url: 'https://example.com/long.pdf' };
  const content = [
    { type: 'document', source },
    { type: 'text', text: 'Sum it up.' },
  ];
  const body = messages.body({
    model: 'by-responses',
    stream: true,
    stop_sequences: ['two'],
    messages: [{ role: 'user', content }],
  });
  const index = gateway.upstream.requests.length;
  const reply = gateway.post(messages.path, { key, body });
  await gateway.upstream.request(index);
  await flushEventLoop();
  await clock.advance(60_000);
  late.release();
  assert.equal((await reply).costMicros, costMicros);
});

test('a stream with a document by address is held for in full, so that no cap ends it early', async () => {
  const { start, deltas, end } = streamFrames('responses', { text, tokens });
  gateway.upstream.on(responses.upstreamPath, answerSse([...start, ...deltas, ...end]));
  // Room for the longest document and a slice of 4 096 tokens, but not for 8 000.
  const { key, account } = await gateway.makeKey({ mode: 'live', creditUsd: 0.26 });
  const ask = (fields: object) =>
    gateway.ask(responses, key, { model: 'by-responses', stream: true, ...document, ...fields });
  assert.equal((await ask({ max_output_tokens: 8_000 })).error.code, 'insufficient_balance');
  const reply = await ask({ max_output_tokens: undefined });
  assert.equal(reply.status, 200, reply.text);
  const sent = gateway.upstream.requests.at(-1)!.body as { readonly max_output_tokens: number };
  assert.ok(sent.max_output_tokens > 4_096 && sent.max_output_tokens <= 6_000);
  assert.equal((await gateway.balance(account)).availableMicros, 260_000 - costMicros);
});

async function leaveEarly(
  late: ReturnType<typeof holdBack>,
  { key, body }: { key: string; body: object },
): Promise<void> {
  gateway.upstream.on(responses.upstreamPath, late.script);
  const index = gateway.upstream.requests.length;
  const { request, response } = gateway.open(responses.path, { key, body });
  response.catch(() => {});
  const asked = await gateway.upstream.request(index);
  await flushEventLoop();
  request.destroy();
  await flushEventLoop();
  await clock.advance(60_000);
  late.release();
  assert.equal(await asked.ended, 'answered', 'it was not stopped');
}

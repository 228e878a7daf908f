// `POST /v1/completions` at hosts that have it, over real HTTP: the prompt is continued, several prompts,
// tokens, `suffix` and `best_of` are sent and held, and the host's count is charged.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { completions } from '../../src/formats/chat/completions.ts';
import type { JsonObject } from '../../src/lib/json.ts';
import { startGateway } from '../support/gateway.ts';
import { readFrames, type Reply } from '../support/http.ts';
import { routesTo } from '../support/model-of.ts';
import fc from '../support/property.ts';
import { answerBytes, answerJson, answerSse, answerStatus } from '../support/upstream.ts';
import { rowOf } from '../support/rows.ts';

const prices = { input: 10, output: 100 };
const sizes = { max_input_tokens: 10_000, max_output_tokens: 1_000, prices };
const gateway = await startGateway(
  (upstream) => ({
    providers: {
      host: {
        kind: 'openai-compatible',
        base_url: `${upstream.url}/host/v1`,
        api_key: 'none',
        completions: true,
      },
      deepseek: { base_url: `${upstream.url}/v1`, api_key: 'none' },
    },
    models: {
      base: { routes: routesTo({ host: 'upstream' }), ...sizes },
      either: { routes: routesTo({ local: 'upstream', host: 'upstream' }), ...sizes },
      gaps: {
        routes: routesTo({ deepseek: 'upstream' }),
        ...sizes,
        max_output_tokens: 8_000,
      },
    },
  }),
  { tuning: { failuresMax: 1_000, ejectionMsMax: 1 } },
);
after(() => gateway.stop());
const { upstream } = gateway;
const owner = await gateway.makeKey({ mode: 'live', creditUsd: 50 });
const ask = (fields: object, key = owner.key) =>
  gateway.post('/v1/completions', { key, body: { model: 'base', prompt: 'Once', ...fields } });

const nativePath = '/host/v1/completions';
const usage = { prompt_tokens: 20, completion_tokens: 5, total_tokens: 25 };
const costMicros = 20 * 10 + 5 * 100;
const choice = (index: number, text: string) => ({
  text,
  index,
  logprobs: null,
  finish_reason: 'stop',
});
const answer = (...texts: readonly string[]) =>
  answerJson({
    id: 'x',
    object: 'text.completion',
    choices: texts.map((text, at) => choice(at, text)),
    usage,
  });

type Completion = { readonly choices: readonly (JsonObject & { readonly text: string })[] };
const choicesOf = (reply: Reply) => {
  assert.equal(reply.status, 200, reply.text);
  return reply.json<Completion>().choices;
};
const chatAnswer = answerJson({
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hi.' }, finish_reason: 'stop' }],
  usage,
});

const recordings = join(import.meta.dirname, '../../../shared/recordings/endpoints/completions');
const recorded = [
  'completion-basic',
  'completion-streaming',
  'completion-streaming-usage',
  'completion-suffix',
  'completion-text-batch',
  'completion-token',
  'completion-token-batch',
];
const hasRecordings = existsSync(recordings);
for (const name of recorded)
  test(`recorded: ${name} is sent as it came, and its answer and its count are the host's`, async (t) => {
    if (!hasRecordings) {
      assert(!process.env['CI'], `${recordings} is missing`);
      t.skip('../shared/recordings is not here');
      return;
    }
    const read = (ending: string) =>
      readFileSync(join(recordings, `ai-gateway--${name}.0.${ending}`));
    const request = JSON.parse(read('request.json').toString()) as JsonObject;
    const isStream = request.stream === true;
    const bytes = read(isStream ? 'sse' : 'json');
    upstream.on(
      nativePath,
      isStream ? answerBytes(bytes) : answerJson(JSON.parse(bytes.toString())),
    );
    const { reply, asked } = await gateway.recordUpstream(() => ask({ ...request, model: 'base' }));
    const { max_tokens: limit, model: _, stream_options: __, ...same } = request;
    const sent = asked[0]!.body as JsonObject;
    for (const [field, value] of Object.entries(same)) assert.deepEqual(sent[field], value, field);
    assert.deepEqual([sent.max_tokens, sent.model, sent.messages], [limit, 'upstream', undefined]);
    assert.equal(reply.headers['x-service-emulated'], undefined);
    if (!isStream) {
      const theirs = JSON.parse(bytes.toString()) as Completion & { usage: typeof usage };
      assert.deepEqual(choicesOf(reply), theirs.choices);
      const { prompt_tokens: input, completion_tokens: output } = theirs.usage;
      assert.equal(reply.costMicros, input * prices.input + output * prices.output);
      return;
    }
    const said = (frames: readonly { readonly data: unknown }[]) =>
      frames
        .flatMap(({ data }) => (data === '[DONE]' ? [] : (data as Completion).choices))
        .map(({ text }) => text)
        .join('');
    assert.notEqual(said(reply.frames), '');
    assert.equal(said(reply.frames), said(readFrames(bytes.toString())));
  });

test('what the host adds to a choice stays, and its ids and names do not', async () => {
  upstream.on(
    nativePath,
    answerJson({
      object: 'text.completion',
      model: 'theirs',
      choices: [{ ...choice(0, ' upon'), finish_reason: 'eos', stop_reason: 7 }],
      usage: { ...usage, cost: 3 },
    }),
  );
  const reply = await ask({ top_k: 5, tools: [] });
  assert.deepEqual(choicesOf(reply), [{ ...choice(0, ' upon'), stop_reason: 7 }]);
  const body = reply.json<JsonObject & { usage: JsonObject }>();
  assert.deepEqual(
    [body.object, body.model, body.usage.cost],
    ['text_completion', 'base', costMicros / 1_000_000],
  );
});

test('a text is echoed by us, so that it is no output; probabilities of the prompt come from the host', async () => {
  upstream.on(nativePath, answer(' upon', ' more'));
  const plain = await gateway.recordUpstream(() => ask({ prompt: ['Once', 'Twice'], echo: true }));
  assert.deepEqual(
    choicesOf(plain.reply).map(({ text }) => text),
    ['Once upon', 'Twice more'],
  );
  const { echo, n } = plain.asked[0]!.body as JsonObject;
  assert.deepEqual([echo, n], [undefined, undefined]);
  upstream.on(nativePath, answer('Once upon'));
  const scored = await gateway.recordUpstream(() =>
    ask({ echo: true, logprobs: 0, max_tokens: 1 }),
  );
  assert.equal(choicesOf(scored.reply)[0]!.text, 'Once upon');
  const { echo: asked, logprobs, top_logprobs: top } = scored.asked[0]!.body as JsonObject;
  assert.deepEqual([asked, logprobs, top], [true, 0, undefined]);
});

describe('the way that a request takes', () => {
  const ways: readonly (readonly [what: string, fields: object, path: string])[] = [
    ['a plain prompt, on the first route', { model: 'either' }, '/local/v1/chat/completions'],
    ['several prompts, where they are taken', { model: 'either', prompt: ['a', 'b'] }, nativePath],
    ['a suffix, where it is taken', { model: 'either', suffix: 'end' }, nativePath],
    ['a plain prompt at DeepSeek', { model: 'gaps' }, '/v1/chat/completions'],
    ['a gap at DeepSeek', { model: 'gaps', suffix: 'end' }, '/beta/completions'],
    // The host takes four stop sequences; more are searched for in an answer of Chat's.
    ['many stops', { stop: ['1', '2', '3', '4', '5'] }, '/host/v1/chat/completions'],
  ];
  for (const [what, fields, path] of ways)
    test(what, async () => {
      for (const [, , other] of ways)
        upstream.on(other, other.includes('chat') ? chatAnswer : answer('Hi.', 'Ho.'));
      const { reply, asked } = await gateway.recordUpstream(() => ask(fields));
      assert.equal(reply.status, 200, reply.text);
      assert.deepEqual(
        asked.map((request) => request.path),
        [path],
      );
      const isEmulated = /prompt/.test(String(reply.headers['x-service-emulated']));
      assert.equal(isEmulated, path.includes('chat'));
      if (path === '/beta/completions')
        assert.equal((asked[0]!.body as JsonObject).max_tokens, 4_096);
    });
});

test('every answer of every prompt is held at the limit, and more than that is the operator’s loss', async () => {
  const fields = { prompt: ['a', [1, 2, 3]], n: 2, best_of: 3, max_tokens: 100 };
  const most = 2 * 3 * 100;
  const poor = await gateway.makeKey({ mode: 'live', creditUsd: (most * 100) / 1_000_000 });
  const refused = await ask(fields, poor.key);
  assert.deepEqual([refused.status, refused.error.code], [402, 'insufficient_balance']);
  assert.match(refused.error.message, /in each of 6 answers/);
  for (const [completion, charged] of [
    [most, most],
    [most + 50, most],
  ] as const) {
    upstream.on(
      nativePath,
      answerJson({
        choices: [choice(0, 'x')],
        usage: { ...usage, prompt_tokens: 6, completion_tokens: completion },
      }),
    );
    const reply = await ask(fields);
    assert.equal(reply.costMicros, 6 * prices.input + charged * prices.output, reply.text);
    const lost = (await gateway.lossesOf(reply.requestId)).reduce((sum, loss) => sum + loss, 0);
    assert.equal(lost, (completion - charged) * prices.output);
  }
});

test('a suffix is held for every prompt', async () => {
  const suffix = 'and so it ends '.repeat(100);
  const given = { prompt: Array.from({ length: 50 }, () => 'a'), suffix, max_tokens: 1 };
  const input = 50 * 400;
  upstream.on(
    nativePath,
    answerJson({
      choices: [choice(0, 'x')],
      usage: { prompt_tokens: input, completion_tokens: 50, total_tokens: input + 50 },
    }),
  );
  const reply = await ask(given);
  assert.equal(reply.costMicros, input * prices.input + 50 * prices.output, reply.text);
  const row = await rowOf(gateway.database, 'charges', { id: reply.requestId });
  assert.ok(row.hold_micros >= reply.costMicros, `${row.hold_micros} held`);
});

test('prompts count with their tokens, and answers for every prompt', () => {
  const prompt = fc.oneof(
    fc.string(),
    fc.array(fc.nat({ max: 200_000 }), { minLength: 1, maxLength: 30 }),
  );
  const prompts = fc.array(prompt, { minLength: 1, maxLength: 5 });
  fc.assert(
    fc.property(
      prompts,
      fc.integer({ min: 1, max: 5 }),
      fc.integer({ min: 1, max: 8 }),
      (list, n, best) => {
        const body = { model: 'm', prompt: list, n, best_of: best };
        const request = completions.parseRequest(body, { chatMaxTokens: null });
        const listed = list.map((one) => (typeof one === 'string' ? 0 : one.length));
        assert.deepEqual(
          [request.choices, request.prompts, request.addedTokens],
          [list.length * Math.max(n, best), list.length, listed.reduce((sum, one) => sum + one, 0)],
        );
      },
    ),
  );
});

describe('a stream', () => {
  const chunk = (index: number, text: string, more: object = {}) => ({
    data: { choices: [{ ...choice(index, text), finish_reason: null, ...more }] },
  });
  const frames = [
    chunk(0, ' upon'),
    chunk(1, ' more', {
      logprobs: { tokens: [' more'], token_logprobs: [-1], top_logprobs: null, text_offset: [0] },
    }),
    chunk(0, ' a "text"'),
    chunk(0, '', { finish_reason: 'length' }),
    // Some hosts end without a text.
    chunk(1, '', { text: null, finish_reason: 'stop' }),
    { data: { choices: [], usage } },
    { data: '[DONE]' },
  ];
  const asked = { prompt: ['Once', 'Twice'], echo: true, stream: true };

  test('has the answers of all prompts, and the host’s count', async () => {
    upstream.on(nativePath, answerSse(frames));
    const reply = await ask({ ...asked, stream_options: { include_usage: true } });
    const chunks = reply.frames.flatMap(({ data }) =>
      data === '[DONE]' ? [] : [data as Completion & { usage?: JsonObject }],
    );
    const said = (index: number) =>
      chunks
        .flatMap(({ choices }) => choices)
        .filter((one) => one.index === index)
        .map(({ text }) => text)
        .join('');
    assert.deepEqual([said(0), said(1)], ['Once upon a "text"', 'Twice more']);
    assert.ok(reply.text.includes('"tokens":[" more"]'));
    assert.equal(chunks.at(-1)!.usage!.cost, costMicros / 1_000_000);
    assert.equal(reply.trailers['x-service-cost-micros'], String(costMicros));
  });

  test('that breaks off ends with an error, and is free', async () => {
    upstream.on(nativePath, answerSse(frames.slice(0, 3)));
    const { key, account } = await gateway.makeKey({ mode: 'live', creditUsd: 1 });
    const reply = await ask(asked, key);
    assert.match(reply.text.trimEnd().split('\n').at(-1)!, /^data: \{"error":/);
    assert.equal((await gateway.balance(account)).availableMicros, 1_000_000);
  });
});

test('a failure of the host is Chat’s, and free', async () => {
  upstream.on(nativePath, answerStatus(500));
  const { key, account } = await gateway.makeKey({ mode: 'live', creditUsd: 1 });
  assert.equal((await ask({}, key)).status, 502);
  await gateway.assertLeft(account, 1_000_000);
});

const refusals: readonly (readonly [what: string, fields: object, message: RegExp])[] = [
  [
    'more answers than 128',
    { prompt: Array(65).fill('a'), n: 2 },
    /^prompt: 65 prompts .* 128 answers/,
  ],
  ['a stream of the best', { best_of: 2, stream: true }, /^best_of must be at most n in a stream/],
  [
    'a stream of scores',
    { echo: true, logprobs: 1, stream: true },
    /^echo must be false in a stream/,
  ],
  ['a stream of echoed tokens', { prompt: [1], echo: true, stream: true }, /^echo must be false/],
  ['a token that is none', { prompt: [[1.5]] }, /^prompt must be a text or a list of tokens/],
];
describe('it refuses', () => {
  for (const [what, fields, message] of refusals)
    test(what, async () => {
      const { reply, asked } = await gateway.recordUpstream(() => ask(fields));
      assert.deepEqual([reply.status, asked.length], [400, 0]);
      assert.match(reply.error.message, message);
    });
});

test('the sandbox answers each prompt of a test key', async () => {
  const { key } = await gateway.makeKey({ mode: 'test', creditUsd: 1 });
  const reply = await ask({ prompt: ['Hello', 'there'], n: 2, logprobs: 1 }, key);
  const choices = choicesOf(reply);
  assert.deepEqual(
    choices.map(({ index }) => index),
    [0, 1, 2, 3],
  );
  assert.match(choices[3]!.text, /You said: Hello\nthere/);
  assert.notEqual(choices[3]!.logprobs, null);
});

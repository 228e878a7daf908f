// `POST /v1/completions` at hosts without it, over real HTTP: each model answers a prompt as it answers a
// conversation, whole and streamed, and what a conversation cannot express is refused with a remedy.
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import OpenAI from 'openai';
import { completions } from '../../src/formats/chat/completions.ts';
import { SseParser } from '../../src/lib/sse.ts';
import type { JsonObject } from '../../src/lib/json.ts';
import { streamFrames, wholeAnswer, type UpstreamWireName } from '../support/answers.ts';
import { startGateway } from '../support/gateway.ts';
import type { Reply } from '../support/http.ts';
import { rowOf } from '../support/rows.ts';
import {
  answerJson,
  answerSse,
  answerStatus,
  thenReset,
  type Script,
} from '../support/upstream.ts';

const wires: Readonly<Record<string, UpstreamWireName>> = {
  openai: 'chat',
  local: 'chat',
  anthropic: 'messages',
  google: 'gemini',
};
const paths = [
  '/v1/chat/completions',
  '/local/v1/chat/completions',
  '/v1/messages',
  '/v1beta/models/upstream:generateContent',
  '/v1beta/models/upstream:streamGenerateContent',
];
const terms = {
  max_input_tokens: 10_000,
  max_output_tokens: 1_000,
  prices: { input: 10, output: 100 },
};
const gateway = await startGateway(
  {
    models: Object.fromEntries(
      Object.keys(wires).map((provider) => [
        `on-${provider}`,
        { ...terms, routes: [{ provider, model: 'upstream' }] },
      ]),
    ),
  },
  { tuning: { failuresMax: 1_000, ejectionMsMax: 1 } },
);
after(() => gateway.stop());

const text = 'There was a lighthouse.';
const prompt = 'Once upon a time';
const tokens = { input: 20, output: 5 };
const costMicros = 20 * 10 + 5 * 100;

function play(wire: UpstreamWireName, isStream: boolean): void {
  const { start, deltas, end } = streamFrames(wire, { text, tokens });
  const script = isStream
    ? answerSse([...start, ...deltas, ...end])
    : answerJson(wholeAnswer(wire, { text, tokens }));
  playAll(script);
}
function playAll(script: Script): void {
  for (const path of paths) gateway.upstream.on(path, script);
}

const newKey = (creditUsd = 1) => gateway.makeKey({ mode: 'live', creditUsd });
const owner = await newKey(5);
const ask = (fields: object, headers: Record<string, string> = {}, key = owner.key) =>
  gateway.post('/v1/completions', { key, headers, body: { model: 'on-local', prompt, ...fields } });

type Choice = {
  readonly text: string;
  readonly index: number;
  readonly logprobs: object | null;
  readonly finish_reason: string | null;
};
type Completion = {
  readonly id: string;
  readonly object: string;
  readonly model: string;
  readonly choices: readonly Choice[];
  readonly usage?: Readonly<Record<string, unknown>> | null;
};
function completionOf(reply: Reply): Completion {
  assert.equal(reply.status, 200, reply.text);
  return reply.json<Completion>();
}
function chunksOf(reply: Reply): readonly Completion[] {
  assert.equal(reply.status, 200, reply.text);
  const frames = reply.frames.map(({ data }) => data);
  assert.equal(frames.at(-1), '[DONE]');
  return frames.slice(0, -1).map((data) => data as Completion);
}

for (const [provider, wire] of Object.entries(wires)) {
  const model = `on-${provider}`;
  test(`${model}: the prompt is asked as a message, and the answer is a completion`, async () => {
    play(wire, false);
    const fields = { max_tokens: 50, stop: null, logit_bias: {}, n: 1, best_of: 1, tools: [] };
    const { reply, asked } = await gateway.recordUpstream(() => ask({ model, ...fields }));
    const { id, object, choices, usage } = completionOf(reply);
    assert.match(id, /^cmpl-\w+$/);
    assert.equal(object, 'text_completion');
    assert.deepEqual(choices, [{ text, index: 0, logprobs: null, finish_reason: 'stop' }]);
    const counted = { prompt_tokens: 20, completion_tokens: 5, cost: costMicros / 1_000_000 };
    assert.partialDeepStrictEqual(usage, counted);
    assert.equal(reply.costMicros, costMicros);
    assert.equal(reply.headers['x-service-emulated'], 'prompt');
    assert.equal(reply.headers['x-service-ignored'], 'tools');
    assert.match(asked[0]!.text, /Once upon a time/);
    assert.doesNotMatch(asked[0]!.text, /"prompt"|best_of/);
  });

  test(`${model}: it streams in the older form`, async () => {
    play(wire, true);
    const plain = chunksOf(await ask({ model, stream: true }));
    const said = plain.flatMap(({ choices }) => choices);
    assert.equal(said.map((choice) => choice.text).join(''), text);
    const reasons = said.flatMap(({ finish_reason: reason }) => reason ?? []);
    assert.deepEqual(reasons, ['stop']);
    for (const { id, object, choices } of plain) {
      assert.match(id, /^cmpl-/);
      assert.deepEqual([object, choices.length], ['text_completion', 1]);
      assert.deepEqual(Object.keys(choices[0]!), ['text', 'index', 'logprobs', 'finish_reason']);
    }
    const counted = await ask({ model, stream: true, stream_options: { include_usage: true } });
    const last = chunksOf(counted).at(-1)!;
    assert.deepEqual([last.choices, last.usage!['total_tokens']], [[], 25]);
    assert.equal(counted.trailers['x-service-cost-micros'], String(costMicros));
  });
}

test('the usage record and the history name the endpoint', async () => {
  play('chat', false);
  const { key, account } = await newKey();
  const reply = await ask({}, {}, key);
  assert.equal(reply.status, 200);
  const { endpoint } = await rowOf(gateway.database, 'charges', { id: reply.requestId });
  assert.equal(endpoint, 'completions');
  assert.equal((await gateway.balance(account)).availableMicros, 1_000_000 - costMicros);
});

test('echo repeats the prompt once, and the cache knows the difference', async () => {
  const cached = { 'x-service-cache': 'true' };
  play('chat', false);
  assert.equal(completionOf(await ask({}, cached)).choices[0]!.text, text);
  const first = await ask({ echo: true }, cached);
  assert.equal(completionOf(first).choices[0]!.text, prompt + text);
  const again = await ask({ echo: true }, cached);
  assert.equal(again.headers['x-service-cache'], 'hit');
  assert.deepEqual(completionOf(again).choices, completionOf(first).choices);
  play('chat', true);
  const said = chunksOf(await ask({ echo: true, stream: true })).flatMap(({ choices }) => choices);
  assert.equal(said.map((choice) => choice.text).join(''), prompt + text);
});

test('n answers run under one hold, and probabilities have the older form', async () => {
  const entry = (token: string) => {
    const chosen = { token, logprob: -0.5, bytes: null };
    return { ...chosen, top_logprobs: [chosen] };
  };
  const choice = (index: number) => ({
    index,
    message: { role: 'assistant', content: 'A B' },
    logprobs: { content: [entry('A'), entry(' B')] },
    finish_reason: 'length',
  });
  const usage = { prompt_tokens: 20, completion_tokens: 10, total_tokens: 30 };
  playAll(answerJson({ id: 'x', choices: [choice(0), choice(1)], usage }));
  const { reply, asked } = await gateway.recordUpstream(() => ask({ n: 2, logprobs: 1 }));
  const { n, logprobs, top_logprobs: top } = asked[0]!.body as JsonObject;
  assert.deepEqual([n, logprobs, top], [2, true, 1]);
  const { choices } = completionOf(reply);
  assert.deepEqual(choices[1], {
    text: 'A B',
    index: 1,
    logprobs: {
      tokens: ['A', ' B'],
      token_logprobs: [-0.5, -0.5],
      top_logprobs: [{ A: -0.5 }, { ' B': -0.5 }],
      text_offset: [prompt.length, prompt.length + 1],
    },
    finish_reason: 'length',
  });
  assert.equal(reply.costMicros, 20 * 10 + 10 * 100);
});

describe('failures are free', () => {
  const failures: readonly (readonly [what: string, script: Script, status: number])[] = [
    ['an error', answerStatus(500), 502],
    ['an overload', answerStatus(529), 503],
    ['an answer that is none', answerJson({ choices: 'none' }), 502],
    ['an answer cut off', thenReset('{"choices":['), 502],
  ];
  for (const [what, script, status] of failures) {
    test(what, async () => {
      playAll(script);
      const { key, account } = await newKey();
      const reply = await ask({}, {}, key);
      assert.equal(reply.status, status, reply.text);
      // Chat's shape of errors.
      assert.ok('code' in reply.json<{ error: object }>().error);
      await gateway.assertLeft(account, 1_000_000);
    });
  }

  test('a stream that breaks off ends with an error in place of [DONE]', async () => {
    const { start, deltas } = streamFrames('chat', { text, tokens });
    playAll(answerSse([...start, ...deltas]));
    const reply = await ask({ stream: true }, {}, (await newKey()).key);
    const frames = reply.frames.map(({ data }) => JSON.stringify(data));
    assert.match(frames.at(-1)!, /^\{"error":/);
    assert.match(frames[0]!, /"text":/);
  });
});

const long = 'x'.repeat(100_001);
const refusals: readonly (readonly [what: string, fields: object, message: RegExp])[] = [
  ['no prompt', { prompt: null }, /^prompt must be a text/],
  ['several prompts', { prompt: ['a', 'b'] }, /^prompt must be one text; got 2: .* Send each/],
  ['an empty list', { prompt: [] }, /^prompt must be a text or a list of tokens/],
  ['no tokens', { prompt: [[1], [-2]] }, /^prompt must be a text or a list of tokens/],
  ['tokens', { prompt: [1, 2] }, /^prompt must be a text: .* Decode them first/],
  ['lists of tokens', { prompt: [[1], [2]] }, /^prompt must be a text: .* Decode them first/],
  ['a suffix', { suffix: 'the end' }, /^suffix must be left out: .* Say in the prompt/],
  ['echo with logprobs', { echo: true, logprobs: 1 }, /^echo must be false with logprobs/],
  [
    'a long prompt echoed in many answers',
    { echo: true, n: 10, prompt: long },
    /^echo must be false/,
  ],
  ['best_of above n', { best_of: 3, n: 2 }, /^best_of must be at most n: .* Raise `n`/],
  ['a negative limit', { max_tokens: -1 }, /^max_tokens/],
  ['too many logprobs', { logprobs: 6 }, /^logprobs/],
  ['a temperature that is none', { temperature: 3 }, /^temperature/],
];
describe('it refuses', () => {
  for (const [what, fields, message] of refusals) {
    test(what, async () => {
      const { reply, asked } = await gateway.recordUpstream(() => ask(fields));
      assert.deepEqual([reply.status, reply.error.code, asked.length], [400, 'invalid_request', 0]);
      assert.match(reply.error.message, message);
    });
  }

  test('several answers of a model that gives one', async () => {
    const reply = await ask({ model: 'on-anthropic', n: 2 });
    assert.equal(reply.status, 400);
    assert.match(reply.error.message, /^n must be 1 for this model/);
  });
});

test('OpenAI’s SDK reads whole and streamed completions, and the sandbox answers a test key', async () => {
  const { key } = await gateway.makeKey({ mode: 'test', creditUsd: 1 });
  const client = new OpenAI({ apiKey: key, baseURL: `${gateway.url}/v1`, maxRetries: 0 });
  const request = { model: 'gpt-6-luna', prompt: [prompt], max_tokens: 100 };
  const whole = await client.completions.create(request);
  assert.match(whole.choices[0]!.text, /You said: Once upon a time/);
  let streamed = '';
  for await (const chunk of await client.completions.create({ ...request, stream: true }))
    streamed += chunk.choices[0]?.text ?? '';
  assert.equal(streamed, whole.choices[0]!.text);
  const failing = client.completions.create({ ...request, prompt: 'sandbox: status=503' });
  await assert.rejects(failing, OpenAI.InternalServerError);
});

const recordings = join(import.meta.dirname, '../../../shared/recordings/endpoints/completions');

test('recorded completions are read with their text and usage, and recorded requests are taken or refused', (t) => {
  if (!existsSync(recordings)) {
    assert(!process.env['CI'], `${recordings} is missing`);
    t.diagnostic('skipped: ../shared/recordings is not here');
    return;
  }
  let read = 0;
  for (const file of readdirSync(recordings)) {
    // Its answers have a form of their own.
    if (file.includes('writer')) continue;
    const bytes = readFileSync(join(recordings, file));
    if (file.endsWith('.request.json')) checkRequest(file, JSON.parse(bytes.toString()) as object);
    else if (file.endsWith('.json')) read += readWhole(JSON.parse(bytes.toString()) as Completion);
    else readStream(bytes);
  }
  assert.equal(read, 5);
});

const reader = completions.answerReader!;

function checkRequest(file: string, body: object): void {
  const refused = file.includes('bad-request');
  const answers = /suffix/.test(file) ? 2 : /batch/.test(file) ? 4 : 1;
  const parse = () => completions.parseRequest({ model: 'x', ...body }, { chatMaxTokens: null });
  if (refused) assert.throws(parse, /must/, file);
  else assert.equal(parse().choices, answers, file);
}

/** Returns 1 for an answer with one text. Others are of requests that are refused here. */
function readWhole({ choices, usage }: Completion): number {
  if (!Array.isArray(choices) || choices.length !== 1 || !usage) return 0;
  const answer = reader.readAnswer({ choices, usage });
  const [part] = answer.content;
  assert.equal(part?.type === 'text' && part.text, choices[0]!.text);
  const { inputTokens, outputTokens } = answer.usage!;
  const counts = [usage['prompt_tokens'], usage['completion_tokens']];
  assert.deepEqual([inputTokens, outputTokens], counts);
  return 1;
}

function readStream(bytes: Buffer): void {
  const stream = reader.readStream();
  const events = [...new SseParser().push(bytes)].flatMap((event) => stream.push(event));
  assert.ok(events.some(({ type }) => type === 'text-delta'));
}

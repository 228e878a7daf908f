// Gemini models for clients of every format, through the started program: the exact bytes sent to
// Google, the answer, and the charge. Models and prices come from the built-in catalogue. How turns are
// written and read is in the tests of `formats/gemini`, and loops of tools in those of the SDKs.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { text as readAll } from 'node:stream/consumers';
import { after, test } from 'node:test';
import { answerContent } from '../support/answers.ts';
import { endpoint, endpoints } from '../support/endpoints.ts';
import { startGateway, upstreamKey } from '../support/gateway.ts';
import { ok, Reply } from '../support/http.ts';
import { readPlainly } from '../support/plain/read-plainly.ts';
import { until } from '../support/until.ts';
import {
  answerInParts,
  answerJson,
  answerSse,
  answerStatus,
  type Script,
} from '../support/upstream.ts';

type Json = Record<string, any>; // oxlint-disable-line typescript/no-explicit-any -- bodies of four formats, read plainly

const model = 'gemini-3-flash-preview';
const paths = (name: string) => ({
  whole: `/v1beta/models/${name}:generateContent`,
  stream: `/v1beta/models/${name}:streamGenerateContent`,
});

const chat = endpoint('chat');
const gateway = await startGateway();
const { key } = await gateway.makeKey({ mode: 'live', creditUsd: 50 });
after(() => gateway.stop());

const usageMetadata = {
  promptTokenCount: 1_500,
  cachedContentTokenCount: 500,
  candidatesTokenCount: 200,
  thoughtsTokenCount: 100,
};
/** 1 000 × $0.50, 500 × $0.05 and 300 × $3 a million. */
const costMicros = 1_425;

function lastRequest() {
  return gateway.upstream.requests.at(-1)! as {
    readonly path: string;
    readonly query: string;
    readonly headers: Json;
    readonly body: Json;
  };
}

for (const client of endpoints) {
  for (const stream of [false, true])
    test(`${client.name}, ${stream ? 'streamed' : 'whole'}: a text is answered by Google and charged exactly`, async () => {
      const said = (text: string, finishReason?: string) => ({
        candidates: [{ content: { parts: [{ text }], role: 'model' }, finishReason }],
        usageMetadata,
      });
      gateway.upstream.on(paths(model).whole, answerJson(said('It rains in Köln.', 'STOP')));
      const chunks = [said('It rains'), said(' in Köln.', 'STOP')].map((data) => ({ data }));
      gateway.upstream.on(paths(model).stream, answerSse(chunks));
      const options = stream && client === chat ? { stream_options: { include_usage: true } } : {};
      const fields = { model, stream, [client.limitField]: 2_000, ...options };
      const reply = await ok(gateway.ask(client, key, fields));
      const { path, query, headers, body: sent } = lastRequest();
      const { stream: streamed, whole } = paths(model);
      assert.deepEqual([path, query], stream ? [streamed, 'alt=sse'] : [whole, '']);
      const { 'x-goog-api-key': googleKey, authorization } = headers;
      assert.deepEqual([googleKey, authorization], [upstreamKey, undefined]);
      assert.deepEqual(sent, {
        contents: [{ role: 'user', parts: [{ text: 'Hello!' }] }],
        generationConfig: { maxOutputTokens: 2_000 },
      });
      const { text, usage } = readPlainly(client.name, stream, reply.text);
      assert.equal(text, 'It rains in Köln.');
      assert.deepEqual([usage!.input, usage!.output], [1_500, 300]);
      assert.equal(reply.costMicros, costMicros);
      const records = await gateway.usage(key, reply.requestId);
      assert.equal(records.length, 1);
      assert.partialDeepStrictEqual(records[0], {
        model: 'Gemini 3 Flash Preview',
        input_tokens: 1_500,
        output_tokens: 300,
        cost_cents: 0.1425,
      });
    });

  test(`${client.name}: a stream that breaks off or contains an error ends with the format's error and is free`, async () => {
    const text = { candidates: [{ content: { parts: [{ text: 'Half' }] } }], usageMetadata };
    const error = { error: { code: 503, message: 'Overloaded.', status: 'UNAVAILABLE' } };
    for (const chunks of [[text], [text, error], [text, badCall]]) {
      // An error with the first words still gets its own status.
      const frames = chunks.map((data) => ({ data }));
      const late = answerInParts(frames.slice(0, 1), frames.slice(1));
      gateway.upstream.on(paths(model).stream, late.script);
      const body = client.body({ model, stream: true });
      const stream = await gateway.open(client.path, { key, body }).response;
      await once(stream, 'readable');
      late.release();
      const reply = new Reply(stream, await readAll(stream));
      const last = reply.frames.at(-1)!.data as Json;
      assert.ok(last['error'] ?? last['response']?.error, reply.text);
      assert.deepEqual(await gateway.usage(key, reply.requestId), []);
    }
  });
}

const refuses = (error: object, status = 400) => answerStatus(status, { body: { error } });
const badSchema = { code: 400, message: 'Bad schema.', status: 'INVALID_ARGUMENT' };
const invalidKey = {
  ...badSchema,
  message: 'API key not valid. Please pass a valid API key.',
  details: [{ reason: 'API_KEY_INVALID' }],
};
const unbilled = { status: 'FAILED_PRECONDITION', message: 'Enable billing.' };
const overQuota = { code: 429, details: [{ retryDelay: '34.4s' }] };
const badRole = answerStatus(400, { body: [{ error: { code: 400, message: 'Bad role.' } }] });
const badCall = { candidates: [{ finishReason: 'MALFORMED_FUNCTION_CALL' }] };
const broken = /^The model broke off its answer \(MALFORMED_FUNCTION_CALL\)/;
const [mine, theirs] = [/^Bad (schema|role)\.$/, /^The provider failed/];
type Row = [string, Script, status: number, code: string, message: RegExp, retryAfter?: string];
const errors: Row[] = [
  ["the caller's mistake", refuses(badSchema), 400, 'invalid_request', mine],
  ['one in a list', badRole, 400, 'invalid_request', mine],
  ['a refused key', refuses(invalidKey), 502, 'upstream_error', theirs],
  ['an account without billing', refuses(unbilled), 502, 'upstream_error', theirs],
  ['a quota', refuses(overQuota, 429), 503, 'upstream_unavailable', /overloaded/, '35'],
  ['a call that cannot be read', answerJson(badCall), 502, 'upstream_error', broken],
];

for (const [name, script, status, code, message, retryAfter] of errors) {
  test(`${name} is ${status} ${code} in every format, and free`, async () => {
    gateway.upstream.on(paths(model).whole, script);
    gateway.upstream.on(paths(model).stream, script);
    const earlier = await gateway.get('/v1/balance', { key });
    for (const client of endpoints) {
      const reply = await gateway.ask(client, key, { model });
      assert.equal(reply.status, status, reply.text);
      assert.equal(reply.error.code, code);
      assert.match(reply.error.message, message);
      assert.equal(reply.headers['retry-after'], retryAfter);
    }
    assert.equal((await gateway.get('/v1/balance', { key })).text, earlier.text);
  });
}

test('clients of Gemini’s format get Google’s word for a model that broke off, are charged what Google counts, and it is never cached', async () => {
  const ask = (stream: boolean) =>
    gateway.post(`/v1beta/models/${model}:${stream ? 'streamG' : 'g'}enerateContent?alt=sse`, {
      key,
      body: { contents: [{ parts: [{ text: 'Hi' }] }], generationConfig: { temperature: 0 } },
    });
  const ofTools = ['MALFORMED_FUNCTION_CALL', 'UNEXPECTED_TOOL_CALL', 'TOO_MANY_TOOL_CALLS'];
  for (const finishReason of [...ofTools, 'MISSING_THOUGHT_SIGNATURE', 'MALFORMED_RESPONSE'])
    for (const stream of [false, true]) {
      const candidate = { content: { parts: [{ text: 'Half' }] }, finishReason };
      const said = { ...candidate, finishMessage: 'call: f(' };
      const body = { candidates: [said], usageMetadata };
      const script = stream ? answerSse([{ data: body }]) : answerJson(body);
      gateway.upstream.on(paths(model)[stream ? 'stream' : 'whole'], script);
      for (const time of ['first', 'second']) {
        const reply = await ask(stream);
        const where = `${finishReason}, ${time}: ${reply.text}`;
        assert.equal(reply.status, 200, where);
        const got = stream ? (reply.frames.at(-1)!.data as Json) : reply.json<Json>();
        assert.deepEqual(got['candidates'], [said], where);
        assert.equal(got['usageMetadata'].cost, costMicros / 1e6, where);
        assert.equal(reply.headers['x-service-cache'], undefined, where);
      }
    }
  // Without a count of Google's it is a failure, and so it is when another candidate has ended well.
  const good = { index: 1, content: { parts: [{ text: 'Yes' }] }, finishReason: 'STOP' };
  const [bad] = badCall.candidates;
  const second = [
    { ...good, index: 0 },
    { ...bad, index: 1 },
  ];
  for (const candidates of [[bad], [bad, good], second]) {
    gateway.upstream.on(paths(model).whole, answerJson({ candidates }));
    const frames = candidates.map((one) => ({ data: { candidates: [one] } }));
    gateway.upstream.on(paths(model).stream, answerSse(frames));
    for (const stream of [false, true]) {
      const reply = await ask(stream);
      if (candidates.length === 1) assert.equal(reply.status, 502);
      assert.match(reply.text, /MALFORMED_FUNCTION_CALL/);
      assert.match(reply.text, /The model broke off its answer/);
      assert.deepEqual(await gateway.usage(key, reply.requestId), []);
    }
  }
});

test('a refused provider key alerts the operator, not the client', async () => {
  await until(() => /"provider":"google".*refuses its credential/.test(gateway.program.output));
});

test('fields that Gemini cannot express are refused by name, harmless ones are listed', async () => {
  const many = await gateway.ask(chat, key, { model, stop: ['a', 'b', 'c', 'd'], n: 2 });
  assert.deepEqual([many.status, many.error.param], [400, 'n']);
  const tokens = { input: 10, output: 10 };
  const { whole } = paths('gemini-3.6-flash');
  gateway.upstream.on(whole, answerContent('gemini', { text: 'x', tokens }));
  const fields = { temperature: 0.5, presence_penalty: 1, seed: 3, user: 'u' };
  const listed = await gateway.ask(chat, key, { ...fields, model: 'gemini-3.6-flash' });
  assert.deepEqual(lastRequest().body['generationConfig'], { maxOutputTokens: 200, seed: 3 });
  const ignored = String(listed.headers['x-service-ignored']).split(/, ?/);
  assert.deepEqual(new Set(ignored), new Set(['temperature', 'presence_penalty', 'user']));
});

test('the built-in Gemini models are listed and run, and a long prompt uses its price tier', async () => {
  const { data } = (await gateway.get('/v1/models', { key })).json<{ data: Json[] }>();
  const models = data.filter(
    ({ type, id }) => type === 'model' && String(id).startsWith('gemini-'),
  );
  const listed = models.map(({ id }) => String(id));
  for (const id of ['gemini-2.5-pro', 'gemini-4-argon']) assert.ok(listed.includes(id), id);
  assert.ok(listed.length >= 11, listed.join());
  for (const id of listed) {
    const tokens = { input: 10, output: 10 };
    gateway.upstream.on(paths(id).whole, answerContent('gemini', { text: 'ok', tokens }));
    const reply = await ok(gateway.ask(chat, key, { model: id }));
    assert.equal(readPlainly('chat', false, reply.text).text, 'ok', id);
  }
  const counted = { text: 'ok', tokens: { input: 200_001, output: 100 } };
  gateway.upstream.on(paths('gemini-2.5-pro').whole, answerContent('gemini', counted));
  const prompt = [{ role: 'user', content: ' the'.repeat(150_000) }];
  const long = await gateway.ask(chat, key, { model: 'gemini-2.5-pro', messages: prompt });
  // $2.50 and $15 a million instead of $1.25 and $10.
  assert.equal(long.costMicros, Math.ceil(200_001 * 2.5 + 100 * 15));
});

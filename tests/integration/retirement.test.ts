// Models whose end is announced: their answers and their entries say so, and others say nothing.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { answerContent } from '../support/answers.ts';
import { endpoints } from '../support/endpoints.ts';
import { startGateway } from '../support/gateway.ts';
import type { Reply } from '../support/http.ts';
import { TestClock } from '../support/test-clock.ts';
import { answerStatus } from '../support/upstream.ts';

const page = 'https://llm.example.com/notices#old';
const ends = {
  deprecated_at: '2026-11-01',
  retires_at: '2027-02-28T16:00Z',
  deprecation_url: page,
};
const announced = {
  deprecation: `@${Date.UTC(2026, 10, 1) / 1_000}`,
  sunset: 'Sun, 28 Feb 2027 16:00:00 GMT',
  link: `<${page}>; rel="deprecation"; type="text/html", <${page}>; rel="sunset"; type="text/html"`,
};

const gateway = await startGateway({
  models: {
    'gpt-6-sol': ends,
    'claude-haiku-4-5': ends,
    'gpt-6-luna': { retires_at: '2027-02-28' },
  },
  image_models: { 'gpt-image-flare': ends },
});
const { key } = await gateway.makeKey();
after(() => gateway.stop());

function noticesOf({ headers, text, status }: Reply): object {
  assert.equal(status, 200, text);
  const { deprecation, sunset, link } = headers;
  return { deprecation, sunset, link };
}

const nothing = { deprecation: undefined, sunset: undefined, link: undefined };

for (const { name, path, body } of endpoints) {
  test(`${name}: every answer of a model that ends says so, also a stream, a replay and a cache hit`, async () => {
    const ask = async (fields: object, headers: Readonly<Record<string, string>> = {}) =>
      noticesOf(await gateway.post(path, { key, headers, body: body(fields) }));
    for (const stream of [false, true]) {
      assert.deepEqual(await ask({ model: 'gpt-6-sol', stream }), announced);
      assert.deepEqual(await ask({ model: 'gpt-6-astra', stream }), nothing);
      assert.deepEqual(await ask({ model: 'gpt-6-luna', stream }), {
        ...nothing,
        sunset: 'Sun, 28 Feb 2027 00:00:00 GMT',
      });
    }
    const repeats: Record<string, string>[] = [
      { 'idempotency-key': `of ${name}` },
      { 'x-service-cache': 'true' },
    ];
    for (const headers of repeats)
      for (let sent = 0; sent < 2; sent++)
        assert.deepEqual(await ask({ model: 'gpt-6-sol' }, headers), announced);
  });
}

test('images and counts of tokens say so too; a search has no model', async () => {
  const post = async (path: string, body: object) =>
    noticesOf(await gateway.post(path, { key, body }));
  const image = { model: 'gpt-image-flare', prompt: 'A cat' };
  assert.deepEqual(await post('/v1/images/generations', image), announced);
  const messages = [{ role: 'user', content: 'Hello!' }];
  const count = { model: 'claude-haiku-4-5', messages };
  assert.deepEqual(await post('/v1/messages/count_tokens', count), announced);
  const input = { model: 'gpt-6-sol', input: 'Hello!' };
  assert.deepEqual(await post('/v1/responses/input_tokens', input), announced);
  assert.deepEqual(await post('/v1/web-search', { query: 'cats' }), nothing);
});

test('GET /v1/models has the dates of models that end', async () => {
  type Entry = {
    readonly id: string;
    readonly deprecated_at?: string;
    readonly retires_at?: string;
  };
  const { data } = (await gateway.get('/v1/models')).json<{ data: readonly Entry[] }>();
  const dated = data.filter((entry) => 'deprecated_at' in entry || 'retires_at' in entry);
  const dates = { deprecated_at: '2026-11-01T00:00:00Z', retires_at: '2027-02-28T16:00:00Z' };
  const shown = new Map(
    dated.map(({ id, deprecated_at, retires_at }) => [id, { deprecated_at, retires_at }]),
  );
  for (const id of ['gpt-6-sol', 'claude-haiku-4-5', 'gpt-image-flare'])
    assert.deepEqual(shown.get(id), dates, id);
  assert.deepEqual(shown.get('gpt-6-luna'), {
    deprecated_at: undefined,
    retires_at: '2027-02-28T00:00:00Z',
  });
  assert.equal(shown.has('gpt-6-astra'), false);
  assert.deepEqual(
    (await gateway.get('/v1/models/gpt-6-sol')).json<Entry>().retires_at,
    dates.retires_at,
  );
});

test('a built-in model names its successor, is marked after its last day, and runs while its provider serves it', async (t) => {
  const clock = new TestClock();
  const live = await startGateway({}, { clock });
  t.after(() => live.stop());
  const owner = await live.makeKey({ mode: 'live', creditUsd: 5 });
  const [first] = endpoints;
  const ask = () =>
    live.post(first!.path, { key: owner.key, body: first!.body({ model: 'gpt-4o-mini' }) });
  const read = async () => (await live.get('/v1/models/gpt-4o-mini')).json<object>();
  const lastDayMs = Date.parse('2027-01-14T00:00:00Z');
  const entry = { retires_at: '2027-01-14T00:00:00Z', successor: 'gpt-6-luna' };
  const gone = answerStatus(404, {
    body: { error: { message: 'The model `gpt-4o-mini` does not exist' } },
  });
  const link = /rel="sunset".*, <\/v1\/models\/gpt-6-luna>; rel="successor-version"$/;

  clock.jumpTo(lastDayMs - 1_000);
  assert.partialDeepStrictEqual(await read(), entry);
  assert.equal('ended' in (await read()), false);
  live.upstream.on(first!.upstreamPath, gone);
  assert.deepEqual([(await ask()).status, (await ask()).error.code], [400, 'invalid_request']);

  clock.jumpTo(lastDayMs);
  assert.partialDeepStrictEqual(await read(), { ...entry, ended: true });
  live.upstream.on(
    first!.upstreamPath,
    answerContent(first!.name, { text: 'Hi', tokens: { input: 1, output: 1 } }),
  );
  const served = await ask();
  assert.equal(served.status, 200, served.text);
  assert.match(String(served.headers['link']), link);
  const { postedMicros } = await live.balance(owner.account);
  for (const refusal of [
    gone,
    answerStatus(410, { body: { error: { message: 'Gone' } } }),
    answerStatus(400, { body: { error: { message: 'The model `x` has been decommissioned' } } }),
  ]) {
    live.upstream.on(first!.upstreamPath, refusal);
    const { status, error } = await ask();
    assert.deepEqual([status, error.code, error.param], [404, 'model_not_found', 'model']);
    assert.equal(error.message, "The model 'gpt-4o-mini' has ended. Use 'gpt-6-luna'.");
  }
  live.upstream.on(
    first!.upstreamPath,
    answerStatus(400, { body: { error: { message: 'temperature is too high for this model' } } }),
  );
  assert.equal((await ask()).error.code, 'invalid_request');
  assert.equal((await live.balance(owner.account)).postedMicros, postedMicros);
});

test('a model that the operator ended is neither sold nor listed, and its 404 names the successor', async (t) => {
  const ended = await startGateway({
    models: {
      'gpt-6-sol': { ended: true, successor: 'gpt-6.1-sol' },
      'gpt-6-astra': { ended: true },
    },
    image_models: { 'flux-2': { ended: true, successor: 'nano-banana' } },
    aliases: { fast: 'gpt-6-sol' },
  });
  t.after(() => ended.stop());
  const payer = await ended.makeKey({ mode: 'live', creditUsd: 5 });
  const tester = await ended.makeKey({ mode: 'test' });
  for (const by of [payer.key, tester.key]) {
    const asks: [path: string, body: object][] = [
      ...endpoints.map(({ path, body }): [string, object] => [path, body({ model: 'gpt-6-sol' })]),
      ['/v1/responses/input_tokens', { model: 'gpt-6-sol', input: 'Hi' }],
    ];
    for (const [path, body] of asks) {
      const { status, error } = await ended.post(path, { key: by, body });
      assert.deepEqual([status, error.code], [404, 'model_not_found'], path);
      assert.equal(error.message, "The model 'gpt-6-sol' has ended. Use 'gpt-6.1-sol'.");
    }
    const image = { model: 'flux-2', prompt: 'A cat' };
    const drawn = await ended.post('/v1/images/generations', { key: by, body: image });
    assert.match(drawn.error.message, /'flux-2' has ended\. Use 'nano-banana'/);
    const { data } = (await ended.get('/v1/models', { key: by })).json<{
      data: { id: string }[];
    }>();
    for (const id of ['gpt-6-sol', 'gpt-6-astra', 'flux-2', 'fast']) {
      assert.ok(!data.some((entry) => entry.id === id), id);
      const { status, error } = await ended.get(`/v1/models/${id}`, { key: by });
      assert.equal(status, 404);
      assert.match(error.message, /has ended\. (?:Use '|GET \/v1\/models lists)/);
    }
  }
  assert.equal(ended.upstream.requests.length, 0);
});

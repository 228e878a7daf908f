// Models whose end is announced: their answers and their entries say so, and others say nothing.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { endpoints } from '../support/endpoints.ts';
import { startGateway } from '../support/gateway.ts';
import type { Reply } from '../support/http.ts';

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
    'gpt-4o': ends,
    'claude-haiku-4-5': ends,
    'gpt-5-mini': { retires_at: '2027-02-28' },
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
      assert.deepEqual(await ask({ model: 'gpt-4o', stream }), announced);
      assert.deepEqual(await ask({ model: 'gpt-5', stream }), nothing);
      assert.deepEqual(await ask({ model: 'gpt-5-mini', stream }), {
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
        assert.deepEqual(await ask({ model: 'gpt-4o' }, headers), announced);
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
  const input = { model: 'gpt-4o', input: 'Hello!' };
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
  for (const id of ['gpt-4o', 'claude-haiku-4-5', 'gpt-image-flare'])
    assert.deepEqual(shown.get(id), dates, id);
  assert.deepEqual(shown.get('gpt-5-mini'), {
    deprecated_at: undefined,
    retires_at: '2027-02-28T00:00:00Z',
  });
  assert.equal(shown.has('gpt-5'), false);
  assert.deepEqual(
    (await gateway.get('/v1/models/gpt-4o')).json<Entry>().retires_at,
    dates.retires_at,
  );
});

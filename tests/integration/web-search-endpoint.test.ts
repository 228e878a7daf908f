// `POST /v1/web-search` over real HTTP, with local servers instead of Brave and Tavily: answers,
// charges and refusals, for live keys and in the sandbox.
import assert from 'node:assert/strict';
import { after, beforeEach, describe, test } from 'node:test';
import { micros, zeroMicros } from '../../src/lib/money.ts';
import { startGateway, upstreamKey, type KeyOptions } from '../support/gateway.ts';
import type { Reply } from '../support/http.ts';
import { TestClock } from '../support/test-clock.ts';
import { until } from '../support/until.ts';
import { answerJson, answerStatus, holdBack, thenReset, type Script } from '../support/upstream.ts';

const path = '/v1/web-search';
const bravePath = '/brave/web/search';
const tavilyPath = '/tavily/search';
const braveKey = 'brave-secret-0001';
/** $0.005. */
const priceMicros = 5_000;

/** How long the gateway waits for a search after its client has left. */
const readOnMs = 5_000;

const clock = new TestClock();
const gateway = await startGateway(
  (upstream) => ({
    server: { body_limit_bytes: 20_000 },
    providers: {
      brave: { base_url: `${upstream.url}/brave`, api_key: braveKey },
      tavily: { base_url: `${upstream.url}/tavily`, api_key: upstreamKey },
    },
    // An operator's own price gets no markup. A provider that failed is still asked first in
    // later tests.
    search: { price_usd: 0.005 },
    pricing: { markup: 1.5 },
    log: { level: 'info' },
  }),
  { clock, tuning: { failuresMax: 1_000, ejectionMsMax: 1 } },
);
const newKey = (options: KeyOptions = {}) => gateway.makeKey({ creditUsd: 1, ...options });
const liveKey = (await newKey()).key;
after(() => gateway.stop());

beforeEach(async () => {
  await clock.advance(1);
  gateway.upstream.on(bravePath, numberedBrave());
  gateway.upstream.on(tavilyPath, answerJson(tavilyAnswer));
});

const pages = [
  {
    title: 'Eiffel <strong>Tower</strong> &amp; height',
    url: 'https://www.example.com/tower?utm_source=x',
    description: 'It is <b>330</b> metres',
    page_age: '2026-01-05T10:00:00',
  },
  { title: 'The same page', url: 'http://www.example.com/tower/', description: 'once more' },
  { title: '', url: 'https://other.example/', description: 'no title', page_age: 'some day' },
  { title: 'A script', url: 'javascript:alert(1)', description: 'no page' },
];
const tavilyAnswer = {
  results: [
    {
      title: 'T',
      url: 'https://t.example/',
      content: 'found by another',
      score: 0.5,
      published_date: 'Mon, 05 Jan 2026 10:00:00 GMT',
    },
  ],
};

/** Answers are numbered, so that a second run shows. */
function numberedBrave(): Script {
  let count = 0;
  return (response, request) => {
    const results = [
      ...pages,
      { title: `run ${++count}`, url: `https://example.org/${count}`, description: '' },
    ];
    return answerJson({ query: { more_results_available: false }, web: { results } })(
      response,
      request,
    );
  };
}

type Results = {
  readonly id: string;
  readonly provider: string;
  readonly query: string;
  readonly results: readonly { readonly title: string }[];
};

function search(
  fields: object = {},
  key = liveKey,
  headers: Record<string, string> = {},
): Promise<Reply> {
  return gateway.post(path, { key, headers, body: { query: 'how tall is the tower', ...fields } });
}

function resultsOf(reply: Reply): Results {
  assert.equal(reply.status, 200, reply.text);
  return reply.json<Results>();
}

type Made = Awaited<ReturnType<typeof newKey>>;

/** Nothing was charged, and nothing stays held. */
async function assertFree({ key, account }: Made): Promise<void> {
  const { availableMicros } = await gateway.balance(account);
  assert.equal(availableMicros, 1_000_000);
  assert.deepEqual(await gateway.usage(key), []);
}

function assertRefused(reply: Reply, status: number, code: string): void {
  assert.deepEqual([reply.status, reply.error.code], [status, code], reply.text);
}

test('the first provider is called with its credential, and its results have the common format', async () => {
  const { reply, asked } = await gateway.recordUpstream(() => search({ num: 5, other: 1 }));
  const { id, ...body } = resultsOf(reply);
  assert.match(id, /^ws_[0-9a-z]{26}$/);
  const page = { snippet: '', date: null, score: null };
  assert.deepEqual(body, {
    object: 'search',
    query: 'how tall is the tower',
    provider: 'brave',
    results: [
      {
        ...page,
        position: 1,
        title: 'Eiffel Tower & height',
        url: 'https://www.example.com/tower?utm_source=x',
        snippet: 'It is 330 metres',
        date: '2026-01-05',
        source: 'example.com',
      },
      {
        ...page,
        position: 2,
        title: 'other.example',
        url: 'https://other.example/',
        snippet: 'no title',
        source: 'other.example',
      },
      { ...page, position: 3, title: 'run 1', url: 'https://example.org/1', source: 'example.org' },
    ],
    usage: { searches: 1 },
  });
  assert.deepEqual(
    asked.map((request) => [request.method, request.path]),
    [['GET', bravePath]],
  );
  const parameters = new URLSearchParams(asked[0]!.query);
  assert.deepEqual([parameters.get('q'), parameters.get('count')], ['how tall is the tower', '5']);
  assert.equal(asked[0]!.headers['x-subscription-token'], braveKey);
  assert.ok(!JSON.stringify(asked[0]!.headers).includes(liveKey));
  assert.equal(reply.headers['x-service-route'], 'brave');
  assert.equal(reply.headers['x-service-mode'], undefined);
});

test('header, usage record and balance agree on the price', async () => {
  const { key, account } = await newKey();
  const reply = await search({ num: 50 }, key);
  resultsOf(reply);
  assert.equal(reply.costMicros, priceMicros);
  assert.equal(reply.headers['x-service-balance-cents'], '99');
  assert.equal((await gateway.balance(account)).availableMicros, 1_000_000 - priceMicros);
  const [record, ...others] = await gateway.usage(key);
  assert.deepEqual(others, []);
  const { created_at: _createdAt, key_id: _keyId, ...fields } = record!;
  assert.deepEqual(fields, {
    model: 'Web search',
    model_id: 'web-search',
    input_tokens: 0,
    output_tokens: 0,
    total_tokens: 0,
    cost_cents: 0.5,
    web_searches: 1,
    request_id: reply.requestId,
  });
});

test('an account pays by its multiplier for searches, or else its general one', async () => {
  const { key, account } = await newKey();
  const update = (...options: string[]) =>
    gateway.program.cli('accounts', 'update', account, '--price-multiplier', ...options);
  await update('0.9');
  await untilPrice(key, 4_500);
  await update('0.5', '--model', 'web-search');
  await untilPrice(key, 2_500);
});

/** A running gateway polls for changes each second. */
async function untilPrice(key: string, costMicros: number): Promise<void> {
  await until(async () => {
    await clock.advance(1_000);
    const reply = await search({}, key);
    resultsOf(reply);
    return reply.costMicros === costMicros;
  });
}

const failures: [what: string, script: Script][] = [
  ['is overloaded', answerStatus(429, { retryAfter: '9' })],
  ['has a fault', answerStatus(500)],
  ['refuses its key', answerStatus(401)],
  ['takes no such query', answerStatus(422)],
  ['breaks off', thenReset(null)],
  ['is unreadable', answerJson('<html>')],
];

for (const [what, script] of failures) {
  test(`when the first provider ${what}, the next one answers, at the same price`, async () => {
    gateway.upstream.on(bravePath, script);
    const { reply, asked } = await gateway.recordUpstream(() => search());
    const { provider, results } = resultsOf(reply);
    assert.deepEqual([provider, results.length, reply.costMicros], ['tavily', 1, priceMicros]);
    assert.deepEqual(
      asked.map((request) => request.path),
      [bravePath, tavilyPath],
    );
    assert.deepEqual(asked[1]!.body, {
      query: 'how tall is the tower',
      max_results: 10,
      search_depth: 'basic',
    });
    assert.equal(reply.headers['x-service-route'], 'tavily');
  });
}

test('an empty result is a charged answer', async () => {
  gateway.upstream.on(bravePath, answerJson({ query: {}, web: { results: [] } }));
  const reply = await search();
  assert.deepEqual(resultsOf(reply).results, []);
  assert.equal(reply.costMicros, priceMicros);
});

const refusedKey = answerStatus(401, { body: { error: `bad ${braveKey}` } });
const endings: [what: string, brave: Script, tavily: Script, status: number, code: string][] = [
  ['are overloaded', answerStatus(429), answerStatus(503), 503, 'upstream_unavailable'],
  ['refuse their keys', refusedKey, answerStatus(403), 502, 'upstream_error'],
  ['do not take the query', answerStatus(422), answerStatus(400), 400, 'invalid_request'],
];

for (const [what, brave, tavily, status, code] of endings) {
  test(`when all providers ${what} it is a ${status}, free of charge`, async () => {
    gateway.upstream.on(bravePath, brave);
    gateway.upstream.on(tavilyPath, tavily);
    const made = await newKey();
    const reply = await search({}, made.key);
    assertRefused(reply, status, code);
    assert.equal(reply.costMicros, null);
    assert.ok(!reply.text.includes(braveKey));
    await assertFree(made);
  });
}

const refused: [body: unknown, param: string | null, message: RegExp][] = [
  [{}, 'query', /query is required/],
  [{ query: '' }, 'query', /empty/],
  [{ query: ' \n ' }, 'query', /blank/],
  [{ query: 'q'.repeat(401) }, 'query', /at most 400 characters; got 401/],
  [{ query: ['a'] }, 'query', /string/],
  ...[0, 51, -1, 1.5, '3', true].map((num): [unknown, string, RegExp] => [
    { query: 'a', num },
    'num',
    /whole number from 1 to 50/,
  ]),
  [['a'], null, /object/],
  ['{"query": "a"', null, /JSON/],
];

for (const mode of ['live', 'test'] as const) {
  describe(`a ${mode} key`, () => {
    test('gets an error that names the field; nothing is sent or charged', async () => {
      const made = await newKey({ mode });
      const earlier = gateway.upstream.requests.length;
      for (const [body, param, message] of refused) {
        const reply = await gateway.post(path, { key: made.key, body: body as object | string });
        assertRefused(reply, 400, 'invalid_request');
        assert.equal(reply.error.param, param, reply.text);
        assert.match(reply.error.message, message);
      }
      assert.equal(gateway.upstream.requests.length, earlier);
      assert.deepEqual(await gateway.usage(made.key), []);
    });

    test('is refused beyond its caps', async () => {
      const daily = await newKey({ mode, dailyCapMicros: micros(priceMicros - 1) });
      const refusal = await search({}, daily.key);
      assertRefused(refusal, 429, 'key_daily_limit_reached');
      assert.match(refusal.error.message, /Not even one search would fit/);
      assert.equal(refusal.headers['x-should-retry'], 'false');
      const monthly = await search({}, (await newKey({ mode, monthlyCapMicros: zeroMicros })).key);
      assertRefused(monthly, 429, 'key_monthly_limit_reached');
      const exact = await newKey({ mode, dailyCapMicros: micros(priceMicros) });
      resultsOf(await search({}, exact.key));
      assert.equal((await search({}, exact.key)).status, 429);
    });

    test('is not limited by its list of models, because a search has none', async () => {
      for (const models of [['gpt-6-luna'], ['web-search'], []])
        resultsOf(await search({}, (await newKey({ mode, models })).key));
    });

    test('runs a search once under an Idempotency-Key', async () => {
      const { key } = await newKey({ mode });
      const again = { 'idempotency-key': 'once' };
      const first = await search({}, key, again);
      const second = await search({}, key, again);
      resultsOf(second);
      assert.equal(second.text, first.text);
      assert.deepEqual(
        [second.headers['x-service-cache'], second.costMicros],
        ['idempotent-replay', 0],
      );
      const conflict = await search({ num: 3 }, key, again);
      assertRefused(conflict, 422, 'idempotency_conflict');
      assert.equal((await gateway.usage(key)).length, 1);
    });

    test('gets a search from the cache only on request', async () => {
      const { key } = await newKey({ mode });
      const cached = { 'x-service-cache': 'true' };
      const first = await search({ temperature: 0 }, key);
      const plain = await search({ temperature: 0 }, key);
      assert.notEqual(resultsOf(plain).id, resultsOf(first).id, 'a search has no temperature');
      const stored = await search({}, key, cached);
      assert.equal(stored.costMicros, priceMicros);
      const hit = await search({}, key, cached);
      assert.deepEqual(
        [hit.text, hit.costMicros, hit.headers['x-service-cache']],
        [stored.text, 0, 'hit'],
      );
      assert.equal((await search({}, key)).costMicros, priceMicros);
      assert.equal((await search({ num: 3 }, key, cached)).costMicros, priceMicros);
      assert.equal((await gateway.usage(key)).length, 5);
    });
  });
}

test('the command line restricts a key to searches and models', async () => {
  const { id, key, account } = await gateway.program.createKey({
    mode: 'test',
    models: 'web-search,gpt-6-luna',
  });
  resultsOf(await search({}, key));
  const list = ['keys', 'list', '--account', account];
  const listed = await gateway.program.cli<{ id: string; models: string[] }[]>(...list);
  assert.deepEqual(listed.find((row) => row.id === id)?.models, ['web-search', 'gpt-6-luna']);
  await assert.rejects(
    gateway.program.createKey({ account, models: 'web-searches' }),
    /no model 'web-searches'/,
  );
});

test('test keys are answered by the sandbox from the test balance, without a provider call', async () => {
  const { key, account } = await gateway.makeKey({ mode: 'test' });
  const { availableMicros } = await gateway.balance(account, 'test');
  const { reply, asked } = await gateway.recordUpstream(() => search({ num: 3 }, key));
  const { provider, results } = resultsOf(reply);
  assert.equal(provider, 'sandbox');
  assert.deepEqual(
    results.map(({ title }) => title),
    [1, 2, 3].map((number) => `Result ${number} for “how tall is the tower”`),
  );
  assert.deepEqual(
    [reply.headers['x-service-mode'], reply.headers['x-service-route']],
    ['test', 'sandbox'],
  );
  const leftMicros = availableMicros - priceMicros;
  assert.equal((await gateway.balance(account, 'test')).availableMicros, leftMicros);
  assert.equal(asked.length, 0);
  const failed = await search({ query: 'x\nsandbox: status=529' }, key);
  assertRefused(failed, 503, 'upstream_unavailable');
  assert.equal(failed.headers['retry-after'], '1');
  assert.equal((await gateway.balance(account, 'test')).availableMicros, leftMicros);
});

/** Leaves while the first provider has not answered. */
async function leaveSearch(key: string, script: Script) {
  const late = holdBack(script);
  gateway.upstream.on(bravePath, late.script);
  const index = gateway.upstream.requests.length;
  const { request } = gateway.open(path, { key, body: { query: 'a' } });
  const asked = await gateway.upstream.request(index);
  request.destroy();
  await until(() => clock.dueIn(readOnMs) === 1);
  return { late, index, asked };
}

test('a client that leaves pays nothing for a failed search', async () => {
  const made = await newKey();
  const { late, index } = await leaveSearch(made.key, answerStatus(500));
  await clock.advance(readOnMs);
  late.release();
  await until(async () => (await gateway.balance(made.account)).availableMicros === 1_000_000);
  await assertFree(made);
  // No other provider is tried after the client has left.
  assert.equal(gateway.upstream.requests.length, index + 1);
});

test('a search that finishes after its client has left is charged', async () => {
  const { key, account } = await newKey();
  const { late, asked } = await leaveSearch(key, numberedBrave());
  await clock.advance(readOnMs + 1);
  late.release();
  assert.equal(await asked.ended, 'answered');
  await until(async () => (await gateway.usage(key)).length > 0);
  assert.equal((await gateway.balance(account)).availableMicros, 1_000_000 - priceMicros);
});

for (const [what, config] of Object.entries({
  'no provider': {},
  'no price': { search: { price_usd: null } },
})) {
  test(`with ${what} a live key gets an error that says how the operator enables searches`, async (t) => {
    const other = await startGateway((upstream) => ({
      ...config,
      providers:
        what === 'no price'
          ? { brave: { base_url: `${upstream.url}/brave`, api_key: braveKey } }
          : {},
    }));
    t.after(() => other.stop());
    const made = await other.makeKey({ creditUsd: 1 });
    const reply = await other.post(path, { key: made.key, body: { query: 'a' } });
    assertRefused(reply, 503, 'upstream_unavailable');
    assert.match(reply.error.message, /BRAVE_API_KEY.*search\.price_usd/);
    assert.equal((await other.balance(made.account)).availableMicros, 1_000_000);
    assert.equal(other.upstream.requests.length, 0);
    if (what === 'no price') return;
    const sandboxed = await other.post(path, {
      key: other.program.firstTestKey,
      body: { query: 'a' },
    });
    assert.equal(sandboxed.status, 200, 'a test key has the sandbox');
  });
}

// The price of a web search: the hold covers the most expensive provider that may answer, and the
// charge is that of the one that did.
import assert from 'node:assert/strict';
import { after, beforeEach, test } from 'node:test';
import { startGateway, upstreamKey } from '../support/gateway.ts';
import { answerJson, answerStatus, thenReset, type Script } from '../support/upstream.ts';

const path = '/v1/web-search';
const [bravePath, tavilyPath, serperPath, exaPath, ownPath] = [
  '/brave/web/search',
  '/tavily/search',
  '/serper/search',
  '/exa/search',
  '/own/search',
];
const markup = 1.5;
const page = { title: 'T', url: 'https://t.example/' };
const braveHas = (more: boolean): Script =>
  answerJson({ query: { more_results_available: more }, web: { results: [page] } });

const gateway = await startGateway(
  (upstream) => ({
    providers: {
      ...Object.fromEntries(
        ['brave', 'tavily', 'serper', 'exa'].map((name) => [
          name,
          { base_url: `${upstream.url}/${name}`, api_key: upstreamKey },
        ]),
      ),
      own: {
        kind: 'tavily',
        base_url: `${upstream.url}/own`,
        api_key: upstreamKey,
        tool_prices: { web_search: 0.003 },
      },
      off: {
        kind: 'exa',
        base_url: `${upstream.url}/off`,
        api_key: upstreamKey,
        tool_prices: { web_search: null },
      },
    },
    search: { providers: ['brave', 'tavily', 'serper', 'exa', 'own', 'off'] },
    pricing: { markup },
  }),
  { tuning: { failuresMax: 1_000 } },
);
const { key, account } = await gateway.makeKey({ mode: 'live', creditUsd: 10 });
after(() => gateway.stop());
beforeEach(() => {
  for (const failing of [bravePath, tavilyPath, serperPath, exaPath])
    gateway.upstream.on(failing, answerStatus(500));
});

const search = (num: number) => gateway.post(path, { key, body: { query: 'towers', num } });

const cases: [what: string, served: string, script: Script, num: number, usd: number][] = [
  ['Brave, of one page', bravePath, braveHas(false), 20, 0.005],
  ['Brave, of three pages', bravePath, braveHas(true), 50, 0.015],
  ['Brave, of one page where there are no others', bravePath, braveHas(false), 50, 0.005],
  ['Tavily', tavilyPath, answerJson({ results: [page] }), 20, 0.008],
  ['Serper, of ten results', serperPath, answerJson({ organic: [] }), 10, 0.001],
  ['Serper, of more', serperPath, answerJson({ organic: [] }), 11, 0.002],
  ['Exa, of ten results', exaPath, answerJson({ results: [] }), 10, 0.007],
  ['Exa, of each further one', exaPath, answerJson({ results: [] }), 25, 0.022],
  ['a provider with an operator’s price', ownPath, answerJson({ results: [] }), 50, 0.003],
];
for (const [what, served, script, num, usd] of cases) {
  test(`a search by ${what} costs its price with the markup`, async () => {
    gateway.upstream.on(served, script);
    const { availableMicros } = await gateway.balance(account);
    const reply = await search(num);
    assert.equal(reply.status, 200, reply.text);
    const micros = Math.round(usd * 1e6 * markup);
    assert.equal(reply.costMicros, micros);
    const left = await gateway.balance(account);
    assert.deepEqual([left.availableMicros, left.heldMicros], [availableMicros - micros, 0]);
  });
}

test('the hold covers the most expensive provider, with all pages or results', async () => {
  const poor = await gateway.makeKey({ mode: 'live', creditUsd: 0.001 });
  const requiredFor = async (num: number) => {
    const reply = await gateway.post(path, { key: poor.key, body: { query: 'towers', num } });
    assert.equal(reply.status, 402, reply.text);
    return reply.error.details!['required_micros'];
  };
  assert.deepEqual(
    await Promise.all([1, 11, 50].map(requiredFor)),
    [0.008, 0.008, 0.047].map((usd) => usd * 1e6 * markup),
  );
});

test("the possible cost of failed provider calls is the operator's loss", async () => {
  const made = await gateway.makeKey({ mode: 'live', creditUsd: 1 });
  const nonsense = answerJson({ results: 'none' });
  gateway.upstream.on(bravePath, thenReset(null));
  gateway.upstream.on(tavilyPath, nonsense);
  const costs: (number | null)[] = [];
  for (const [served, script] of [
    [exaPath, answerJson({ results: [] })],
    [ownPath, nonsense],
    [bravePath, [braveHas(true), braveHas(true), thenReset(null)]],
  ] as const) {
    gateway.upstream.on(served, ...([script].flat() as [Script]));
    costs.push(
      (await gateway.post(path, { key: made.key, body: { query: 'towers', num: 50 } })).costMicros,
    );
    gateway.upstream.on(served, answerStatus(500));
    gateway.upstream.on(bravePath, thenReset(null));
  }
  const entries = gateway.database.read
    .selectFrom('entries')
    .selectAll()
    .where('ledger_id', '=', `${made.account}:live`);
  const losses = (await entries.execute()).filter((entry) => entry.loss_micros > 0);
  assert.deepEqual(
    losses.map((entry) => [entry.loss_micros, entry.id.replace(/^req_[^/]+/, '')]),
    [
      [13_000, '/attempt-1'],
      [16_000, ''],
      [5_000, '/attempt-1'],
    ],
  );
  assert.deepEqual(costs, [(7_000 + 40_000) * markup, null, 10_000 * markup]);
});

test('a provider without a search price is not called', async () => {
  gateway.upstream.on(ownPath, answerStatus(500));
  const earlier = gateway.upstream.requests.length;
  assert.equal((await search(5)).status, 502);
  const asked = gateway.upstream.requests.slice(earlier).map((request) => request.path);
  assert.deepEqual(asked, [bravePath, tavilyPath, serperPath, exaPath, ownPath]);
});

test('a test key pays one price; a price stated by the operator applies to everyone', async (t) => {
  const sandboxed = await gateway.post(path, {
    key: gateway.program.firstTestKey,
    body: { query: 'towers', num: 50 },
  });
  assert.equal(sandboxed.costMicros, 5_000 * markup);
  const stated = await startGateway((upstream) => ({
    providers: { exa: { base_url: `${upstream.url}/exa`, api_key: upstreamKey } },
    search: { price_usd: 0.02 },
    pricing: { markup },
  }));
  t.after(() => stated.stop());
  stated.upstream.on(exaPath, answerJson({ results: [] }));
  const made = await stated.makeKey({ mode: 'live', creditUsd: 1 });
  assert.equal(
    (await stated.post(path, { key: made.key, body: { query: 'towers', num: 50 } })).costMicros,
    20_000,
  );
});

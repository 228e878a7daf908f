// Every search provider against a local server that speaks its protocol, configured as an operator would.
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { loadYaml } from '../../../tests/support/config-file.ts';
import { isPending } from '../../../tests/support/is-pending.ts';
import { TestClock } from '../../../tests/support/test-clock.ts';
import * as local from '../../../tests/support/upstream.ts';
import type { SearchAnswer } from './web-searcher.ts';
import { logFailures } from '../calling/log-failures.ts';
import { RequestRecord } from '../request-record.ts';
import { RouteHealth } from '../calling/health.ts';
import { connectSearch, searchMs } from './search-sources.ts';
import { createUpstreams } from '../calling/upstreams.ts';

type Logged = { readonly level: string; readonly provider: string; readonly reason: string };
type Started = {
  readonly upstream: local.LocalUpstream;
  readonly logged: readonly Logged[];
  readonly search: (num?: number, query?: string, signal?: AbortSignal) => Promise<SearchAnswer>;
  readonly record: RequestRecord;
  readonly clock: TestClock;
};

const never = new AbortController().signal;
const signals = { running: never, waiting: never };

/** Takes a provider out of use after two failures in a row, for ten seconds. */
function healthAt(nowMs: () => number): RouteHealth {
  return new RouteHealth({
    failuresMax: 2,
    ejectionMs: 10_000,
    ejectionCapMs: 300_000,
    nowMs,
    onChange: () => {},
  });
}

/** `settings`: the content of the `search` section. */
async function start(t: TestContext, names: readonly string[], settings = ''): Promise<Started> {
  const upstream = await local.startUpstream(t);
  const clock = new TestClock();
  const upstreams = createUpstreams({ clock, largeAnswerBytesMax: Infinity });
  t.after(upstreams.close);
  const logged: Logged[] = [];
  const write = (level: string) => (fields: object | string) =>
    void logged.push({ level, ...(fields as Omit<Logged, 'level'>) });
  const log = { warn: write('warn'), error: write('error') };
  const entries = names.map(
    (name) => `  ${name}: { base_url: "${upstream.url}/${name}", api_key: key-of-${name} }`,
  );
  const config = loadYaml(`providers:\n${entries.join('\n')}\nsearch: { ${settings} }\n`);
  const health = healthAt(clock.nowMs);
  const { live } = connectSearch({ config, upstreams, health, takeCall: () => true, clock });
  const about = { path: '', listeners: [health, logFailures(log)], onError: assert.ifError };
  const record = new RequestRecord('req_1', about);
  return {
    upstream,
    logged,
    search: (num = 10, query = 'cats & dogs', signal = never) =>
      live!.search({ record, query, num }, { running: signal, waiting: signal }),
    record,
    clock,
  };
}

const levelsOf = (logged: readonly Logged[]) => logged.map(({ level }) => level);

function resultsOf(answer: SearchAnswer) {
  assert.equal(answer.kind, 'results', JSON.stringify(answer));
  return answer.results;
}

function failureOf(answer: SearchAnswer) {
  assert.equal(answer.kind, 'failure', JSON.stringify(answer));
  return answer.failure;
}

type Protocol = {
  readonly path: string;
  readonly key: readonly [header: string, value: string];
  /** The request for ten results: a query string, or a JSON body. */
  readonly asked: string | object;
  /**
   * An answer with one result, dated 2026-01-05 in the provider's own format. Title and text
   * contain HTML if the provider sends any.
   */
  readonly body: object;
  readonly snippet: string;
  readonly score: number | null;
  readonly empty: object;
};
const url = 'https://www.example.com/a';
const title = 'A & B';

const protocols: Readonly<Record<string, Protocol>> = {
  brave: {
    path: '/brave/web/search',
    key: ['x-subscription-token', 'key-of-brave'],
    asked: 'q=cats+%26+dogs&count=10&offset=0&result_filter=web&text_decorations=false',
    body: {
      type: 'search',
      query: { original: 'cats', more_results_available: true },
      web: {
        type: 'search',
        results: [
          {
            title: 'A &amp; B',
            url,
            description: 'All <strong>cats</strong>',
            page_age: '2026-01-05T10:00:00',
          },
        ],
      },
    },
    snippet: 'All cats',
    score: null,
    empty: { type: 'search', query: { original: 'cats', more_results_available: false } },
  },
  tavily: {
    path: '/tavily/search',
    key: ['authorization', 'Bearer key-of-tavily'],
    asked: { query: 'cats & dogs', max_results: 10, search_depth: 'basic' },
    body: {
      query: 'cats',
      results: [
        {
          title,
          url,
          content: 'All cats',
          score: 0.87,
          published_date: 'Mon, 05 Jan 2026 10:00:00 GMT',
        },
      ],
    },
    snippet: 'All cats',
    score: 0.87,
    empty: { query: 'cats', results: [] },
  },
  serper: {
    path: '/serper/search',
    key: ['x-api-key', 'key-of-serper'],
    asked: { q: 'cats & dogs', num: 10 },
    body: {
      searchParameters: { q: 'cats' },
      organic: [{ title, link: url, snippet: 'All cats', date: 'Jan 5, 2026', position: 1 }],
    },
    snippet: 'All cats',
    score: null,
    empty: { searchParameters: { q: 'cats' }, organic: [] },
  },
  exa: {
    path: '/exa/search',
    key: ['x-api-key', 'key-of-exa'],
    asked: { query: 'cats & dogs', numResults: 10, contents: { highlights: true } },
    body: {
      requestId: 'r',
      results: [
        {
          title,
          url,
          publishedDate: '2026-01-05T10:00:00.000Z',
          author: 'x',
          score: 0.4,
          highlights: ['All cats', 'purr'],
        },
      ],
    },
    snippet: 'All cats … purr',
    score: 0.4,
    empty: { requestId: 'r', results: [] },
  },
  searxng: {
    path: '/searxng/search',
    key: ['authorization', 'Bearer key-of-searxng'],
    asked: 'q=cats+%26+dogs&format=json',
    body: {
      query: 'cats',
      results: [
        { title, url, content: 'All cats', publishedDate: '2026-01-05T10:00:00', score: 1.5 },
      ],
    },
    snippet: 'All cats',
    score: 1.5,
    empty: { query: 'cats', results: [], unresponsive_engines: [] },
  },
};

const noLists = { results: 5, organic: {}, web: { results: 'x' } };
const refusal = { error: { message: 'no' }, results: [], organic: [], web: { results: [] } };
const elsewhere = { status: 302, headers: { location: 'http://127.0.0.1:9/' } };
const garbage: readonly (readonly [what: string, script: local.Script])[] = [
  ['no JSON', local.answerJson('<html>hello</html>')],
  ['nothing', local.answerJson('')],
  ['a list', local.answerJson([1, 2])],
  ['null', local.answerJson('null')],
  ['results that are no list', local.answerJson(noLists)],
  ['another object', local.answerJson({ hello: 'world' })],
  ['an error with a status of success', local.answerJson(refusal)],
  ['a redirect', local.answerJson('', elsewhere)],
  ['a page that is not there', local.answerStatus(404)],
  ['more than is read', local.answerJson(`{"results":["${'x'.repeat(9 * 1024 * 1024)}"]}`)],
  ['deep nesting', local.answerJson(`{"results":${'['.repeat(10_000)}`)],
  ['compressed bytes', local.answerJson('x', { headers: { 'content-encoding': 'gzip' } })],
];

for (const [name, protocol] of Object.entries(protocols)) {
  test(`${name}: the request matches its API, and its answer becomes results`, async (t) => {
    const { upstream, search, logged } = await start(t, [name]);
    upstream.on(protocol.path, local.answerJson(protocol.body));
    const answer = await search();
    const { snippet, score } = protocol;
    const found = { title, url, snippet, date: '2026-01-05', source: 'example.com', score };
    assert.deepEqual(resultsOf(answer), [{ position: 1, ...found }]);
    const [request] = upstream.requests;
    const isGet = typeof protocol.asked === 'string';
    assert.deepEqual(request!.method, isGet ? 'GET' : 'POST');
    assert.deepEqual(isGet ? request!.query : request!.body, protocol.asked);
    assert.equal(request!.headers[protocol.key[0]], protocol.key[1]);
    assert.equal(request!.headers['accept-encoding'], 'identity');
    assert.equal(request!.headers['content-type'], isGet ? undefined : 'application/json');
    assert.deepEqual([logged, answer.kind === 'results' && answer.provider], [[], name]);
  });

  test(`${name}: an empty list and empty results are no failure`, async (t) => {
    const { upstream, search } = await start(t, [name]);
    const odd = [
      null,
      5,
      {},
      { title: 5, url: {}, link: [] },
      { url: 'javascript:alert(1)', link: 'mailto:a@b' },
    ];
    const oddAnswer = { ...protocol.empty, results: odd, organic: odd, web: { results: odd } };
    upstream.on(protocol.path, local.answerJson(protocol.empty), local.answerJson(oddAnswer));
    assert.deepEqual(resultsOf(await search()), []);
    assert.deepEqual(resultsOf(await search()), []);
  });

  test(`${name}: what is no answer of its API is unreadable`, async (t) => {
    for (const [what, script] of garbage) {
      const { upstream, search, logged } = await start(t, [name]);
      upstream.on(protocol.path, script);
      assert.equal(failureOf(await search()).kind, 'unreadable', what);
      assert.deepEqual(levelsOf(logged), ['warn'], what);
    }
  });

  test(`${name}: failures keep their status, and a refused key is logged for the operator`, async (t) => {
    const { upstream, search, logged } = await start(t, [name]);
    const statuses = [401, 402, 403, 408, 429, 500, 503, 529];
    for (const status of statuses) {
      upstream.on(protocol.path, local.answerStatus(status, { retryAfter: '7' }));
      const failure = failureOf(await search());
      assert.deepEqual([failure.status, failure.retryAfterSeconds], [status, 7]);
    }
    const levels = statuses.map((status) => (status <= 403 ? 'error' : 'warn'));
    assert.deepEqual(levelsOf(logged), levels);
  });

  test(`${name}: a refused query is reported in the provider’s words, without its key`, async (t) => {
    const { upstream, search } = await start(t, [name]);
    const { host } = new URL(upstream.url);
    upstream.on(
      protocol.path,
      local.answerStatus(400, { body: { error: `too long for key-of-${name} at ${host}` } }),
    );
    const { status, message } = failureOf(await search());
    assert.deepEqual([status, message], [400, 'too long for [key removed] at [address removed]']);
  });

  test(`${name}: a reset, a hang and half an answer end within the time limit`, async (t) => {
    const { upstream, search, clock } = await start(t, [name]);
    upstream.on(protocol.path, local.thenReset(null));
    assert.equal(failureOf(await search()).kind, 'connection');
    upstream.on(protocol.path, local.hang);
    const searching = search();
    await upstream.request(1);
    await clock.advance(searchMs);
    assert.equal(failureOf(await searching).kind, 'timeout');
    upstream.on(
      protocol.path,
      local.thenReset('{"results":[', { headers: { 'content-type': 'application/json' } }),
    );
    assert.equal(failureOf(await search()).kind, 'broken-stream');
    upstream.on(protocol.path, local.answerJson('{"results":[{"title":"x"'));
    assert.equal(failureOf(await search()).kind, 'broken-stream');
  });
}

const ofBrave = (code: string) => ({ type: 'ErrorResponse', error: { code, detail: 'no' } });
const ownFailures: [name: string, status: number, body: object, expected: number][] = [
  ['brave', 422, ofBrave('SUBSCRIPTION_TOKEN_INVALID'), 401],
  ['brave', 422, ofBrave('VALIDATION'), 422],
  ['tavily', 432, { detail: { error: 'plan limit' } }, 402],
  ['tavily', 433, { detail: { error: 'pay-as-you-go limit' } }, 402],
  ['serper', 400, { message: 'Not enough credits', statusCode: 400 }, 402],
  ['serper', 400, { message: 'Missing query parameter', statusCode: 400 }, 400],
];
for (const [name, status, body, expected] of ownFailures) {
  test(`${name}: a ${status} ${JSON.stringify(body)} means ${expected}`, async (t) => {
    const { upstream, search } = await start(t, [name]);
    upstream.on(protocols[name]!.path, local.answerStatus(status, { body }));
    assert.equal(failureOf(await search()).status, expected);
  });
}

test('searxng: engines that did not respond are a failure only when nothing was found', async (t) => {
  const { upstream, search, logged } = await start(t, ['searxng']);
  const unresponsive = { unresponsive_engines: [['google', 'CAPTCHA']] };
  upstream.on(
    '/searxng/search',
    local.answerJson({ ...protocols['searxng']!.body, ...unresponsive }),
    local.answerJson({ results: [], ...unresponsive }),
  );
  assert.equal(resultsOf(await search()).length, 1);
  assert.equal(failureOf(await search()).kind, 'unreadable');
  assert.match(logged[0]!.reason, /engines did not respond/);
});

test('a provider’s message about a query is not logged', async (t) => {
  const { upstream, search, logged } = await start(t, ['brave']);
  const script = local.answerStatus(500, {
    body: { error: { detail: 'no cats & dogs', message: 'no cats & dogs' } },
  });
  upstream.on('/brave/web/search', script);
  assert.equal(failureOf(await search()).message, 'no cats & dogs');
  upstream.on(
    '/brave/web/search',
    local.answerStatus(404, { body: { message: 'no cats & dogs' } }),
  );
  await search();
  assert.equal(logged.length, 2);
  assert.doesNotMatch(JSON.stringify(logged), /cats/);
});

test('searxng: a 403 says what its operator forgot', async (t) => {
  const { upstream, search, logged } = await start(t, ['searxng']);
  upstream.on('/searxng/search', local.answerStatus(403));
  await search();
  assert.match(logged[0]!.reason, /`json` among the `search\.formats`/);
});

/** An answer with twenty results that follow `page` pages of twenty. */
function bravePage(page: number, hasMore: boolean): object {
  const results = Array.from({ length: 20 }, (_result, index) => ({
    title: 't',
    url: `https://example.com/${page * 20 + index}`,
  }));
  return { query: { more_results_available: hasMore }, web: { results } };
}

test('brave: fifty results take three calls, and fewer calls when fewer are needed', async (t) => {
  const { upstream, search } = await start(t, ['brave']);
  const script: local.Script = (response, request) => {
    const page = Number(new URLSearchParams(request.query).get('offset'));
    return local.answerJson(bravePage(page, true))(response, request);
  };
  upstream.on('/brave/web/search', script);
  const results = resultsOf(await search(50));
  assert.deepEqual([results.length, results.at(-1)!.url], [50, 'https://example.com/49']);
  const asked = upstream.requests
    .map(({ query }) => new URLSearchParams(query))
    .map((query) => [query.get('count'), query.get('offset')]);
  assert.deepEqual(asked, [
    ['20', '0'],
    ['20', '1'],
    ['20', '2'],
  ]);
  assert.equal(resultsOf(await search(20)).length, 20);
  assert.equal(upstream.requests.length, 4);
  assert.equal(resultsOf(await search(21)).length, 21);
  assert.equal(upstream.requests.length, 6);
});

test('brave: a failed or last page ends the list with the results so far', async (t) => {
  const { upstream, search } = await start(t, ['brave']);
  upstream.on('/brave/web/search', local.answerJson(bravePage(0, true)), local.answerStatus(500));
  assert.equal(resultsOf(await search(50)).length, 20);
  upstream.on('/brave/web/search', local.answerJson(bravePage(0, false)));
  assert.equal(resultsOf(await search(50)).length, 20);
  assert.equal(upstream.requests.length, 3);
});

test('a provider without further pages is asked once, for its maximum', async (t) => {
  const { upstream, search } = await start(t, ['tavily']);
  upstream.on('/tavily/search', local.answerJson(protocols['tavily']!.body));
  await search(50);
  assert.deepEqual(
    upstream.requests.map(({ body }) => body),
    [{ query: 'cats & dogs', max_results: 20, search_depth: 'basic' }],
  );
});

test('the next provider of the list answers when the first cannot', async (t) => {
  const { upstream, search, logged } = await start(
    t,
    ['brave', 'exa', 'searxng'],
    'providers: [searxng, exa, brave]',
  );
  upstream.on('/searxng/search', local.answerStatus(401));
  upstream.on('/exa/search', local.thenReset(null));
  upstream.on('/brave/web/search', local.answerJson(protocols['brave']!.body));
  const answer = await search();
  assert.equal(answer.kind === 'results' && answer.provider, 'brave');
  assert.deepEqual(
    upstream.requests.map(({ path }) => path),
    ['/searxng/search', '/exa/search', '/brave/web/search'],
  );
  assert.deepEqual(
    logged.map(({ level, provider }) => [level, provider]),
    [
      ['error', 'searxng'],
      ['warn', 'exa'],
    ],
  );
});

test('a dead provider is skipped, probed by one search at a time, and first again when it answers', async (t) => {
  const { upstream, search, clock } = await start(t, ['brave', 'exa']);
  const calls = (path: string) =>
    upstream.requests.filter((request) => request.path === path).length;
  upstream.on('/brave/web/search', local.answerStatus(500));
  upstream.on('/exa/search', local.answerJson(protocols['exa']!.empty));
  for (let count = 0; count < 6; count++) await search();
  assert.deepEqual([calls('/brave/web/search'), calls('/exa/search')], [2, 6]);
  await clock.advance(10_000);
  upstream.on('/brave/web/search', async (response) => {
    // The other four must have reached the next provider first.
    await upstream.request(2 + 6 + 4);
    response.writeHead(500).end();
  });
  await Promise.all(Array.from({ length: 5 }, () => search()));
  assert.deepEqual([calls('/brave/web/search'), calls('/exa/search')], [3, 11]);
  await clock.advance(20_000);
  upstream.on('/brave/web/search', local.answerJson(protocols['brave']!.empty));
  const answer = await search();
  assert.equal(answer.kind === 'results' && answer.provider, 'brave');
});

test('a refused key puts a provider out of use at once, and it is asked only when no other answers', async (t) => {
  const { upstream, search } = await start(t, ['brave', 'exa']);
  upstream.on('/brave/web/search', local.answerStatus(401));
  upstream.on('/exa/search', local.answerJson(protocols['exa']!.empty), local.answerStatus(503));
  await search();
  assert.equal(failureOf(await search()).status, 503);
  assert.deepEqual(
    upstream.requests.map(({ path }) => path),
    ['/brave/web/search', '/exa/search', '/exa/search', '/brave/web/search'],
  );
});

const [first, second] = ['/brave/web/search', '/exa/search'] as const;

test('the next provider is asked after any failure; when all fail, what may pass is reported', async (t) => {
  for (const [one, other, reported] of [
    [503, 401, 503],
    [400, 503, 503],
    [422, 400, 422],
    [429, 402, 429],
  ] as const) {
    const { upstream, search, record } = await start(t, ['brave', 'exa']);
    upstream.on(first, local.answerStatus(one));
    upstream.on(second, local.answerStatus(other));
    assert.equal(failureOf(await search()).status, reported);
    const tried = record.fields.tries!.map(({ provider, status }) => [provider, status]);
    assert.deepEqual(tried, [
      ['brave', one],
      ['exa', other],
    ]);
  }
});

test('a provider that hangs leaves the next one time within the limit, which covers both', async (t) => {
  const { upstream, search, clock, logged } = await start(t, ['brave', 'exa']);
  upstream.on(first, local.hang);
  upstream.on(second, local.answerJson(protocols['exa']!.empty), local.hang);
  const searching = search();
  await upstream.request(0);
  await clock.advance(searchMs / 2 - 1);
  assert.deepEqual(logged, []);
  await clock.advance(1);
  assert.deepEqual(resultsOf(await searching), []);
  const hanging = search();
  await upstream.request(2);
  await clock.advance(searchMs / 2);
  await upstream.request(3);
  await clock.advance(searchMs / 2 - 1);
  assert.ok(await isPending(hanging));
  await clock.advance(1);
  assert.equal(failureOf(await hanging).kind, 'timeout');
});

test('a client that leaves ends its search at once; neither that nor a refused query counts against a provider', async (t) => {
  const { upstream, search, logged } = await start(t, ['brave', 'exa']);
  upstream.on(
    first,
    local.hang,
    local.hang,
    ...[400, 422, 400].map((status) => local.answerStatus(status)),
  );
  upstream.on(second, local.answerJson(protocols['exa']!.empty));
  for (const calls of [1, 2]) {
    const leaving = new AbortController();
    const searching = search(10, 'cats', leaving.signal);
    await upstream.request(calls - 1);
    leaving.abort();
    failureOf(await searching);
    assert.deepEqual([upstream.requests.length, logged], [calls, []]);
  }
  for (let asked = 0; asked < 3; asked++) resultsOf(await search());
  const paths = upstream.requests.slice(2).map(({ path }) => path);
  assert.deepEqual(paths, [first, second, first, second, first, second]);
});

test('a query of any characters arrives unchanged', async (t) => {
  const { upstream, search } = await start(t, ['brave', 'exa'], 'providers: [brave, exa]');
  const query = 'ä "b" c+d %20 &q=x #\n😀';
  upstream.on('/brave/web/search', local.answerStatus(500));
  upstream.on('/exa/search', local.answerJson(protocols['exa']!.empty));
  await search(10, query);
  assert.equal(new URLSearchParams(upstream.requests[0]!.query).get('q'), query);
  assert.equal((upstream.requests[1]!.body as { query: string }).query, query);
});

function connectOffline() {
  const upstreams = {
    send: () => assert.fail('nothing is to be sent'),
    sockets: () => [],
    retire: () => {},
    close: async () => {},
  };
  const clock = new TestClock();
  const health = healthAt(clock.nowMs);
  const config = loadYaml('service: {}');
  return connectSearch({ config, upstreams, health, takeCall: () => true, clock });
}

test('without a provider there is no live search, but the sandbox still works', () => {
  const { live, test: sandbox } = connectOffline();
  assert.deepEqual([live, typeof sandbox.search], [null, 'function']);
});

test('the sandbox returns a question unchanged, whatever it contains', async () => {
  const { test: sandbox } = connectOffline();
  const ask = (query: string) =>
    sandbox.search({ record: new RequestRecord('req_1'), query, num: 1 }, signals);
  const [result] = resultsOf(await ask('<b>cats</b> &amp; dogs'));
  assert.deepEqual(
    [result!.title, result!.date, result!.source, result!.score],
    ['Result 1 for “<b>cats</b> &amp; dogs”', '2026-01-01', 'example.com', 1],
  );
  assert.equal(failureOf(await ask('sandbox: status=503')).status, 503);
});

// Charged requests in the dashboard: the filtered list, the details and the CSV file.
import assert from 'node:assert/strict';
import type {
  RequestDetail,
  RequestRecord,
  RequestTotals,
} from '../../src/management/contract/requests.ts';
import { formatUsd, type Micros } from '../../src/lib/money.ts';
import { columnOf } from '../support/column-of.ts';
import { after, before, test } from '../support/both-stores.ts';
import { everyRow, signIn, type DashboardClient } from '../support/dashboard.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import type { RunningApp } from '../support/running-app.ts';
import { jsonOf, ok } from '../support/http.ts';
import { TestClock } from '../support/test-clock.ts';
import { untilNoticed } from '../support/until.ts';

let clock: TestClock;
let gateway: TestGateway<RunningApp>;
let member: DashboardClient;
let first: { readonly id: string; readonly key: string };
let second: { readonly id: string; readonly key: string };

/** More than two batches of the file. */
const requestCount = 520;

const columns = [
  'created_at',
  'request_id',
  'endpoint',
  'outcome',
  'streamed',
  'input_tokens',
] as const;
const counts = ['output_tokens', 'images', 'web_searches'] as const;

type PageOf<Row> = { readonly data: readonly Row[]; readonly next_cursor: string | null };

before(async () => {
  clock = new TestClock();
  gateway = await startGateway({}, { clock });
  member = await signIn(gateway, { role: 'member' });
  const { account } = member;
  first = await gateway.makeKey({ account, name: '=HYPERLINK("http://x", "y")' });
  second = await gateway.makeKey({ account, name: 'Zweiter, "Schlüssel"\n日本' });
  const ask = (text: string) => ({
    model: 'gpt-6-luna',
    messages: [{ role: 'user', content: text }],
    max_tokens: 50,
  });
  const texts = Array.from({ length: requestCount }, (_, index) => `Hello ${index}`);
  while (texts.length > 0) {
    const replies = await Promise.all(
      texts
        .splice(0, 40)
        .map((text) => gateway.post('/v1/chat/completions', { key: first.key, body: ask(text) })),
    );
    assert.ok(replies.every(({ status }) => status === 200));
  }
  const model = 'claude-haiku-4-5';
  const messages = { model, max_tokens: 50, messages: ask('Hi').messages, stream: true };
  for (const [path, body] of [
    ['/v1/messages', messages],
    ['/v1/responses', { model, input: 'Hi' }],
    ['/v1/images/generations', { model: 'flux-2', prompt: 'A cat', n: 2 }],
    ['/v1/web-search', { query: 'cats' }],
  ] as const) {
    await ok(gateway.post(path, { key: second.key, body }));
  }
});
after(() => gateway.stop());

const all = (query = '') =>
  everyRow<RequestRecord>(
    (path) => member.get(path),
    `/accounts/${member.account}/requests?mode=test&${query}&limit=100`,
  );

test("the list equals the API's, page by page", async () => {
  const records = await all();
  assert.equal(records.length, requestCount + 4);
  const own = await everyRow<Record<string, unknown>>(
    (path) => gateway.get(path, { key: first.key }),
    '/v1/usage?limit=100',
  );
  assert.deepEqual(
    records.map((record) => [
      record.request_id,
      record.created_at,
      record.model!.name,
      record.input_tokens,
      record.output_tokens,
      record.cost_micros,
    ]),
    own.map((record) => [
      record['request_id'],
      record['created_at'],
      record['model'],
      record['input_tokens'],
      record['output_tokens'],
      Math.round(Number(record['cost_cents']) * 10_000),
    ]),
  );
});

test('filters work alone and combined', async () => {
  const count = async (query: string) => (await all(query)).length;
  assert.equal(await count(`key=${second.id}`), 4);
  assert.equal(await count('model=claude-haiku-4-5'), 2);
  assert.equal(await count('model=web-search'), 1);
  assert.equal(await count('endpoint=chat'), requestCount);
  assert.equal(await count('endpoint=images'), 1);
  assert.equal(await count('outcome=complete'), requestCount + 4);
  assert.equal(await count('outcome=cut-off'), 0);
  assert.equal(await count(`key=${second.id}&model=claude-haiku-4-5&endpoint=messages`), 1);
  const everything = await all();
  const days = [...new Set(everything.map(({ created_at: at }) => at.slice(0, 10)))];
  assert.equal(await count(`from=${days.at(-1)}&to=${days[0]}`), requestCount + 4);
  assert.equal(await count('to=2020-01-01'), 0);
  const costs = everything.map(({ cost_micros: cost }) => cost);
  const most = Math.max(...costs);
  const times = (least: number, highest = Infinity) =>
    costs.filter((cost) => cost >= least && cost <= highest).length;
  assert.equal(await count(`cost_min_micros=${most}`), times(most));
  assert.equal(await count(`cost_min_micros=${most + 1}`), 0);
  assert.equal(await count(`cost_max_micros=${most - 1}`), times(0, most - 1));
  assert.equal(await count(`duration_min_ms=${2 ** 31 - 1}`), 0);
  assert.equal(await count('from=2999-01-01'), 0);
  const live = await member.get(`/accounts/${member.account}/requests?mode=live`);
  assert.deepEqual(live.json<PageOf<RequestRecord>>().data, []);
});

test('an invalid filter is refused with its field', async () => {
  for (const [query, param] of [
    ['from=2026-02-30', 'from'],
    ['to=yesterday', 'to'],
    ['from=2026-02-02&to=2026-02-01', 'from'],
    ['endpoint=other', 'endpoint'],
    ['outcome=good', 'outcome'],
    ['sort=name', 'sort'],
    ['sort=cost&from=2026-01-01&to=2026-12-31', 'to'],
    ['cost_min_micros=-1', 'cost_min_micros'],
    ['cost_max_micros=0.5', 'cost_max_micros'],
    ['cost_max_micros=1e300', 'cost_max_micros'],
    ['duration_min_ms=2147483648', 'duration_min_ms'],
    ['cursor=x', 'cursor'],
    ['limit=0', 'limit'],
  ]) {
    const reply = await member.get(`/accounts/${member.account}/requests?mode=test&${query}`);
    assert.equal(reply.status, 400, query);
    assert.equal(reply.error.param, param);
    assert.doesNotMatch(reply.error.message, /\^|\\d/, 'no regular expression');
  }
  assert.equal((await member.get(`/accounts/${member.account}/requests`)).error.param, 'mode');
});

test("a request's details add up to its charge", async () => {
  for (const { request_id: id } of await all(`key=${second.id}`)) {
    const { charge: detail, history } = (
      await member.get(`/accounts/${member.account}/requests/${id}`)
    ).json<RequestDetail>();
    assert.ok(detail);
    assert.ok(history === null || history.address === '127.0.0.1');
    const { tokens, price, images, web_searches: searches } = detail;
    assert.ok(price);
    const micros =
      (tokens.input * price.input_micros +
        tokens.cache_read * price.cache_read_micros +
        tokens.cache_write * price.cache_write_micros +
        tokens.cache_write_1h * price.cache_write_1h_micros +
        tokens.output * price.output_micros) /
        1_000_000 +
      images * price.image_micros +
      searches * price.web_search_micros;
    assert.ok(Math.abs(detail.cost_micros - micros) < 1, JSON.stringify(detail));
    assert.ok(detail.hold_micros >= detail.cost_micros);
    assert.equal(detail.loss_micros, 0);
    assert.equal(detail.key.name, 'Zweiter, "Schlüssel"\n日本');
    assert.equal(detail.attempts, 1);
    assert.ok(detail.duration_ms !== null);
    assert.equal(detail.first_byte_ms !== null, detail.streamed);
    assert.ok(
      !JSON.stringify(detail).includes('upstream_cost'),
      'what the operator pays is told to nobody',
    );
  }
});

test('the file has the same rows as the list, whatever characters their names contain', async () => {
  for (const query of [
    '',
    `key=${second.id}`,
    'endpoint=messages&outcome=complete',
    'cost_min_micros=1000&duration_min_ms=0',
    'to=2020-01-01',
  ]) {
    const reply = await ok(member.get(`/accounts/${member.account}/usage.csv?mode=test&${query}`));
    assert.equal(reply.headers['content-type'], 'text/csv; charset=utf-8; header=present');
    assert.match(
      String(reply.headers['content-disposition']),
      /^attachment; filename="usage-test[\w-]*\.csv"$/,
    );
    const [titles, ...rows] = readCsv(reply.text);
    const records = await all(query);
    assert.equal(rows.length, records.length);
    const expected = records.map((record) => ({
      ...Object.fromEntries([...columns, ...counts].map((name) => [name, String(record[name])])),
      key_id: record.key.id,
      key_name: record.key.name.startsWith('=') ? `'${record.key.name}` : record.key.name,
      model: record.model!.id,
      model_name: record.model!.name,
      cost_usd: formatUsd(record.cost_micros as Micros),
      duration_ms: record.duration_ms === null ? '' : String(record.duration_ms),
    }));
    const shown = rows.map((row) =>
      Object.fromEntries(titles!.map((title, index) => [title, row[index]])),
    );
    assert.partialDeepStrictEqual(shown, expected);
  }
});

test('charged, cached, refused and failed requests are in one list, page by page', async () => {
  const owner = await signIn(gateway, { role: 'owner' });
  const key = await gateway.makeKey({ account: owner.account, name: 'Third' });
  const body = { model: 'gpt-6-luna', input: 'Twice', temperature: 0 };
  const ask = (headers: Record<string, string> = {}, asked: object = body) =>
    gateway.post('/v1/responses', { key: key.key, headers, body: asked });
  const made = await ok(ask({ 'user-agent': 'OpenAI/Python 2.8.1' }));
  const again = await ok(ask());
  const headers = {
    traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
    'user-agent': 'OpenAI/Python 2.10.0 (the laptop of Ada)',
  };
  const failed = await ask(headers, { model: 'gpt-6-lunna', input: 'Hi' });
  const refused = await owner.post(`/accounts/${owner.account}/keys/${key.id}/v1/messages`, {
    model: 'gpt-6-luna',
  });
  assert.deepEqual([failed.status, refused.status], [404, 400]);
  const path = `/accounts/${owner.account}/requests`;
  const read = async (query = '') =>
    (await owner.get(`${path}?mode=test&${query}`)).json<PageOf<RequestRecord>>();
  // Counted in memory first.
  const { data } = await untilNoticed(clock, async () => {
    await gateway.program.app.gateway.observe.activity.flush();
    const page = await read();
    return page.data.length === 4 && page;
  });
  const seen = data.map((row) => [row.request_id, row.outcome, row.code, row.status, row.endpoint]);
  assert.deepEqual(seen, [
    [refused.requestId, 'failed', 'invalid_request', 400, 'messages'],
    [failed.requestId, 'failed', 'model_not_found', 404, 'responses'],
    [again.requestId, 'cached', null, 200, 'responses'],
    [made.requestId, 'complete', null, 200, 'responses'],
  ]);
  assert.deepEqual(
    data.map(({ cost_micros: cost, saved_micros: saved, model }) => [cost, saved, model?.id]),
    [
      [0, 0, undefined],
      [0, 0, undefined],
      [0, made.costMicros, 'gpt-6-luna'],
      [made.costMicros, 0, 'gpt-6-luna'],
    ],
  );
  assert.equal(data.at(-1)!.finish, 'end');
  assert.deepEqual([data[1]!.client, data[3]!.client], ['openai-python/2.10', 'openai-python/2.8']);

  const pages = await everyRow((one) => owner.get(one), `${path}?mode=test&limit=1`);
  assert.deepEqual(pages, data);
  for (const [query, ids] of [
    ['outcome=failed', [refused.requestId, failed.requestId]],
    ['outcome=cached', [again.requestId]],
    ['code=model_not_found', [failed.requestId]],
    ['endpoint=messages', [refused.requestId]],
    ['model=gpt-6-luna', [again.requestId, made.requestId]],
    ['sort=cost', [made.requestId]],
    [`key=${first.id}`, []],
    ['cost_min_micros=1', [made.requestId]],
    ['cost_max_micros=0', [refused.requestId, failed.requestId, again.requestId]],
    [`duration_min_ms=${2 ** 31 - 1}`, []],
    ['client=OpenAI-Python', [failed.requestId, made.requestId]],
    ['client=openai-python/2.8', [made.requestId]],
    ['client=openai-python/2', []],
    ['client=openai-python&sort=cost', [made.requestId]],
  ] as const)
    assert.deepEqual(columnOf((await read(query)).data, 'request_id'), ids, query);

  const detail = (await owner.get(`${path}/${failed.requestId}`)).json<RequestDetail>();
  assert.equal(detail.charge, null);
  assert.equal(detail.error?.param, 'model');
  assert.match(detail.error.message!, /^The model "…" does not exist.* Did you mean .gpt-6-luna/);
  assert.match(detail.error.documentation_url, /\/docs\/errors#model_not_found$/);
  assert.deepEqual(
    { ...detail.history },
    {
      asked_model: 'gpt-6-lunna',
      address: '127.0.0.1',
      trace_id: '0af7651916cd43dd8448eb211c80319c',
      client_gone: false,
      tries: [],
    },
  );
  const own = `/accounts/${member.account}/requests`;
  for (const hidden of [
    `${path}?mode=test`,
    ...[path, own].map((at) => `${at}/${failed.requestId}`),
  ])
    assert.equal((await member.get(hidden)).status, 404, hidden);

  const totalsOf = (query: string) =>
    jsonOf<RequestTotals>(owner.get(`${path}/totals?mode=test${query}`));
  assert.deepEqual(await totalsOf(''), {
    charged: {
      requests: 1,
      input_tokens: data.at(-1)!.input_tokens,
      output_tokens: data.at(-1)!.output_tokens,
      cost_micros: made.costMicros,
    },
    uncharged: { cached: 1, replayed: 0, failed: 2, saved_micros: made.costMicros },
  });
  const file = await owner.get(
    `/accounts/${owner.account}/usage.csv?mode=test&client=openai-python`,
  );
  assert.deepEqual(
    readCsv(file.text).map((row) => row.at(-1)),
    ['client', 'openai-python/2.8'],
  );
  for (const finer of ['&cost_min_micros=1', '&client=openai-python'])
    assert.deepEqual(await totalsOf(finer), { charged: null, uncharged: null });
  assert.deepEqual(await totalsOf('&outcome=failed'), {
    charged: null,
    uncharged: { cached: 0, replayed: 0, failed: 2, saved_micros: 0 },
  });
});

test('an export of a day that does not exist is refused, and no file begins', async () => {
  const path = `/accounts/${member.account}/usage.csv?mode=test`;
  for (const name of ['from', 'to']) {
    const { status, error } = await member.get(`${path}&${name}=2026-02-30`);
    assert.deepEqual([status, error.param], [400, name]);
  }
});

test('a client that leaves during the download harms nothing', async () => {
  const { request, response } = gateway.open(
    `/dashboard-api/accounts/${member.account}/usage.csv?mode=test`,
    { method: 'GET', headers: { cookie: member.cookie } },
  );
  const answer = await response;
  answer.once('data', () => request.destroy());
  await new Promise((resolve) => {
    answer.once('close', resolve);
    answer.resume();
  });
  await ok(member.get(`/accounts/${member.account}/usage.csv?mode=test`));
});

/** A CSV parser independent of the writer (RFC 4180). */
function readCsv(text: string): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  const cell = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/gy;
  for (let match = cell.exec(text); match; match = cell.exec(text)) {
    row.push(match[1]?.replaceAll('""', '"') ?? match[2]!);
    if (match[3] === ',') continue;
    rows.push(row);
    row = [];
    if (cell.lastIndex === text.length) break;
  }
  assert.equal(cell.lastIndex, text.length, 'all of it is CSV');
  return rows;
}

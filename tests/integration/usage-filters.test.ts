// `GET /v1/usage` filtered by time, model and key: pages of matching records, and a 400 for invalid
// filters.
import assert from 'node:assert/strict';
import { after, before, test } from '../support/both-stores.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { jsonOf, ok, type Reply } from '../support/http.ts';
import { TestClock } from '../support/test-clock.ts';

type UsageRow = {
  readonly request_id: string;
  readonly created_at: string;
  readonly model: string;
  readonly model_id: string;
  readonly key_id: string;
};
type Page = { readonly data: readonly UsageRow[]; readonly next_cursor: string | null };

let gateway: TestGateway;
let mine: Awaited<ReturnType<TestGateway['makeKey']>>;
let other: typeof mine;
/** Newest first. */
let all: readonly UsageRow[];

before(async () => {
  const clock = new TestClock();
  gateway = await startGateway({ aliases: { fast: 'gpt-6-luna', draw: 'flux-2' } }, { clock });
  mine = await gateway.makeKey();
  other = await gateway.makeKey({ account: mine.account });
  const messages = [{ role: 'user', content: 'Hello' }];
  for (let round = 0; round < 4; round++) {
    for (const { key } of [mine, other]) {
      for (const [path, body] of [
        ['/v1/chat/completions', { model: 'gpt-6-luna', messages }],
        ['/v1/messages', { model: 'claude-haiku-4-5', messages, max_tokens: 9 }],
        ['/v1/images/generations', { model: 'flux-2', prompt: 'A cat' }],
        ['/v1/web-search', { query: 'cats' }],
      ] as const) {
        await ok(gateway.post(path, { key, body }));
      }
    }
    await clock.advance(1_000);
  }
  all = await readAll({});
  assert.equal(all.length, 32);
});
after(() => gateway.stop());

function ask(query: Readonly<Record<string, string>> | string, key = mine.key): Promise<Reply> {
  return gateway.get(
    `/v1/usage?${typeof query === 'string' ? query : new URLSearchParams(query).toString()}`,
    { key },
  );
}

async function readAll(
  filter: Readonly<Record<string, string>>,
  limit = 100,
): Promise<readonly UsageRow[]> {
  const found: UsageRow[] = [];
  let cursor: string | null = '';
  while (cursor !== null) {
    const page: Page = await jsonOf<Page>(ask({ ...filter, limit: String(limit), cursor }));
    found.push(...page.data);
    cursor = page.next_cursor;
  }
  return found;
}

test('a record has the ids of its model and key', () => {
  assert.deepEqual(
    all
      .slice(0, 8)
      .map(({ model_id, key_id }) => [model_id, key_id])
      .toReversed(),
    [mine, other].flatMap(({ id }) =>
      ['gpt-6-luna', 'claude-haiku-4-5', 'flux-2', 'web-search'].map((model) => [model, id]),
    ),
  );
});

test('the pages of a filter together contain all matching records, whatever the page size', async () => {
  const [late, early] = [all[5]!.created_at, all[20]!.created_at];
  const cases: [filter: Record<string, string>, passes: (row: UsageRow) => boolean][] = [
    [{ key: other.id }, (row) => row.key_id === other.id],
    [{ model: 'gpt-6-luna' }, (row) => row.model_id === 'gpt-6-luna'],
    [{ model: 'web-search' }, (row) => row.model_id === 'web-search'],
    [{ from: early }, (row) => row.created_at >= early],
    [{ to: late }, (row) => row.created_at < late],
    [{ from: early, to: late }, (row) => row.created_at >= early && row.created_at < late],
    [
      { from: early, to: late, model: 'flux-2', key: mine.id },
      (row) =>
        row.created_at >= early &&
        row.created_at < late &&
        row.model_id === 'flux-2' &&
        row.key_id === mine.id,
    ],
    [{ key: other.id, request_id: all[0]!.request_id }, (row) => row === all[0]],
    [{ key: mine.id, request_id: all[0]!.request_id }, () => false],
    [{ key: 'key_of_nobody' }, () => false],
    [{ model: 'no-such-model' }, () => false],
  ];
  for (const [filter, passes] of cases) {
    for (const limit of [1, 3, 100]) {
      assert.deepEqual(
        await readAll(filter, limit),
        all.filter(passes),
        `${JSON.stringify(filter)} by ${limit}`,
      );
    }
  }
});

test('a model is found by any of its names', async () => {
  const ids = async (model: string) => [
    ...new Set((await readAll({ model })).map((row) => row.model_id)),
  ];
  for (const name of ['fast', 'openai/gpt-6-luna', 'gpt-6-luna-2026-09-22'])
    assert.deepEqual(await ids(name), ['gpt-6-luna']);
  assert.deepEqual(await ids('claude-haiku-4-5-20251001'), ['claude-haiku-4-5']);
  assert.deepEqual(await ids('draw'), ['flux-2']);
});

test('a time is a UTC day, inclusive, or a timestamp with a time zone', async () => {
  const [newest, oldest] = [all[0]!.created_at, all.at(-1)!.created_at];
  const [firstDay, lastDay] = [oldest.slice(0, 10), newest.slice(0, 10)];
  assert.deepEqual(await readAll({ from: firstDay, to: lastDay }), all);
  const dayAfter = new Date(Date.parse(lastDay) + 86_400_000).toISOString().slice(0, 10);
  assert.deepEqual(await readAll({ from: dayAfter }), []);
  const elsewhere = `${new Date(Date.parse(newest) + 7_200_000).toISOString().slice(0, -1)}000+02:00`;
  assert.deepEqual(
    await readAll({ from: elsewhere }),
    all.filter((row) => row.created_at >= newest),
  );
  // The effect of an unencoded `+` in a URL.
  assert.equal(
    (await ask(`from=${elsewhere}`)).json<Page>().data.length,
    all.filter((row) => row.created_at >= newest).length,
  );
});

test('the keys of another account match nothing', async () => {
  const stranger = await gateway.makeKey();
  assert.deepEqual((await ask({ key: mine.id }, stranger.key)).json<Page>(), {
    data: [],
    next_cursor: null,
  });
});

/** `words`: a part of the message, where it could mislead. */
const refused: [query: string, param: string, words?: string][] = [
  ['models=gpt-6-luna', 'models'],
  ['limit=5&page=2', 'page'],
  ['From=2026-11-01', 'From'],
  ['from[gte]=2026-11-01', 'from[gte]'],
  ['model=a&model=b', 'model'],
  ['model=', 'model'],
  ['key=', 'key'],
  ['from=', 'from'],
  ['to=%20', 'to'],
  ['request_id=', 'request_id'],
  ['from=yesterday', 'from'],
  ['from=2026-02-30', 'from'],
  ['from=2026-11-01T12:00:00', 'from'],
  ['to=2026-11-01T25:00:00Z', 'to'],
  ['to=1790000000', 'to'],
  ['from=2026-11-02&to=2026-11-01', 'from'],
  ['from=2026-11-01T00:00:00Z&to=2026-11-01T00:00:00Z', 'from', 'must be before `to`'],
  ['limit=1&limit=2', 'limit'],
  ...['0', '101', '-1', '1.5', 'ten', '1e1', '+5', ' 5', '99999999999'].map(
    (limit): [string, string] => [`limit=${encodeURIComponent(limit)}`, 'limit'],
  ),
  ...[
    'x',
    '|',
    '2026-11-20T00:00:00.000Z',
    '2026-02-31T00:00:00.000Z|req_1',
    '2026-11-20|req_1',
    "2026-11-20T00:00:00.000Z|'; drop",
  ].map((cursor): [string, string] => [`cursor=${encodeURIComponent(cursor)}`, 'cursor']),
];
for (const [query, param, words = `\`${param}\``] of refused) {
  test(`?${query} is a 400 that names ${param}`, async () => {
    const reply = await ask(query);
    assert.equal(reply.status, 400, reply.text);
    assert.deepEqual([reply.error['code'], reply.error['param']], ['invalid_request', param]);
    assert.ok(reply.error.message.includes(words), reply.error.message);
  });
}

test('parameters that begin with `_` are ignored, because clients add them against caches', async () => {
  for (const query of [
    '_=1700000000000',
    '_=1&_=2',
    '_t=',
    '__proto__=1',
    `_${'x'.repeat(2_000)}=1`,
  ])
    assert.equal((await ask(query)).text, (await ask('')).text, query);
});

test('the error for an unknown parameter lists the known ones', async () => {
  const { message } = (await ask('models=gpt-6-luna')).error;
  assert.match(message, /`limit`, `cursor`, `request_id`, `tag`, `from`, `to`, `model`, `key`/);
  const long = 'x'.repeat(5_000);
  assert.ok((await ask(`${long}=1`)).text.length < 1_000);
});

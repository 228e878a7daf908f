// `POST /v1/rerank` and `/v2/rerank` over real HTTP, with local servers in place of the hosts: what each
// host is asked, what is held, charged, lost and refused, and what the sandbox answers.
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import type { JsonObject } from '../../src/lib/json.ts';
import { estimateInputTokens } from '../../src/lib/tokens.ts';
import { readRanking } from '../../src/providers/rerank/index.ts';
import { startGateway, upstreamKey, type KeyOptions } from '../support/gateway.ts';
import type { Reply } from '../support/http.ts';
import { routesTo } from '../support/model-of.ts';
import { TestClock } from '../support/test-clock.ts';
import { answerBytes, answerJson, answerStatus, type Script } from '../support/upstream.ts';
import { rowsOf } from '../support/rows.ts';

const creditMicros = 1_000_000;
const clock = new TestClock();
const gateway = await startGateway(
  ({ url }) => ({
    providers: {
      cohere: { base_url: url, api_key: upstreamKey },
      voyage: { base_url: `${url}/voyage/v1`, api_key: upstreamKey },
      jina: { base_url: `${url}/jina/v1`, api_key: upstreamKey },
      bedrock: { base_url: `${url}/bedrock`, api_key: upstreamKey },
    },
    models: {
      'house-rank': {
        type: 'rerank',
        routes: routesTo({ local: 'bge', cohere: 'bge' }),
        prices: { input: 10, output: 0 },
      },
      'free-rank': {
        type: 'rerank',
        routes: routesTo({ local: 'free' }),
        prices: { input: 0, output: 0 },
      },
    },
    pricing: { markup: 1.5 },
  }),
  { clock, tuning: { failuresMax: 1_000, ejectionMsMax: 1 } },
);
after(() => gateway.stop());

const paths = {
  cohere: '/v2/rerank',
  local: '/local/v1/rerank',
  voyage: '/voyage/v1/rerank',
  jina: '/jina/v1/rerank',
  bedrock: '/bedrock/model/cohere.rerank-v3-5%3A0/invoke',
} as const;
const query = 'What guides ships?';
const documents = ['A bakery', 'A lighthouse', 'A harbour'];
const scores = [0.1, 0.9, 0.5];
const ranked = scores.map((relevance_score, index) => ({ index, relevance_score }));
const byUnits = (search_units: number) => ({
  id: 'x',
  results: ranked,
  meta: { billed_units: { search_units } },
});
const byTokens = (total_tokens: number) => ({ results: ranked, usage: { total_tokens } });
const newKey = (options: KeyOptions = {}) =>
  gateway.makeKey({ mode: 'live', creditUsd: creditMicros / 1_000_000, ...options });
const ask = (
  key: string,
  fields: object = {},
  headers: Record<string, string> = {},
  path = '/v1/rerank',
) =>
  gateway.post(path, { key, headers, body: { model: 'rerank-v3.5', query, documents, ...fields } });

type Answer = {
  readonly model: string;
  readonly results: readonly { index: number; relevance_score: number; document?: object }[];
  readonly meta: { readonly billed_units: object };
  readonly usage: object;
};
function answerOf(reply: Reply): Answer {
  assert.equal(reply.status, 200, reply.text);
  return reply.json<Answer>();
}

type Owner = { readonly key: string; readonly account: string };
async function assertBooked({ key, account }: Owner, { charged = 0, lost = 0 }): Promise<void> {
  const { availableMicros, heldMicros } = await gateway.balance(account);
  assert.deepEqual([creditMicros - availableMicros, heldMicros], [charged, 0]);
  const records = await gateway.usage(key);
  assert.equal(records.length, charged > 0 ? 1 : 0);
  const entries = await rowsOf(gateway.database, 'entries', { ledger_id: `${account}:live` });
  assert.equal(
    entries.reduce((sum, { loss_micros: micros }) => sum + Number(micros), 0),
    lost,
  );
}

test('Voyage’s clients say `top_k` for how many documents they want', async () => {
  gateway.upstream.on(paths.cohere, answerJson(byUnits(1)));
  const { key } = await newKey();
  for (const [fields, count] of [
    [{ top_k: 2 }, 2],
    [{ top_k: 2, top_n: 1 }, 1],
  ] as const) {
    const { reply, asked } = await gateway.recordUpstream(() => ask(key, fields));
    assert.equal(answerOf(reply).results.length, count);
    assert.equal((asked[0]!.body as JsonObject)['top_n'], count);
  }
  const refused = await ask(key, { top_k: 0 });
  assert.deepEqual([refused.status, refused.error.param], [400, 'top_k']);
});

test('the best document comes first, and a search unit is charged', async () => {
  gateway.upstream.on(paths.cohere, answerJson(byUnits(1)));
  for (const path of ['/v1/rerank', '/v2/rerank']) {
    const owner = await newKey();
    const { reply, asked } = await gateway.recordUpstream(() => ask(owner.key, {}, {}, path));
    const { results, meta, usage, model } = answerOf(reply);
    assert.deepEqual(results, [
      { index: 1, relevance_score: 0.9 },
      { index: 2, relevance_score: 0.5 },
      { index: 0, relevance_score: 0.1 },
    ]);
    assert.deepEqual(
      [model, meta.billed_units, usage],
      ['rerank-v3.5', { search_units: 1 }, { search_units: 1 }],
    );
    assert.deepEqual(asked[0]!.body, { model: 'rerank-v3.5', query, documents, top_n: 3 });
    assert.equal(reply.costMicros, 3_000);
    await assertBooked(owner, { charged: 3_000 });
    const [record] = await gateway.usage(owner.key);
    assert.deepEqual([record!['model'], record!['total_tokens']], ['Rerank 3.5', 0]);
  }
});

test('documents may be objects, are cut to the first ones, and come back when asked for', async () => {
  gateway.upstream.on(paths.cohere, answerJson(byUnits(1)));
  const { key } = await newKey();
  const fields = {
    documents: documents.map((text) => ({ text })),
    top_n: 2,
    return_documents: true,
    max_tokens_per_doc: 100,
    rank_fields: ['text'],
    max_chunks_per_doc: null,
  };
  const { reply, asked } = await gateway.recordUpstream(() => ask(key, fields));
  assert.deepEqual(
    answerOf(reply).results.map(({ index, document }) => [index, document]),
    [
      [1, { text: 'A lighthouse' }],
      [2, { text: 'A harbour' }],
    ],
  );
  assert.equal(reply.headers['x-service-ignored'], 'rank_fields');
  const sent = asked[0]!.body as JsonObject;
  assert.deepEqual([sent['documents'], sent['top_n']], [documents, 2]);
  assert.equal(sent['max_tokens_per_doc'], 100);
});

const hosts: readonly (readonly [model: string, path: string, answer: object, sent: object])[] = [
  [
    'rerank-2.5',
    paths.voyage,
    { data: ranked, usage: { total_tokens: 43 } },
    { model: 'rerank-2.5', top_k: 3 },
  ],
  [
    'jina-reranker-v3',
    paths.jina,
    byTokens(43),
    { model: 'jina-reranker-v3', top_n: 3, return_documents: false },
  ],
  ['house-rank', paths.local, byTokens(43), { model: 'bge', top_n: 3 }],
  [
    'house-rank',
    paths.local,
    { results: ranked, meta: { billed_units: null, tokens: { input_tokens: 43 } } },
    { model: 'bge', top_n: 3 },
  ],
];
for (const [model, path, answer, sent] of hosts) {
  test(`${model} is charged by the host’s tokens`, async () => {
    gateway.upstream.on(path, answerJson(answer));
    const owner = await newKey();
    const { reply, asked } = await gateway.recordUpstream(() =>
      ask(owner.key, { model, max_tokens_per_doc: 9 }),
    );
    const { usage, meta } = answerOf(reply);
    assert.deepEqual(usage, { prompt_tokens: 43, total_tokens: 43 });
    assert.deepEqual(meta.billed_units, { input_tokens: 43 });
    assert.deepEqual(asked[0]!.body, { query, documents, ...sent });
    assert.equal(reply.headers['x-service-ignored'], 'max_tokens_per_doc');
    // USD 0.05 a million with the markup, and USD 10 of the operator's own without it.
    const charged = Math.ceil(model === 'house-rank' ? 43 * 10 : 43 * 0.075);
    assert.equal(reply.costMicros, charged);
    await assertBooked(owner, { charged });
    const [record] = await gateway.usage(owner.key);
    assert.equal(record!['total_tokens'], 43);
  });
}

test('Bedrock serves when Cohere fails, and its units are counted here', async () => {
  gateway.upstream.on(paths.cohere, answerStatus(503));
  gateway.upstream.on(paths.bedrock, answerJson({ results: ranked }));
  const owner = await newKey();
  const { reply, asked } = await gateway.recordUpstream(() => ask(owner.key));
  assert.equal(answerOf(reply).results.length, 3);
  assert.deepEqual(asked[1]!.body, { query, documents, top_n: 3, api_version: 2 });
  assert.equal(reply.headers['x-service-route'], 'bedrock');
  await assertBooked(owner, { charged: 3_000 });
});

test('the documents of a search unit are counted by pieces of 500 tokens', async () => {
  gateway.upstream.on(paths.bedrock, answerJson({ results: ranked.slice(0, 1) }));
  gateway.upstream.on(paths.cohere, answerStatus(503));
  const owner = await newKey();
  const many = Array.from({ length: 150 }, () => 'lighthouse '.repeat(600));
  const reply = await ask(owner.key, { documents: many, top_n: 1 });
  const { search_units: units } = answerOf(reply).usage as { search_units: number };
  // A document of 600 words is two or more pieces.
  assert.ok(units >= 3 && units <= 9, String(units));
  await assertBooked(owner, { charged: units * 3_000 });
});

test('a host that counts more than was held is paid by the operator', async () => {
  gateway.upstream.on(paths.cohere, answerJson(byUnits(4)));
  const owner = await newKey();
  assert.deepEqual(answerOf(await ask(owner.key)).usage, { search_units: 1 });
  await assertBooked(owner, { charged: 3_000, lost: 6_000 });
});

test('more tokens than were held are charged up to what the texts can honestly have', async () => {
  const upperOf = (text: string) => estimateInputTokens(text).upper;
  const held = documents.reduce((sum, text) => sum + upperOf(query) + upperOf(text), 0);
  const model = 'house-rank';
  const owner = await newKey();
  gateway.upstream.on(paths.local, answerJson(byTokens(held + 1)));
  assert.deepEqual((await ask(owner.key, { model })).costMicros, (held + 1) * 10);
  await assertBooked(owner, { charged: (held + 1) * 10 });
  const other = await newKey();
  gateway.upstream.on(paths.local, answerJson(byTokens(2 * held + 1)));
  await ask(other.key, { model });
  await assertBooked(other, { charged: 2 * held * 10, lost: 10 });
});

test('a free model needs no balance, and SGLang’s list of scores is read', async () => {
  const listed = ranked.map(({ index, relevance_score: score }) => ({ index, score }));
  gateway.upstream.on(paths.local, answerJson(listed));
  const { key } = await gateway.makeKey({ mode: 'live' });
  const reply = await ask(key, { model: 'free-rank' });
  assert.deepEqual([reply.status, reply.costMicros], [200, 0], reply.text);
});

describe('a failure is free', () => {
  /** The host may bill each: a unit of USD 0.002. */
  const failures: Readonly<Record<string, Script>> = {
    garbage: answerBytes(Buffer.from('<html>')),
    'a score too few': answerJson({ results: ranked.slice(1) }),
    'the same document twice': answerJson({ results: [...ranked.slice(1), ranked[1]] }),
    'a document that nobody sent': answerJson({
      results: [...ranked.slice(1), { index: 3, relevance_score: 1 }],
    }),
    'a score that is none': answerJson({
      results: [...ranked.slice(1), { index: 0, relevance_score: 'high' }],
    }),
  };
  for (const [what, script] of Object.entries(failures)) {
    test(what, async () => {
      gateway.upstream.on(paths.cohere, script);
      const owner = await newKey();
      await clock.advance(1);
      const reply = await ask(owner.key, { model: 'rerank-v4.0-fast' });
      assert.equal(reply.status, 502, reply.text);
      await assertBooked(owner, { lost: 2_000 });
    });
  }

  test('documents that are too long for the model', async () => {
    gateway.upstream.on(
      paths.local,
      answerStatus(400, { body: { message: 'This model’s maximum context length is 512 tokens' } }),
    );
    const owner = await newKey();
    const reply = await ask(owner.key, { model: 'house-rank' });
    assert.deepEqual([reply.status, reply.error.code], [400, 'context_length_exceeded']);
    await assertBooked(owner, {});
  });
});

test('a balance that is too small is refused with what would fit', async () => {
  const many = Array.from({ length: 250 }, () => 'A bakery');
  const { key } = await newKey({ creditUsd: 0.007 });
  const reply = await ask(key, { documents: many });
  assert.deepEqual([reply.status, reply.error.code], [402, 'insufficient_balance']);
  assert.match(reply.error.message, /Up to 2 search units would fit\./);
  assert.equal(Object(reply.error['details']).affordable_search_units, 2);
});

describe('a request is refused', () => {
  const refusals: readonly (readonly [what: string, fields: object, message: RegExp])[] = [
    [
      'without documents',
      { documents: [] },
      /documents must be a list of 1 to 1000 texts; got none\.$/,
    ],
    ['with too many', { documents: Array(1_001).fill('a') }, /got 1001/],
    ['with an empty one', { documents: ['a', ''] }, /documents\[1\] must be a text/],
    ['with one that is no text', { documents: [{ title: 'a' }] }, /documents\[0\] must be a text/],
    ['without a query', { query: '' }, /query/],
    ['for no document', { top_n: 0 }, /top_n/],
  ];
  for (const [what, fields, message] of refusals) {
    test(what, async () => {
      const reply = await ask((await newKey()).key, fields);
      assert.equal(reply.status, 400);
      assert.match(reply.error.message, message);
    });
  }
});

describe('in the sandbox', () => {
  test('documents that share words with the query come first, always alike', async () => {
    const { key } = await gateway.makeKey({ mode: 'test', creditUsd: 1 });
    const fields = {
      query: 'harbour lighthouse',
      documents: ['bread', 'a lighthouse', 'the harbour lighthouse'],
    };
    const first = await ask(key, fields);
    assert.deepEqual(
      answerOf(first).results.map(({ index, relevance_score: score }) => [index, score]),
      [
        [2, 1],
        [1, 0.5],
        [0, 0],
      ],
    );
    assert.deepEqual(answerOf(await ask(key, fields)).results, answerOf(first).results);
    assert.equal(first.costMicros, 3_000);
  });
});

const recordings = join(import.meta.dirname, '../../../shared/recordings/endpoints/rerank');

test('every recorded ranking is read with its host’s count', (t) => {
  if (!existsSync(recordings)) {
    assert(!process.env['CI'], `${recordings} is missing`);
    t.diagnostic('skipped: ../shared/recordings is not here');
    return;
  }
  const files = readdirSync(recordings).filter((file) => /(?<!\.request)\.json$/.test(file));
  assert.equal(files.length, 12);
  for (const file of files) {
    const answer = JSON.parse(readFileSync(join(recordings, file), 'utf8')) as JsonObject;
    // Of an interface of Bedrock that is not used here.
    if (file.includes('bedrock')) continue;
    const ranking = readRanking(answer, 10);
    assert.ok(ranking && ranking.results.length > 0, file);
    const { meta, usage } = answer as {
      meta?: { billed_units: { search_units: number } };
      usage?: { total_tokens: number };
    };
    assert.equal(ranking.searchUnits, meta?.billed_units.search_units ?? null, file);
    assert.equal(ranking.tokens, usage?.total_tokens ?? null, file);
  }
});

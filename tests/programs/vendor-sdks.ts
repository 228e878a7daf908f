// The official SDKs of Cohere and Voyage, given our address in place of their vendor's: they rank documents
// and make vectors, and what they read is what was charged.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { startGateway } from '../support/gateway.ts';
import { answerJson, answerStatus } from '../support/upstream.ts';

type Ranking = {
  readonly results: readonly {
    readonly index: number;
    readonly relevanceScore: number;
    readonly document?: { readonly text: string };
  }[];
  readonly meta: { readonly billedUnits: { readonly searchUnits: number } };
};
type Options = { readonly maxRetries: number };
type Ranker = { readonly rerank: (request: object, options?: Options) => Promise<Ranking> };
type Vectors = {
  readonly data: readonly { readonly index: number; readonly embedding: readonly number[] }[];
  readonly usage: { readonly totalTokens: number };
};
type Client<Made> = new (options: object) => Made;

/** They are installed beside this file only when it runs. */
const require = createRequire(import.meta.url);
const installed = (name: string): unknown =>
  require(join(import.meta.dirname, 'node_modules', name));
const { CohereClient, CohereClientV2, CohereError } = installed('cohere-ai') as {
  readonly CohereClient: Client<Ranker>;
  readonly CohereClientV2: Client<Ranker>;
  readonly CohereError: new () => Error & { readonly statusCode: number; readonly body: unknown };
};
const { VoyageAIClient } = installed('voyageai') as {
  readonly VoyageAIClient: Client<{ readonly embed: (request: object) => Promise<Vectors> }>;
};

const gateway = await startGateway(({ url }) => ({
  providers: {
    cohere: { base_url: url, api_key: 'none' },
    voyage: { base_url: `${url}/voyage/v1`, api_key: 'none' },
  },
}));
after(() => gateway.stop());
const { upstream } = gateway;

const documents = ['A bakery', 'A lighthouse', 'A harbour'];
const asked = { model: 'rerank-v3.5', query: 'What guides ships?', documents, topN: 2 };
const costs = async (key: string) =>
  (await gateway.usage<{ cost_cents: number }>(key)).map(({ cost_cents: cents }) => cents);

for (const [name, Client] of Object.entries({ CohereClient, CohereClientV2 }))
  test(`cohere-ai: ${name} ranks documents`, async () => {
    const { key } = await gateway.makeKey({ mode: 'live', creditUsd: 1 });
    const client = new Client({ token: key, environment: gateway.url });
    const ranked = [
      { index: 1, relevance_score: 0.9 },
      { index: 2, relevance_score: 0.4 },
    ];
    upstream.on(
      '/v2/rerank',
      answerJson({ id: 'x', results: ranked, meta: { billed_units: { search_units: 1 } } }),
    );
    // The second version knows no such field, and leaves it out.
    const { results, meta } = await client.rerank({ ...asked, returnDocuments: true });
    assert.deepEqual(
      results.map(({ index, relevanceScore }) => [index, relevanceScore]),
      [
        [1, 0.9],
        [2, 0.4],
      ],
    );
    if (name === 'CohereClient') assert.equal(results[0]!.document?.text, 'A lighthouse');
    assert.equal(meta.billedUnits.searchUnits, 1);
    assert.deepEqual(await costs(key), [0.2]);
    upstream.on('/v2/rerank', answerStatus(500));
    await assert.rejects(client.rerank(asked, { maxRetries: 0 }), (error) => {
      assert.ok(error instanceof CohereError);
      assert.equal(error.statusCode, 502);
      assert.match(JSON.stringify(error.body), /upstream_error/);
      return true;
    });
    assert.deepEqual(await costs(key), [0.2]);
  });

test('voyageai makes vectors', async () => {
  const { key } = await gateway.makeKey({ mode: 'live', creditUsd: 1 });
  const client = new VoyageAIClient({ apiKey: key, environment: `${gateway.url}/v1` });
  const vector = (index: number) => ({ object: 'embedding', index, embedding: [index, 1] });
  upstream.on(
    '/voyage/v1/embeddings',
    answerJson({ object: 'list', data: [vector(0), vector(1)], usage: { total_tokens: 50 } }),
  );
  const request = { model: 'voyage-4', input: ['A lighthouse', 'A harbour'], inputType: 'query' };
  const earlier = upstream.requests.length;
  const { data, usage } = await client.embed(request);
  assert.deepEqual(
    data.map(({ index, embedding }) => [index, embedding]),
    [
      [0, [0, 1]],
      [1, [1, 1]],
    ],
  );
  const { input_type: purpose } = (await upstream.request(earlier)).body as { input_type: string };
  assert.deepEqual([purpose, usage.totalTokens], ['query', 50]);
  // Three microdollars.
  assert.deepEqual(await costs(key), [0.0003]);
});

// Hosts that rank documents and keep a bill of their own: whatever they do, accounts pay for what they
// got, and the books have the rest as a loss.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { startGateway } from '../support/gateway.ts';
import fc from '../support/property.ts';
import { answerJson, answerStatus, thenReset, type Script } from '../support/upstream.ts';

/** USD 1 a million tokens, and USD 0.00001 a search unit. */
const prices = {
  'by-token': { input: 1, output: 0 },
  'by-search': { input: 0, output: 0, search: 0.00001 },
} as const;
type Model = keyof typeof prices;
const microsPerUnit = 10;

const gateway = await startGateway(
  ({ url }) => ({
    providers: {
      few: { kind: 'openai-compatible', base_url: `${url}/few`, api_key: 'none' },
      many: { kind: 'openai-compatible', base_url: `${url}/many`, api_key: 'none' },
    },
    models: Object.fromEntries(
      Object.entries(prices).map(([id, price]) => [
        id,
        {
          type: 'rerank',
          routes: [
            { provider: 'few', model: 'm' },
            { provider: 'many', model: 'm' },
          ],
          prices: price,
        },
      ]),
    ),
    pricing: { markup: 1 },
  }),
  { tuning: { failuresMax: 100_000, ejectionMsMax: 1 } },
);
after(() => gateway.stop());

type Asked = { readonly query: string; readonly documents: readonly string[] };

/** As the gateway's own count: a token for every four bytes, and the query with every document. */
const tokensOf = ({ query, documents }: Asked) => {
  const count = (text: string) => Math.ceil(Buffer.byteLength(text) / 4);
  return documents.reduce((sum, document) => sum + count(query) + count(document), 0);
};

type Outcome =
  | { readonly kind: 'answers'; readonly times: number }
  | { readonly kind: 'counts nothing' | 'refuses' | 'breaks off' | 'answers nonsense' };

/** Bills each call that reached the model. `times`: what it bills for what it did. */
function host({ kind, ...more }: Outcome, model: Model, bill: (micros: number) => void): Script {
  return (response, request) => {
    if (kind === 'refuses') return answerStatus(503)(response, request);
    const asked = request.body as Asked;
    const times = 'times' in more ? more.times : 1;
    const tokens = tokensOf(asked) * times;
    bill(model === 'by-token' ? tokens : times * microsPerUnit);
    if (kind === 'breaks off')
      return thenReset('{"results":[', { headers: { 'content-type': 'application/json' } })(
        response,
        request,
      );
    const results = asked.documents.map((_, index) => ({ index, relevance_score: index / 100 }));
    const counted = {
      usage: { total_tokens: tokens },
      meta: { billed_units: { search_units: times } },
    };
    return answerJson({
      results: kind === 'answers nonsense' ? results.slice(1) : results,
      ...(kind === 'answers' && counted),
    })(response, request);
  };
}

const outcome = fc.oneof(
  fc.record({ kind: fc.constant('answers' as const), times: fc.constantFrom(1, 1, 50) }),
  fc.record({
    kind: fc.constantFrom(
      'counts nothing' as const,
      'refuses' as const,
      'breaks off' as const,
      'answers nonsense' as const,
    ),
  }),
);
const text = fc.string({ minLength: 1, maxLength: 60, unit: 'grapheme' });
const texts = fc.array(text, { minLength: 1, maxLength: 20 });

for (const model of ['by-token', 'by-search'] as const) {
  test(`${model}: what accounts pay and what is lost are together what the hosts bill`, async () => {
    const { key, account } = await gateway.makeKey({ mode: 'live', creditUsd: 1 });
    await fc.assert(
      fc.asyncProperty(text, texts, outcome, outcome, async (query, documents, first, second) => {
        let billed = 0;
        const bill = (micros: number) => (billed += micros);
        gateway.upstream.on('/few/rerank', host(first, model, bill));
        gateway.upstream.on('/many/rerank', host(second, model, bill));
        const before = (await gateway.balance(account)).availableMicros;
        const body = { model, query, documents };
        const reply = await gateway.post('/v1/rerank', { key, body });
        const { availableMicros, heldMicros } = await gateway.balance(account);
        const paid = before - availableMicros;
        const lost = (await gateway.lossesOf(reply.requestId)).reduce((sum, one) => sum + one, 0);
        assert.equal(heldMicros, 0);
        assert.equal(paid > 0, reply.status === 200);
        assert.equal(paid + lost, billed, `${JSON.stringify([first, second])}: ${paid}, ${lost}`);
      }),
      { numRuns: 40 },
    );
  });
}

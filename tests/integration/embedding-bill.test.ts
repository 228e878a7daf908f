// Hosts of embeddings that keep a bill of their own: whatever they do, accounts pay for what they got,
// and the books have the rest as a loss.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { startGateway } from '../support/gateway.ts';
import fc from '../support/property.ts';
import { answerJson, answerStatus, thenReset, type Script } from '../support/upstream.ts';

const gateway = await startGateway(
  (upstream) => ({
    providers: {
      few: { kind: 'openai-compatible', base_url: `${upstream.url}/few`, api_key: 'none' },
      many: { kind: 'openai-compatible', base_url: `${upstream.url}/many`, api_key: 'none' },
    },
    models: {
      billed: {
        type: 'embedding',
        routes: [
          { provider: 'few', model: 'm' },
          { provider: 'many', model: 'm' },
        ],
        prices: { input: 1, output: 0 },
      },
    },
    pricing: { markup: 1 },
  }),
  { tuning: { failuresMax: 100_000, ejectionMsMax: 1 } },
);
after(() => gateway.stop());

/** As the gateway's own count: a token for every four bytes. */
const tokensOf = (input: readonly string[]) =>
  input.reduce((sum, text) => sum + Math.ceil(Buffer.byteLength(text) / 4), 0);

type Outcome = 'answers' | 'counts nothing' | 'refuses' | 'breaks off' | 'answers nonsense';

/** Bills each call that reached the model. */
function host(outcome: Outcome, bill: (tokens: number) => void): Script {
  return (response, request) => {
    const { input } = request.body as { readonly input: readonly string[] };
    const tokens = tokensOf(input);
    const answer = {
      data: input.map((_, index) => ({ index, embedding: [1, 2] })),
      ...(outcome === 'answers' && { usage: { prompt_tokens: tokens, total_tokens: tokens } }),
    };
    if (outcome === 'refuses') return answerStatus(503)(response, request);
    bill(tokens);
    if (outcome === 'breaks off')
      return thenReset('{"data":[', { headers: { 'content-type': 'application/json' } })(
        response,
        request,
      );
    return answerJson(outcome === 'answers nonsense' ? { data: 'none' } : answer)(
      response,
      request,
    );
  };
}

const outcome = fc.constantFrom<Outcome>(
  'answers',
  'answers',
  'counts nothing',
  'refuses',
  'breaks off',
  'answers nonsense',
);
const texts = fc.array(fc.string({ minLength: 1, maxLength: 60, unit: 'grapheme' }), {
  minLength: 1,
  maxLength: 20,
});

test('what accounts pay and what is lost are together what the hosts bill', async () => {
  const { key, account } = await gateway.makeKey({ mode: 'live', creditUsd: 1 });
  await fc.assert(
    fc.asyncProperty(texts, outcome, outcome, async (input, first, second) => {
      let billed = 0;
      const bill = (tokens: number) => (billed += tokens);
      gateway.upstream.on('/few/embeddings', host(first, bill));
      gateway.upstream.on('/many/embeddings', host(second, bill));
      const before = (await gateway.balance(account)).availableMicros;
      const reply = await gateway.post('/v1/embeddings', {
        key,
        body: { model: 'billed', input },
        headers: { 'x-service-cache': 'false' },
      });
      const paid = before - (await gateway.balance(account)).availableMicros;
      const lost = (await gateway.lossesOf(reply.requestId)).reduce((sum, one) => sum + one, 0);
      assert.equal(paid > 0, reply.status === 200);
      assert.equal(paid + lost, billed, `${first}, ${second}: paid ${paid}, lost ${lost}`);
    }),
    { numRuns: 60 },
  );
});

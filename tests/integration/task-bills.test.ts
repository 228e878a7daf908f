// Hosts of tasks that keep a bill of their own: whatever they do, accounts pay for what they got, and the
// books have the rest as a loss.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { startGateway } from '../support/gateway.ts';
import fc from '../support/property.ts';
import { answerJson, answerStatus, thenReset, type Script } from '../support/upstream.ts';

/** As the gateway's own count: a token for every four bytes. */
const tokensOf = (text: string) => Math.ceil(Buffer.byteLength(text) / 4);
const sumOf = (numbers: readonly number[]) => numbers.reduce((sum, one) => sum + one, 0);

type Asked = { readonly input: string[]; readonly query: string; readonly documents: string[] };

const text = fc.string({ minLength: 1, maxLength: 60, unit: 'grapheme' });
const texts = fc.array(text, { minLength: 1, maxLength: 20 });
const ranking = {
  type: 'rerank',
  path: '/rerank',
  body: fc.record({ query: text, documents: texts }),
  answer: ({ documents }: Asked) => ({
    results: documents.map((_, index) => ({ index, relevance_score: index / 100 })),
  }),
  nonsense: { results: [] },
} as const;

/** `microsOf`: what a host bills for a request. `countOf`: how it says so. A token costs a microdollar. */
const tasks = {
  embeddings: {
    type: 'embedding',
    path: '/embeddings',
    prices: { input: 1, output: 0 },
    body: fc.record({ input: texts }),
    microsOf: ({ input }: Asked) => sumOf(input.map(tokensOf)),
    answer: ({ input }: Asked) => ({
      data: input.map((_, index) => ({ index, embedding: [1, 2] })),
    }),
    countOf: (micros: number) => ({ usage: { prompt_tokens: micros, total_tokens: micros } }),
    nonsense: { data: 'none' },
  },
  'rerank-by-token': {
    ...ranking,
    prices: { input: 1, output: 0 },
    microsOf: ({ query, documents }: Asked) =>
      sumOf(documents.map((document) => tokensOf(query) + tokensOf(document))),
    countOf: (micros: number) => ({ usage: { total_tokens: micros } }),
  },
  'rerank-by-search': {
    ...ranking,
    prices: { input: 0, output: 0, search: 0.00001 },
    microsOf: () => 10,
    countOf: (micros: number) => ({ meta: { billed_units: { search_units: micros / 10 } } }),
  },
} as const;
type Task = (typeof tasks)[keyof typeof tasks];

const gateway = await startGateway(
  ({ url }) => ({
    providers: {
      few: { kind: 'openai-compatible', base_url: `${url}/few`, api_key: 'none' },
      many: { kind: 'openai-compatible', base_url: `${url}/many`, api_key: 'none' },
    },
    models: Object.fromEntries(
      Object.entries(tasks).map(([id, { type, prices }]) => [
        id,
        { type, prices, routes: ['few', 'many'].map((provider) => ({ provider, model: 'm' })) },
      ]),
    ),
    pricing: { markup: 1 },
  }),
  { tuning: { failuresMax: 100_000, ejectionMsMax: 1 } },
);
after(() => gateway.stop());

/** `times`: what it bills for what it did. */
type Outcome = {
  readonly kind: 'answers' | 'counts nothing' | 'refuses' | 'breaks off' | 'answers nonsense';
  readonly times: number;
};

/** Bills each call that reached the model. */
function host(task: Task, { kind, times }: Outcome, bill: (micros: number) => void): Script {
  return (response, request) => {
    if (kind === 'refuses') return answerStatus(503)(response, request);
    const asked = request.body as Asked;
    const micros = task.microsOf(asked) * times;
    bill(micros);
    if (kind === 'breaks off')
      return thenReset('{"data":[', { headers: { 'content-type': 'application/json' } })(
        response,
        request,
      );
    const counted = kind === 'answers' ? task.countOf(micros) : {};
    const answer = kind === 'answers nonsense' ? task.nonsense : task.answer(asked);
    return answerJson({ ...answer, ...counted })(response, request);
  };
}

const outcome = fc.oneof(
  fc.record({ kind: fc.constant('answers' as const), times: fc.constantFrom(1, 1, 50) }),
  fc.record({
    kind: fc.constantFrom<Outcome['kind']>(
      'counts nothing',
      'refuses',
      'breaks off',
      'answers nonsense',
    ),
    times: fc.constant(1),
  }),
);

for (const [model, task] of Object.entries(tasks)) {
  test(`${model}: what accounts pay and what is lost are together what the hosts bill`, async () => {
    const { key, account } = await gateway.makeKey({ mode: 'live', creditUsd: 1 });
    const headers = { 'x-service-cache': 'false' };
    await fc.assert(
      fc.asyncProperty(task.body, outcome, outcome, async (fields, first, second) => {
        let billed = 0;
        const bill = (micros: number) => (billed += micros);
        gateway.upstream.on(`/few${task.path}`, host(task, first, bill));
        gateway.upstream.on(`/many${task.path}`, host(task, second, bill));
        const before = (await gateway.balance(account)).availableMicros;
        const body = { model, ...fields };
        const reply = await gateway.post(`/v1${task.path}`, { key, body, headers });
        const { availableMicros, heldMicros } = await gateway.balance(account);
        const paid = before - availableMicros;
        const lost = sumOf(await gateway.lossesOf(reply.requestId));
        assert.equal(heldMicros, 0);
        assert.equal(paid > 0, reply.status === 200);
        assert.equal(paid + lost, billed, `${JSON.stringify([first, second])}: ${paid}, ${lost}`);
      }),
      { numRuns: 45 },
    );
  });
}

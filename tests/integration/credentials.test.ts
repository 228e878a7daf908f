// Several credentials of one provider: they share its load by weight, a conversation keeps to one, one at
// its limit or refused leaves the calls to the others.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { wholeAnswer } from '../support/answers.ts';
import { startGateway } from '../support/gateway.ts';
import { ok } from '../support/http.ts';
import { imagePaths, openaiDraws } from '../support/image-upstreams.ts';
import { answerJson, answerStatus, type Script } from '../support/upstream.ts';

const content = { text: 'one two', tokens: { input: 5, output: 20 } };
const path = '/many/v1/chat/completions';

const gateway = await startGateway(({ url }) => ({
  providers: {
    many: { kind: 'openai-compatible', base_url: `${url}/many/v1`, api_key: 'sk-first' },
    second: { credential_of: 'many', api_key: 'sk-second', weight: 3 },
    scarce: {
      kind: 'openai-compatible',
      base_url: `${url}/scarce/v1`,
      api_key: 'sk-scarce',
      requests_per_minute: 2,
    },
    spare: { credential_of: 'scarce', api_key: 'sk-spare', weight: 0.001 },
    drawing: {
      kind: 'openai',
      base_url: `${url}/drawing`,
      api_key: 'sk-drawing',
      requests_per_minute: 2,
    },
    embedding: {
      kind: 'openai-compatible',
      base_url: `${url}/embedding`,
      api_key: 'sk-embedding',
      requests_per_minute: 2,
    },
    brave: { base_url: `${url}/brave`, api_key: 'sk-brave', requests_per_minute: 2 },
    tavily: { base_url: `${url}/tavily`, api_key: 'sk-tavily' },
  },
  models: {
    sold: { routes: [{ provider: 'many', model: 'up' }], prices: { input: 1, output: 1 } },
    scarce: { routes: [{ provider: 'scarce', model: 'up' }], prices: { input: 1, output: 1 } },
    vectors: {
      type: 'embedding',
      routes: ['embedding', 'many'].map((provider, rank) => ({ provider, model: 'up', rank })),
      prices: { input: 1, output: 0 },
    },
  },
  image_models: {
    house: {
      mode: 'text-to-image',
      family: 'gpt-image',
      routes: ['drawing', 'openai'].map((provider) => ({ provider, model: 'up' })),
      prices: { output: { low: 0.01, medium: 0.02, high: 0.03 } },
    },
  },
  search: { providers: ['brave', 'tavily'], price_usd: 0.005 },
  retries: { max_attempts: 3 },
}));
const { key } = await gateway.makeKey({ mode: 'live', creditUsd: 50 });
after(() => gateway.stop());

async function usedBy(question: string, model = 'sold'): Promise<string[]> {
  const body = { model, messages: [{ role: 'user', content: question }], max_tokens: 20 };
  const { reply, asked } = await gateway.recordUpstream(() =>
    gateway.post('/v1/chat/completions', { key, body }),
  );
  assert.equal(reply.status, 200, reply.text);
  return asked.map(({ headers }) => String(headers.authorization).replace('Bearer sk-', ''));
}

test('conversations share the credentials by weight, and each keeps to one', async () => {
  gateway.upstream.on(path, answerJson(wholeAnswer('chat', content)));
  const uses = new Map<string, number>();
  for (let number = 0; number < 60; number++) {
    const [used] = await usedBy(`Question ${number}`);
    assert.deepEqual(await usedBy(`Question ${number}`), [used]);
    uses.set(used!, (uses.get(used!) ?? 0) + 1);
  }
  const [first = 0, second = 0] = [uses.get('first'), uses.get('second')];
  assert.equal(first + second, 60);
  // 45 of 60 on average, with a standard deviation of 3.4.
  assert.ok(second > 30 && first > 0, `${second} of 60`);
});

test('a page of a firewall with a 403 refuses the request, not the credential', async () => {
  const page = answerJson('<html>Sorry, you have been blocked</html>', {
    status: 403,
    headers: { 'content-type': 'text/html; charset=UTF-8' },
  });
  gateway.upstream.on(path, page, answerJson(wholeAnswer('chat', content)));
  const asked = 'Question 0';
  const [blocked, other] = await usedBy(asked);
  assert.notEqual(blocked, other);
  assert.deepEqual(await usedBy(asked), [blocked]);
  assert.doesNotMatch(gateway.program.output, /refuses its credential/);
});

test('a refused credential is left at once, and the other one answers', async () => {
  gateway.upstream.on(path, (response, request) =>
    request.headers.authorization === 'Bearer sk-second'
      ? answerStatus(401)(response, request)
      : answerJson(wholeAnswer('chat', content))(response, request),
  );
  const used = [];
  for (let number = 0; number < 20; number++) used.push(...(await usedBy(`Refused ${number}`)));
  assert.equal(used.filter((one) => one === 'second').length, 1);
  assert.equal(used.filter((one) => one === 'first').length, 20);
});

test('a credential at its limit leaves the calls to the others', async () => {
  gateway.upstream.on('/scarce/v1/chat/completions', answerJson(wholeAnswer('chat', content)));
  const used = [];
  for (let number = 0; number < 6; number++)
    used.push(...(await usedBy(`Scarce ${number}`, 'scarce')));
  // The clock may refill one while the test runs.
  const scarce = used.filter((one) => one === 'scarce').length;
  assert.ok(scarce >= 2 && scarce <= 3, used.join());
  assert.equal(used.length, 6);
});

const vectors = answerJson({ data: [{ index: 0, embedding: [1] }], usage: { prompt_tokens: 1 } });
const others: readonly (readonly [
  address: string,
  body: (number: number) => object,
  scarce: readonly [path: string, answer: Script],
  spare: readonly [path: string, answer: Script],
])[] = [
  [
    '/v1/embeddings',
    (number) => ({ model: 'vectors', input: `Text ${number}` }),
    ['/embedding/embeddings', vectors],
    ['/many/v1/embeddings', vectors],
  ],
  [
    '/v1/images/generations',
    () => ({ model: 'house', prompt: 'A fox' }),
    ['/drawing/images/generations', openaiDraws()],
    [imagePaths.generations, openaiDraws()],
  ],
  [
    '/v1/web-search',
    () => ({ query: 'foxes' }),
    ['/brave/web/search', answerJson({ web: { results: [] } })],
    ['/tavily/search', answerJson({ results: [] })],
  ],
];

for (const [address, body, scarce, spare] of others)
  test(`${address}: a credential at its limit leaves the calls to other providers`, async () => {
    for (const [at, answer] of [scarce, spare]) gateway.upstream.on(at, answer);
    const earlier = gateway.upstream.requests.length;
    for (let number = 0; number < 6; number++)
      await ok(gateway.post(address, { key, body: body(number) }));
    const asked = gateway.upstream.requests.slice(earlier).map(({ path: to }) => to);
    assert.equal(asked.length, 6);
    const used = asked.filter((to) => to.startsWith(scarce[0]));
    // The clock may refill one while the test runs.
    assert.ok(used.length >= 2 && used.length <= 3, asked.join());
  });

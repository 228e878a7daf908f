// `POST /v1/embeddings` over real HTTP, with local servers in place of the hosts: answers, charges and
// refusals.
import assert from 'node:assert/strict';
import { after, beforeEach, describe, test } from 'node:test';
import OpenAI from 'openai';
import { estimateInputTokens } from '../../src/lib/tokens.ts';
import { columnOf } from '../support/column-of.ts';
import { startGateway, upstreamKey, type KeyOptions } from '../support/gateway.ts';
import type { Reply } from '../support/http.ts';
import { routesTo } from '../support/model-of.ts';
import { answerJson, answerStatus, type Script } from '../support/upstream.ts';
import { rowsOf } from '../support/rows.ts';

const path = '/v1/embeddings';
const openAiPath = '/v1/embeddings';
const secondPath = '/second/v1/embeddings';
/** Dollars a million tokens, so a token costs one microdollar. */
const prices = { input: 1, output: 0 };
const embedding = { type: 'embedding', prices };

const gateway = await startGateway(
  (upstream) => {
    const at = (place: string) => ({ base_url: upstream.url + place, api_key: upstreamKey });
    return {
      providers: {
        second: { kind: 'openai-compatible', ...at('/second/v1') },
        cohere: at(''),
        voyage: at('/voyage/v1'),
        mistral: at('/mistral/v1'),
        bedrock: { ...at(''), region: 'us-east-1' },
        perplexity: at('/perplexity'),
        nvidia: at('/nvidia/v1'),
        openrouter: at('/openrouter/v1'),
      },
      models: {
        two: {
          ...embedding,
          routes: routesTo({ openai: 'first-host', second: 'second-host' }),
          dimensions: { default: 3, min: 1, max: 4 },
          max_input_tokens: 100,
        },
        nv: { ...embedding, routes: routesTo({ nvidia: 'nv' }), dimensions: { default: 3 } },
        routed: { ...embedding, routes: routesTo({ openrouter: 'routed' }) },
        fixed: { ...embedding, routes: routesTo({ second: 'fixed' }), dimensions: { default: 3 } },
        spared: { ...embedding, routes: routesTo({ cohere: 'embed-v4.0', second: 'second-host' }) },
        'embed-v4.0': { routes: routesTo({ cohere: 'embed-v4.0' }), prices },
        'gemini-embedding-001': { prices },
        'mistral-embed': { prices },
        'pplx-embed-v1-0.6b': { prices },
        'nova-2-multimodal-embeddings': { prices },
      },
    };
  },
  { tuning: { failuresMax: 1_000, ejectionMsMax: 1 } },
);
after(() => gateway.stop());
const { upstream } = gateway;

const newKey = (options: KeyOptions = {}) => gateway.makeKey({ creditUsd: 1, ...options });
type Made = Awaited<ReturnType<typeof newKey>>;

const ask = ({ key }: Pick<Made, 'key'>, body: object, headers: Record<string, string> = {}) =>
  gateway.post(path, { key, body: { model: 'two', ...body }, headers });
const askRecorded = ({ key }: Pick<Made, 'key'>, body: object) =>
  gateway.postRecorded(path, { key, body: { model: 'two', ...body } });
/** Not from the cache: equal requests of other tests must not answer this one. */
const uncached = { 'x-service-cache': 'false' };

type Embeddings = {
  readonly data: readonly { readonly index: number; readonly embedding: number[] | string }[];
  readonly model: string;
  readonly usage: { readonly prompt_tokens: number; readonly total_tokens: number };
};
const vectorsOf = (reply: Reply) => {
  assert.equal(reply.status, 200, reply.text);
  const { data } = reply.json<Embeddings>();
  assert.deepEqual(columnOf(data, 'index'), [...data.keys()]);
  return columnOf(data, 'embedding');
};
const chargedMicros = async ({ account }: Made) =>
  1_000_000 - (await gateway.balance(account)).availableMicros;
const lossOf = async ({ requestId }: Reply) =>
  (await gateway.lossesOf(requestId)).reduce((sum, one) => sum + one, 0);
const bodyOf = ({ body }: { readonly body: unknown }) => body as Record<string, unknown>;

/** The first number of each vector is the length of its text. `encode`: in the form asked for. */
function openAiHost({ size = 3, encode = (floats: number[]): unknown => floats } = {}): Script {
  return (response, request) => {
    const { input } = bodyOf(request) as { input: readonly (string | number[])[] };
    const data = input.map((text, index) => ({
      object: 'embedding',
      index,
      embedding: encode([text.length, ...Array.from({ length: size - 1 }, () => 0.5)]),
    }));
    const tokens = input.reduce((sum, text) => sum + text.length, 0);
    // In another order than asked for.
    const usage = { prompt_tokens: tokens, total_tokens: tokens };
    return answerJson({ object: 'list', data: data.toReversed(), usage })(response, request);
  };
}
function geminiAnswers(values: number[]): void {
  const method = '/v1beta/models/gemini-embedding-001:batchEmbedContents';
  upstream.on(method, answerJson({ embeddings: [{ values }] }));
}
const base64Of = (floats: number[]) =>
  Buffer.from(new Float32Array(floats).buffer).toString('base64');

beforeEach(() => {
  upstream.on(openAiPath, openAiHost());
  upstream.on(secondPath, openAiHost());
});

test('a text becomes a vector, charged by the tokens that the host counts', async () => {
  const made = await newKey();
  const body = { input: 'hello', dimensions: 3, user: 'ada', input_type: 'query', unknown: 1 };
  const { reply, asked } = await askRecorded(made, body);
  assert.deepEqual(vectorsOf(reply), [[5, 0.5, 0.5]]);
  const { model, usage } = reply.json<Embeddings>();
  assert.deepEqual([model, usage], ['two', { prompt_tokens: 5, total_tokens: 5 }]);
  assert.equal(reply.costMicros, 5);
  assert.equal(await chargedMicros(made), 5);
  const { user, ...sent } = bodyOf(asked[0]!);
  const expected = { model: 'first-host', input: ['hello'], dimensions: 3 };
  assert.deepEqual(sent, { ...expected, encoding_format: 'float' });
  assert.match(String(user), /^[\w-]{43}$/);
  assert.equal(reply.headers['x-service-ignored'], 'unknown, input_type');
  const [record] = await gateway.usage(made.key);
  const counted = { model_id: 'two', input_tokens: 5, output_tokens: 0 };
  assert.partialDeepStrictEqual(record, counted);
});

describe('the encoding asked for is the encoding sent, whatever the host gives', () => {
  const vector = [5, 0.5, 0.5];
  for (const [host, encode] of [
    ['floats', (floats: number[]): unknown => floats],
    ['base64', base64Of],
  ] as const) {
    test(`OpenAI's SDK, which asks for base64 unasked, reads a host of ${host}`, async () => {
      upstream.on(openAiPath, openAiHost({ encode }));
      const { key } = await newKey();
      const client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: key, maxRetries: 0 });
      const { data } = await client.embeddings.create({ model: 'two', input: 'hello' });
      assert.deepEqual([...data[0]!.embedding], vector);
    });

    for (const [encoding_format, expected] of [
      ['float', vector],
      ['base64', base64Of(vector)],
    ] as const)
      test(`a client that asks for ${encoding_format} gets it of a host of ${host}`, async () => {
        upstream.on(openAiPath, openAiHost({ encode }));
        const reply = await ask(await newKey(), { input: 'hello', encoding_format });
        assert.deepEqual(vectorsOf(reply), [expected]);
      });
  }
});

describe('inputs beyond what a host takes', () => {
  const counting =
    (tokensEach: number): Script =>
    (response, request) => {
      const { texts } = bodyOf(request) as { texts: string[] };
      return answerJson({
        embeddings: { float: texts.map((text) => [Number(text), 1]) },
        meta: { billed_units: { input_tokens: texts.length * tokensEach } },
      })(response, request);
    };
  const cohere = counting(1);
  const input = Array.from({ length: 250 }, (_, index) => String(index));

  test('are split into calls, answered in order, and charged once', async () => {
    upstream.on('/v2/embed', cohere);
    const made = await newKey();
    const body = { model: 'embed-v4.0', input, input_type: 'search_query' };
    const { reply, asked } = await askRecorded(made, body);
    assert.deepEqual(columnOf(vectorsOf(reply) as number[][], 0), input.map(Number));
    const sizes = asked.map((request) => (bodyOf(request)['texts'] as string[]).length);
    assert.deepEqual(
      sizes.toSorted((one, other) => one - other),
      [58, 96, 96],
    );
    assert.equal(bodyOf(asked[0]!)['input_type'], 'search_query');
    assert.equal(await chargedMicros(made), 250);
    assert.equal((await gateway.usage(made.key)).length, 1);
  });

  /** Their third call to the first host fails. */
  async function askOf(model: string, third: Script, others: Script) {
    let calls = 0;
    upstream.on('/v2/embed', (response, request) =>
      (++calls === 3 ? third : others)(response, request),
    );
    const made = await newKey();
    const reply = await ask(made, { model, input }, uncached);
    const charged = await chargedMicros(made);
    const days = await rowsOf(gateway.database, 'loss_days', { ledger_id: `${made.account}:live` });
    return { reply, charged, lost: await lossOf(reply), provoked: days[0]?.provoked_micros };
  }

  /** The client gets this status, and nothing is charged. */
  async function askInVain(third: Script, others: Script, status: number) {
    const { reply, charged, ...cost } = await askOf('embed-v4.0', third, others);
    assert.equal(reply.status, status, reply.text);
    assert.equal(charged, 0);
    return cost;
  }

  test('cost the account nothing when one call fails; the others are the operator’s loss', async () => {
    const { lost } = await askInVain(answerStatus(500), cohere, 502);
    assert.ok([154, 192].includes(lost), String(lost));
  });

  test('count against the account’s loss budget when a later text of its own is refused', async () => {
    const firewalls = { status: 403, headers: { 'content-type': 'text/html' } };
    for (const [refusal, status] of [
      [answerStatus(400), 400],
      [answerJson('<html>Sorry, you have been blocked</html>', firewalls), 502],
    ] as const) {
      const { provoked } = await askInVain(refusal, cohere, status);
      assert.ok([154, 192].includes(provoked!), String(provoked));
    }
  });

  test('count against it, too, when another host then answers for all', async () => {
    const { reply, charged, lost, provoked } = await askOf('spared', answerStatus(413), cohere);
    assert.equal(vectorsOf(reply).length, 250);
    assert.equal(charged, input.join('').length);
    assert.ok([154, 192].includes(lost), String(lost));
    assert.equal(provoked, lost);
  });

  test('count against it at most what they can have, whatever the host claims', async () => {
    const { provoked, lost } = await askInVain(answerStatus(400), counting(1_000), 400);
    assert.equal(provoked, estimateInputTokens(input).most);
    assert.ok([154_000, 192_000].includes(lost), String(lost));
  });

  test('more than 2,048 are refused', async () => {
    const texts = Array.from({ length: 2_049 }, () => 'x');
    const reply = await ask(await newKey(), { input: texts });
    assert.deepEqual([reply.status, reply.error.param], [400, 'input']);
  });
});

test('vectors are in the order of the texts when a host numbers none, all as the first, or all but the first', async () => {
  const made = await newKey();
  for (const numbers of [
    [undefined, undefined],
    [null, null],
    [0, 0],
    [undefined, 1],
  ] as const) {
    const data = numbers.map((index, at) => ({ index, embedding: [at, 1, 1] }));
    upstream.on(openAiPath, answerJson({ data }));
    const reply = await ask(made, { input: ['a', 'b'] }, uncached);
    assert.deepEqual(vectorsOf(reply), [
      [0, 1, 1],
      [1, 1, 1],
    ]);
  }
});

test('NVIDIA is told what the vectors are for, in its words, and without any that they are passages', async () => {
  const made = await newKey();
  upstream.on('/nvidia/v1/embeddings', answerJson({ data: [{ embedding: [1, 0, 0] }] }));
  for (const [input_type, word] of [
    [undefined, 'passage'],
    ['passage', 'passage'],
    ['search_query', 'query'],
  ]) {
    const { reply, asked } = await askRecorded(made, {
      model: 'nv',
      input: `a ${input_type}`,
      input_type,
    });
    vectorsOf(reply);
    assert.equal(bodyOf(asked[0]!)['input_type'], word);
  }
});

test('Voyage’s, Cohere’s and Mistral’s clients say `output_dimension` for the size', async () => {
  const made = await newKey();
  upstream.on(openAiPath, answerJson({ data: [{ embedding: [1, 0] }] }));
  const { asked } = await askRecorded(made, { input: 'sized', output_dimension: 2 });
  assert.equal(bodyOf(asked[0]!)['dimensions'], 2);
  for (const [size, param] of [
    [5, 'dimensions'],
    [0, 'output_dimension'],
  ] as const) {
    const refused = await ask(made, { input: 'sized', output_dimension: size });
    assert.deepEqual([refused.status, refused.error.param], [400, param]);
  }
});

test('OpenAI’s code and field of a refusal reach the client', async () => {
  const error = {
    message: 'too many',
    type: 'invalid_request_error',
    param: 'input',
    code: 'max_inputs',
  };
  upstream.on(openAiPath, answerStatus(400, { body: { error } }));
  const reply = await ask(await newKey(), { input: 'refused' }, uncached);
  assert.deepEqual(
    [reply.status, reply.error.code, reply.error.param],
    [400, 'max_inputs', 'input'],
  );
});

describe('a host that fails or lies', () => {
  const second = [[5, 0.5, 0.5]];
  const answers = (...data: object[]) => answerJson({ data });
  const faults: Readonly<Record<string, Script>> = {
    'answers too few vectors': answers(),
    'answers a hole': answers({ index: 1, embedding: [1] }),
    'answers text in a vector': answers({ index: 0, embedding: ['1', null] }),
    'answers base64 that is no floats': answers({ index: 0, embedding: '!!!' }),
    'answers NaN in base64': openAiHost({ encode: () => base64Of([NaN, 1]) }),
    'answers shorter vectors than were asked for': openAiHost({ size: 2 }),
  };
  for (const [fault, script] of Object.entries(faults)) {
    test(`${fault}: another host of the model answers`, async () => {
      upstream.on(openAiPath, script);
      const made = await newKey();
      const reply = await ask(made, { input: 'hello', dimensions: 3 }, uncached);
      assert.deepEqual(vectorsOf(reply), second);
      assert.equal(await chargedMicros(made), 5);
      assert.equal(await lossOf(reply), 2);
    });
  }

  test('answers for some of the texts only: another host answers for all', async () => {
    upstream.on(openAiPath, answerJson({ data: [{ index: 0, embedding: [1, 0.5, 0.5] }] }));
    const reply = await ask(await newKey(), { input: ['a', 'b'] }, uncached);
    assert.equal(vectorsOf(reply).length, 2);
  });

  test('counts more than the text can have: the excess is a loss', async () => {
    const usage = { prompt_tokens: 1_000, total_tokens: 1_000 };
    upstream.on(openAiPath, answerJson({ data: [{ index: 0, embedding: [1] }], usage }));
    const made = await newKey();
    const reply = await ask(made, { input: 'hello' }, uncached);
    const { prompt_tokens: charged } = reply.json<Embeddings>().usage;
    assert.ok(charged < 50, String(charged));
    assert.equal(await chargedMicros(made), charged);
    assert.deepEqual(await gateway.lossesOf(reply.requestId), [1_000 - charged]);
  });

  test('counts more than was held of a hostile text: its account pays, as for a model', async () => {
    const usage = { prompt_tokens: 30, total_tokens: 30 };
    upstream.on(openAiPath, answerJson({ data: [{ index: 0, embedding: [1] }], usage }));
    const made = await newKey();
    const reply = await ask(made, { input: 'hello' }, uncached);
    assert.equal(reply.costMicros, 30);
    assert.deepEqual(await gateway.lossesOf(reply.requestId), []);
  });

  test('counts nothing: our own count is charged', async () => {
    geminiAnswers([3, 4]);
    const made = await newKey();
    const body = { model: 'gemini-embedding-001', input: 'a text of 8 tokens, about' };
    const reply = await ask(made, { ...body, dimensions: 128 }, uncached);
    // Shorter than asked for.
    assert.equal(reply.status, 502, reply.text);
    const whole = await ask(made, body, uncached);
    assert.deepEqual(vectorsOf(whole), [[3, 4]]);
    assert.equal(whole.costMicros, 7);
  });
});

describe('vectors of another size than the host’s', () => {
  test('are cut and normalised for a model with several sizes', async () => {
    upstream.on(openAiPath, openAiHost({ size: 4 }));
    const reply = await ask(await newKey(), { input: 'hell', dimensions: 1 }, uncached);
    assert.deepEqual(vectorsOf(reply), [[1]]);
  });

  test('are refused for a model with one size', async () => {
    const reply = await ask(await newKey(), { model: 'fixed', input: 'x', dimensions: 2 });
    assert.deepEqual([reply.status, reply.error.param], [400, 'dimensions']);
  });

  test('are refused in the words of Google’s clients', async () => {
    const { key } = await newKey();
    const one = { content: { parts: [{ text: 'x' }] } };
    const embedContentConfig = { output_dimensionality: 2 };
    const sized = { requests: [{ ...one, output_dimensionality: 2 }] };
    const many = { requests: Array.from({ length: 2_049 }, () => one) };
    for (const [method, body, words] of [
      ['embedContent', { ...one, outputDimensionality: 2 }, 'outputDimensionality must be 3'],
      ['embedContent', { ...one, embedContentConfig }, 'outputDimensionality must be 3'],
      ['embedContent', { ...one, embedContentConfig: 'x' }, 'embedContentConfig must be an object'],
      ['batchEmbedContents', sized, 'requests[0].outputDimensionality must be 3'],
      ['batchEmbedContents', many, 'requests must have 1 to 2048 entries'],
    ] as const) {
      const reply = await gateway.post(`/v1beta/models/fixed:${method}`, { key, body });
      assert.equal(reply.status, 400, reply.text);
      assert.ok(reply.error.message.startsWith(words), reply.error.message);
    }
  });

  test('come normalised from Gemini, which leaves them as long as they are', async () => {
    geminiAnswers(Array.from({ length: 256 }, () => 0.5));
    const body = { model: 'gemini-embedding-001', input: 'x', dimensions: 256 };
    const [vector] = vectorsOf(await ask(await newKey(), body, uncached)) as number[][];
    assert.ok(Math.abs(Math.hypot(...vector!) - 1) < 1e-9);
  });
});

describe('hosts with words of their own', () => {
  test('Voyage gets its purpose and its name of the size', async () => {
    upstream.on('/voyage/v1/embeddings', openAiHost({ size: 256 }));
    const body = { model: 'voyage-4', input: ['x'], input_type: 'document' };
    const fields = { ...body, dimensions: 256, user: 'ada' };
    const { reply, asked } = await askRecorded(await newKey(), fields);
    assert.equal(vectorsOf(reply).length, 1);
    assert.deepEqual(asked[0]!.body, { ...body, output_dimension: 256 });
    assert.equal(reply.headers['x-service-ignored'], 'user');
  });

  test('OpenRouter is asked for numbers: it has no vectors for some models where base64 is asked for', async () => {
    upstream.on('/openrouter/v1/embeddings', openAiHost());
    const body = { model: 'routed', input: 'x', encoding_format: 'base64' };
    const { reply, asked } = await askRecorded(await newKey(), body);
    assert.deepEqual(vectorsOf(reply), [base64Of([1, 0.5, 0.5])]);
    assert.deepEqual(asked[0]!.body, { model: 'routed', input: ['x'] });
  });

  test('Mistral gets 32 texts a call', async () => {
    upstream.on('/mistral/v1/embeddings', openAiHost());
    const body = { model: 'mistral-embed', input: Array.from({ length: 33 }, () => 'x') };
    const { reply, asked } = await askRecorded(await newKey(), body);
    assert.equal(vectorsOf(reply).length, 33);
    assert.equal(asked.length, 2);
  });

  test('Perplexity’s bytes become numbers', async () => {
    const encode = () => Buffer.from(new Int8Array([3, -4])).toString('base64');
    upstream.on('/perplexity/v1/embeddings', openAiHost({ encode }));
    const reply = await ask(await newKey(), { model: 'pplx-embed-v1-0.6b', input: 'x' }, uncached);
    assert.deepEqual(vectorsOf(reply), [[0.6, -0.8]]);
  });

  test('Bedrock counts in a header', async () => {
    upstream.on('/model/amazon.nova-2-multimodal-embeddings-v1%3A0/invoke', (response) => {
      response.setHeader('x-amzn-bedrock-input-token-count', '7');
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ embeddings: [{ embedding: [1, 2] }] }));
    });
    const body = { model: 'nova-2-multimodal-embeddings', input: 'a longer text than that' };
    const reply = await ask(await newKey(), body);
    assert.deepEqual(vectorsOf(reply), [[1, 2]]);
    assert.equal(reply.costMicros, 7);
  });
});

describe('the same request again', () => {
  test('is answered from the cache without being asked for, unless a header refuses it', async () => {
    const made = await newKey();
    const first = await ask(made, { input: 'the same' });
    const again = await ask(made, { input: 'the same' });
    assert.deepEqual([again.headers['x-service-cache'], again.text], ['hit', first.text]);
    assert.equal(again.costMicros, 0);
    const fresh = await ask(made, { input: 'the same' }, uncached);
    assert.equal(fresh.costMicros, 8);
    assert.equal(await chargedMicros(made), 16);
  });
});

describe('a request that cannot be sold', () => {
  const misspelt = { model: 'text-embedding-3-smal', input: 'x' };
  const refusals: Readonly<Record<string, readonly [body: object, words: RegExp, status?: 404]>> = {
    'no such model': [misspelt, /text-embedding-3-small/, 404],
    'no input': [{}, /input must be/],
    'an empty list': [{ input: [] }, /1 to 2048 entries; got none\. Send a text\./],
    'an empty text': [{ input: ['x', ''] }, /input\[1\] must not be empty/],
    'a number': [{ input: 3 }, /input must be/],
    'an object': [{ input: [{ text: 'x' }] }, /input\[0\] must be/],
    'a fraction as token': [{ input: [1.5] }, /input must be/],
    'tokens, of a model whose hosts take texts': [{ model: 'fixed', input: [1] }, /tokens/],
    'another encoding': [{ input: 'x', encoding_format: 'int8' }, /encoding_format/],
    'no size': [{ input: 'x', dimensions: 0 }, /dimensions/],
    'a size that is too large': [{ input: 'x', dimensions: 5 }, /from 1 to 4/],
  };
  for (const [what, [body, words, status = 400]] of Object.entries(refusals)) {
    test(`${what}: ${status}, and nothing is charged`, async () => {
      const made = await newKey();
      const reply = await ask(made, body);
      assert.equal(reply.status, status, reply.text);
      assert.match(reply.error.message, words);
      assert.equal(await chargedMicros(made), 0);
    });
  }
});

describe('in the sandbox', () => {
  test('similar texts have similar vectors, the same on every machine', async () => {
    const { key } = await gateway.makeKey({ mode: 'test' });
    const input = ['The lighthouse shines at night', 'a lighthouse at night', 'tax law of 1912'];
    const reply = await ask({ key }, { model: 'text-embedding-3-small', input });
    const [one, similar, other] = vectorsOf(reply) as number[][];
    const product = (a: number[], b: number[]) => a.reduce((sum, x, i) => sum + x * b[i]!, 0);
    assert.equal(one!.length, 1_536);
    assert.ok(Math.abs(product(one!, one!) - 1) < 1e-9);
    assert.ok(product(one!, similar!) > product(one!, other!) + 0.3);
  });
});

test('answers of thousands of vectors share the memory for them, or are refused while it is full', async () => {
  const made = await newKey({ mode: 'test' });
  const askFor = (count: number, key = made) =>
    ask(key, { model: 'text-embedding-3-small', input: Array.from({ length: count }, String) });
  const { longAnswers } = gateway.program.app.gateway;
  const all = Number.MAX_SAFE_INTEGER;
  const first = await longAnswers.test.enter(all);
  const second = Promise.resolve(longAnswers.test.enter(all));
  const { status, error } = await askFor(100);
  assert.deepEqual([status, error.code], [503, 'overloaded']);
  assert.equal((await askFor(2)).status, 200);
  // A test key may wait in its answer for minutes.
  assert.notEqual((await askFor(100, await newKey())).status, 503, 'live ones share their own');
  first();
  (await second)();
  assert.equal((await askFor(100)).status, 200);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { modelListOf, readModelList } from './provider-models.ts';

const idsOf = (list: unknown) => readModelList(list)?.map(({ id }) => id);

test('the list of models is read in each host’s form, sorted and without repeats', () => {
  for (const list of [
    { object: 'list', data: [{ id: 'b' }, { id: 'a' }, { id: 'a' }] },
    // Together
    [{ id: 'b', type: 'chat' }, { id: 'a' }],
    // Cohere
    { models: [{ name: 'b' }, { name: 'a' }] },
    // Gemini
    { models: [{ name: 'models/a' }, { name: 'models/b' }] },
    // Bedrock
    { modelSummaries: [{ modelId: 'b', modelName: 'B' }, { modelId: 'a' }] },
    // Vertex
    {
      publisherModels: [{ name: 'publishers/google/models/a' }, { name: 'publishers/x/models/b' }],
    },
    { data: [{ id: 'a' }, { id: '' }, { id: 7 }, null, 'x', { id: 'b' }] },
  ])
    assert.deepEqual(idsOf(list), ['a', 'b']);
  // llama.cpp names a file.
  assert.deepEqual(idsOf({ data: [{ id: '/models/a.gguf' }] }), ['/models/a.gguf']);
  for (const none of [null, 'x', {}, { data: 'x' }, { error: { message: 'no' } }])
    assert.equal(readModelList(none), null);
});

test('of an endless list, the first models are read', () => {
  const data = Array.from({ length: 250_000 }, (_, index) => ({ id: `m${index}` }));
  assert.equal(readModelList({ data })!.length, 5_000);
});

test('Bedrock lists its models at a host of its own', () => {
  const base_url = 'https://bedrock-runtime.eu-west-1.amazonaws.com';
  const asked = modelListOf('bedrock', { kind: 'bedrock', base_url, api_key: 'k' })!;
  assert.equal(
    asked.origin! + asked.path,
    'https://bedrock.eu-west-1.amazonaws.com/foundation-models',
  );
});

test('the context is read under each host’s name for it', () => {
  for (const more of [
    { context_length: 9 },
    { context_window: 9 },
    { max_context_length: 9 },
    { max_model_len: 9 },
    { inputTokenLimit: 9 },
    { meta: { n_ctx_train: 9, vocab_type: 2 } },
    { context_length: null, meta: null, metadata: { context_length: 9 } },
  ])
    assert.equal(readModelList([{ id: 'a', ...more }])![0]!.contextTokens, 9);
  for (const wrong of [0, -1, 1.5, '9', 1e12, Number.NaN, null])
    assert.equal(readModelList([{ id: 'a', context_length: wrong }])![0]!.contextTokens, null);
});

test('prices are read where their unit is known, in USD per million tokens', () => {
  const pricesOf = (model: object) => readModelList([{ id: 'a', ...model }])![0]!.prices;
  // OpenRouter
  const perToken = {
    prompt: '0.00000015',
    completion: '0.0000006',
    input_cache_read: '0.00000007',
  };
  assert.deepEqual(pricesOf({ pricing: perToken }), { input: 0.15, output: 0.6, cache_read: 0.07 });
  // Perplexity
  const perMillion = { input: 10, output: 50, cache_write: 12.5, unit: 'usd_per_1m_tokens' };
  assert.deepEqual(pricesOf({ pricing: perMillion }), { input: 10, output: 50, cache_write: 12.5 });
  // Together
  const byHour = { hourly: 0, input: 0.88, output: 0.88, base: 0, finetune: 0 };
  assert.deepEqual(pricesOf({ type: 'chat', pricing: byHour }), { input: 0.88, output: 0.88 });
  for (const pricing of [
    null,
    'x',
    { input: 1, output: 1 },
    { prompt: '-1', completion: '-1' },
    { prompt: 'x', completion: '1' },
    { prompt: '1' },
    { prompt: '', completion: '' },
    { input: '1', output: 1, unit: 'usd_per_1m_tokens' },
  ])
    assert.equal(pricesOf({ type: 'chat', pricing }), null);
});

test('a host whose list is elsewhere is asked there, and one without a list is not asked', () => {
  const at = (name: string, base_url: string) =>
    modelListOf(name, { kind: 'openai-compatible', base_url, api_key: 'k' });
  const urlOf = (asked: ReturnType<typeof at>) => (asked!.origin ?? '') + asked!.path;
  assert.equal(urlOf(at('perplexity', 'https://api.perplexity.ai')), '/v1/models');
  const cohere = { kind: 'cohere', base_url: 'http://proxy/x', api_key: 'k' } as const;
  assert.match(modelListOf('mine', cohere)!.path, /^\/v1\/models\?/);
  assert.equal(at('zai', 'https://api.z.ai/api/paas/v4'), null);
  assert.equal(urlOf(at('vllm', 'http://127.0.0.1:8000/v1')), '/models');
});

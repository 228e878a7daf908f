import assert from 'node:assert/strict';
import { test } from 'node:test';
import { modelListOf, readModelList } from './provider-models.ts';

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
    assert.deepEqual(readModelList(list), ['a', 'b']);
  // llama.cpp names a file.
  assert.deepEqual(readModelList({ data: [{ id: '/models/a.gguf' }] }), ['/models/a.gguf']);
  for (const none of [null, 'x', {}, { data: 'x' }, { error: { message: 'no' } }])
    assert.equal(readModelList(none), null);
});

test('Bedrock lists its models at a host of its own', () => {
  const base_url = 'https://bedrock-runtime.eu-west-1.amazonaws.com';
  const asked = modelListOf('bedrock', { kind: 'bedrock', base_url, api_key: 'k' })!;
  assert.equal(
    asked.origin! + asked.path,
    'https://bedrock.eu-west-1.amazonaws.com/foundation-models',
  );
});

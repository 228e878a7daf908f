import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findKnownProvider, knownProviders } from './known-providers.ts';

test('a provider is known by its name, and under another name by its host or its kind', () => {
  const { mistral, groq, cohere } = knownProviders;
  const find = (name: string, base_url: string, kind: 'cohere' | 'openai-compatible') =>
    findKnownProvider(name, { kind, base_url });
  const compatible = 'openai-compatible';
  assert.equal(find('mistral', 'https://proxy.example/v1', compatible), mistral);
  assert.equal(find('fast', 'https://api.groq.com/openai/v1', compatible), groq);
  assert.equal(find('fast', 'https://API.mistral.ai:443/v1/', compatible), mistral);
  for (const address of ['https://api.mistral.ai.example/v1', 'https://eu.example', 'nonsense'])
    assert.equal(find('fast', address, compatible), undefined);
  assert.equal(find('constructor', 'https://eu.example', compatible), undefined);
  assert.equal(find('fast', 'https://eu.example', 'cohere'), cohere);
  // At its compatible address it has none of its own words.
  assert.equal(find('cohere', 'https://api.cohere.ai/compatibility/v1', compatible), undefined);
});

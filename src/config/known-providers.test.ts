import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findKnownProvider, knownProviders } from './known-providers.ts';

test('a provider is known by its name, and under another name by its host', () => {
  const { mistral, groq } = knownProviders;
  assert.equal(findKnownProvider('mistral', 'https://proxy.example/v1'), mistral);
  assert.equal(findKnownProvider('fast', 'https://api.groq.com/openai/v1'), groq);
  assert.equal(findKnownProvider('fast', 'https://API.mistral.ai:443/v1/'), mistral);
  for (const address of ['https://api.mistral.ai.example/v1', 'https://eu.example', 'nonsense'])
    assert.equal(findKnownProvider('fast', address), undefined);
  assert.equal(findKnownProvider('constructor', 'https://eu.example'), undefined);
});

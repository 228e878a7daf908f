import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatsOfKind, isImageKind, providerKindNames } from '../src/terms/provider-kind.ts';
import { knownProviders } from '../src/config/known-providers.ts';
import {
  chatProviderKinds,
  imageProviderKinds,
  searchProviderKinds,
} from '../src/providers/registry.ts';

test('each kind of provider is registered under its own name', () => {
  for (const kinds of [chatProviderKinds, searchProviderKinds])
    for (const [name, { kind }] of Object.entries(kinds)) assert.equal(kind, name);
});

test('each kind of provider is registered for what it offers, and for nothing else', () => {
  for (const name of providerKindNames) {
    assert.equal(Object.hasOwn(chatProviderKinds, name), formatsOfKind(name).length > 0, name);
    assert.equal(Object.hasOwn(imageProviderKinds, name), isImageKind(name), name);
  }
});

test('each kind of provider is that of a known provider, whose address and key have defaults', () => {
  const known = new Set(Object.values(knownProviders).map(({ kind }) => kind));
  assert.deepEqual(
    providerKindNames.filter((name) => !known.has(name)),
    [],
    'add a provider of this kind to src/config/known-providers.ts',
  );
});

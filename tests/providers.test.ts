// The configuration may not import the providers, so it lists their kinds and formats again. This
// compares both lists.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatsOfKind, searchKinds } from '../src/config/known-providers.ts';
import { providerKinds, searchProviderKinds } from '../src/providers/registry.ts';

test('the configuration and the provider registry agree on the kinds and their wire formats', () => {
  const registered = Object.fromEntries(
    Object.entries(providerKinds).map(([name, kind]) => [name, [...kind.formats]]),
  );
  const ofChat = Object.entries(formatsOfKind).filter(([, formats]) => formats.length > 0);
  const configured = Object.fromEntries(ofChat.map(([name, formats]) => [name, [...formats]]));
  assert.deepEqual(configured, registered);
});

test('they agree on the kinds that search the web', () => {
  assert.deepEqual(Object.keys(searchProviderKinds), [...searchKinds]);
  assert.deepEqual(
    Object.entries(searchProviderKinds).map(([name, { kind }]) => [name, kind]),
    searchKinds.map((name) => [name, name]),
  );
});

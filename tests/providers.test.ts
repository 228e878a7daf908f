// The configuration may not import the providers, so it says again which kinds there are and what they speak. Here the two are compared.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatsOfKind } from '../src/config/known-providers.ts';
import { providerKinds } from '../src/providers/registry.ts';

test('the configuration and the provider registry agree on the kinds and their wire formats', () => {
  const registered = Object.fromEntries(Object.entries(providerKinds).map(([name, kind]) => [name, [...kind.formats]]));
  const configured = Object.fromEntries(Object.entries(formatsOfKind).map(([name, formats]) => [name, [...formats]]));
  assert.deepEqual(configured, registered);
});

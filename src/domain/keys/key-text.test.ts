import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from '../../../tests/support/property.ts';
import { createSecret } from '../../lib/secrets.ts';
import { digestKeyFrom, generateKeyText, keyDigest, keyHintOf, keyModeOf } from './key-text.ts';

test('a generated key is well-formed and contains its mode', () => {
  for (const mode of ['live', 'test'] as const) {
    const keys = Array.from({ length: 500 }, () => generateKeyText(mode));
    assert.equal(new Set(keys).size, keys.length);
    for (const key of keys) {
      assert.match(key, new RegExp(`^tg_${mode}_[0-9A-Za-z]{38}$`));
      assert.equal(keyModeOf(key), mode);
    }
  }
});

test('a key with one character changed, added or removed is invalid', () => {
  const key = generateKeyText('live');
  fc.assert(
    fc.property(fc.nat(key.length - 1), fc.stringMatching(/^[0-9A-Za-z_]$/), (place, character) => {
      const changed = key.slice(0, place) + character + key.slice(place + 1);
      if (changed !== key) assert.equal(keyModeOf(changed), null);
      assert.equal(keyModeOf(key.slice(0, place) + key.slice(place + 1)), null);
      assert.equal(keyModeOf(key + character), null);
    }),
    { numRuns: 500 },
  );
});

test('a test key cannot be turned into a live key', () => {
  assert.equal(keyModeOf(generateKeyText('test').replace('tg_test_', 'tg_live_')), null);
});

test('the digest depends on the key and the secret, and contains neither', () => {
  const key = generateKeyText('live');
  const [one, other] = [
    digestKeyFrom(createSecret('a'.repeat(32))),
    digestKeyFrom(createSecret('b'.repeat(32))),
  ];
  assert.equal(keyDigest(one, key), keyDigest(one, key));
  assert.notEqual(keyDigest(one, key), keyDigest(other, key));
  assert.notEqual(keyDigest(one, key), keyDigest(one, generateKeyText('live')));
  assert.ok(!keyDigest(one, key).includes(key.slice(8, 20)));
});

test('the hint distinguishes keys without revealing them', () => {
  const key = generateKeyText('test');
  assert.equal(keyHintOf(key), `tg_test_…${key.slice(-4)}`);
});

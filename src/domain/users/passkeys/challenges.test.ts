import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from '../../../../tests/support/property.ts';
import { createSecret } from '../../../lib/secrets.ts';
import { challengeLifetimeMs, Challenges } from './challenges.ts';

const secret = createSecret('one');
const nowMs = 1_700_000_000_000;

test('a challenge is valid for its purpose until its time is over', () => {
  const challenges = new Challenges([secret]);
  const challenge = challenges.make('sign-in a', nowMs);
  assert.ok(challenges.isValid(challenge, 'sign-in a', nowMs));
  assert.ok(challenges.isValid(challenge, 'sign-in a', nowMs + challengeLifetimeMs - 1));
  assert.ok(!challenges.isValid(challenge, 'sign-in a', nowMs + challengeLifetimeMs));
  assert.ok(!challenges.isValid(challenge, 'sign-in b', nowMs));
  assert.ok(!challenges.isValid(challenge, 'add a', nowMs));
});

test('a challenge stays valid while its secret is accepted', () => {
  const challenge = new Challenges([secret]).make('sign-in a', nowMs);
  const next = createSecret('two');
  assert.ok(new Challenges([next, secret]).isValid(challenge, 'sign-in a', nowMs));
  assert.ok(!new Challenges([next]).isValid(challenge, 'sign-in a', nowMs));
});

test('no changed bit and no other text is a challenge', () => {
  const challenges = new Challenges([secret]);
  const challenge = challenges.make('sign-in a', nowMs);
  const size = Buffer.from(challenge, 'base64url').length;
  fc.assert(
    fc.property(fc.nat(size * 8 - 1), (bit) => {
      const bytes = Buffer.from(challenge, 'base64url');
      bytes[bit >> 3]! ^= 1 << (bit & 7);
      assert.ok(!challenges.isValid(bytes.toString('base64url'), 'sign-in a', nowMs));
    }),
  );
  fc.assert(
    fc.property(fc.string(), (text) => {
      assert.ok(!challenges.isValid(text, 'sign-in a', nowMs));
      assert.ok(!challenges.isValid(challenge + text + '=', 'sign-in a', nowMs));
    }),
  );
});

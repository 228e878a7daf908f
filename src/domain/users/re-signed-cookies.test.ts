import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import fc from '../../../tests/support/property.ts';
import { withCurrentSignatures } from './re-signed-cookies.ts';

const keys = ['current', 'earlier', 'older'] as const;

function signed(text: string, key: string): string {
  return encodeURIComponent(`${text}.${createHmac('sha256', key).update(text).digest('base64')}`);
}

test('a cookie of an earlier secret is signed again, and everything beside it stays', () => {
  for (const key of ['earlier', 'older'])
    assert.equal(
      withCurrentSignatures(
        `a=b; tollgate.session_token=${signed('to.ken', key)};__Host-tollgate.two_factor=${signed('x', key)}`,
        keys,
      ),
      `a=b; tollgate.session_token=${signed('to.ken', 'current')};__Host-tollgate.two_factor=${signed('x', 'current')}`,
    );
});

test('no forged, changed or foreign cookie gets a signature', () => {
  const [token] = [signed('token', 'earlier')];
  for (const cookie of [
    `tollgate.session_token=${signed('token', 'a stranger')}`,
    `tollgate.session_token=${token.replace('token', 'other')}`,
    `tollgate.session_token=${token.slice(0, -4)}`,
    `tollgate.session_token=${signed('', 'earlier')}`,
    `tollgate.session_token=token`,
    `tollgate.session_token=.`,
    `tollgate.session_token=%E0%A4%A`,
    `evil-tollgate.session_token=${token}`,
    `other=tollgate.session_token=${token}`,
    `tollgate.session_token=${signed('token', 'current')}`,
  ])
    assert.equal(withCurrentSignatures(cookie, keys), cookie);
  fc.assert(
    fc.property(fc.string(), (text) => {
      const cookie = `tollgate.session_token=${text}`;
      assert.equal(withCurrentSignatures(cookie, keys), cookie);
    }),
  );
});

test('with one secret, no cookie is touched', () => {
  const cookie = `tollgate.session_token=${signed('token', 'earlier')}`;
  assert.equal(withCurrentSignatures(cookie, ['current']), cookie);
});

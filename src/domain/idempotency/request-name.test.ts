import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError } from '../../canonical/errors.ts';
import { type NamedRequest, nameRequest } from './request-name.ts';

const asked: NamedRequest = {
  generation: 0,
  keyId: 'key_1',
  idempotencyKey: 'k',
  method: 'POST',
  path: '/v1/messages',
  body: { a: 1, b: { c: 2, d: 3 } },
};

test('a request without the header is not idempotent', () => {
  assert.equal(nameRequest({ ...asked, idempotencyKey: undefined }), null);
});

/** Decodes header bytes as Node.js does: one character per byte. */
const sent = (text: string) => Buffer.from(text).toString('latin1');

test('a key is any visible string of up to 1 024 bytes and may contain spaces', () => {
  const keys = [
    'k',
    '!~',
    'x'.repeat(1_024),
    '"quoted"',
    'order 17, twice',
    'é',
    'заказ 17',
    '注文',
    '🙂',
    '\u0085a',
    'é'.repeat(512),
  ];
  for (const key of keys) assert.ok(nameRequest({ ...asked, idempotencyKey: sent(key) }), key);
  assert.ok(nameRequest({ ...asked, idempotencyKey: '\xe9' }), 'a byte that is no UTF-8');
  const blank = ['', ' ', '   ', '\u00a0', '\u3000 \u2003', '\u200b'];
  for (const key of [
    ...blank,
    'tab\there',
    'line\n',
    '\x00',
    'a\x7fb',
    'x'.repeat(1_025),
    'é'.repeat(513),
  ]) {
    assert.throws(
      () => nameRequest({ ...asked, idempotencyKey: sent(key) }),
      (error) =>
        error instanceof ApiError && error.status === 400 && error.param === 'Idempotency-Key',
      JSON.stringify(key),
    );
  }
});

test('keys that differ in any byte are different keys', () => {
  const keys = ['é', 'e\u0301', 'è', '注文', '注女', 'a b', 'a  b', 'a\u00a0b', 'A b'].map(sent);
  const digests = [...keys, '\xe9'].map(
    (idempotencyKey) => nameRequest({ ...asked, idempotencyKey })!.keyDigest,
  );
  assert.equal(new Set(digests).size, digests.length);
});

test('method, path and every value change the fingerprint; the order of fields does not', () => {
  const { fingerprint, keyDigest } = nameRequest(asked)!;
  assert.equal(
    nameRequest({ ...asked, body: { b: { d: 3, c: 2 }, a: 1 } })!.fingerprint,
    fingerprint,
  );
  for (const change of [
    { method: 'PUT' },
    { path: '/v1/responses' },
    { body: { a: 1, b: { c: 2, d: 4 } } },
  ]) {
    const other = nameRequest({ ...asked, ...change })!;
    assert.notEqual(other.fingerprint, fingerprint);
    assert.equal(other.keyDigest, keyDigest);
  }
});

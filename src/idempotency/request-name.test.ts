import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError } from '../canonical/errors.ts';
import { type NamedRequest, nameRequest } from './request-name.ts';

const asked: NamedRequest = {
  generation: 0,
  keyId: 'key_1',
  idempotencyKey: 'k',
  method: 'POST',
  path: '/v1/messages',
  body: { a: 1, b: { c: 2, d: 3 } },
};

test('a request without the header has no name', () => {
  assert.equal(nameRequest({ ...asked, idempotencyKey: undefined }), null);
});

test('a key has 1 to 1024 visible ASCII characters', () => {
  for (const idempotencyKey of ['k', '!~', 'x'.repeat(1_024), '"quoted"']) assert.ok(nameRequest({ ...asked, idempotencyKey }));
  for (const idempotencyKey of ['', ' ', 'a b', 'tab\t', 'é', 'x'.repeat(1_025), 'line\n']) {
    assert.throws(
      () => nameRequest({ ...asked, idempotencyKey }),
      (error) => error instanceof ApiError && error.status === 400 && error.param === 'Idempotency-Key',
    );
  }
});

test('the order of names does not change the fingerprint; method, path and every value do', () => {
  const { fingerprint, keyDigest } = nameRequest(asked)!;
  assert.equal(nameRequest({ ...asked, body: { b: { d: 3, c: 2 }, a: 1 } })!.fingerprint, fingerprint);
  for (const change of [{ method: 'PUT' }, { path: '/v1/responses' }, { body: { a: 1, b: { c: 2, d: 4 } } }]) {
    const other = nameRequest({ ...asked, ...change })!;
    assert.notEqual(other.fingerprint, fingerprint);
    assert.equal(other.keyDigest, keyDigest);
  }
});

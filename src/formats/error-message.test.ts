import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readErrorMessage, readVendorError } from './error-message.ts';

const bodies: [body: unknown, message: string | null][] = [
  [{ error: { message: 'a', code: 'x' } }, 'a'],
  [{ type: 'error', error: { type: 'x', message: 'a' } }, 'a'],
  [{ code: 'x', error: 'a' }, 'a'],
  [{ message: 'a' }, 'a'],
  [{ object: 'error', message: 'a' }, 'a'],
  [{ detail: 'a' }, 'a'],
  [{ Message: 'a' }, 'a'],
  [{ detail: [{ loc: ['body'], msg: 'a' }] }, 'a'],
  [[{ error: { code: 400, message: 'a' } }], 'a'],
  [{ id: 'x', message: 'a', error_type: 'TOO_MANY_TOKENS' }, 'a'],
  [{ type: 'urn:x', title: 'Bad', status: 422, detail: 'a', instance: '/v1' }, 'a'],
  [{ error: "[{'type': 'extra_forbidden'}]" }, "[{'type': 'extra_forbidden'}]"],
  [{ error: { message: 'Provider returned error', metadata: { raw: 'a' } } }, 'a'],
  [
    {
      error: {
        message: 'Provider returned error',
        metadata: { raw: '{"error":{"message":"a"}}', provider_name: 'X' },
      },
    },
    'a',
  ],
  [{ error: { message: 'b', metadata: { raw: 'a' } } }, 'b'],
  [
    { error: { message: 'Provider returned error', metadata: { raw: '' } } },
    'Provider returned error',
  ],
  [' a\n', 'a'],
  ['<html><body>502</body></html>', null],
  ['', null],
  [{ error: { code: 5 } }, null],
  [{ error: {} }, null],
  [{}, null],
  [[], null],
  [3, null],
  [null, null],
];

for (const [body, message] of bodies) {
  test(`the message of ${JSON.stringify(body)} is ${message}`, () =>
    assert.equal(readErrorMessage(body), message));
}

test('what an SDK acts on is read inside `error` and, where a host has none, beside the message', () => {
  const fields = { code: 'request_quota_exceeded', param: 'quota' };
  const vendor = { vendor: fields };
  assert.deepEqual(readVendorError({ error: { message: 'a', ...fields } }), vendor);
  assert.deepEqual(
    readVendorError({ message: 'a', type: 'too_many_requests_error', ...fields }),
    vendor,
  );
  assert.deepEqual(readVendorError({ code: 'invalid-argument', error: 'a' }), {
    vendor: { code: 'invalid-argument' },
  });
  for (const code of [429, '404', 'invalid_request_error'])
    assert.deepEqual(readVendorError({ error: { code } }), {}, 'a status or a type is no code');
  for (const none of [null, 'x', [], {}]) assert.deepEqual(readVendorError(none), {});
});

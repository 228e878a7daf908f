import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readErrorMessage, readErrorStatus, readVendorError } from './error-message.ts';

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

const statuses: readonly [error: object, status: number | null][] = [
  [{ code: 429 }, 429],
  [{ code: 400, type: 'server_error' }, 400],
  [{ code: '429' }, 429],
  [{ status_code: 1002 }, 429],
  [{ type: 'authentication_error' }, 401],
  [{ type: 'invalid_request_error', code: 'invalid_api_key' }, 401],
  [{ type: 'billing_error' }, 402],
  [{ code: 'insufficient_quota' }, 402],
  [{ type: 'permission_error' }, 403],
  [{ type: 'not_found_error' }, 404],
  [{ type: 'request_too_large' }, 413],
  [{ type: 'rate_limit_error' }, 429],
  [{ code: 'rate_limit_exceeded', type: 'requests' }, 429],
  [{ type: 'overloaded_error' }, 529],
  [{ code: 'image_generation_user_error' }, 400],
  [{ code: 'image_generation_server_error' }, null],
  [{ code: 'server_is_overloaded' }, 503],
  [{ type: 'timeout_error' }, 504],
  [{ type: 'invalid_request_error', code: null }, 400],
  [{ type: 'invalid_request_error', code: 'context_length_exceeded' }, 400],
  [{ type: 'data_inspection_failed' }, 400],
  [{ code: 'invalid_prompt' }, 400],
  [{ code: 'image_too_large' }, 400],
  [{ code: 'image_file_not_found' }, 400],
  [{ code: 'moderation_blocked' }, 400],
  [{ code: 'misalignment_policy_violation' }, 400],
  [{ code: 'server_error' }, null],
  [{ type: 'api_error' }, null],
  [{ code: 'data_residency_mismatch' }, null],
  [{ code: '1113' }, null],
  [{ message: 'invalid' }, null],
];

test('an error under a status of success has the status that its number or its words name', () => {
  for (const [error, status] of statuses)
    assert.equal(readErrorStatus(error), status, JSON.stringify(error));
});

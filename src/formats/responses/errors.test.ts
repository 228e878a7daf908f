import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError } from '../../canonical/errors.ts';
import { readFailure, writeError } from './errors.ts';
import { errorContext } from '../../../tests/support/error-context.ts';

test('an error has the registry’s code as its type, and its details', () => {
  const error = new ApiError('key_daily_limit_reached', 'The cap is reached.', {
    details: { left_micros: 0 },
  });
  assert.deepEqual(writeError(error, errorContext), {
    error: {
      message: 'The cap is reached.',
      type: 'key_daily_limit_reached',
      code: 'key_daily_limit_reached',
      param: null,
      request_id: 'req_1',
      documentation_url: 'https://llm.example.com/docs/errors#key_daily_limit_reached',
      details: { left_micros: 0 },
    },
  });
});

test('a stream’s error gets the status that it has outside a stream', () => {
  assert.deepEqual(
    [
      'rate_limit_exceeded',
      'insufficient_quota',
      'invalid_prompt',
      'image_too_large',
      'moderation_blocked',
      'server_is_overloaded',
      'server_error',
    ].map((code) => readFailure({ error: { code, message: 'x' } }).status),
    [429, 402, 400, 400, 400, 503, 500],
  );
  assert.equal(readFailure({}).message, 'the response failed without a message');
});

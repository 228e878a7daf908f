import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError } from '../../canonical/errors.ts';
import { writeError } from './errors.ts';
import { errorContext } from '../../../tests/support/error-context.ts';

test('an error has message, type, code, param, request id, its page in the documentation and any details', () => {
  const plain = new ApiError('invalid_request', 'n must be 1', { param: 'n' });
  const error = {
    message: 'n must be 1',
    type: 'invalid_request_error',
    code: 'invalid_request',
    param: 'n',
    request_id: 'req_1',
    documentation_url: 'https://llm.example.com/docs/errors#invalid_request',
  };
  assert.deepEqual(writeError(plain, errorContext), { error });
  const detailed = new ApiError('insufficient_balance', 'too little', {
    details: { left_micros: 5 },
  });
  assert.deepEqual((writeError(detailed, errorContext).error as { details: unknown }).details, {
    left_micros: 5,
  });
});

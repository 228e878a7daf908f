import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError, errorKinds, invalidRequest, type ErrorCode } from '../../canonical/errors.ts';
import { objectOf } from '../../lib/json.ts';
import { writeError } from './errors.ts';
import { errorContext } from '../../../tests/support/error-context.ts';

const types: Record<ErrorCode, string> = {
  invalid_request: 'invalid_request_error',
  context_length_exceeded: 'invalid_request_error',
  previous_response_not_found: 'invalid_request_error',
  websocket_connection_limit_reached: 'invalid_request_error',
  invalid_api_key: 'authentication_error',
  not_signed_in: 'authentication_error',
  sign_in_failed: 'authentication_error',
  insufficient_balance: 'billing_error',
  model_not_allowed_for_key: 'permission_error',
  key_scope_missing: 'permission_error',
  address_not_allowed: 'permission_error',
  account_frozen: 'permission_error',
  loss_budget_exceeded: 'permission_error',
  confirmation_required: 'permission_error',
  not_permitted: 'permission_error',
  model_not_found: 'not_found_error',
  not_found: 'not_found_error',
  method_not_allowed: 'invalid_request_error',
  request_timeout: 'invalid_request_error',
  conflict: 'invalid_request_error',
  request_too_large: 'request_too_large',
  unsupported_media_type: 'invalid_request_error',
  idempotency_conflict: 'invalid_request_error',
  idempotency_body_not_retained: 'invalid_request_error',
  upgrade_required: 'invalid_request_error',
  key_daily_limit_reached: 'billing_error',
  member_budget_reached: 'billing_error',
  key_monthly_limit_reached: 'billing_error',
  rate_limit_exceeded: 'rate_limit_error',
  headers_too_large: 'invalid_request_error',
  not_supported: 'not_supported',
  internal_error: 'api_error',
  upstream_error: 'api_error',
  upstream_unavailable: 'api_error',
  overloaded: 'overloaded_error',
  upstream_timeout: 'timeout_error',
};

test("every error of the registry has Anthropic's type for its status", () => {
  for (const code of Object.keys(errorKinds) as ErrorCode[]) {
    assert.deepEqual(writeError(new ApiError(code, 'Words.'), errorContext), {
      type: 'error',
      error: {
        type: types[code],
        message: code === 'context_length_exceeded' ? 'prompt is too long: Words.' : 'Words.',
        code,
        documentation_url: `https://llm.example.com/docs/errors#${code}`,
      },
      request_id: 'req_1',
    });
  }
});

test('details are added beside the message and cannot replace it; the wrong field is named', () => {
  const details = { left_micros: 5, message: 'other', type: 'other' };
  assert.deepEqual(
    writeError(new ApiError('insufficient_balance', 'Words.', { details }), errorContext).error,
    {
      left_micros: 5,
      type: 'billing_error',
      message: 'Words.',
      code: 'insufficient_balance',
      documentation_url: 'https://llm.example.com/docs/errors#insufficient_balance',
    },
  );
  assert.equal(
    (
      writeError(invalidRequest('max_tokens', 'Words.'), errorContext).error as Record<
        string,
        unknown
      >
    ).param,
    'max_tokens',
  );
});

/** Providers' messages, and the token counts that clients get in front of each. */
const overflows: Readonly<Record<string, string>> = {
  "This model's maximum context length is 128000 tokens. However, your messages resulted in 130000 tokens.":
    '130000 tokens > 128000 maximum. ',
  'Requested token count exceeds the maximum context length of 262144 tokens. You requested a total of 262462 tokens: 230462 tokens from the input messages and 32000 tokens for the completion.':
    '262462 tokens > 262144 maximum. ',
  'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).':
    '1200000 tokens > 1048576 maximum. ',
  "This model's maximum context length is 128000 tokens. However, you requested 129860 tokens (1360 in the messages, 128500 in the completion).":
    '129860 tokens > 128000 maximum. ',
  'Current length is 66000 while limit is 65536': '66000 tokens > 65536 maximum. ',
  'request (5000 tokens) exceeds the available context size (4096 tokens)':
    '5000 tokens > 4096 maximum. ',
  // Only with the output, whose size these leave to the reader.
  "'max_tokens' is too large: 32000. This model's maximum context length is 131072 tokens and your request has 120000 input tokens (32000 > 131072 - 120000).":
    '',
  '`inputs` tokens + `max_new_tokens` must be <= 32769. Given: 29000 `inputs` tokens and 8192 `max_new_tokens`':
    '',
  'Range of input length should be [1, 204800]': '',
  'On 2026-11-30, m-2026 exceeds its limit of 204800 tokens': '',
  'Your input exceeds the context window of this model.': '',
};

test('a prompt that is too long is told in the words at which Claude Code compacts', () => {
  const told = (message: string) =>
    objectOf(writeError(new ApiError('context_length_exceeded', message), errorContext).error)
      .message;
  for (const [message, counts] of Object.entries(overflows))
    assert.equal(told(message), `prompt is too long: ${counts}${message}`);
  for (const own of [
    'Prompt is too long: 208310 tokens > 200000 maximum',
    'Input is too long for requested model.',
    'input length and `max_tokens` exceed context limit: 190000 + 32000 > 200000',
  ])
    assert.equal(told(own), own);
});

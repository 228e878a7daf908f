import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ApiError } from '../canonical/errors.ts';
import { invalidRequest } from '../canonical/errors.ts';
import { inClientWords } from './client-words.ts';
import { clientFormats } from './registry.ts';

const asTold = (error: unknown, names?: Readonly<Record<string, string>>) => {
  const told = inClientWords(error, names) as ApiError;
  return [told.param, told.message];
};

test('a refusal names the field as the caller wrote it', () => {
  const refusal = invalidRequest('response_format', 'response_format `json_object` is not available');
  assert.deepEqual(asTold(refusal, clientFormats.responses.fieldNames), [
    'text.format',
    'text.format `json_object` is not available',
  ]);
  assert.equal(asTold(refusal, clientFormats.chat.fieldNames)[0], 'response_format');
  assert.equal(asTold(invalidRequest('stop', 'stop: no'), clientFormats.messages.fieldNames)[1], 'stop_sequences: no');
  assert.equal(asTold(invalidRequest('messages', 'x'), clientFormats.responses.fieldNames)[0], 'input');
});

test('other errors are left as they are', () => {
  const bug = new TypeError('x');
  assert.equal(inClientWords(bug, { stop: 'y' }), bug);
  assert.equal(asTold(invalidRequest(null, 'stop it'), { stop: 'y' })[1], 'stop it');
});

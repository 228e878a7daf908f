import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ApiError } from '../canonical/errors.ts';
import { invalidRequest } from '../canonical/errors.ts';
import { inWordsOf } from './client-words.ts';
import { clientFormats } from './registry.ts';

const asReported = (error: unknown, names?: Readonly<Record<string, string>>) => {
  const refusal = thrownBy(error, names) as ApiError;
  return [refusal.param, refusal.message];
};

function thrownBy(error: unknown, names?: Readonly<Record<string, string>>): unknown {
  try {
    return inWordsOf(names, () => {
      throw error;
    });
  } catch (thrown) {
    return thrown;
  }
}

test('a refusal uses the client format’s name for the field', () => {
  const refusal = invalidRequest(
    'response_format',
    'response_format `json_object` is not available',
  );
  assert.deepEqual(asReported(refusal, clientFormats.responses.fieldNames), [
    'text.format',
    'text.format `json_object` is not available',
  ]);
  assert.equal(asReported(refusal, clientFormats.chat.fieldNames)[0], 'response_format');
  assert.equal(
    asReported(invalidRequest('stop', 'stop: no'), clientFormats.messages.fieldNames)[1],
    'stop_sequences: no',
  );
  assert.equal(
    asReported(invalidRequest('messages', 'x'), clientFormats.responses.fieldNames)[0],
    'input',
  );
});

test('other errors stay unchanged', () => {
  const bug = new TypeError('x');
  assert.equal(thrownBy(bug, { stop: 'y' }), bug);
  assert.equal(asReported(invalidRequest(null, 'stop it'), { stop: 'y' })[1], 'stop it');
});

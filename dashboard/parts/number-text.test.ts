import assert from 'node:assert/strict';
import { test } from 'node:test';
import { countedText } from './number-text.ts';

test('one of a thing is named in the singular', () => {
  assert.equal(countedText(1, 'input token'), '1 input token');
  assert.equal(countedText(0, 'input token'), '0 input tokens');
  assert.match(countedText(1_234, 'input token'), /^1.?234 input tokens$/);
});

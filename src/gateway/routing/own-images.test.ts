import assert from 'node:assert/strict';
import { test } from 'node:test';
import { estimateInputTokens } from '../../lib/tokens.ts';
import { promptCharactersMax, promptTokensMax } from './own-images.ts';

test('no prompt of an image is estimated above what is held for it', () => {
  // The first code point of each 256.
  for (let code = 0; code < 0x11_0000; code += 256) {
    const one = String.fromCodePoint(code).toWellFormed();
    const prompt = one.repeat(promptCharactersMax / one.length);
    assert.ok(estimateInputTokens(prompt).upper <= promptTokensMax, code.toString(16));
  }
});

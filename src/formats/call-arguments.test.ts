import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readInput, writeInput } from './call-arguments.ts';

test('arguments that are nested too deep stay text', () => {
  const text = `{"a":${'['.repeat(20_000)}${']'.repeat(20_000)}}`;
  const input = writeInput(text);
  assert.deepEqual(input, { invalid_json_arguments: text });
  assert.equal(readInput(input), text);
});

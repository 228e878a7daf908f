import assert from 'node:assert/strict';
import { test } from 'node:test';
import { prettyJson } from './pretty-json.ts';

test('JSON is indented, and other text is left alone', () => {
  assert.equal(prettyJson('{"a":1}'), '{\n  "a": 1\n}');
  assert.equal(prettyJson('{"a":'), null);
  assert.equal(prettyJson('"text"'), null);
});

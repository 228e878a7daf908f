import assert from 'node:assert/strict';
import { test } from 'node:test';
import { prettyBody } from './pretty-body.ts';

const body = (text: string, cut = false) => ({ text, cut, bytes: text.length });

test('JSON is indented, and other texts stay as they were sent', () => {
  assert.equal(prettyBody(body('{"a":[1]}')), '{\n  "a": [\n    1\n  ]\n}');
  for (const text of ['data: {"a":1}\n\ndata: [DONE]\n\n', '{"a', ''])
    assert.equal(prettyBody(body(text)), text);
  assert.equal(prettyBody(body('{"a":1}', true)), '{"a":1}');
});

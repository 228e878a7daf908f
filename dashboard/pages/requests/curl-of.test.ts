import assert from 'node:assert/strict';
import { test } from 'node:test';
import { curlOf } from './curl-of.ts';

const request = {
  endpoint: 'chat',
  model: { id: 'm-1', name: 'M' },
  history: null,
  streamed: false,
};
const copied = (text: string) =>
  curlOf(request, { text, cut: false, bytes: text.length }, 'https://x.test');

test('a kept body that is an object in JSON is copied, without characters that a terminal acts on', () => {
  const { command, isOwn } = copied('{"a":"\u009b1m\u007f"}');
  assert.ok(isOwn);
  assert.ok(command.endsWith(String.raw`--data-raw '{"a":"\u009b1m\u007f"}'`));
});

test('anything else is copied with an example body', () => {
  for (const text of ['{"a', '[{"prompt":"x"}]', 'rm -rf \u0003', '']) {
    const { command, isOwn } = copied(text);
    assert.ok(!isOwn);
    assert.match(command, /--data-raw '\{"model":"m-1","messages":/);
  }
});

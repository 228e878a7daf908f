import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ImageBytes } from '../../lib/image.ts';
import { parseCountRequest } from './count-tokens.ts';
import { hasUrlDocument, inlineImages, listUrlImages } from './url-images.ts';

const image = (url: string) => ({
  type: 'image',
  source: { type: 'url', url },
  cache_control: { type: 'ephemeral' },
});
const inline = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } };

function request(...content: object[]) {
  const result = {
    type: 'tool_result',
    tool_use_id: 'a',
    content: [image('http://b.example/2.png'), inline],
  };
  return parseCountRequest({
    model: 'm',
    messages: [
      { role: 'user', content: 'Hello' },
      { role: 'user', content: [result, image('http://a.example/1.png'), ...content] },
    ],
  });
}

const bytes = Buffer.from('picture');
const fetched: ImageBytes = { bytes, mediaType: 'image/webp', width: 1, height: 1 };

test('image URLs are found in every kind of block, with their paths', () => {
  assert.deepEqual(listUrlImages(request()), [
    { url: 'http://b.example/2.png', path: 'messages[1].content[0].content[0]' },
    { url: 'http://a.example/1.png', path: 'messages[1].content[1]' },
  ]);
});

test('fetched images become base64 with their real type, and everything else stays unchanged', () => {
  const before = request();
  const after = inlineImages(before, new Map([['http://b.example/2.png', fetched]]));
  const source = { type: 'base64', media_type: 'image/webp', data: bytes.toString('base64') };
  const expected = structuredClone(before.body) as {
    messages: { content: { content: object[] }[] }[];
  };
  expected.messages[1]!.content[0]!.content[0] = { ...image(''), source };
  assert.deepEqual(after.body, expected);
  assert.deepEqual(before, request(), 'the request that came in is not changed');
  assert.deepEqual(listUrlImages(after), [
    { url: 'http://a.example/1.png', path: 'messages[1].content[1]' },
  ]);
});

test('a document by URL is detected', () => {
  assert.equal(hasUrlDocument(request()), false);
  assert.equal(
    hasUrlDocument(
      request({ type: 'document', source: { type: 'url', url: 'http://a.example/x.pdf' } }),
    ),
    true,
  );
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ImageBytes } from '../lib/image.ts';
import type { JsonObject } from '../lib/json.ts';
import { inlineImages, listUrlMedia } from './url-media.ts';

const url = 'http://a.example/1';
const bytes = Buffer.from('picture');
const data = bytes.toString('base64');
const fetched: ImageBytes = { bytes, mediaType: 'image/webp', width: 1, height: 1 };
const dataUrl = `data:image/webp;base64,${data}`;
const image = { type: 'image', source: { type: 'url', url }, cache_control: {} };
const base64 = { ...image, source: { type: 'base64', media_type: 'image/webp', data } };

type Place = { readonly body: (part: object) => JsonObject; readonly path: string };

const inMessage: Place = {
  body: (part) => ({ messages: [{ content: 'Hello' }, { content: [part] }] }),
  path: 'messages[1].content[0]',
};
const inItem: Place = {
  body: (part) => ({ input: [{ content: [part] }] }),
  path: 'input[0].content[0]',
};
const inContents: Place = {
  body: (part) => ({ contents: [{ parts: [part] }] }),
  path: 'contents[0].parts[0]',
};
const inResult = (name: string, { body, path }: Place): Place => ({
  body: (part) => body({ [name]: [part] }),
  path: `${path}.${name}[0]`,
});

const images: readonly (readonly [Place, before: object, after: object])[] = [
  [
    inMessage,
    { type: 'image_url', image_url: { url, detail: 'low' } },
    { type: 'image_url', image_url: { url: dataUrl, detail: 'low' } },
  ],
  [
    inMessage,
    { type: 'image_url', image_url: url },
    { type: 'image_url', image_url: { url: dataUrl } },
  ],
  [inMessage, image, base64],
  [inResult('content', inMessage), image, base64],
  [inItem, { type: 'input_image', image_url: url }, { type: 'input_image', image_url: dataUrl }],
  [
    { body: (output) => ({ input: [{ output }] }), path: 'input[0].output' },
    { type: 'computer_screenshot', image_url: url },
    { type: 'computer_screenshot', image_url: dataUrl },
  ],
  ...[
    inContents,
    inResult('parts', {
      ...inContents,
      body: (functionResponse) => inContents.body({ functionResponse }),
      path: `${inContents.path}.functionResponse`,
    }),
  ].map(
    (place) =>
      [
        place,
        { fileData: { fileUri: url, mimeType: 'image/png' } },
        { inlineData: { mimeType: 'image/webp', data } },
      ] as const,
  ),
];

test('an image by URL is found in every format, and its bytes take its place', () => {
  for (const [{ body, path }, before, after] of images) {
    const request = body(before);
    assert.deepEqual(listUrlMedia(request), { images: [{ url, path }], other: null });
    assert.deepEqual(inlineImages(request, new Map([[url, fetched]])), body(after));
    assert.deepEqual(request, body(before), 'the request that came in is not changed');
  }
});

test('other media by address are found in every format', () => {
  for (const [{ body }, part] of [
    [inMessage, { type: 'document', source: { type: 'url', url } }],
    [inMessage, { ...image, source: { type: 'url', url: 'file:///etc/passwd' } }],
    [inMessage, { type: 'video_url', video_url: { url: 'private.mp4' } }],
    [inMessage, { ...image, image_url: { url } }],
    [inMessage, { type: 'image_url', image_url: { url }, video_url: { url } }],
    [inItem, { type: 'input_file', file_url: url }],
    [inItem, { type: 'input_file', file_data: url }],
    [inItem, { type: 'input_image', image_url: '/srv/photo.png' }],
    [inContents, { fileData: { fileUri: url, mimeType: 'application/pdf' } }],
  ] as const)
    assert.notEqual(listUrlMedia(body(part)).other, null, JSON.stringify(part));
});

test('addresses in words and in the arguments of tools are none of media', () => {
  for (const [{ body }, part] of [
    [inMessage, { type: 'text', text: url, annotations: [{ url_citation: { url } }] }],
    [inMessage, { type: 'tool_use', input: { image_url: url, source: image.source } }],
    [inMessage, { type: 'document', source: { type: 'text', data: `${url} is down` } }],
    [inMessage, { type: 'search_result', source: url, content: [] }],
    [inMessage, base64],
    [inContents, { functionCall: { args: { file_url: url } } }],
    [inContents, { functionResponse: { response: { file_url: url } } }],
    [{ body: (item: object) => ({ input: [item] }) }, { type: 'function_call', arguments: url }],
  ] as const)
    assert.deepEqual(listUrlMedia(body(part)), { images: [], other: null }, JSON.stringify(part));
});

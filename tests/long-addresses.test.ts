// URLs in a request have a maximum length at every entry point, so code that reads, fetches or
// forwards them never sees a longer one.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError } from '../src/canonical/errors.ts';
import type { ClientFormatName } from '../src/terms/format-name.ts';
import { clientFormats } from '../src/formats/registry.ts';
import { parseImageRequest } from '../src/domain/images/image-request.ts';

type Format = ClientFormatName | 'images';
type Place = readonly [field: string, body: (address: string) => object];

const chat = (part: object) => ({ model: 'm', messages: [{ role: 'user', content: [part] }] });
const responses = (part: object) => ({ model: 'm', input: [{ role: 'user', content: [part] }] });
const messages = (block: object) => ({
  model: 'm',
  max_tokens: 9,
  messages: [{ role: 'user', content: [block] }],
});
const result = (block: object) =>
  messages({ type: 'tool_result', tool_use_id: 'a', content: [block] });

const places: Readonly<Record<Format, readonly Place[]>> = {
  chat: [
    ['image_url.url', (url) => chat({ type: 'image_url', image_url: { url } })],
    ['file.file_data', (url) => chat({ type: 'file', file: { file_data: url } })],
  ],
  responses: [
    ['image_url', (url) => responses({ type: 'input_image', image_url: url })],
    ['file_url', (url) => responses({ type: 'input_file', file_url: url })],
    ['file_data', (url) => responses({ type: 'input_file', file_data: url })],
    [
      'image_url',
      (url) => {
        const output = [{ type: 'input_image', image_url: url }];
        return { model: 'm', input: [{ type: 'function_call_output', call_id: 'a', output }] };
      },
    ],
  ],
  messages: [
    ['url', (url) => messages({ type: 'image', source: { type: 'url', url } })],
    ['url', (url) => messages({ type: 'document', source: { type: 'url', url } })],
    ['url', (url) => result({ type: 'image', source: { type: 'url', url } })],
  ],
  gemini: [],
  images: [['images[0]', (url) => ({ model: 'm', prompt: 'p', images: [url] })]],
};

const addressOf = (length: number) => `https://${'.'.repeat(length - 8)}`;

for (const [format, ofFormat] of Object.entries(places) as [Format, readonly Place[]][]) {
  for (const [field, body] of ofFormat) {
    const parse = (address: string): unknown =>
      format === 'images'
        ? parseImageRequest(body(address))
        : clientFormats[format].parseRequest(body(address), { chatMaxTokens: null });
    test(`${format}: ${field}`, () => {
      parse(addressOf(8_192));
      assert.throws(
        () => parse(addressOf(8_193)),
        (error) =>
          error instanceof ApiError &&
          error.status === 400 &&
          error.message.includes(`${field} must be an address of at most`),
      );
      if (field !== 'file_url' && field !== 'url')
        parse(`data:image/png;base64,${'A'.repeat(100_000)}`);
    });
  }
}

// URLs in a request have a maximum length at every entry point, so code that reads, fetches or
// forwards them never sees a longer one.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError } from '../src/canonical/errors.ts';
import type { ClientFormatName } from '../src/terms/format-name.ts';
import { clientFormats } from '../src/formats/registry.ts';
import { parseImageRequest } from '../src/domain/images/image-request.ts';

type Place = {
  readonly name: ClientFormatName | 'images';
  readonly field: string;
  readonly body: (address: string) => object;
};

const chat = (part: object) => ({ model: 'm', messages: [{ role: 'user', content: [part] }] });
const responses = (part: object) => ({ model: 'm', input: [{ role: 'user', content: [part] }] });
const messages = (block: object) => ({
  model: 'm',
  max_tokens: 9,
  messages: [{ role: 'user', content: [block] }],
});
const result = (block: object) =>
  messages({ type: 'tool_result', tool_use_id: 'a', content: [block] });

const places: readonly Place[] = [
  {
    name: 'chat',
    field: 'image_url.url',
    body: (url) => chat({ type: 'image_url', image_url: { url } }),
  },
  {
    name: 'chat',
    field: 'file.file_data',
    body: (url) => chat({ type: 'file', file: { file_data: url } }),
  },
  {
    name: 'responses',
    field: 'image_url',
    body: (url) => responses({ type: 'input_image', image_url: url }),
  },
  {
    name: 'responses',
    field: 'file_url',
    body: (url) => responses({ type: 'input_file', file_url: url }),
  },
  {
    name: 'responses',
    field: 'file_data',
    body: (url) => responses({ type: 'input_file', file_data: url }),
  },
  {
    name: 'responses',
    field: 'image_url',
    body: (url) => ({
      model: 'm',
      input: [
        {
          type: 'function_call_output',
          call_id: 'a',
          output: [{ type: 'input_image', image_url: url }],
        },
      ],
    }),
  },
  {
    name: 'messages',
    field: 'url',
    body: (url) => messages({ type: 'image', source: { type: 'url', url } }),
  },
  {
    name: 'messages',
    field: 'url',
    body: (url) => messages({ type: 'document', source: { type: 'url', url } }),
  },
  {
    name: 'messages',
    field: 'url',
    body: (url) => result({ type: 'image', source: { type: 'url', url } }),
  },
  {
    name: 'images',
    field: 'images[0]',
    body: (url) => ({ model: 'm', prompt: 'p', images: [url] }),
  },
];

const parse = ({ name, body }: Place, address: string): unknown =>
  name === 'images'
    ? parseImageRequest(body(address))
    : clientFormats[name].parseRequest(body(address), { chatMaxTokens: null });
const addressOf = (length: number) => `https://${'.'.repeat(length - 8)}`;

for (const place of places) {
  test(`${place.name}: ${place.field}`, () => {
    parse(place, addressOf(8_192));
    assert.throws(
      () => parse(place, addressOf(8_193)),
      (error) =>
        error instanceof ApiError &&
        error.status === 400 &&
        error.message.includes(`${place.field} must be an address of at most`),
    );
    if (place.field !== 'file_url' && place.field !== 'url')
      parse(place, `data:image/png;base64,${'A'.repeat(100_000)}`);
  });
}

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from '../../tests/support/property.ts';
import type { ImageVendor } from './image-tokens.ts';
import { leastCpuMsOf } from '../../tests/support/cpu-time.ts';
import { countTokens } from '../../tests/support/encodings.ts';
import { ordinaryTexts } from '../../tests/support/ordinary-texts.ts';
import { pngHead } from '../../tests/support/images/png-head.ts';
import { estimateInputTokens } from './tokens.ts';
import { tokensFromBytes, utf8Length } from './tokens-from-bytes.ts';

const upperOfPart = (part: unknown) => estimateInputTokens({ content: [part] }).upper;
const upperOf = (text: string) => estimateInputTokens({ input: text }).upper;

test('the upper estimate is never below our own count', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (body) => {
      const { upper, likely } = estimateInputTokens(body);
      assert.ok(upper >= likely, `${upper} < ${likely}`);
    }),
  );
});

for (const { name, text, estimatedBefore } of ordinaryTexts) {
  test(`the upper estimate of ${name} is a bound with a margin of at most ten percent`, () => {
    assert.ok(upperOf(text) >= countTokens(text));
    const where = `${upperOf(text)} instead of ${estimatedBefore}`;
    assert.ok(upperOf(text) <= estimatedBefore * 1.1, where);
  });
}

const many = <Item>(item: Item): Item[] => Array.from({ length: 2_000 }, () => item);
const keyed = (key: (index: number) => string, value: unknown) =>
  Object.fromEntries(many(value).map((item, index) => [key(index), item]));
const structures: Readonly<Record<string, unknown>> = {
  'empty lists': many([]),
  'empty objects': many({}),
  'lists in lists': JSON.parse('['.repeat(500) + ']'.repeat(500)),
  'empty strings': many(''),
  'strings of one letter': many('q'),
  numbers: many(7),
  'long numbers': many(-1.234567890123456e-300),
  'true, false and null': [many(true), many(false), many(null)],
  'short keys': keyed((index) => index.toString(36), ''),
  'hostile keys': keyed((index) => `~b^A${index}|q`, 1),
  'Chinese keys': keyed((index) => String.fromCharCode(0x4e00 + index), null),
};
for (const [name, arguments_] of Object.entries(structures)) {
  test(`the upper estimate of ${name} as arguments is not below their JSON`, () => {
    const call = { type: 'tool_use', id: 'x', name: 'x', input: arguments_ };
    const [upper, tokens] = [upperOfPart(call), countTokens(JSON.stringify(arguments_))];
    assert.ok(upper >= tokens, `${upper} < ${tokens}`);
  });
}

test('hostile input is counted in linear time', () => {
  const [short, long] = ['a'.repeat(200_000), 'a'.repeat(2_000_000)];
  const once = leastCpuMsOf(() => assert.ok(upperOf(short) >= 200_000 && upperOf(short) < 250_000));
  // The time grows with the length, not its square.
  assert.ok(leastCpuMsOf(() => upperOf(long)) < Math.max(once, 1) * 50);
});

/** An image of that size, in each way that a format can carry it. */
function imageParts(base64: string, detail?: string) {
  const url = `data:image/png;base64,${base64}`;
  const inResult = { type: 'image', source: { type: 'base64', data: base64 } };
  return [
    { type: 'image', source: { type: 'base64', media_type: 'image/png', data: base64 } },
    { type: 'image_url', image_url: { url, detail } },
    { type: 'input_image', image_url: url, detail },
    { type: 'tool_result', tool_use_id: 'x', content: [inResult] },
  ];
}

test('each byte of a very long text counts as a token, in one text or in many', () => {
  const long = 'é'.repeat(8_000_001);
  assert.ok(upperOf(long) >= 2 * long.length);
  const eighth = 'a '.repeat(1_000_000);
  const eight = estimateInputTokens({ input: Array(8).fill(eighth) });
  assert.ok(eight.upper > 8 * upperOf(eighth) && eight.likely === 4_000_000);
});

test("an image counts by its vendor's formula, in every position that a format allows", () => {
  const side = fc.integer({ min: 1, max: 9_000 });
  fc.assert(
    fc.property(side, side, (width, height) => {
      const formulas = {
        anthropic: Math.min(Math.ceil(width / 28) * Math.ceil(height / 28), 4_800),
        openai: Math.min(Math.ceil(width / 32) * Math.ceil(height / 32), 10_000) * 1.2,
        google: 1_100,
      } as const;
      for (const part of imageParts(pngHead(width, height).toString('base64'))) {
        for (const imageVendor of ['anthropic', 'openai', 'google'] as const) {
          const billed = formulas[imageVendor];
          const { upper, likely } = estimateInputTokens({ content: [part] }, { imageVendor });
          const where = `${imageVendor} ${part.type}: ${upper} and ${likely} for ${billed}`;
          assert.ok(upper >= billed && upper < billed + 250, where);
          assert.ok(likely >= billed && likely < billed + 20, where);
          // An unknown vendor gets the highest estimate.
          assert.ok(upperOfPart(part) >= billed, where);
        }
      }
    }),
  );
});

test("an image of unknown size counts as the vendor's largest", () => {
  const unknowns = ['A'.repeat(4_000_000), '', 'iVBORw0KGgo=', 'https://example.com/cat.png'];
  const urls = unknowns.map((data) => ({ type: 'image', source: { type: 'url', url: data } }));
  const carried = unknowns.flatMap((data) => imageParts(data));
  for (const part of [...carried, ...urls, { type: 'image' }, { type: 'input_image' }]) {
    const upper = (imageVendor?: ImageVendor) =>
      estimateInputTokens({ content: [part] }, { imageVendor }).upper;
    for (const [vendor, least] of [
      ['anthropic', 4_800],
      ['openai', 12_000],
      ['google', 1_100],
      [undefined, 12_000],
      ['sandbox', 1_600],
    ] as const) {
      const tokens = upper(vendor);
      const where = `${vendor}: ${JSON.stringify(part).slice(0, 80)}`;
      assert.ok(tokens >= least && tokens < least + 200, where);
    }
  }
});

test('the highest resolution of an image costs twice as much at Google', () => {
  const inlineData = { mimeType: 'image/png', data: 'iVBORw0KGgo=' };
  const mediaResolution = { level: 'MEDIA_RESOLUTION_ULTRA_HIGH' };
  const estimate = estimateInputTokens(
    { contents: [{ parts: [{ inlineData, mediaResolution }] }] },
    { imageVendor: 'google' },
  );
  assert.ok(estimate.upper >= 2_240 && estimate.upper < 2_500, String(estimate.upper));
  assert.ok(estimate.likely >= 2_200);
});

test('low detail is cheap at OpenAI', () => {
  const parts = imageParts(pngHead(4_000, 4_000).toString('base64'), 'low').slice(1, 3);
  for (const part of parts) {
    const { upper } = estimateInputTokens({ content: [part] }, { imageVendor: 'openai' });
    assert.ok(upper < 500, part.type);
  }
});

test('fields beside an image count, and an image-like object in arguments or schemas is text', () => {
  const data = `iVBORw0KGgo${'A'.repeat(400_000)}`;
  const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data } };
  const texts = [
    { type: 'text', text: data },
    { data },
    { ...image, hidden: `${data}B` },
    { ...image, source: { ...image.source, hidden: `${data}B` } },
    { type: 'tool_use', id: 'x', name: 'x', input: image },
    { name: 'x', input_schema: { default: image } },
    { type: 'function', function: { name: 'x', parameters: { default: image } } },
  ];
  for (const part of texts)
    assert.ok(upperOfPart(part) > 400_000, JSON.stringify(part).slice(0, 60));
  assert.ok(upperOfPart(image) < 13_000);
  // The Responses `input` is not a tool argument.
  assert.ok(estimateInputTokens({ input: [image] }).upper < 13_000);
});

test('our own count is one token per four bytes', () => {
  assert.equal(tokensFromBytes(0), 0);
  assert.equal(tokensFromBytes(1), 1);
  assert.equal(tokensFromBytes(2000), 500);
  assert.equal(utf8Length('é🙂'), 6);
});

test('audio and video exceed any context, in every position and encoding', () => {
  const address = 'https://films.example/a';
  const types = ['video_url', 'audio_url', 'input_video', 'input_audio', 'video', 'audio'];
  const parts = [
    ...types.flatMap((type) => [
      { type, [type]: address },
      { type, [type]: { url: 'data:video/mp4;base64,AAAA' } },
      { type: 'text', text: 'x', [type]: { url: address } },
    ]),
    { type: 'video', video: [address, `${address}/2`] },
    { type: 'input_audio', input_audio: { data: 'AAAA', format: 'mp3' } },
    ...['document_url', 'file_url'].map((type) => ({ type, [type]: address })),
    { type: 'file_url', file_url: { url: address } },
    { type: 'file', file: { file_data: address, filename: 'a.pdf' } },
    { type: 'input_file', file_data: ' HTTPS://films.example/a' },
  ];
  for (const part of parts) {
    const nested = { type: 'tool_result', tool_use_id: 'a', content: [part] };
    for (const body of [part, nested]) {
      const messages = [{ role: 'user', content: [body] }];
      const { upper, likely } = estimateInputTokens({ messages });
      assert.ok(upper > 100_000_000 && likely < 10_000, JSON.stringify(body));
    }
  }
});

test('inline video is not counted as text, but a schema or argument that mentions one is', () => {
  const data = `data:video/mp4;base64,${'A'.repeat(400_000)}`;
  const video = { type: 'video_url', video_url: { url: data } };
  const { likely } = estimateInputTokens({ content: [video] });
  assert.ok(likely < 5_000, String(likely));
  const json_schema = { schema: { properties: { audio: { type: 'video' } } } };
  const texts = [
    { input_schema: { properties: { video: { type: 'string' } } } },
    { response_format: { type: 'json_schema', json_schema } },
    { type: 'tool_use', id: 'a', name: 'a', input: { video_url: 'https://films.example/a' } },
    { metadata: { video: 'https://films.example/a' } },
    { type: 'text', text: 'https://films.example/a', audio: null },
  ];
  for (const part of texts) assert.ok(upperOfPart(part) < 500, JSON.stringify(part));
});

test('an image with several sources counts as the largest, and its declared type decides', () => {
  const tiny = pngHead(1, 1).toString('base64');
  const url = 'https://example.com/cat.png';
  const twice = [
    { type: 'image', source: { type: 'url', url, media_type: 'image/png', data: tiny } },
    { type: 'image_url', image_url: { type: 'thinking_blocks', url, data: tiny } },
    { type: 'image_url', image_url: { url }, source: { data: tiny } },
  ];
  for (const part of twice) assert.ok(upperOfPart(part) > 12_000, JSON.stringify(part));
  for (const type of ['video/mp4', 'audio/mp3', 'text/plain', 'Video/MP4', ' video/mp4']) {
    const data = `data:${type};base64,${tiny}`;
    const parts = [
      { type: 'image', source: { type: 'base64', media_type: type, data: tiny } },
      { type: 'image_url', image_url: { url: data } },
      { type: 'input_image', image_url: data },
      { type: 'input_image', image_url: data.replace('data', 'DATA') },
    ];
    for (const part of parts) assert.ok(upperOfPart(part) > 100_000_000, JSON.stringify(part));
  }
  for (const type of ['IMAGE/PNG', 'image/png;a=b', 'application/octet-stream', '']) {
    const part = { type: 'image_url', image_url: { url: `data:${type};base64,${tiny}` } };
    assert.ok(upperOfPart(part) < 13_000, type);
  }
});

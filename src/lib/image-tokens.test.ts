import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from '../../tests/support/property.ts';
import sharp from 'sharp';
import { pngHead } from '../../tests/support/images/png-head.ts';
import { cpuMsOf } from '../../tests/support/cpu-time.ts';
import { estimateImageTokens, readImageSize, type ImageVendor } from './image-tokens.ts';

const table: [vendor: ImageVendor, width: number, height: number, tokens: number][] = [
  ['anthropic', 28, 28, 1],
  ['anthropic', 29, 28, 2],
  ['anthropic', 200, 200, 64],
  ['anthropic', 1_000, 1_000, 1_296],
  ['anthropic', 1_920, 1_080, 2_691],
  ['anthropic', 2_000, 1_500, 3_888],
  ['anthropic', 3_840, 2_160, 4_800],
  ['openai', 32, 32, 2],
  ['openai', 1_024, 1_024, 1_229],
  ['openai', 1_920, 1_080, 2_448],
  ['openai', 3_840, 2_160, 9_792],
  ['openai', 8_000, 8_000, 12_000],
  ['google', 10, 10, 1_120],
  ['google', 3_840, 2_160, 1_120],
  ['sandbox', 3_840, 2_160, 1_600],
  ['unknown', 1_000, 1_000, 1_296],
  ['unknown', 3_840, 2_160, 9_792],
  ['unknown', 10, 10, 1_120],
];

for (const [vendor, width, height, tokens] of table) {
  test(`${vendor}: ${width}×${height} is ${tokens} tokens`, () => {
    assert.equal(estimateImageTokens({ width, height }, vendor).upper, tokens);
  });
}

test('the size of each type is read from its first bytes, plain or in a data URL', async () => {
  const picture = () =>
    sharp({ create: { width: 417, height: 233, channels: 3, background: '#204060' } });
  const profile = Buffer.alloc(60_000, 1);
  const files = await Promise.all([
    picture().png().toBuffer(),
    picture().jpeg().toBuffer(),
    picture()
      .jpeg({ progressive: true })
      .withExif({ IFD0: { ImageDescription: 'x'.repeat(50_000) } })
      .toBuffer(),
    picture().webp().toBuffer(),
    picture().webp({ lossless: true }).toBuffer(),
    picture().gif().toBuffer(),
  ]);
  const jpeg = files[1];
  // A colour profile before the frame, as cameras and editors write it.
  files.push(
    Buffer.concat([
      jpeg.subarray(0, 2),
      Buffer.from([0xff, 0xe2, (60_002 >> 8) & 0xff, 60_002 & 0xff]),
      profile,
      jpeg.subarray(2),
    ]),
  );
  for (const bytes of files) {
    const base64 = bytes.toString('base64');
    for (const text of [
      base64,
      `data:image/png;base64,${base64}`,
      `data:image/svg+xml;charset=x;base64,${base64}`,
    ]) {
      const size = readImageSize(text);
      assert.deepEqual([size?.width, size?.height], [417, 233]);
    }
  }
});

const hostile: [what: string, text: string][] = [
  ['nothing', ''],
  ['a URL', 'https://example.com/cat.png'],
  ['no base64', 'data:image/png;base64,%%%%'],
  [
    'an SVG',
    `data:image/svg+xml;base64,${Buffer.from('<svg width="1" height="1"/>').toString('base64')}`,
  ],
  ['a head cut short', pngHead(10, 10).subarray(0, 20).toString('base64')],
  ['no width', pngHead(0, 10).toString('base64')],
  ['an absurd size', pngHead(0xffffffff, 0xffffffff).toString('base64')],
  [
    'a JPEG of nothing but empty segments',
    Buffer.from(`ffd8${'ffe00002'.repeat(20_000)}`, 'hex').toString('base64'),
  ],
  [
    'a JPEG without a frame',
    Buffer.concat([Buffer.from('ffd8ffe0ffff', 'hex'), Buffer.alloc(10_000_000)]).toString(
      'base64',
    ),
  ],
];

for (const [what, text] of hostile) {
  test(`${what} has no readable size and is rejected quickly`, () => {
    const readTwentyTimes = () => {
      for (let round = 0; round < 20; round++) assert.equal(readImageSize(text), null);
    };
    assert.ok(cpuMsOf(readTwentyTimes) < 1_000);
  });
}

test('no bytes make the reader throw', () => {
  const heads = [
    '',
    '\x89PNG\r\n\x1a\n',
    '\xff\xd8\xff',
    'RIFF0000WEBPVP8 ',
    'RIFF0000WEBPVP8L',
    'RIFF0000WEBPVP8X',
    'GIF89a',
  ];
  fc.assert(
    fc.property(fc.constantFrom(...heads), fc.uint8Array({ maxLength: 300 }), (head, rest) => {
      const size = readImageSize(
        Buffer.concat([Buffer.from(head, 'latin1'), rest]).toString('base64'),
      );
      assert.ok(
        size === null ||
          (size.width > 0 && size.height > 0 && size.width * size.height <= 100_000_000),
      );
    }),
    { numRuns: 2_000 },
  );
});

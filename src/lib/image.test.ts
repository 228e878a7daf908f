import assert from 'node:assert/strict';
import test from 'node:test';
import sharp from 'sharp';
import { cpuMsOf } from '../../tests/support/cpu-time.ts';
import { imagePixelsMax, imageTypeOf, readImage } from './image.ts';

const draw = (width = 123, height = 45) => sharp({ create: { width, height, channels: 4, background: 'red' } });

function problemOf(bytes: Buffer): string {
  const reading = readImage(bytes);
  assert.equal(reading.kind, 'unreadable');
  return reading.problem;
}

test('type and dimensions of every kind of file that is taken', async () => {
  const files = {
    png: [await draw().png().toBuffer(), 'image/png'],
    jpeg: [await draw().jpeg().toBuffer(), 'image/jpeg'],
    progressive: [await draw().jpeg({ progressive: true }).toBuffer(), 'image/jpeg'],
    turned: [await draw().withMetadata({ orientation: 6 }).jpeg().toBuffer(), 'image/jpeg'],
    lossy: [await draw().webp().toBuffer(), 'image/webp'],
    lossless: [await draw().webp({ lossless: true }).toBuffer(), 'image/webp'],
    extended: [await draw().withMetadata().webp().toBuffer(), 'image/webp'],
    gif: [await draw().gif().toBuffer(), 'image/gif'],
  } as const;
  for (const [name, [bytes, mediaType]] of Object.entries(files)) {
    const reading = readImage(bytes);
    assert.equal(reading.kind, 'image', name);
    assert.deepEqual({ ...reading.image, bytes: null }, { bytes: null, mediaType, width: 123, height: 45 }, name);
    assert.equal(reading.image.bytes, bytes, 'no copy');
  }
});

test('what is none of the four types is refused by its bytes', async () => {
  const others = {
    svg: Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="10" height="10"/>'),
    html: Buffer.from('<html><script>alert(1)</script></html>'),
    bmp: Buffer.from('BM\x46\0\0\0', 'latin1'),
    tiff: await draw().tiff().toBuffer(),
    avif: await draw(16, 16).avif().toBuffer(),
    sound: Buffer.from('RIFF\x24\0\0\0WAVEfmt ', 'latin1'),
    empty: Buffer.alloc(0),
  };
  for (const [name, bytes] of Object.entries(others)) {
    assert.equal(imageTypeOf(bytes), null, name);
    assert.equal(problemOf(bytes), 'is not a PNG, JPEG, WebP or GIF image', name);
  }
});

test('a file that is cut off before its dimensions is refused, at any length', async () => {
  const lossless = await draw().webp({ lossless: true }).toBuffer();
  for (const bytes of [await draw().png().toBuffer(), await draw().jpeg().toBuffer(), await draw().webp().toBuffer(), lossless]) {
    // Views of the whole file: what lies behind them in memory is not theirs.
    for (let length = 0; length < 24; length++) problemOf(bytes.subarray(0, length));
  }
});

test('a canvas beyond the bound is refused, whatever the size of the file', async () => {
  const bytes = await draw().png().toBuffer();
  bytes.writeUInt32BE(imagePixelsMax, 16);
  bytes.writeUInt32BE(1, 20);
  assert.equal(readImage(bytes).kind, 'image');
  bytes.writeUInt32BE(2, 20);
  assert.match(problemOf(bytes), /^is 100000000×2 pixels; at most 100 million/);
  bytes.writeUInt32BE(0, 20);
  assert.match(problemOf(bytes), /broken image\/png/);
});

test('a hostile JPEG costs no time: loose bytes, or millions of empty segments before the frame', () => {
  const loose = Buffer.alloc(20_000_000);
  loose.set([0xff, 0xd8, 0xff, 0xe0]);
  const empty = Buffer.alloc(20_000_000);
  empty.set([0xff, 0xd8]);
  for (let at = 2; at + 4 < empty.length; at += 4) empty.set([0xff, 0xe0, 0, 2], at);
  // Without the walk over the segments: seven seconds and more.
  for (const bytes of [loose, empty]) assert.ok(cpuMsOf(() => assert.match(problemOf(bytes), /broken image\/jpeg/)) < 1_000);
});

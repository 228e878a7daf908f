import assert from 'node:assert/strict';
import test, { describe } from 'node:test';
import sharp from 'sharp';
import { cpuMsOf } from '../../tests/support/cpu-time.ts';
import { imagePixelsMax, imageTypeOf, readImage } from './image.ts';

const draw = (width = 123, height = 45) =>
  sharp({ create: { width, height, channels: 4, background: 'red' } });

function problemOf(bytes: Buffer): string {
  const reading = readImage(bytes);
  assert.equal(reading.kind, 'unreadable');
  return reading.problem;
}

test('type and dimensions are read from every supported file type', async () => {
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
    const { bytes: same, ...stated } = reading.image;
    assert.deepEqual(stated, { mediaType, width: 123, height: 45 }, name);
    assert.equal(same, bytes, 'no copy');
  }
});

test('a file of any other type is refused by its bytes', async () => {
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

test('a file truncated before its dimensions is refused, at any length', async () => {
  const lossless = draw().webp({ lossless: true });
  for (const drawn of [draw().png(), draw().jpeg(), draw().webp(), lossless]) {
    const bytes = await drawn.toBuffer();
    // Views of the whole file: the memory behind them belongs to other parts of it.
    for (let length = 0; length < 24; length++) problemOf(bytes.subarray(0, length));
  }
});

test('a canvas over the pixel limit is refused, even in a small file', async () => {
  const bytes = await draw().png().toBuffer();
  bytes.writeUInt32BE(imagePixelsMax, 16);
  bytes.writeUInt32BE(1, 20);
  assert.equal(readImage(bytes).kind, 'image');
  bytes.writeUInt32BE(2, 20);
  assert.match(problemOf(bytes), /^is 100000000×2 pixels; at most 100 million/);
  bytes.writeUInt32BE(0, 20);
  assert.match(problemOf(bytes), /broken image\/png/);
});

test('a hostile JPEG (loose bytes, or millions of empty segments) is refused quickly', () => {
  const loose = Buffer.alloc(20_000_000);
  loose.set([0xff, 0xd8, 0xff, 0xe0]);
  const empty = Buffer.alloc(20_000_000);
  empty.set([0xff, 0xd8]);
  for (let at = 2; at + 4 < empty.length; at += 4) empty.set([0xff, 0xe0, 0, 2], at);
  // Without the walk over the segments this takes seven seconds or more.
  for (const bytes of [loose, empty])
    assert.ok(cpuMsOf(() => assert.match(problemOf(bytes), /broken image\/jpeg/)) < 1_000);
});

describe('the size is that of the decoded pixels, even if the file also declares another', () => {
  const tiny = Buffer.from('ffc00011080001000103012200021101031101', 'hex');

  /** A JPEG whose frame comes first, then a segment with another frame at a given offset. */
  async function jpegWith(before: readonly number[], hiddenAt: number): Promise<Buffer> {
    const bytes = await draw().jpeg().toBuffer();
    let at = 2;
    while (bytes[at + 1] !== 0xc0) at += 2 + bytes.readUInt16BE(at + 2);
    const end = at + 2 + bytes.readUInt16BE(at + 2);
    const start = bytes.subarray(0, 2);
    const head = Buffer.concat([start, Buffer.from(before), bytes.subarray(at, end)]);
    const hiding = Buffer.alloc(2 + 0xffff);
    hiding.set([0xff, 0xef, 0xff, 0xff]);
    tiny.copy(hiding, hiddenAt - head.length);
    return Buffer.concat([head, hiding, bytes.subarray(2, at), bytes.subarray(end)]);
  }

  test('a JPEG with a padding byte before its frame', async () => {
    // Read as a marker, it would start a segment of 49,152 bytes.
    const bytes = await jpegWith([0xff], 4 + 0xc000);
    assert.deepEqual(sizeOf(bytes), [123, 45]);
    assert.deepEqual(await decodedSizeOf(bytes), [123, 45]);
  });

  test('a JPEG with a marker that has no segment is refused', async () => {
    for (const marker of [0x01, 0xd0, 0xd7]) {
      assert.match(problemOf(await jpegWith([0xff, marker], 4 + 0xffc0)), /broken image\/jpeg/);
    }
  });

  test('after the pixels have begun, or after an unusual frame, no other frame is read', () => {
    const scan = Buffer.from([0xff, 0xda, 0, 2, 0xff, 0, 0, 4, 0, 0]);
    const start = Buffer.from([0xff, 0xd8]);
    assert.match(problemOf(Buffer.concat([start, scan, tiny])), /broken image\/jpeg/);
    const arithmetic = Buffer.from(tiny);
    arithmetic.set([0xc9, 0, 17, 8, 1, 0, 2, 0], 1);
    assert.deepEqual(sizeOf(Buffer.concat([start, arithmetic, tiny])), [512, 256]);
  });

  test('a PNG with another chunk before its head, or with two heads, is refused', async () => {
    const bytes = await draw().png().toBuffer();
    const [signature, head] = [bytes.subarray(0, 8), bytes.subarray(8, 33)];
    const other = Buffer.from(head);
    other.writeUInt32BE(1, 8);
    other.writeUInt32BE(1, 12);
    const name = Buffer.from('\0\0\0\x19CgBI', 'latin1');
    const apple = Buffer.concat([name, Buffer.alloc(4), other, Buffer.alloc(4)]);
    for (const first of [apple, other]) {
      const file = Buffer.concat([signature, first, bytes.subarray(8)]);
      assert.match(problemOf(file), /broken image\/png/);
    }
  });

  test('a GIF with a first picture larger than its screen', async () => {
    const bytes = await draw().gif().toBuffer();
    bytes.writeUInt16LE(1, 6);
    bytes.writeUInt16LE(1, 8);
    assert.deepEqual(sizeOf(bytes), [123, 45]);
    assert.deepEqual(await decodedSizeOf(bytes), [123, 45]);
    const empty = Buffer.concat([bytes.subarray(0, 13), Buffer.alloc(2_000)]);
    assert.match(problemOf(empty), /broken image\/gif/);
  });

  function sizeOf(bytes: Buffer): number[] {
    const reading = readImage(bytes);
    return reading.kind === 'image' ? [reading.image.width, reading.image.height] : [];
  }

  async function decodedSizeOf(bytes: Buffer): Promise<number[]> {
    const { info } = await sharp(bytes).raw().toBuffer({ resolveWithObject: true });
    return [info.width, info.height];
  }
});

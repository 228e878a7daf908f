import assert from 'node:assert/strict';
import { test } from 'node:test';
import sharp from 'sharp';
import { readImage, type ImageBytes } from '../../lib/image.ts';
import { forEachDot, layOutText } from './bitmap-text.ts';
import { drawImage, type Drawing } from './draw-image.ts';

function draw({ inputs = [], ...drawing }: Partial<Drawing>): Promise<ImageBytes> {
  return drawImage({
    width: 512,
    height: 512,
    prompt: 'A fox',
    mode: inputs.length === 0 ? 'text-to-image' : 'reference',
    inputs,
    format: 'png',
    variation: 0,
    signal: new AbortController().signal,
    ...drawing,
  });
}

async function plain(colour: string, width = 300, height = 200): Promise<ImageBytes> {
  const bytes = await sharp({ create: { width, height, channels: 3, background: colour } })
    .png()
    .toBuffer();
  return { bytes, mediaType: 'image/png', width, height };
}

async function pixelsOf({ bytes }: ImageBytes) {
  const { data, info } = await sharp(bytes)
    .removeAlpha()
    .raw()
    .toBuffer({ resolveWithObject: true });
  return {
    ...info,
    at: (x: number, y: number) => [
      ...data.subarray((y * info.width + x) * 3, (y * info.width + x) * 3 + 3),
    ],
  };
}

for (const [width, height] of [
  [1_024, 1_024],
  [1_536, 1_024],
  [3_840, 2_160],
  [64, 48],
  [1, 1],
] as const) {
  test(`a picture of ${width}×${height} is a PNG of exactly that size`, async () => {
    const image = await draw({ width, height });
    const read = readImage(image.bytes);
    assert.deepEqual(read, {
      kind: 'image',
      image: { bytes: image.bytes, mediaType: 'image/png', width, height },
    });
    const { info } = await sharp(image.bytes).raw().toBuffer({ resolveWithObject: true });
    assert.deepEqual([info.width, info.height], [width, height]);
  });
}

test('JPEG and WebP pictures have their own format', async () => {
  for (const format of ['jpeg', 'webp'] as const) {
    const read = readImage((await draw({ format })).bytes);
    assert.ok(
      read.kind === 'image' &&
        read.image.mediaType === `image/${format}` &&
        read.image.width === 512,
    );
  }
});

test('the same job gives the same bytes; another prompt or variation gives another picture', async () => {
  const input = await plain('#808000');
  const one = await draw({ inputs: [input, input] });
  assert.ok(one.bytes.equals((await draw({ inputs: [input, input] })).bytes));
  const others = await Promise.all([
    draw({}),
    draw({ prompt: 'A cat' }),
    draw({ variation: 1 }),
    draw({ inputs: [input] }),
    draw({ mode: 'edit', inputs: [input] }),
  ]);
  assert.equal(new Set([one, ...others].map(({ bytes }) => bytes.toString('base64'))).size, 6);
});

test('the prompt is written on the picture, dot by dot', async () => {
  const { at, width, height } = await pixelsOf(
    await draw({ width: 800, height: 400, prompt: 'Hello, World!' }),
  );
  const isWhite = (x: number, y: number) => at(x, y).every((value) => value === 255);
  const points: [number, number][] = [];
  // The label is in the lowest part.
  for (let y = 0; y < height * 0.9; y++)
    for (let x = 0; x < width; x++) if (isWhite(x, y)) points.push([x, y]);
  const left = Math.min(...points.map(([x]) => x));
  const top = Math.min(...points.map(([, y]) => y));
  const block = layOutText('Hello, World!', 1_000);
  const scale = (Math.max(...points.map(([x]) => x)) + 1 - left) / block.width;
  assert.ok(Number.isInteger(scale) && scale >= 6, `letters of ${scale} pixels a dot`);
  const expected = new Set<string>();
  forEachDot(block, (x, y) => expected.add(`${x} ${y}`));
  for (let y = 0; y < block.height; y++) {
    for (let x = 0; x < block.width; x++) {
      const isSet = isWhite(left + x * scale + (scale >> 1), top + y * scale + (scale >> 1));
      assert.equal(isSet, expected.has(`${x} ${y}`), `dot ${x}, ${y}`);
    }
  }
});

test('the edited image fills the picture under the text', async () => {
  const { at, width, height } = await pixelsOf(
    await draw({ mode: 'edit', inputs: [await plain('#c02040')] }),
  );
  for (const [x, y] of [
    [0, 0],
    [width - 1, 0],
    [width >> 1, height >> 1],
    [0, height - 1],
  ] as const) {
    assert.deepEqual(at(x, y), [0xc0, 0x20, 0x40]);
  }
});

test('a single reference is a tile on the background', async () => {
  const { at, width, height } = await pixelsOf(await draw({ inputs: [await plain('#c02040')] }));
  assert.deepEqual(at(width >> 1, height >> 2), [0xc0, 0x20, 0x40]);
  for (const [x, y] of [
    [0, 0],
    [width - 1, 0],
    [0, height - 1],
  ] as const) {
    assert.notDeepEqual(at(x, y), [0xc0, 0x20, 0x40]);
  }
});

test('several references stand side by side', async () => {
  const inputs = await Promise.all([plain('#c02040'), plain('#20c040'), plain('#2040c0', 50, 400)]);
  const { at, width, height } = await pixelsOf(await draw({ width: 900, height: 600, inputs }));
  const colours = [1, 3, 5].map((sixth) =>
    at(Math.floor((width * sixth) / 6), Math.floor(height / 4)),
  );
  assert.deepEqual(colours, [
    [0xc0, 0x20, 0x40],
    [0x20, 0xc0, 0x40],
    [0x20, 0x40, 0xc0],
  ]);
});

test('sixteen inputs fit on a small picture', async () => {
  const input = await plain('#c02040');
  await draw({ width: 256, height: 256, inputs: Array<ImageBytes>(16).fill(input) });
});

test('inputs of every type are read: palette, alpha, grey, sixteen bits, animated', async () => {
  const base = () =>
    sharp({ create: { width: 40, height: 30, channels: 4, background: '#c0204080' } });
  const files = await Promise.all([
    base().png({ palette: true }).toBuffer(),
    base().toColourspace('rgb16').png().toBuffer(),
    base().greyscale().jpeg().toBuffer(),
    base().flatten().toColourspace('cmyk').jpeg().toBuffer(),
    base().webp().toBuffer(),
    base().gif().toBuffer(),
  ]);
  for (const bytes of files) {
    const read = readImage(bytes);
    assert.ok(read.kind === 'image');
    await draw({ mode: 'edit', inputs: [read.image] });
    await draw({ inputs: [read.image, read.image] });
  }
});

test('an input that cannot be decoded is named', async () => {
  const good = await plain('#c02040');
  const noise = Buffer.concat([good.bytes.subarray(0, 60), Buffer.alloc(5_000, 7)]);
  const short = { ...good, bytes: good.bytes.subarray(0, good.bytes.length - 40) };
  const huge = { ...good, width: 10_000, height: 8_000 };
  for (const bad of [{ ...good, bytes: noise }, short, huge]) {
    await assert.rejects(draw({ inputs: [good, bad] }), /^Error: `images\[1\]` (?:cannot|is over)/);
  }
});

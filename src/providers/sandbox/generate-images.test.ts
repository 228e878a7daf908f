import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readImage } from '../../lib/image.ts';
import { jobFor } from '../../../tests/support/images/local-image-provider.ts';
import type { ImageJob, ImageJobResult } from '../image-provider.ts';
import { sandboxImages } from './generate-images.ts';

function generate(job: Partial<ImageJob>): Promise<ImageJobResult> {
  const whole = jobFor({ prompt: 'A fox', size: { width: 96, height: 64 }, ...job });
  return sandboxImages.generate(whole);
}

async function imagesOf(job: Partial<ImageJob>) {
  const result = await generate(job);
  assert.ok(result.kind === 'images', JSON.stringify(result));
  return result.images;
}

async function failureOf(job: Partial<ImageJob>) {
  const result = await generate(job);
  assert.ok(result.kind === 'failure' && result.requestSent);
  return result.failure;
}

test('the requested number of different images, the same ones every time', async () => {
  const images = await imagesOf({ count: 3 });
  assert.equal(new Set(images.map(({ bytes }) => bytes.toString('base64'))).size, 3);
  assert.deepEqual(await imagesOf({ count: 3 }), images);
  for (const { bytes } of images) assert.equal(readImage(bytes).kind, 'image');
});

const shapes: [
  aspectRatio: string,
  resolution: '1k' | '2k' | '4k',
  width: number,
  height: number,
][] = [
  ['1:1', '1k', 1_024, 1_024],
  ['16:9', '1k', 1_360, 768],
  ['9:16', '2k', 1_536, 2_736],
  ['1:1', '4k', 4_096, 4_096],
];

for (const [aspectRatio, resolution, width, height] of shapes) {
  test(`${aspectRatio} at ${resolution} is ${width}×${height}`, async () => {
    const [image] = await imagesOf({ size: null, aspectRatio, resolution });
    assert.deepEqual([image?.width, image?.height], [width, height]);
  });
}

test('a directive fails the whole request or one image', async () => {
  const { status, kind, retryAfterSeconds } = await failureOf({
    prompt: 'A fox\nsandbox: status=529',
  });
  assert.deepEqual(
    { status, kind, retryAfterSeconds },
    { status: 529, kind: 'status', retryAfterSeconds: 1 },
  );
  const all = await imagesOf({ count: 3 });
  assert.deepEqual(await imagesOf({ count: 3, prompt: 'A fox\nsandbox: fail_image=2' }), [
    all[0],
    all[2],
  ]);
  assert.equal((await failureOf({ prompt: 'A fox\nsandbox: fail_image=1' })).status, 500);
});

test('a malformed directive is explained', async () => {
  const { status, message } = await failureOf({ prompt: 'sandbox: fail_image=0' });
  assert.equal(status, 400);
  assert.match(message, /needs a whole number from 1 to 100/);
  assert.match(
    (await failureOf({ prompt: 'sandbox: tool=x' })).message,
    /The directives are delay_ms, status, fail_image/,
  );
});

test('an input that cannot be decoded is a 400 that names it', async () => {
  const bytes = Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), Buffer.alloc(100)]);
  const { status, message } = await failureOf({
    images: [{ bytes, mediaType: 'image/png', width: 10, height: 10 }],
  });
  assert.equal(status, 400);
  assert.match(message, /`images\[0\]` cannot be decoded/);
});

test('an abort ends the job at once, during its delay or its wait', async () => {
  const controller = new AbortController();
  const slow = failureOf({ prompt: 'sandbox: delay_ms=60000', signal: controller.signal });
  const many = generate({
    count: 10,
    size: { width: 1_024, height: 1_024 },
    signal: controller.signal,
  });
  controller.abort();
  assert.equal((await slow).kind, 'connection');
  const result = await many;
  assert.ok(result.kind === 'failure' && result.failure.kind === 'connection');
});

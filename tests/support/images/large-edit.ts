// Edit requests with images too large to be in memory side by side.
import { randomBytes } from 'node:crypto';
import sharp from 'sharp';

export const editsPath = '/v1/images/edits';
export const editedPng =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

/** A request with an image of about this many bytes. */
export async function largeEdit(
  imageBytes: number,
): Promise<{ readonly image: Buffer; readonly body: Buffer }> {
  const image = await makeNoise(imageBytes);
  const images = [`data:image/png;base64,${image.toString('base64')}`];
  const request = {
    model: 'gpt-image-flare-edit',
    prompt: 'Rain',
    size: '64x64',
    quality: 'low',
    images,
  };
  return { image, body: Buffer.from(JSON.stringify(request)) };
}

/** Random pixels, which do not compress. */
async function makeNoise(bytes: number): Promise<Buffer> {
  const side = Math.ceil(Math.sqrt(bytes / 3));
  const raw = { width: side, height: side, channels: 3 } as const;
  return sharp(randomBytes(side * side * 3), { raw })
    .png({ compressionLevel: 0 })
    .toBuffer();
}

// The sandbox as an image provider: it draws every picture itself, by the same rules for all
// models.
import type { UpstreamFailure } from '../../canonical/event.ts';
import type { ImageResolution, PixelSize } from '../../terms/image-model.ts';
import type { ImageBytes } from '../../lib/image.ts';
import type { ImageJob, ImageJobResult, ImageProviderKind } from '../image-provider.ts';
import { drawImage } from './draw-image.ts';
import { numberReader } from './directive-lines.ts';
import { failureOf, failureWithStatus } from './failures.ts';
import { followDirectives } from './task-directives.ts';

/** Needs no connection, because it sends nothing. */
export const sandboxImages = { imagesPerCall: 'many', generate } satisfies ImageProviderKind;

async function generate(job: ImageJob): Promise<ImageJobResult> {
  try {
    return await play(job);
  } catch (error) {
    return failed(failureOf(error, job));
  }
}

/** The image that fails, counted from 1; the others succeed. Directives are not drawn. */
type ImageDirectives = { readonly failImage: number | null };

async function play(job: ImageJob): Promise<ImageJobResult> {
  const { text, directives } = await followDirectives<ImageDirectives>(job.prompt, job, {
    none: { failImage: null },
    readers: { fail_image: numberReader('failImage', 1, 100) },
  });
  job.signal.throwIfAborted();
  const images: ImageBytes[] = [];
  for (let index = 0; index < job.count; index++) {
    if (index + 1 === directives.failImage) continue;
    const image = await drawImage({
      ...sizeOf(job),
      prompt: text === '' ? job.prompt : text,
      mode: job.mode,
      inputs: job.images,
      format: job.outputFormat ?? 'png',
      variation: index,
      signal: job.signal,
    });
    for (let shown = 0; shown < (job.partials ?? 0); shown++)
      job.show?.(image.bytes.toString('base64'));
    images.push(image);
  }
  return images.length > 0 ? { kind: 'images', images, unread: 0 } : failed(failureWithStatus(500));
}

function failed(failure: UpstreamFailure): ImageJobResult {
  return { kind: 'failure', failure, requestSent: true };
}

const squareSides: Readonly<Record<ImageResolution, number>> = {
  '1k': 1_024,
  '2k': 2_048,
  '4k': 4_096,
};
const sideMultiple = 16;

/** For an aspect ratio: about as many pixels as the square of that resolution. */
function sizeOf({ size, aspectRatio, resolution }: ImageJob): PixelSize {
  if (size) return size;
  const [across = 1, down = 1] = (aspectRatio ?? '1:1').split(':').map(Number);
  const side = squareSides[resolution ?? '1k'];
  const stretch = Math.sqrt(across / down);
  if (!Number.isFinite(stretch) || stretch === 0) return { width: side, height: side };
  const toMultiple = (pixels: number) =>
    Math.max(1, Math.round(pixels / sideMultiple)) * sideMultiple;
  return { width: toMultiple(side * stretch), height: toMultiple(side / stretch) };
}

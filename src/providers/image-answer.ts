// What every upstream of images does with an answer: read its images by their bytes, and name its failures.
import type { UpstreamFailure } from '../canonical/event.ts';
import { readErrorMessage } from '../formats/error-message.ts';
import { readImage, type ImageBytes } from '../lib/image.ts';
import type { ImageJobFailed, ImageJobResult, ImageReply } from './image-provider.ts';

/** One image as base64, with room to spare: the largest that are drawn are 8 megapixels. */
export const imageAnswerBytesMax = 64 * 1_024 * 1_024;

/**
 * The images among what an upstream sent, up to `countMax`: it may send fewer than it was asked for, and what is none is left out.
 * With none at all the answer is unreadable.
 */
export function imagesOrFailure(files: readonly Buffer[], countMax: number): ImageJobResult {
  const readings = files.slice(0, countMax).map(readImage);
  const images = readings.flatMap((reading): ImageBytes[] => (reading.kind === 'image' ? [reading.image] : []));
  if (images.length > 0) return { kind: 'images', images };
  const [first] = readings;
  return failed(unreadable(first?.kind === 'unreadable' ? `what came ${first.problem}` : 'the answer holds no image'));
}

/** An HTTP exchange that failed, in the upstream's own words where it has some. */
export function failedReply(
  { failure, body, requestSent }: Extract<ImageReply, { kind: 'failure' }>,
  readFailure: (failure: UpstreamFailure, body: unknown) => UpstreamFailure = (plain) => plain,
): ImageJobFailed {
  const message = readErrorMessage(body) ?? failure.message;
  return { kind: 'failure', failure: readFailure({ ...failure, message }, body), requestSent };
}

export function failed(failure: UpstreamFailure): ImageJobFailed {
  return { kind: 'failure', failure, requestSent: true };
}

/** The upstream will not draw this: the client's to change, and no outage, however the upstream says it. */
export function refused(message: string): UpstreamFailure {
  return { kind: 'status', status: 400, message, retryAfterSeconds: null };
}

export function unreadable(message: string): UpstreamFailure {
  return { kind: 'unreadable', status: null, message, retryAfterSeconds: null };
}

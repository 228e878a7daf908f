// Shared by all image providers: reads an answer's images by their bytes, and describes failures.
import type { UpstreamFailure } from '../canonical/event.ts';
import { readVendorError } from '../formats/error-message.ts';
import { makeFailure, type FailedReply } from '../canonical/make-failure.ts';
import { readImage, type ImageBytes } from '../lib/image.ts';
import type { ImageJobFailed, ImageJobResult } from './image-provider.ts';
import { wordedFailure } from './worded-failure.ts';

/** One image as base64, with room to spare: the largest have 8 megapixels. */
export const imageAnswerBytesMax = 64 * 1_024 * 1_024;

/**
 * Returns the images among the upstream's files, at most `countMax`. There may be fewer than
 * requested; files that are not images are left out. No image at all is an unreadable answer.
 */
export function imagesOrFailure(files: readonly Buffer[], countMax: number): ImageJobResult {
  const readings = files.map(readImage);
  const images = readings
    .flatMap((reading): ImageBytes[] => (reading.kind === 'image' ? [reading.image] : []))
    .slice(0, countMax);
  const unread = Math.min(files.length, countMax) - images.length;
  if (images.length > 0) return { kind: 'images', images, unread };
  const [first] = readings;
  return unreadable(
    first?.kind === 'unreadable' ? `the file ${first.problem}` : 'the answer holds no image',
  );
}

/**
 * A failed HTTP call, with the upstream's own message if it sent one. xAI bills the images that its rules
 * forbid: fal.ai/models/xai/grok-imagine-image (read 2026-11-30).
 */
export function failedReply(
  reply: FailedReply,
  readFailure?: (failure: UpstreamFailure, body: unknown) => UpstreamFailure,
): ImageJobFailed {
  const { requestSent, body } = reply;
  // OpenAI's clients tell a prompt that is not drawn by its code.
  const failure = { ...wordedFailure(reply, { readFailure }), ...readVendorError(body) };
  if (!failure.isForbidden) return { kind: 'failure', failure, requestSent };
  return { ...failed({ ...failure, isCausedByAccount: true }), isTaken: true };
}

export function failed(failure: UpstreamFailure): ImageJobFailed {
  return { kind: 'failure', failure, requestSent: true };
}

export function unreadable(message: string): ImageJobFailed {
  return failed(makeFailure('unreadable', message));
}

/**
 * The upstream refuses to draw this. The client must change the request, and the upstream is
 * healthy, whatever status it sent.
 */
export function refused(message: string): UpstreamFailure {
  return makeFailure(400, message);
}

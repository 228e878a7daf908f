// The directives of an image prompt: delays and failures. They stand on their own lines and are not
// drawn.
import { numberReader, readDirectiveLines, type ReadLines } from './directive-lines.ts';

type ImageDirectives = {
  /** Before the first image, or before the failure. */
  readonly delayMs: number;
  /** Fail with this status. */
  readonly status: number | null;
  /** The image that fails, counted from 1; the others succeed. */
  readonly failImage: number | null;
};

const none: ImageDirectives = { delayMs: 0, status: null, failImage: null };

export function readImageDirectives(prompt: string): ReadLines<ImageDirectives> {
  return readDirectiveLines(prompt, {
    none,
    readers: {
      delay_ms: numberReader('delayMs', 0, 600_000),
      status: numberReader('status', 400, 599),
      fail_image: numberReader('failImage', 1, 100),
    },
  });
}

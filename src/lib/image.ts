// Images whose type and size are read from their bytes, never from a header, a file name or the
// client. Four raster types. SVG is excluded because it can carry scripts and links.
import { dimensionsOf, type ImageMediaType } from './image-dimensions.ts';

export type { ImageMediaType };

export type ImageBytes = {
  readonly bytes: Buffer;
  readonly mediaType: ImageMediaType;
  /** Pixels as stored; EXIF rotation is not applied. */
  readonly width: number;
  readonly height: number;
};

/**
 * A small file can declare a canvas that takes gigabytes to decode. Cameras and print reach this
 * size; screens stay far below it.
 */
export const imagePixelsMax = 100_000_000;

/** The type names for messages. */
export const imageTypesInWords = 'PNG, JPEG, WebP or GIF';

export type ImageReading =
  | { readonly kind: 'image'; readonly image: ImageBytes }
  /**
   * `problem` is a clause for the sender, without a subject: `is not a PNG, JPEG, WebP or GIF
   * image`.
   */
  | { readonly kind: 'unreadable'; readonly problem: string };

/**
 * Reads the type and the dimensions. Pixels are not decoded, so a readable image can still be
 * broken. `bytes` may be the beginning of a file; a reference to it is kept.
 */
export function readImage(bytes: Buffer): ImageReading {
  const mediaType = imageTypeOf(bytes);
  if (mediaType === null)
    return { kind: 'unreadable', problem: `is not a ${imageTypesInWords} image` };
  const size = dimensionsOf(bytes, mediaType);
  if (size === null)
    return {
      kind: 'unreadable',
      problem: `is a broken ${mediaType} file: its dimensions cannot be read`,
    };
  const { width, height } = size;
  if (width * height > imagePixelsMax) {
    return {
      kind: 'unreadable',
      problem: `is ${width}×${height} pixels; at most ${imagePixelsMax / 1e6} million pixels are taken`,
    };
  }
  return { kind: 'image', image: { bytes, mediaType, width, height } };
}

/**
 * Returns the type by the first twelve bytes
 * (https://mimesniff.spec.whatwg.org/#matching-an-image-type-pattern), or null.
 */
export function imageTypeOf(bytes: Buffer): ImageMediaType | null {
  const startsWith = (text: string, at = 0) =>
    bytes.subarray(at, at + text.length).equals(Buffer.from(text, 'latin1'));
  if (startsWith('\x89PNG\r\n\x1a\n')) return 'image/png';
  if (startsWith('\xff\xd8\xff')) return 'image/jpeg';
  if (startsWith('RIFF') && startsWith('WEBPVP', 8)) return 'image/webp';
  if (startsWith('GIF87a') || startsWith('GIF89a')) return 'image/gif';
  return null;
}

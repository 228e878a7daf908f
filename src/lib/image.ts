// Images as bytes whose type and size are read from the bytes themselves: never what a header, a file name or a client says of them.
// Four raster types; SVG, which can carry scripts and links, is none of them.
import { imageSize } from 'image-size';

export type ImageMediaType = 'image/png' | 'image/jpeg' | 'image/webp' | 'image/gif';

export type ImageBytes = {
  readonly bytes: Buffer;
  readonly mediaType: ImageMediaType;
  /** Pixels, as stored: a turn that EXIF asks for is not made. */
  readonly width: number;
  readonly height: number;
};

/** A small file can name a canvas that takes gigabytes to decode. Cameras and print reach this, screens do not come near it. */
export const imagePixelsMax = 100_000_000;

/** Whole names for clients: `PNG, JPEG, WebP or GIF`. */
export const imageTypesInWords = 'PNG, JPEG, WebP or GIF';

export type ImageReading =
  | { readonly kind: 'image'; readonly image: ImageBytes }
  /** `problem` is a clause for whoever sent the bytes, without a subject: `is not a PNG, JPEG, WebP or GIF image`. */
  | { readonly kind: 'unreadable'; readonly problem: string };

/** Reads the type and the dimensions; the pixels are not decoded, so an image that reads can still be broken. Keeps `bytes`, no copy. */
export function readImage(bytes: Buffer): ImageReading {
  const mediaType = imageTypeOf(bytes);
  if (mediaType === null) return { kind: 'unreadable', problem: `is not a ${imageTypesInWords} image` };
  const size = dimensionsOf(bytes, mediaType);
  if (size === null) return { kind: 'unreadable', problem: `is a broken ${mediaType} file: its dimensions cannot be read` };
  const { width, height } = size;
  if (width * height > imagePixelsMax) {
    return {
      kind: 'unreadable',
      problem: `is ${width}×${height} pixels; at most ${imagePixelsMax / 1e6} million pixels are taken`,
    };
  }
  return { kind: 'image', image: { bytes, mediaType, width, height } };
}

/** By the first bytes (https://mimesniff.spec.whatwg.org/#matching-an-image-type-pattern), or null; the first twelve are enough. */
export function imageTypeOf(bytes: Buffer): ImageMediaType | null {
  const startsWith = (text: string, at = 0) => bytes.subarray(at, at + text.length).equals(Buffer.from(text, 'latin1'));
  if (startsWith('\x89PNG\r\n\x1a\n')) return 'image/png';
  if (startsWith('\xff\xd8\xff')) return 'image/jpeg';
  if (startsWith('RIFF') && startsWith('WEBPVP', 8)) return 'image/webp';
  if (startsWith('GIF87a') || startsWith('GIF89a')) return 'image/gif';
  return null;
}

/** The other three types name their size within these bytes, and no image is shorter than the lesser number. */
const headBytes = 64;
const headBytesMin = 26;

function dimensionsOf(bytes: Buffer, mediaType: ImageMediaType): { width: number; height: number } | null {
  const headEnd = mediaType === 'image/jpeg' ? jpegHeadEnd(bytes) : headBytes;
  if (headEnd === null || bytes.length < headBytesMin) return null;
  // In memory of its own: the library reads past the end of a view, into whatever lies behind it.
  const head = Buffer.alloc(Math.min(headEnd, bytes.length));
  bytes.copy(head);
  try {
    const { width, height } = imageSize(head);
    return width > 0 && height > 0 ? { width, height } : null;
  } catch {
    // The library throws on bytes that end too soon or make no sense.
    return null;
  }
}

const jpegFrames: readonly (number | undefined)[] = [0xc0, 0xc1, 0xc2];
/** A segment holds 64 KB: this is far more than any profile or preview before the frame takes. */
const jpegSegmentsMax = 1_000;

/**
 * Where the frame header ends, which names the size: found by walking from segment to segment. Where they do not join, or are millions
 * of empty ones, the library would take seconds to come to an end; so it is only given a head that is sound.
 */
function jpegHeadEnd(bytes: Buffer): number | null {
  let at = 2;
  for (let segments = 0; segments < jpegSegmentsMax; segments++) {
    if (at + 4 > bytes.length || bytes[at] !== 0xff) return null;
    const next = at + 2 + bytes.readUInt16BE(at + 2);
    if (next < at + 4 || next > bytes.length) return null;
    if (jpegFrames.includes(bytes[at + 1])) return next;
    at = next;
  }
  return null;
}

// Images whose type and size are read from their bytes, never from a header, a file name or the
// client. Four raster types. SVG is excluded because it can carry scripts and links.
import { imageSize } from 'image-size';

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

export function unreadable(problem: string): ImageReading {
  return { kind: 'unreadable', problem };
}

/**
 * Reads the type and the dimensions. Pixels are not decoded, so a readable image can still be
 * broken. `bytes` may be the beginning of a file; a reference to it is kept.
 */
export function readImage(bytes: Buffer): ImageReading {
  const mediaType = imageTypeOf(bytes);
  if (mediaType === null) return unreadable(`is not a ${imageTypesInWords} image`);
  const size = dimensionsOf(bytes, mediaType);
  if (size === null)
    return unreadable(`is a broken ${mediaType} file: its dimensions cannot be read`);
  const { width, height } = size;
  if (width * height > imagePixelsMax)
    return unreadable(
      `is ${width}×${height} pixels; at most ${imagePixelsMax / 1e6} million pixels are taken`,
    );
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

type ImageMediaType = 'image/png' | 'image/jpeg' | 'image/webp' | 'image/gif';

/** Pixels. */
type Dimensions = { readonly width: number; readonly height: number };

// Providers bill some images by their size, and a crafted file can show another size to a simple
// reader. So sizes are read as decoders do, and a file on which they disagree counts as broken.

/** Bound on the blocks of a file; files with profiles and previews have far fewer. */
const blocksMax = 100_000;

/** Returns null when the size cannot be read. */
function dimensionsOf(bytes: Buffer, mediaType: ImageMediaType): Dimensions | null {
  const size = readers[mediaType](bytes);
  return size && size.width > 0 && size.height > 0 ? size : null;
}

const readers: Readonly<Record<ImageMediaType, (bytes: Buffer) => Dimensions | null>> = {
  'image/png': readPng,
  'image/jpeg': readJpeg,
  'image/gif': readGif,
  'image/webp': readWebp,
};

/**
 * Refuses unknown chunks before the head, which some decoders skip, and several heads, of which
 * they use the last.
 */
function readPng(bytes: Buffer): Dimensions | null {
  const nameAt = (at: number) => bytes.toString('latin1', at + 4, at + 8);
  const [first, headEnd] = [8, 33];
  if (bytes.length < headEnd || nameAt(first) !== 'IHDR') return null;
  const size = { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) };
  let at = headEnd;
  for (let blocks = 0; blocks < blocksMax; blocks++) {
    if (at + 8 > bytes.length || nameAt(at) === 'IDAT') return size;
    if (nameAt(at) === 'IHDR') return null;
    at += 12 + bytes.readUInt32BE(at);
  }
  return null;
}

/**
 * Finds the frame header by walking the segments, which must be adjacent. Bytes 0xff before a
 * marker are padding.
 */
function readJpeg(bytes: Buffer): Dimensions | null {
  let at = 2;
  for (let blocks = 0; blocks < blocksMax; blocks++) {
    if (at + 9 > bytes.length || bytes[at] !== 0xff) return null;
    const marker = bytes[at + 1]!;
    if (marker === 0xff) {
      at += 1;
      continue;
    }
    if (isFrame(marker))
      return { width: bytes.readUInt16BE(at + 7), height: bytes.readUInt16BE(at + 5) };
    const next = at + 2 + bytes.readUInt16BE(at + 2);
    if (!hasSegment(marker) || next < at + 4) return null;
    at = next;
  }
  return null;
}

/**
 * Returns true for every frame type, including rare ones; three markers in the range are tables.
 */
function isFrame(marker: number): boolean {
  return marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;
}

/**
 * Returns true for markers with a length. Others stand alone, or the pixels follow: no frame comes
 * after them.
 */
function hasSegment(marker: number): boolean {
  return marker > 0x01 && (marker < 0xd0 || marker > 0xda);
}

/** The first picture may be larger than the screen; decoders then enlarge the screen. */
function readGif(bytes: Buffer): Dimensions | null {
  if (bytes.length < 13) return null;
  const screen = { width: bytes.readUInt16LE(6), height: bytes.readUInt16LE(8) };
  let at = 13 + colorBytes(bytes[10]!);
  while (at + 9 <= bytes.length) {
    if (bytes[at] === 0x2c) {
      const edge = (place: number) =>
        bytes.readUInt16LE(at + place) + bytes.readUInt16LE(at + place + 4);
      return { width: Math.max(screen.width, edge(1)), height: Math.max(screen.height, edge(3)) };
    }
    if (bytes[at] !== 0x21) return null;
    at += 2;
    while (bytes[at]) at += 1 + bytes[at]!;
    at += 1;
  }
  return screen;
}

/** Returns the size of a colour table, three bytes per colour. */
function colorBytes(flags: number): number {
  return flags & 0x80 ? 3 << ((flags & 7) + 1) : 0;
}

/**
 * The size is within the first 64 bytes, and no image is shorter than 26. Decoders refuse a picture
 * that is larger than its canvas.
 */
const webpHeadBytes = 64;
const webpHeadBytesMin = 26;

function readWebp(bytes: Buffer): Dimensions | null {
  if (bytes.length < webpHeadBytesMin) return null;
  // A copy, because the library reads past the end of a view into the memory behind it.
  const head = Buffer.alloc(Math.min(webpHeadBytes, bytes.length));
  bytes.copy(head);
  try {
    return imageSize(head);
  } catch {
    // The library throws on truncated or invalid bytes.
    return null;
  }
}

// Ids of stored images: `img_1795903200_<26 random characters>.png`. An id contains the expiry and
// the type, so a store needs no table beside the files. 130 random bits make it unguessable.
import { newRandomCharacters } from '../../lib/ids.ts';
import type { ImageMediaType } from '../../lib/image.ts';

/** Sealed answers are stored beside the images, as plain bytes. No link leads to them. */
export type StoredMediaType = ImageMediaType | 'application/octet-stream';

const extensions = {
  'image/png': 'png',
  'image/jpeg': 'jpg',
  'image/webp': 'webp',
  'image/gif': 'gif',
  'application/octet-stream': 'bin',
} as const satisfies Record<StoredMediaType, string>;
const mediaTypes = new Map(
  Object.entries(extensions).map(([mediaType, extension]) => [extension as string, mediaType]),
) as ReadonlyMap<string, StoredMediaType>;

const randomCharacters = 26;
const pattern = /^img_(\d{10})_[0-9a-hjkmnp-tv-z]{26}\.(png|jpg|webp|gif|bin)$/;

type ImageIdParts = { readonly expiresAtSeconds: number; readonly mediaType: StoredMediaType };

export function newImageId({ expiresAtSeconds, mediaType }: ImageIdParts): string {
  return `img_${String(expiresAtSeconds).padStart(10, '0')}_${newRandomCharacters(randomCharacters)}.${extensions[mediaType]}`;
}

/** Returns null for a text that is not an image id. Any other result is safe as a file name. */
export function parseImageId(id: string): ImageIdParts | null {
  const [, seconds, extension] = pattern.exec(id) ?? [];
  return extension === undefined
    ? null
    : { expiresAtSeconds: Number(seconds), mediaType: mediaTypes.get(extension)! };
}

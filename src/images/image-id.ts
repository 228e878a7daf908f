// Names of stored images: `img_1795903200_<26 random characters>.png`. They say when the image expires and what it is, so that a store
// needs no table beside the files; 130 random bits keep them from being guessed.
import { newRandomCharacters } from '../lib/ids.ts';
import type { ImageMediaType } from '../lib/image.ts';

const extensions = {
  'image/png': 'png',
  'image/jpeg': 'jpg',
  'image/webp': 'webp',
  'image/gif': 'gif',
} as const satisfies Record<ImageMediaType, string>;
const mediaTypes: Readonly<Record<string, ImageMediaType>> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  webp: 'image/webp',
  gif: 'image/gif',
};

const randomCharacters = 26;
const pattern = /^img_(\d{10})_[0-9a-hjkmnp-tv-z]{26}\.(png|jpg|webp|gif)$/;

export type ImageIdParts = { readonly expiresAtSeconds: number; readonly mediaType: ImageMediaType };

export function newImageId({ expiresAtSeconds, mediaType }: ImageIdParts): string {
  return `img_${String(expiresAtSeconds).padStart(10, '0')}_${newRandomCharacters(randomCharacters)}.${extensions[mediaType]}`;
}

/** null: no image was ever named so. What is not null is safe as the name of a file. */
export function parseImageId(id: string): ImageIdParts | null {
  const [, seconds, extension] = pattern.exec(id) ?? [];
  return extension === undefined ? null : { expiresAtSeconds: Number(seconds), mediaType: mediaTypes[extension]! };
}

/** The folder of a day holds what expires on it (UTC): `20261128`. The whole folder has expired when the day is over. */
export function dayOf(seconds: number): string {
  return new Date(seconds * 1_000).toISOString().slice(0, 10).replaceAll('-', '');
}

export function isDay(name: string): boolean {
  return /^\d{8}$/.test(name);
}

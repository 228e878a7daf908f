// Media as all providers accept them: the type in its usual spelling, and as the bytes say.
import { imageTypeOf } from '../lib/image.ts';
import type { MediaSource } from './request.ts';

const synonyms: Readonly<Record<string, string>> = {
  'image/jpg': 'image/jpeg',
  'image/pjpeg': 'image/jpeg',
};

type Base64Source = Extract<MediaSource, { kind: 'base64' }>;

/** A PDF in the place of an image would cost more than the hold for an image. */
export type MediaPlace = 'image' | 'document';

/**
 * The type is in lower case, and `image/jpeg` for its synonyms, which OpenAI accepts and the others
 * refuse. It is corrected by the first bytes, because Anthropic refuses a PNG that is called a JPEG.
 * White space in the base64 is left out.
 */
export function base64Source(type: string, data: string, place: MediaPlace): Base64Source {
  const lower = type.toLowerCase();
  const bytes = spaces.some((space) => data.includes(space)) ? data.replaceAll(/\s+/g, '') : data;
  const mediaType = typeOfBytes(lower, bytes, place) ?? synonyms[lower] ?? lower;
  return { kind: 'base64', mediaType, data: bytes };
}

/** True for a document that can be sent as text. */
export function isTextType(mediaType: string): boolean {
  return mediaType.startsWith('text/') || mediaType === 'application/json';
}

/** Searched one by one: that is faster than a regular expression in megabytes. */
const spaces = ['\n', '\r', ' ', '\t'];

/** Base64 characters that hold the fourteen bytes by which types are told apart. */
const headCharacters = 20;

/** Returns null when the declared type stands. */
function typeOfBytes(declared: string, data: string, place: MediaPlace): string | null {
  if (!mayBeWrong.test(declared)) return null;
  const head = Buffer.from(data.slice(0, headCharacters), 'base64');
  if (place === 'image') return imageTypeOf(head);
  return head.toString('latin1').startsWith('%PDF-') ? 'application/pdf' : null;
}

/** Text may begin like a file, and sounds and films have prices of their own. */
const mayBeWrong = /^(?:image|application|binary)\/(?!json$|pdf$)/;

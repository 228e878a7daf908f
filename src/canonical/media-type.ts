// Media as all providers accept them: the type in its usual spelling, and as the bytes say.
import { imageTypeOf } from '../lib/image.ts';
import type { MediaSource } from './request.ts';

const synonyms: Readonly<Record<string, string>> = {
  'image/jpg': 'image/jpeg',
  'image/pjpeg': 'image/jpeg',
};

type Base64Source = Extract<MediaSource, { kind: 'base64' }>;

/**
 * The type is in lower case, and `image/jpeg` for its synonyms, which OpenAI accepts and the others
 * refuse. It is corrected by the first bytes, because Anthropic refuses a PNG that is called a JPEG.
 * White space in the base64 is left out.
 */
export function base64Source(type: string, data: string): Base64Source {
  const lower = type.toLowerCase();
  const bytes = spaces.some((space) => data.includes(space)) ? data.replaceAll(/\s+/g, '') : data;
  return {
    kind: 'base64',
    mediaType: typeOfBytes(lower, bytes) ?? synonyms[lower] ?? lower,
    data: bytes,
  };
}

/** Searched one by one: that is faster than a regular expression in megabytes. */
const spaces = ['\n', '\r', ' ', '\t'];

/** Base64 characters that hold the fourteen bytes by which types are told apart. */
const headCharacters = 20;

/**
 * Returns null when the declared type stands. Text may begin like a file, and sounds and films have
 * prices of their own, so their types are never corrected.
 */
function typeOfBytes(declared: string, data: string): string | null {
  if (!/^(?:image|application|binary)\//.test(declared) || declared === 'application/json')
    return null;
  const head = Buffer.from(data.slice(0, headCharacters), 'base64');
  const isPdf = head.subarray(0, 5).equals(pdfStart);
  if (isPdf) return declared.startsWith('image/') ? null : 'application/pdf';
  return declared === 'application/pdf' ? null : imageTypeOf(head);
}

const pdfStart = Buffer.from('%PDF-');

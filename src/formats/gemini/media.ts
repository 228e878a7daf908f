// Writes images and documents as parts: bytes inline, URLs as file data, which Gemini fetches
// itself. URLs at Google are refused: an uploaded file, anyone's, would be read with the operator's
// credential, and a video costs far more than the hold for an image. So are sounds and films in the
// place of an image.
import { invalidRequest, quoted } from '../../canonical/errors.ts';
import type { DocumentPart, ImagePart, MediaSource } from '../../canonical/request.ts';
import type { JsonObject } from '../../lib/json.ts';
import { isTextType } from '../../canonical/media-type.ts';
import { isSound } from '../input-audio.ts';
import { withoutTrailing } from '../../lib/without-trailing.ts';

/**
 * Throws ApiError on a document that Gemini cannot read (it accepts PDF, text and sound), and on a refused
 * URL.
 */
export function writeMedia(part: ImagePart | DocumentPart): JsonObject {
  const { source } = part;
  if (source.kind === 'url')
    return {
      fileData: { fileUri: publicAddress(source.url), mimeType: mediaTypeOf(part, source.url) },
    };
  return {
    inlineData: {
      mimeType: part.type === 'image' ? imageType(source) : documentType(part, source),
      data: source.data,
    },
  };
}

/** The API has no field for a document's name, but the conversation may refer to it. */
export function writeDocument(part: DocumentPart): JsonObject[] {
  const media = writeMedia(part);
  return part.name === undefined ? [media] : [{ text: documentLabel(part.name) }, media];
}

export function documentLabel(name: string): string {
  return `Document ${JSON.stringify(name)}:`;
}

const refusedHosts = /(?:^|\.)(?:youtube\.com|youtube-nocookie\.com|youtu\.be|googleapis\.com)$/;

/** True for an address that Google reads with a credential. Its public storage is an ordinary web server. */
export function isAtGoogle(url: string): boolean {
  const host = URL.canParse(url) ? withoutTrailing(new URL(url).hostname, '.') : null;
  return host === null || (host !== 'storage.googleapis.com' && refusedHosts.test(host));
}

function publicAddress(url: string): string {
  if (!isAtGoogle(url)) return url;
  throw invalidRequest(
    null,
    `The URL ${quoted(url)} cannot be used with this model; use one of an image or PDF on another web server, or send the data as base64`,
  );
}

type Base64Source = Extract<MediaSource, { kind: 'base64' }>;

function imageType({ mediaType }: Base64Source): string {
  if (mediaType.startsWith('image/') || mediaType === 'application/pdf') return mediaType;
  throw invalidRequest(
    null,
    `An image of type ${quoted(mediaType)} cannot be read by this model; send PNG, JPEG, WebP or HEIC`,
  );
}

function documentType(part: DocumentPart, { mediaType }: Base64Source): string {
  if (mediaType === 'application/pdf' || isSound(mediaType)) return mediaType;
  if (isTextType(mediaType)) return 'text/plain';
  const document =
    part.name === undefined ? 'A document' : `The document ${JSON.stringify(part.name)}`;
  throw invalidRequest(
    null,
    `${document} of type ${quoted(mediaType)} cannot be read by this model; send PDF, text or sound`,
  );
}

const mediaTypes: Readonly<Record<string, string>> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  webp: 'image/webp',
  gif: 'image/gif',
  heic: 'image/heic',
  heif: 'image/heif',
  pdf: 'application/pdf',
  txt: 'text/plain',
};

/**
 * Gemini wants a type beside a URL. When the extension does not tell, the most common type is sent;
 * the fetched content decides.
 */
function mediaTypeOf({ type }: ImagePart | DocumentPart, url: string): string {
  const ending = /\.([a-z]+)(?:[?#]|$)/i.exec(url)?.[1]?.toLowerCase() ?? '';
  const known = Object.hasOwn(mediaTypes, ending) ? mediaTypes[ending]! : null;
  if (type === 'image') return known?.startsWith('image/') ? known : 'image/jpeg';
  return known && !known.startsWith('image/') ? known : 'application/pdf';
}

// Refuses media that a client may not send, also to Google's own hosts: files kept at Google would be
// read with the operator's credential, and a film costs far more than can be held for it.
import { invalidRequest, quoted, type ApiError } from '../../canonical/errors.ts';
import { isObject } from '../../lib/json.ts';
import type { MediaPlace } from '../../canonical/media-type.ts';
import { isAtGoogle } from './media.ts';
import type { Content, Part } from './schema.ts';

type Media = Pick<Part, 'inlineData' | 'fileData'>;

/** Throws ApiError `invalid_request` for what cannot be sold, or is no address of the web. */
export function mediaKind({ inlineData, fileData }: Media, path: string): MediaPlace {
  if (!inlineData === !fileData)
    throw invalidRequest(path, `${path} must have \`inlineData\` or \`fileData\`, not both`);
  if (fileData) requirePublic(fileData.fileUri, `${path}.fileData.fileUri`);
  const type = inlineData?.mimeType ?? fileData?.mimeType ?? typeOfAddress(fileData!.fileUri);
  if (/^\s*image\//i.test(type)) return 'image';
  if (/^\s*(?:(?:application|binary)\/(?:pdf|json|octet-stream)|text\/)/i.test(type))
    return 'document';
  if (inlineData && /^\s*audio\//i.test(type)) return 'document';
  const field = `${path}.${inlineData ? 'inlineData' : 'fileData'}.mimeType`;
  throw invalidRequest(
    field,
    `${field} ${quoted(type)} cannot be sent here. Send images, PDF or text, and sound as \`inlineData\`.`,
  );
}

export function checkMedia(contents: readonly Content[]): void {
  for (const [index, { parts }] of contents.entries())
    for (const [place, part] of (parts ?? []).entries())
      for (const [path, media] of mediaOf(part, `contents[${index}].parts[${place}]`))
        if (media.inlineData || media.fileData) mediaKind(media, path);
}

function mediaOf(part: Part, path: string): readonly (readonly [string, Media])[] {
  const inner = isObject(part.functionResponse) ? (part.functionResponse.parts ?? []) : [];
  return [
    [path, part],
    ...inner.map((one, index) => [`${path}.functionResponse.parts[${index}]`, one] as const),
  ];
}

/** Throws ApiError for an address that Google reads with the operator's credential. */
function requirePublic(url: string, path: string): void {
  if (!/^https?:\/\//i.test(url) || isAtGoogle(url)) throw atGoogle(url, path);
}

function atGoogle(url: string, path: string): ApiError {
  return invalidRequest(
    path,
    `${path} ${quoted(url)} cannot be used here: no files are kept, and those at Google belong to the operator. Send the content as \`inlineData\`, or the address of an image or PDF on another web server.`,
  );
}

function typeOfAddress(url: string): string {
  return /\.(?:png|jpe?g|webp|gif|heic|heif)(?:[?#]|$)/i.test(url)
    ? 'image/jpeg'
    : 'application/pdf';
}

// Images and documents: their bytes, in the formats that Converse names.
// https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_DocumentBlock.html
import { invalidRequest, quoted } from '../../canonical/errors.ts';
import { isTextType } from '../../canonical/media-type.ts';
import type { DocumentPart, ImagePart, MediaSource } from '../../canonical/request.ts';
import type { JsonObject } from '../../lib/json.ts';

const imageFormats: Readonly<Record<string, string>> = {
  'image/png': 'png',
  'image/jpeg': 'jpeg',
  'image/jpg': 'jpeg',
  'image/gif': 'gif',
  'image/webp': 'webp',
};

const documentFormats: Readonly<Record<string, string>> = {
  'application/pdf': 'pdf',
  'text/csv': 'csv',
  'application/msword': 'doc',
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document': 'docx',
  'application/vnd.ms-excel': 'xls',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': 'xlsx',
  'text/html': 'html',
  'text/markdown': 'md',
};

/** Throws ApiError `invalid_request` on an address, and on a type that Converse has no name for. */
export function writeImage({ source }: ImagePart): JsonObject {
  const { mediaType, data } = bytesOf(source, 'an image');
  const format = imageFormats[mediaType.toLowerCase()];
  if (!format) throw unknownType('image', mediaType, 'PNG, JPEG, GIF or WebP');
  return { image: { format, source: { bytes: data } } };
}

/** `names`: those of earlier documents; each must be another. */
export function writeDocument({ source, name }: DocumentPart, names: Set<string>): JsonObject {
  const { mediaType, data } = bytesOf(source, 'a document');
  const type = mediaType.toLowerCase();
  const format = documentFormats[type] ?? (isTextType(type) ? 'txt' : undefined);
  if (!format)
    throw unknownType('document', mediaType, 'PDF, Word, Excel, CSV, HTML, Markdown or text');
  return { document: { format, name: uniqueName(name, names), source: { bytes: data } } };
}

function bytesOf(source: MediaSource, what: string) {
  if (source.kind === 'base64') return source;
  throw invalidRequest(
    null,
    `This model takes no address of ${what}; send the data as base64 instead`,
  );
}

function unknownType(what: string, mediaType: string, taken: string): Error {
  return invalidRequest(
    null,
    `This model cannot read ${what === 'image' ? 'an image' : 'a document'} of type ${quoted(mediaType)}; send ${taken}`,
  );
}

const nameCharactersMax = 200;

/** Letters, digits, single spaces, `-`, `(`, `)`, `[` and `]`. */
function uniqueName(name = 'document', names: Set<string>): string {
  const plain =
    name
      .replaceAll(/[^A-Za-z0-9\-()[\] ]+/g, ' ')
      .replaceAll(/ +/g, ' ')
      .trim()
      .slice(0, nameCharactersMax - 10) || 'document';
  let unique = plain;
  for (let number = 2; names.has(unique); number++) unique = `${plain} (${number})`;
  names.add(unique);
  return unique;
}

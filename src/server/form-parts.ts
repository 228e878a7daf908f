// Splits a multipart form into its parts, in memory or on disk. Each part costs far more time than its
// bytes, so the number of parts and the size of their headers are bounded.
import { isUtf8 } from 'node:buffer';
import { ContentDisposition } from '@remix-run/headers/content-disposition';
import { ContentType } from '@remix-run/headers/content-type';
import { type ApiError, invalidRequest } from '../canonical/errors.ts';

/** A request has at most some twenty fields and sixteen images. */
const partsMax = 100;
/** Enough for a file name of 255 bytes in two encodings, each byte written as `%XX`. */
const partHeaderBytesMax = 4_096;
const nameLengthMax = 100;
/** https://www.rfc-editor.org/rfc/rfc2046#section-5.1.1 */
const boundaryLengthMax = 70;
const windowBytes = 256 * 1024;

export const formType = /^\s*multipart\/form-data\s*;/i;

type Source = {
  readonly bytes: number;
  /** Returns the bytes from `position` on, fewer at its end. */
  readonly read: (position: number, length: number) => Buffer | Promise<Buffer>;
};

/** `start`, `bytes`: where its content lies. `fileName`: null for a text. */
type Part = {
  readonly name: string;
  readonly fileName: string | null;
  readonly start: number;
  readonly bytes: number;
};

/** Yields the parts of a form in their order. Throws ApiError `invalid_request`. */
export async function* partsOf(whole: Source, contentType: string): AsyncGenerator<Part> {
  const { boundary = '' } = ContentType.from(contentType);
  if (boundary === '' || boundary.length > boundaryLengthMax)
    throw malformed(`its \`boundary\` must have 1 to ${boundaryLengthMax} characters`);
  for (const range of await splitForm(whole, boundary)) yield await readHead(whole, range);
}

type Range = { readonly start: number; readonly end: number };

/** Returns where the parts lie, with their heads. */
async function splitForm(whole: Source, boundary: string): Promise<Range[]> {
  const delimiter = Buffer.from(`\r\n--${boundary}`);
  const ends: number[] = [];
  // The first delimiter needs no line end before it.
  let kept = Buffer.from('\r\n');
  for (let position = 0; position < whole.bytes; position += windowBytes) {
    const window = Buffer.concat([kept, await whole.read(position, windowBytes)]);
    const base = position - kept.length;
    let from = 0;
    for (let at = 0; (at = window.indexOf(delimiter, from)) !== -1; from = at + delimiter.length) {
      ends.push(base + at);
      if (ends.length > partsMax + 1) throw malformed(`it has more than ${partsMax} parts`);
    }
    kept = window.subarray(Math.max(from, window.length - delimiter.length + 1));
  }
  const starts = ends.map((end) => end + delimiter.length);
  const last = starts.at(-1);
  if (last === undefined || (await whole.read(last, 2)).toString('latin1') !== '--')
    throw malformed(`its closing line \`--${boundary}--\` is missing`);
  return starts.slice(0, -1).map((start, index) => ({ start, end: ends[index + 1]! }));
}

async function readHead(whole: Source, { start, end }: Range): Promise<Part> {
  const bytes = await whole.read(start, Math.min(partHeaderBytesMax, end - start));
  const length = bytes.indexOf('\r\n\r\n');
  if (length === -1)
    throw malformed(`a part has no end of its headers within ${partHeaderBytesMax} bytes`);
  const head = bytes.toString('utf8', 0, length);
  const [, header = ''] =
    /^[\t ]*\r\n(?:[^]*\r\n)?content-disposition:([^\r\n]*)/i.exec(head) ?? [];
  const { type, name = '', filename, filenameSplat } = ContentDisposition.from(header);
  if (type?.toLowerCase() !== 'form-data' || name === '' || name.length > nameLengthMax)
    throw malformed(
      `each part must have \`Content-Disposition: form-data\` and a name of 1 to ${nameLengthMax} characters`,
    );
  // The name of a file may be in another encoding, as some clients on Windows send it.
  if (name.includes('\uFFFD')) throw malformed(notUtf8);
  const from = start + length + 4;
  return { name, fileName: filename ?? filenameSplat ?? null, start: from, bytes: end - from };
}

const notUtf8 = 'its texts are not UTF-8';

/** Throws ApiError `invalid_request`. */
export function readText(bytes: Buffer): string {
  if (!isUtf8(bytes)) throw malformed(notUtf8);
  // Some forms begin a text with a byte order mark.
  return bytes.toString().replace(/^\uFEFF/, '');
}

function malformed(problem: string): ApiError {
  return invalidRequest(null, `The form cannot be read: ${problem}.`);
}

// Reads images inside the request: `data:image/<type>;base64,<data>`. Base64 is read strictly,
// because a lenient decoder would turn a damaged image into another one. The size is known from the
// text's length before anything is decoded.
import { readImage, unreadable, type ImageReading } from '../../lib/image.ts';

const head = /^data:image\/[a-z0-9.+-]{1,40};base64,/i;
const headCharactersMax = 70;

export function isDataUrl(text: string): boolean {
  return /^data:/i.test(text.slice(0, 5));
}

/**
 * Reads a data URL. Its type may differ from the content's, because many tools send `image/jpg` or
 * a wrong extension. The content's type counts, and is sent to providers.
 */
export function readDataUrl(
  text: string,
  { bytesMax }: { readonly bytesMax: number },
): ImageReading {
  const found = head.exec(text.slice(0, headCharactersMax));
  if (!found) return unreadable('must begin with `data:image/<type>;base64,`');
  const data = text.slice(found[0].length);
  const bytes = decodedBytes(data);
  if (bytes === null) return unreadable(notBase64);
  if (bytes > bytesMax) return unreadable(`is ${bytes} bytes; at most ${bytesMax} are accepted`);
  // Searches for a character outside the alphabet, because a search needs no memory and a match of
  // the whole text does.
  if (/[^A-Za-z0-9+/]/.test(data.slice(0, data.length - paddingOf(data))))
    return unreadable(notBase64);
  const decoded = Buffer.from(data, 'base64');
  return endsExactly(decoded, data) ? readImage(decoded) : unreadable(notBase64);
}

const notBase64 =
  'is not base64: after the comma only A-Z, a-z, 0-9, `+` and `/`, padded with `=` to a multiple of four characters, without spaces or line breaks';

function paddingOf(data: string): number {
  return data.endsWith('==') ? 2 : data.endsWith('=') ? 1 : 0;
}

/** Returns null when no base64 text has this length. */
function decodedBytes(data: string): number | null {
  return data.length % 4 === 0 && data.length > 0 ? (data.length / 4) * 3 - paddingOf(data) : null;
}

/**
 * Returns true when the unused bits before the padding are zero. Otherwise two texts would mean the
 * same image. https://www.rfc-editor.org/rfc/rfc4648#section-3.5
 */
function endsExactly(decoded: Buffer, data: string): boolean {
  return decoded.subarray(-(decoded.length % 3 || 3)).toString('base64') === data.slice(-4);
}

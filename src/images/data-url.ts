// Images inside the request: `data:image/<type>;base64,<data>`. The base64 is taken strictly, since a decoder that forgives would make
// another image of a damaged one, and its size is known from the length of the text before anything is decoded.
import { readImage, type ImageReading } from '../lib/image.ts';

const head = /^data:image\/[a-z0-9.+-]{1,40};base64,/i;
const headCharactersMax = 70;

export function isDataUrl(text: string): boolean {
  return /^data:/i.test(text.slice(0, 5));
}

/**
 * The type that the URL names may differ from the content's, as `image/jpg` and the wrong extensions of many tools do: the content's is
 * what counts, and what providers are told.
 */
export function readDataUrl(text: string, { bytesMax }: { readonly bytesMax: number }): ImageReading {
  const found = head.exec(text.slice(0, headCharactersMax));
  if (!found) return unreadable('must begin with `data:image/<type>;base64,`');
  const data = text.slice(found[0].length);
  const bytes = decodedBytes(data);
  if (bytes === null) return unreadable(notBase64);
  if (bytes > bytesMax) return unreadable(`is ${bytes} bytes; at most ${bytesMax} are taken`);
  // What is not in the alphabet is searched for, not what is: a search needs no memory, a match of all of it does.
  if (/[^A-Za-z0-9+/]/.test(data.slice(0, data.length - paddingOf(data)))) return unreadable(notBase64);
  const decoded = Buffer.from(data, 'base64');
  return endsExactly(decoded, data) ? readImage(decoded) : unreadable(notBase64);
}

const notBase64 =
  'is not base64: after the comma only A-Z, a-z, 0-9, `+` and `/`, padded with `=` to a multiple of four characters, without spaces or line breaks';

function unreadable(problem: string): ImageReading {
  return { kind: 'unreadable', problem };
}

function paddingOf(data: string): number {
  return data.endsWith('==') ? 2 : data.endsWith('=') ? 1 : 0;
}

/** null: no base64 has this length. */
function decodedBytes(data: string): number | null {
  return data.length % 4 === 0 && data.length > 0 ? (data.length / 4) * 3 - paddingOf(data) : null;
}

/** Whether the bits that padding leaves over are zero: else two texts would be one image. https://www.rfc-editor.org/rfc/rfc4648#section-3.5 */
function endsExactly(decoded: Buffer, data: string): boolean {
  return decoded.subarray(-(decoded.length % 3 || 3)).toString('base64') === data.slice(-4);
}

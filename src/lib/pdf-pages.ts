// Upper estimate of a PDF's pages, in one pass over its bytes and without unpacking. PDF 1.5 can
// pack the page objects and hide them, but not streams, and every page has at least one stream.
// Structure: ISO 32000-1, 7.5.7 (object streams), 7.7.3 (the page tree).

/**
 * No vendor accepts more: Gemini 1 000 (https://ai.google.dev/gemini-api/docs/document-processing),
 * Claude and OpenAI fewer.
 */
export const pdfPagesMax = 1_000;

/** Returns 1 to `pdfPagesMax`. A hostile file may have more pages than it shows. */
export function countPdfPages(bytes: Uint8Array): number {
  let pages = 0;
  let largestCount = 0;
  let streams = 0;
  let isPacked = false;
  for (let index = 0; index < bytes.length && pages < pdfPagesMax; index++) {
    const byte = bytes[index];
    if (byte === slash) {
      if (startsWith(bytes, index + 1, 'Type')) pages += isPage(bytes, index + 5) ? 1 : 0;
      else if (startsWith(bytes, index + 1, 'Count'))
        largestCount = Math.max(largestCount, numberAt(bytes, index + 6));
      else if (startsWith(bytes, index + 1, 'ObjStm')) isPacked = true;
    } else if (byte === letterE && bytes[index + 1] === letterN) {
      streams += startsWith(bytes, index + 1, 'ndstream') ? 1 : 0;
    }
  }
  return Math.min(Math.max(pages, largestCount, isPacked ? streams : 0, 1), pdfPagesMax);
}

const slash = 0x2f;
const letterE = 0x65;
const letterN = 0x6e;
/** Bounds on separators and digits, so that a hostile file cannot make the scan slow. */
const spacesMax = 8;
const digitsMax = 6;

/** Returns true for `/Page`, but not `/Pages`, after `/Type`. */
function isPage(bytes: Uint8Array, from: number): boolean {
  const at = skipSpaces(bytes, from);
  return bytes[at] === slash && startsWith(bytes, at + 1, 'Page') && !isLetter(bytes[at + 5]);
}

/** Returns the whole number at that offset, or 0. */
function numberAt(bytes: Uint8Array, from: number): number {
  let value = 0;
  const start = skipSpaces(bytes, from);
  for (let index = start; index < start + digitsMax; index++) {
    const digit = (bytes[index] ?? 0) - 0x30;
    if (digit < 0 || digit > 9) break;
    value = value * 10 + digit;
  }
  return value;
}

function skipSpaces(bytes: Uint8Array, from: number): number {
  let index = from;
  while (index < from + spacesMax && isSpace(bytes[index])) index++;
  return index;
}

function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

function isLetter(byte: number | undefined): boolean {
  return byte !== undefined && (byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x7a;
}

function startsWith(bytes: Uint8Array, from: number, text: string): boolean {
  for (let index = 0; index < text.length; index++)
    if (bytes[from + index] !== text.charCodeAt(index)) return false;
  return true;
}

// Token counts without a tokenizer: an upper estimate for what a request can cost, and our own count where an upstream gives none.
// A real tokenizer is not used: it stalls for seconds on hostile input, and no public one matches the newer models anyway.
import { addressedDocumentTokens, packedBytesPerToken, pageTokens, sizeOfDocument } from './document-tokens.ts';

/** Our own count of text: a token for every four bytes of UTF-8, rounded up. English measures 4.4 bytes a token, code 4.6, JSON 3.3. */
export function tokensFromBytes(utf8Bytes: number): number {
  return Math.ceil(utf8Bytes / 4);
}

export function utf8Length(text: string): number {
  return Buffer.byteLength(text, 'utf8');
}

/** `upper`: hardly ever exceeded, whatever the tokenizer; what a hold is made from. `likely`: our own count. */
type TokenEstimate = { readonly upper: number; readonly likely: number };
export type InputEstimate = TokenEstimate & { readonly hasImages: boolean };

/**
 * Estimates the input tokens of a request body in any wire format: every string and key of it counts, since a field that
 * is not known today may reach the model tomorrow. Images are counted by formula, documents by their pages or their text. Of a document
 * that is given by its address nothing is known, so its upper estimate is beyond any context; the caller bounds it by the model's.
 */
export function estimateInputTokens(body: unknown): InputEstimate {
  const sums: Sums = { upperHalves: 0, bytes: 0, mediaUpper: 0, mediaLikely: 0, hasImages: false };
  addValue(body, sums, 'text');
  return {
    upper: Math.ceil((sums.upperHalves * 1.1) / 2) + sums.mediaUpper + fixedTokens,
    likely: tokensFromBytes(sums.bytes) + sums.mediaLikely,
    hasImages: sums.hasImages,
  };
}

/** `upperHalves`: half tokens before the tenth that newer tokenizers add, so that the loop over the characters stays in small integers. */
type Sums = { upperHalves: number; bytes: number; mediaUpper: number; mediaLikely: number; hasImages: boolean };

const fixedTokens = 16;
/** What a message, a tool or a part adds beyond its text. */
const objectHalves = 16;
/** An image is at most 4 800 tokens at Anthropic; others count fewer. */
const imageTokens: TokenEstimate = { upper: 4_800, likely: 1_600 };
const imageTypes = new Set(['image', 'image_url', 'input_image']);
/** Held for like images. */
const likeImages = new Set(['input_audio', 'video_url']);
const documentTypes = new Set(['document', 'file', 'input_file']);
const runMin = 24;
/** What a string may be, by where it stands. */
type Place = 'text' | 'image' | 'document';

function addValue(value: unknown, sums: Sums, place: Place): void {
  if (typeof value === 'string') addText(value, sums);
  else if (Array.isArray(value)) for (const item of value) addValue(item, sums, place);
  else if (typeof value === 'object' && value !== null) addObject(value as JsonObject, sums, place);
  else sums.upperHalves += 8;
}

type JsonObject = Readonly<Record<string, unknown>>;

function addObject(value: JsonObject, sums: Sums, outer: Place): void {
  sums.upperHalves += objectHalves;
  const place = placeOf(value, outer);
  if (place === 'image' && outer !== 'image') addTokens(sums, imageTokens);
  sums.hasImages ||= place === 'image' && imageTypes.has(value['type'] as string);
  for (const key in value) {
    const child = value[key];
    sums.upperHalves += key.length;
    // The bytes of an image say nothing of its tokens.
    if (place === 'image' && holdsPdf(child)) addValue({ file_data: child }, sums, 'document');
    else if (place === 'image' && (isLongString(child) || isImageHolder(child))) continue;
    else if (place === 'document' && typeof child === 'string') addDocumentField(value, key, child, sums);
    else addValue(child, sums, place);
  }
}

function placeOf({ type }: JsonObject, outer: Place): Place {
  if (typeof type !== 'string') return outer;
  if (documentTypes.has(type)) return 'document';
  return imageTypes.has(type) || likeImages.has(type) ? 'image' : outer;
}

/** Some hosts take a PDF in the place of an image. */
function holdsPdf(value: unknown): boolean {
  if (typeof value === 'string') return /^data:application\/pdf/i.test(value);
  if (typeof value !== 'object' || value === null) return false;
  const { url, media_type: mediaType } = value as JsonObject;
  return holdsPdf(url) || (typeof mediaType === 'string' && /^application\/pdf/i.test(mediaType));
}

function isLongString(value: unknown): boolean {
  return typeof value === 'string' && value.length > 512;
}

/** `image_url: {url}` and `source: {type: 'base64', media_type, data}` hold nothing but the image. */
function isImageHolder(value: unknown): boolean {
  return typeof value === 'object' && value !== null && ('url' in value || 'data' in value);
}

/** The document itself, its address, or what is said of it. */
function addDocumentField(holder: JsonObject, key: string, text: string, sums: Sums): void {
  const isAddress = key === 'url' || key === 'file_url';
  if (isAddress && !text.startsWith('data:')) addTokens(sums, addressedDocumentTokens);
  else if (isAddress || key === 'file_data' || (key === 'data' && holder.type !== 'text')) addDocument(holder, text, sums);
  else addText(text, sums);
}

function addDocument({ media_type: mediaType }: JsonObject, data: string, sums: Sums): void {
  const size = sizeOfDocument({ data, mediaType: typeof mediaType === 'string' ? mediaType : null });
  switch (size.kind) {
    case 'pages':
      return addTokens(sums, { upper: size.pages * pageTokens.upper, likely: size.pages * pageTokens.likely });
    case 'packed':
      return addTokens(sums, { upper: Math.ceil(size.bytes / packedBytesPerToken), likely: tokensFromBytes(size.bytes) });
    case 'text':
      return addText(size.text, sums);
  }
}

function addTokens(sums: Sums, { upper, likely }: TokenEstimate): void {
  sums.mediaUpper += upper;
  sums.mediaLikely += likely;
}

/**
 * One pass. Words cost a half token a byte at most. Long unbroken runs (base64, hashes), digits, emoji and rare scripts cost up to
 * a token a byte, because that is what tokenizers fall back to.
 */
function addText(text: string, sums: Sums): void {
  let halves = 0;
  let bytes = 0;
  let run = 0;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code < 0x80) {
      bytes++;
      if (isAsciiLetter(code)) {
        run++;
        // At the threshold the run's earlier letters are counted again, at the full price.
        halves += run < runMin ? 1 : run === runMin ? runMin + 1 : 2;
      } else if (code >= 0x30 && code <= 0x39) {
        run++;
        halves += run === runMin ? runMin + 2 : 2;
      } else {
        run = 0;
        halves += 1;
      }
    } else {
      run = 0;
      const width = code < 0x800 ? 2 : code >= 0xd800 && code <= 0xdfff ? 2 : 3;
      bytes += width;
      halves += isCommonScript(code) ? width : width * 2;
    }
  }
  sums.upperHalves += halves;
  sums.bytes += bytes;
}

function isAsciiLetter(code: number): boolean {
  const lower = code | 0x20;
  return lower >= 0x61 && lower <= 0x7a;
}

/** Latin with accents, Greek, Cyrillic, Hebrew, Arabic; kana, CJK, Hangul; common punctuation. */
function isCommonScript(code: number): boolean {
  return (
    code < 0x700 || (code >= 0x2010 && code <= 0x2027) || (code >= 0x3000 && code <= 0x9fff) || (code >= 0xac00 && code <= 0xd7a3)
  );
}

// Token counts without a tokenizer: an upper estimate for what a request can cost, and our own count where an upstream gives none.
// A real tokenizer is not used: it stalls for seconds on hostile input, and no public one matches the newer models anyway.
import { addressedDocumentTokens, beyondAnyContext, packedBytesPerToken, pageTokens, sizeOfDocument } from './document-tokens.ts';
import { estimateImageTokens, plainImageTokens, readImageSize, type ImageVendor, type TokenEstimate } from './image-tokens.ts';
import { addText, type TextSums } from './text-tokens.ts';

export type InputEstimate = TokenEstimate & { readonly hasImages: boolean };

export type EstimateOptions = {
  readonly imageVendor?: ImageVendor;
  /** Names of fields and kinds of parts that pass though nobody knows what they cost: they are taken for films. */
  readonly opened?: ReadonlySet<string>;
};

const none: ReadonlySet<string> = new Set();

/** Our own count of text: a token for every four bytes of UTF-8, rounded up. English measures 4.4 bytes a token, code 4.6, JSON 3.3. */
export function tokensFromBytes(utf8Bytes: number): number {
  return Math.ceil(utf8Bytes / 4);
}

export function utf8Length(text: string): number {
  return Buffer.byteLength(text, 'utf8');
}

/**
 * Estimates the input tokens of a request body in any wire format. `upper` is never below what cl100k and o200k make of the text
 * (`text-tokens.ts`); over other tokenizers it has a margin. How it is counted: every string and key of it counts, since a field that
 * is not known today may reach the model tomorrow. Images are counted by their vendor's formula, documents by their pages or their text. Of a document
 * that is given by its address nothing is known, nor of a sound or a film: a few bytes of these can last for hours. So their upper
 * estimate is beyond any context; the caller bounds it by the model's.
 */
export function estimateInputTokens(
  body: unknown,
  { imageVendor = 'unknown', opened = none }: EstimateOptions = {},
): InputEstimate {
  const sums: Sums = { imageVendor, opened, halves: 0, eighths: 0, bytes: 0, mediaUpper: 0, mediaLikely: 0, hasImages: false };
  addValue(body, sums, 'text');
  return {
    upper: Math.ceil(Math.max((sums.halves * 1.1) / 2, sums.eighths / 8)) + sums.mediaUpper + fixedTokens,
    likely: tokensFromBytes(sums.bytes) + sums.mediaLikely,
    hasImages: sums.hasImages,
  };
}

type Sums = TextSums & {
  readonly imageVendor: ImageVendor;
  readonly opened: ReadonlySet<string>;
  bytes: number;
  mediaUpper: number;
  mediaLikely: number;
  hasImages: boolean;
};

const fixedTokens = 16;
/** What a message, a tool or a part adds beyond its text. */
const objectHalves = 16;
/** Brackets, quotes, colons and commas, where the value is written as JSON. */
const bracketEighths = 16;
const quoteEighths = 8;
/** A sound or a film. */
const filmTokens: TokenEstimate = { upper: beyondAnyContext, likely: plainImageTokens };
/** Kinds of parts, and the fields that hold them. */
const films = new Set(['input_audio', 'audio_url', 'audio', 'video_url', 'video', 'input_video']);
const imageTypes = new Set(['image', 'image_url', 'input_image', 'computer_screenshot']);
const documentTypes = new Set(['document', 'file', 'input_file', 'document_url', 'file_url']);
/** Fields of a document that hold its address. */
const addressFields = new Set(['url', 'file_url', 'document_url']);
/** What a string may be, by where it stands. `data` is what a client's own programs give and take: text, whatever it calls itself. */
type Place = 'text' | 'image' | 'document' | 'film' | 'data';

function addValue(value: unknown, sums: Sums, place: Place): void {
  if (typeof value === 'string') addStringAt(value, sums, place);
  else if (Array.isArray(value)) addArray(value, sums, place);
  else if (typeof value === 'object' && value !== null) addObject(value as JsonObject, sums, place);
  else addScalar(value, sums);
}

function addString(text: string, sums: Sums): void {
  sums.eighths += quoteEighths;
  sums.bytes += addText(text, sums);
}

function addArray(items: readonly unknown[], sums: Sums, place: Place): void {
  sums.eighths += bracketEighths;
  for (const item of items) addValue(item, sums, place);
}

/** A number, of whose characters each may be a token; true, false and null are one. */
function addScalar(value: unknown, sums: Sums): void {
  sums.halves += 8;
  sums.eighths += 8 + (typeof value === 'number' ? 8 * String(value).length : 8);
}

function addKey(key: string, sums: Sums): void {
  sums.eighths += quoteEighths;
  addText(key, sums);
}

type JsonObject = Readonly<Record<string, unknown>>;

function addObject(value: JsonObject, sums: Sums, outer: Place): void {
  sums.halves += objectHalves;
  sums.eighths += bracketEighths;
  const place = placeOf(value, outer, sums.opened);
  if (place === 'film' && outer !== 'film') addTokens(sums, filmTokens);
  const payload = place === 'image' && outer !== 'image' ? addImage(value, sums) : null;
  sums.hasImages ||= place === 'image' && imageTypes.has(value.type as string);
  for (const key in value) {
    const child = value[key];
    addKey(key, sums);
    if (isFilm(key, child, { place, opened: sums.opened })) addFilm(child, sums);
    else if (place === 'image' && holdsPdf(child)) addValue({ file_data: child }, sums, 'document');
    else if (payload !== null && holds(child, payload)) addRest(child, payload, sums);
    else if (place === 'document' && typeof child === 'string') addDocumentField(value, key, child, sums);
    else addValue(child, sums, isData(key, value) ? 'data' : place);
  }
}

function placeOf({ type }: JsonObject, outer: Place, opened: Sums['opened']): Place {
  if (typeof type !== 'string' || outer === 'data' || outer === 'film') return outer;
  if (films.has(type) || opened.has(type)) return 'film';
  if (documentTypes.has(type)) return 'document';
  return imageTypes.has(type) ? 'image' : outer;
}

/** Whether a field holds a sound or a film, whatever the object that it stands in calls itself; or media, in an object that is none. */
function isFilm(name: string, value: unknown, { place, opened }: { place: Place; opened: Sums['opened'] }): boolean {
  if (place === 'data' || place === 'film') return false;
  if (films.has(name)) return typeof value === 'string' ? isAddress(value) : typeof value === 'object' && value !== null;
  if (opened.has(name)) return holdsAddress(value);
  if (place === 'document') return Array.isArray(value) && value.some((item) => typeof item === 'string' && isAddress(item));
  if (place !== 'text') return false;
  return (misplaced.has(name) || (name === 'source' && typeof value === 'object')) && holdsAddress(value);
}

const misplaced = new Set(['image_url', 'file_url', 'document_url', 'file_data']);

function holdsAddress(value: unknown): boolean {
  if (typeof value === 'string') return isAddress(value);
  return typeof value === 'object' && value !== null && Object.values(value).some(holdsAddress);
}

/** `https://…`, `gs://…`, `data:…` */
function isAddress(text: string): boolean {
  return /^\s*[a-z][a-z0-9+.-]{0,30}:\S/i.test(text.slice(0, addressHeadMax));
}

/** Of a text that may be megabytes. */
const addressHeadMax = 1_000;

function addFilm(value: unknown, sums: Sums): void {
  addTokens(sums, filmTokens);
  addValue(value, sums, 'film');
}

/** Words beside a film count as text; its address or its bytes do not. */
function addStringAt(text: string, sums: Sums, place: Place): void {
  if (place === 'film' && (isAddress(text) || text.length > filmWordsMax)) return;
  addString(text, sums);
}

const filmWordsMax = 200;

/** Arguments of calls, schemas and the like. (Responses calls the conversation itself `input`.) */
function isData(key: string, { type }: JsonObject): boolean {
  return dataFields.has(key) || (key === 'input' && typeof type === 'string' && type.endsWith('tool_use'));
}

const dataFields = new Set(
  'input_schema output_schema parameters schema guided_json json structures structural_tag arguments input_examples metadata'.split(
    ' ',
  ),
);

/** Returns what the image consists of, which is not to be counted as text; null: nothing that is known. */
function addImage(image: JsonObject, sums: Sums): string | null {
  const payload = payloadOf(image);
  const size = payload === null ? null : readImageSize(payload);
  const isImage = payload === null || mayBeImage(payload, image);
  addTokens(sums, isImage ? estimateImageTokens(size, sums.imageVendor, detailOf(image)) : filmTokens);
  return payload;
}

/** In `image_url`, `image_url.url`, `source.data` or `source.url`. null: in none of them, or in several, of which a vendor reads any. */
function payloadOf(media: JsonObject): string | null {
  const payloads = [media.source, media.image_url].flatMap((holder) =>
    typeof holder === 'object' && holder !== null ? [(holder as JsonObject).data, (holder as JsonObject).url] : [holder],
  );
  const [payload, ...others] = payloads.filter((value) => value !== undefined && value !== null);
  return typeof payload === 'string' && others.length === 0 ? payload : null;
}

/** Some vendors read a film, a sound or a text in the place of an image, by the type that is said. A PDF is counted by its pages. */
function mayBeImage(payload: string, { source }: JsonObject): boolean {
  const said =
    /^\s*data:([^;,]{0,200})/i.exec(payload.slice(0, addressHeadMax))?.[1] ??
    (source as JsonObject | null | undefined)?.media_type;
  return typeof said !== 'string' || said === '' || /^\s*(?:image\/|application\/(?:pdf|octet-stream)$)/i.test(said);
}

/** `image_url.detail`, or `detail` beside it. */
function detailOf({ detail, image_url: holder }: JsonObject): unknown {
  return typeof holder === 'object' && holder !== null && 'detail' in holder ? holder.detail : detail;
}

function holds(child: unknown, payload: string): boolean {
  return child === payload || (typeof child === 'object' && child !== null && Object.values(child).includes(payload));
}

/** What stands beside an image's bytes counts. */
function addRest(child: unknown, payload: string, sums: Sums): void {
  if (typeof child !== 'object' || child === null) return;
  sums.halves += objectHalves;
  sums.eighths += bracketEighths;
  for (const [key, value] of Object.entries(child)) {
    addKey(key, sums);
    if (value !== payload) addValue(value, sums, 'image');
  }
}

/** Some hosts take a PDF in the place of an image. */
function holdsPdf(value: unknown): boolean {
  if (typeof value === 'string') return /^data:application\/pdf/i.test(value);
  if (typeof value !== 'object' || value === null) return false;
  const { url, media_type: mediaType } = value as JsonObject;
  return holdsPdf(url) || (typeof mediaType === 'string' && /^application\/pdf/i.test(mediaType));
}

/** The document itself, its address, or what is said of it. */
function addDocumentField(holder: JsonObject, key: string, text: string, sums: Sums): void {
  const mayBeAddress = addressFields.has(key) || ((key === 'file_data' || key === 'data') && isAddress(text));
  if (mayBeAddress && !text.startsWith('data:')) addTokens(sums, addressedDocumentTokens);
  else if (mayBeAddress || key === 'file_data' || (key === 'data' && holder.type !== 'text')) addDocument(holder, text, sums);
  else addString(text, sums);
}

function addDocument({ media_type: mediaType }: JsonObject, data: string, sums: Sums): void {
  const size = sizeOfDocument({ data, mediaType: typeof mediaType === 'string' ? mediaType : null });
  switch (size.kind) {
    case 'pages':
      return addTokens(sums, { upper: size.pages * pageTokens.upper, likely: size.pages * pageTokens.likely });
    case 'packed':
      return addTokens(sums, { upper: Math.ceil(size.bytes / packedBytesPerToken), likely: tokensFromBytes(size.bytes) });
    case 'film':
      return addTokens(sums, filmTokens);
    case 'text':
      return addString(size.text, sums);
  }
}

function addTokens(sums: Sums, { upper, likely }: TokenEstimate): void {
  sums.mediaUpper += upper;
  sums.mediaLikely += likely;
}

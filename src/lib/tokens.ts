// Token counts without a tokenizer: an upper estimate of what a request can cost, and our own count
// when an upstream reports none. A real tokenizer is not used because it stalls for seconds on
// hostile input, and newer models have no public one.
import { estimateAudioTokens } from './audio-tokens.ts';
import type { JsonObject } from './json.ts';
import {
  addressedDocumentTokens,
  beyondAnyContext,
  bytesOfBase64,
  packedBytesPerToken,
  pageTokens,
  sizeOfDocument,
} from './document-tokens.ts';
import {
  estimateImageTokens,
  plainImageTokens,
  readImageSize,
  type ImageVendor,
  type TokenEstimate,
} from './image-tokens.ts';
import { addText, type TextSums } from './text-tokens.ts';
import { tokensFromBytes, utf8Length } from './tokens-from-bytes.ts';

export type InputEstimate = TokenEstimate & {
  /** No provider can honestly count more. */
  readonly most: number;
  readonly hasImages: boolean;
  /** The part that a provider may count as sound, also of files whose content is unknown. */
  readonly audio: TokenEstimate & { readonly most: number };
  /** Sound is sent in one of the fields that are for it. */
  readonly hasSound: boolean;
};

type EstimateOptions = {
  readonly imageVendor?: ImageVendor;
  /**
   * Fields and part types that the operator lets pass although their cost is unknown; they count as
   * recordings.
   */
  readonly opened?: ReadonlySet<string>;
};

const none: ReadonlySet<string> = new Set();

/**
 * Estimates the input tokens of a request body in any wire format. `upper` is never below the
 * cl100k and o200k count of the text (text-tokens.ts); for other tokenizers it has a margin.
 *
 * Every string and key counts, because a field that is unknown today may reach the model tomorrow.
 * Images are counted by their vendor's formula, documents by pages or text, and audio by its length.
 * Documents and audio by URL, and video, can be of any size, so their upper estimate exceeds any
 * context; the caller caps it at the model's.
 *
 * For hostile text and dense documents `upper` is no bound. `most` is: no tokenizer makes more than a
 * token of each byte, for which `upper` has at least half of one. A document can hold any text.
 */
export function estimateInputTokens(
  body: unknown,
  { imageVendor = 'unknown', opened = none }: EstimateOptions = {},
): InputEstimate {
  const sums: Sums = {
    imageVendor,
    opened,
    halves: 0,
    eighths: 0,
    bytes: 0,
    characters: 0,
    mediaUpper: 0,
    mediaLikely: 0,
    audioUpper: 0,
    audioLikely: 0,
    hasImages: false,
    hasSound: false,
    hidesLength: false,
  };
  addValue(body, sums, 'text');
  const upper =
    Math.ceil(Math.max((sums.halves * 1.1) / 2, sums.eighths / 8)) + sums.mediaUpper + fixedTokens;
  return {
    upper,
    likely: tokensFromBytes(sums.bytes) + sums.mediaLikely,
    most: sums.hidesLength ? beyondAnyContext : 2 * upper,
    hasImages: sums.hasImages,
    audio: {
      upper: sums.audioUpper,
      likely: sums.audioLikely,
      most: sums.hidesLength ? beyondAnyContext : 2 * sums.audioUpper,
    },
    hasSound: sums.hasSound,
  };
}

/** Returns the estimate of a request to which text is added, so many times. */
export function withText(
  estimate: InputEstimate,
  text: Pick<InputEstimate, 'upper' | 'likely' | 'most'>,
  times = 1,
): InputEstimate {
  return {
    ...estimate,
    upper: estimate.upper + times * text.upper,
    likely: estimate.likely + times * text.likely,
    most: estimate.most + times * text.most,
  };
}

type Sums = TextSums & {
  readonly imageVendor: ImageVendor;
  readonly opened: ReadonlySet<string>;
  bytes: number;
  characters: number;
  mediaUpper: number;
  mediaLikely: number;
  /** The part of `mediaUpper` that may be sound. */
  audioUpper: number;
  audioLikely: number;
  hasImages: boolean;
  hasSound: boolean;
  /** Documents by address, PDFs, Office files or sound whose bytes do not bound it. */
  hidesLength: boolean;
};

const fixedTokens = 16;
/** Overhead of a message, a tool or a part beyond its text. */
const objectHalves = 16;
/** Brackets, quotes, colons and commas, for values that are written as JSON. */
const bracketEighths = 16;
const quoteEighths = 8;
/** Audio or video: a few bytes can last for hours. */
const recordingTokens: TokenEstimate = { upper: beyondAnyContext, likely: plainImageTokens };
/** Part types, and the fields that hold them. */
const recordings = new Set([
  'input_audio',
  'audio_url',
  'audio',
  'video_url',
  'video',
  'input_video',
]);
/** Those of them that hold audio. */
const sounds = new Set(['input_audio', 'audio_url', 'audio']);
const imageTypes = new Set(['image', 'image_url', 'input_image', 'computer_screenshot']);
const documentTypes = new Set(['document', 'file', 'input_file', 'document_url', 'file_url']);
/** Document fields that hold an address. */
const addressFields = new Set(['url', 'file_url', 'document_url']);
/**
 * How a string is counted, by its position in the body. `data` is input or output of the client's
 * own programs: always text.
 */
type ContentKind = 'text' | 'image' | 'document' | 'recording' | 'data';

function addValue(value: unknown, sums: Sums, kind: ContentKind): void {
  if (typeof value === 'string') addStringAt(value, sums, kind);
  else if (Array.isArray(value)) addArray(value, sums, kind);
  else if (isHolder(value)) addObject(value, sums, kind);
  else addScalar(value, sums);
}

function addString(text: string, sums: Sums): void {
  sums.eighths += quoteEighths;
  sums.bytes += countText(text, sums);
}

/**
 * The characters of a request whose tokens are counted. Counting takes about ten nanoseconds for
 * each, and more text than this fills almost every model's context.
 */
const countedMax = 8_000_000;

/** Returns the bytes. Beyond the maximum, each byte counts as a token: no text has more. */
function countText(text: string, sums: Sums): number {
  sums.characters += text.length;
  if (sums.characters <= countedMax) return addText(text, sums);
  const bytes = utf8Length(text);
  sums.halves += 2 * bytes;
  sums.eighths += 8 * bytes;
  return bytes;
}

function addArray(items: readonly unknown[], sums: Sums, kind: ContentKind): void {
  sums.eighths += bracketEighths;
  for (const item of items) addValue(item, sums, kind);
}

/** In a number, every character may be a token; true, false and null are one token. */
function addScalar(value: unknown, sums: Sums): void {
  sums.halves += 8;
  sums.eighths += 8 + (typeof value === 'number' ? 8 * String(value).length : 8);
}

function addKey(key: string, sums: Sums): void {
  sums.eighths += quoteEighths;
  countText(key, sums);
}

function addObject(value: JsonObject, sums: Sums, outer: ContentKind): void {
  sums.halves += objectHalves;
  sums.eighths += bracketEighths;
  const kind = kindOf(value, outer, sums.opened);
  if (kind === 'recording' && outer !== 'recording')
    addRecordingTokens(String(value.type), value, sums);
  const payload = kind === 'image' && outer !== 'image' ? addImage(value, sums) : null;
  sums.hasImages ||= kind === 'image' && imageTypes.has(value.type as string);
  for (const key in value) {
    const child = value[key];
    addKey(key, sums);
    if (isRecording(key, child, { kind, opened: sums.opened })) addRecording(key, child, sums);
    else if (kind === 'text' && geminiMedia.has(key) && isHolder(child))
      addValue(asBlock(child, value.mediaResolution), sums, kind);
    else if (kind === 'image' && holdsDocument(child))
      addValue({ file_data: child }, sums, 'document');
    else if (payload !== null && holds(child, payload)) addRest(child, payload, sums);
    else if (kind === 'document' && typeof child === 'string')
      addDocumentField(value, key, child, sums);
    else addValue(child, sums, isData(key, value) ? 'data' : kind);
  }
}

function kindOf({ type }: JsonObject, outer: ContentKind, opened: Sums['opened']): ContentKind {
  if (typeof type !== 'string' || outer === 'data' || outer === 'recording') return outer;
  if (recordings.has(type) || opened.has(type)) return 'recording';
  if (documentTypes.has(type)) return 'document';
  return imageTypes.has(type) ? 'image' : outer;
}

/**
 * Returns true for a field that holds audio or video, whatever the `type` of its object, and for
 * media in an object without a media type.
 */
function isRecording(
  name: string,
  value: unknown,
  { kind, opened }: { kind: ContentKind; opened: Sums['opened'] },
): boolean {
  if (kind === 'data' || kind === 'recording') return false;
  if (recordings.has(name)) return typeof value === 'string' ? isAddress(value) : isHolder(value);
  if (opened.has(name)) return holdsAddress(value);
  if (kind === 'document')
    return (
      Array.isArray(value) && value.some((item) => typeof item === 'string' && isAddress(item))
    );
  if (kind !== 'text') return false;
  return (
    (misplaced.has(name) || (name === 'source' && typeof value === 'object')) && holdsAddress(value)
  );
}

const misplaced = new Set(['image_url', 'file_url', 'document_url', 'file_data']);

function holdsAddress(value: unknown): boolean {
  if (typeof value === 'string') return isAddress(value);
  return isHolder(value) && Object.values(value).some(holdsAddress);
}

/** `https://…`, `gs://…`, `data:…` */
function isAddress(text: string): boolean {
  return /^\s*[a-z][a-z0-9+.-]{0,30}:\S/i.test(text.slice(0, addressHeadMax));
}

/** Limits the regular expression; the text may have megabytes. */
const addressHeadMax = 1_000;

function addRecording(name: string, value: unknown, sums: Sums): void {
  addRecordingTokens(name, value, sums);
  addValue(value, sums, 'recording');
}

/** `name`: of the part or field that holds it. */
function addRecordingTokens(name: string, value: unknown, sums: Sums): void {
  sums.hasSound ||= name === 'input_audio';
  const [payload, ...others] = sounds.has(name) ? payloadsIn(value) : [];
  if (payload === undefined || others.length > 0) return addSoundTokens(null, sums);
  const uri = /^\s*data:audio\/[^,]{0,200};base64,/i.exec(payload.slice(0, addressHeadMax));
  if (!uri && isAddress(payload)) return addSoundTokens(null, sums);
  const bytes = bytesOfBase64(payload.slice(uri?.[0].length ?? 0));
  addSoundTokens({ bytes, type: uri?.[0] ?? formatIn(value) }, sums);
}

/** Returns the format of a part or of its field; '' when there is none. */
function formatIn(value: unknown): string {
  const { format, input_audio: field } = value as JsonObject;
  if (isHolder(field)) return formatIn(field);
  return typeof format === 'string' ? format : '';
}

/** null: a recording that may be of any length. */
function addSoundTokens(sound: { bytes: Buffer; type: string } | null, sums: Sums): void {
  const read = sound && estimateAudioTokens(sound.bytes, sums.imageVendor, sound.type);
  const tokens = read ?? recordingTokens;
  sums.hidesLength ||= read?.isBound === false;
  sums.audioUpper += tokens.upper;
  sums.audioLikely += tokens.likely;
  addTokens(sums, tokens);
}

function payloadsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return isPayload(value) ? [value] : [];
  return isHolder(value) ? Object.values(value).flatMap(payloadsIn) : [];
}

/** Words beside a recording count as text; its address and its bytes do not. */
function addStringAt(text: string, sums: Sums, kind: ContentKind): void {
  if (kind !== 'recording' || !isPayload(text)) addString(text, sums);
}

function isPayload(text: string): boolean {
  return isAddress(text) || text.length > recordingWordsMax;
}

const recordingWordsMax = 200;

/** Tool arguments, schemas and similar. (Responses calls the conversation itself `input`.) */
function isData(key: string, { type }: JsonObject): boolean {
  return (
    dataFields.has(key) ||
    (key === 'input' && typeof type === 'string' && type.endsWith('tool_use'))
  );
}

const dataFields = new Set(
  (
    'input_schema output_schema parameters schema guided_json json structures structural_tag arguments input_examples metadata ' +
    'args response parametersJsonSchema responseSchema responseJsonSchema'
  ).split(' '),
);

/** Gemini's parts have no type: their fields tell images from documents. */
const geminiMedia = new Set(['inlineData', 'fileData']);

/** Returns Gemini's media as a block of Messages, which is counted as one. */
function asBlock({ mimeType, data, fileUri }: JsonObject, resolution: unknown): JsonObject {
  const type = /^\s*image\//i.test(String(mimeType)) ? 'image' : 'document';
  const detail = isHolder(resolution) ? resolution.level : undefined;
  return { type, detail, source: { media_type: mimeType, data, url: fileUri } };
}

/** True for an object or a list. */
function isHolder(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null;
}

/**
 * Returns the image's address or base64, which must not be counted as text; null when there is none
 * or several.
 */
function addImage(image: JsonObject, sums: Sums): string | null {
  const payload = payloadOf(image);
  const size = payload === null ? null : readImageSize(payload);
  const isImage = payload === null || mayBeImage(payload, image);
  if (isImage) addTokens(sums, estimateImageTokens(size, sums.imageVendor, detailOf(image)));
  else if (!Object.values(image).some(holdsDocument)) addSoundTokens(null, sums);
  return payload;
}

/**
 * Looks in `image_url`, `image_url.url`, `source.data` and `source.url`. Returns null for none, or
 * for several, because vendors differ in which one they read.
 */
function payloadOf(media: JsonObject): string | null {
  const payloads = [media.source, media.image_url].flatMap((holder) =>
    isHolder(holder) ? [holder.data, holder.url] : [holder],
  );
  const [payload, ...others] = payloads.filter((value) => value !== undefined && value !== null);
  return typeof payload === 'string' && others.length === 0 ? payload : null;
}

/**
 * Returns false for a declared audio, video or text type, which some vendors accept in place of an
 * image. A PDF is counted by its pages.
 */
function mayBeImage(payload: string, { source }: JsonObject): boolean {
  const stated =
    /^\s*data:([^;,]{0,200})/i.exec(payload.slice(0, addressHeadMax))?.[1] ??
    (source as JsonObject | null | undefined)?.media_type;
  return (
    typeof stated !== 'string' ||
    stated === '' ||
    /^\s*(?:image\/|application\/(?:pdf|octet-stream)$)/i.test(stated)
  );
}

/** Returns `image_url.detail`, or the `detail` beside it. */
function detailOf({ detail, image_url: holder }: JsonObject): unknown {
  return isHolder(holder) && 'detail' in holder ? holder.detail : detail;
}

function holds(child: unknown, payload: string): boolean {
  return child === payload || (isHolder(child) && Object.values(child).includes(payload));
}

/** Counts the fields beside an image's bytes. */
function addRest(child: unknown, payload: string, sums: Sums): void {
  if (!isHolder(child)) return;
  sums.halves += objectHalves;
  sums.eighths += bracketEighths;
  for (const [key, value] of Object.entries(child)) {
    addKey(key, sums);
    if (value !== payload) addValue(value, sums, 'image');
  }
}

/** Some hosts accept a PDF or sound in place of an image. */
function holdsDocument(value: unknown): boolean {
  if (typeof value === 'string') return /^\s*data:(?:application\/pdf|audio\/)/i.test(value);
  if (!isHolder(value)) return false;
  const { url, media_type: mediaType } = value;
  const isStated =
    typeof mediaType === 'string' && /^\s*(?:application\/pdf|audio\/)/i.test(mediaType);
  return isStated || holdsDocument(url);
}

/** Counts a string field of a document: its content, its address, or a description. */
function addDocumentField(holder: JsonObject, key: string, text: string, sums: Sums): void {
  const mayBeAddress =
    addressFields.has(key) || ((key === 'file_data' || key === 'data') && isAddress(text));
  if (mayBeAddress && !text.startsWith('data:')) {
    sums.hidesLength = true;
    addTokens(sums, addressedDocumentTokens);
  } else if (mayBeAddress || key === 'file_data' || (key === 'data' && holder.type !== 'text'))
    addDocument(holder, text, sums);
  else addString(text, sums);
}

function addDocument({ media_type: mediaType }: JsonObject, data: string, sums: Sums): void {
  const size = sizeOfDocument({
    data,
    mediaType: typeof mediaType === 'string' ? mediaType : null,
  });
  sums.hidesLength ||= size.kind === 'pages' || size.kind === 'packed';
  switch (size.kind) {
    case 'pages':
      return addTokens(sums, {
        upper: size.pages * pageTokens.upper,
        likely: size.pages * pageTokens.likely,
      });
    case 'packed':
      return addTokens(sums, {
        upper: Math.ceil(size.bytes / packedBytesPerToken),
        likely: tokensFromBytes(size.bytes),
      });
    case 'recording': {
      const isSound = size.type.trim().startsWith('audio/');
      sums.hasSound ||= isSound;
      return addSoundTokens(isSound ? size : null, sums);
    }
    case 'text':
      return addString(size.text, sums);
  }
}

function addTokens(sums: Sums, { upper, likely }: TokenEstimate): void {
  sums.mediaUpper += upper;
  sums.mediaLikely += likely;
}

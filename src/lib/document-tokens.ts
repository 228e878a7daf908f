// Upper estimate of a document's input tokens. A PDF is billed by its pages: Claude reads the text
// of each (1 500 to 3 000 tokens) and an image of it
// (https://platform.claude.com/docs/en/build-with-claude/pdf-support), OpenAI reads both too
// (https://developers.openai.com/api/docs/guides/file-inputs), and Gemini counts 258 to 1 120
// tokens for the image (https://ai.google.dev/gemini-api/docs/document-processing). Every other
// file is billed by its text.
import { countPdfPages } from './pdf-pages.ts';

/** Tokens. The caller caps this at the model's context. */
export const beyondAnyContext = 1e9;

type SentDocument = {
  /** Base64, or a data URI. */
  readonly data: string;
  /** The type that the client declared; null when only the data URI may declare one. */
  readonly mediaType: string | null;
};

type DocumentSize =
  | { readonly kind: 'pages'; readonly pages: number }
  /** An Office file: a zip archive whose text is longer than the file. */
  | { readonly kind: 'packed'; readonly bytes: number }
  /** Audio or video, with its type. */
  | { readonly kind: 'recording'; readonly bytes: Buffer; readonly type: string }
  | { readonly kind: 'text'; readonly text: string };

/** The largest image that Claude makes of a page, plus a dense page of text. */
export const pageTokens = { upper: 4_800 + 3_000, likely: 2_000 };
/** A document by URL can be of any size: more than any model's context. */
export const addressedDocumentTokens = { upper: beyondAnyContext, likely: pageTokens.likely };
/** Packed Office text measures about 3 bytes a token. */
export const packedBytesPerToken = 2;

/**
 * Decodes the data once. Text that begins like a PDF is text; any other type of a PDF is corrected
 * before it is sent.
 */
export function sizeOfDocument({ data, mediaType }: SentDocument): DocumentSize {
  const uri = /^\s*data:([^;,]{0,200})[^,]{0,200},/i.exec(data);
  const bytes = bytesOfBase64(uri ? data.slice(uri[0].length) : data);
  const type = uri?.[1]?.toLowerCase() || mediaType?.toLowerCase() || null;
  const isPdf =
    type === 'application/pdf' ||
    (type === null && bytes.subarray(0, 1_024).includes('%PDF-')) ||
    (!isTrusted.test(type ?? '') && bytes.subarray(0, 5).toString('latin1') === '%PDF-');
  if (isPdf) {
    return { kind: 'pages', pages: countPdfPages(bytes) };
  }
  if (type !== null && /^\s*(?:audio|video)\//.test(type))
    return { kind: 'recording', bytes, type };
  if (bytes.subarray(0, 4).equals(zipStart) && !type?.startsWith('text/'))
    return { kind: 'packed', bytes: bytes.length };
  return { kind: 'text', text: bytes.toString('utf8') };
}

/** Returns all that any decoder may read: ours stops at the first `=`, and others go on behind it. */
export function bytesOfBase64(text: string): Buffer {
  const hasMore = text.includes('=') && text.indexOf('=') < text.trimEnd().length - 2;
  return Buffer.from(hasMore ? text.replaceAll('=', '') : text, 'base64');
}

const isTrusted = /^\s*(?:text|audio|video)\/|^\s*application\/json$/;
const zipStart = Buffer.from('PK\x03\x04', 'latin1');

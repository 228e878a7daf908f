// What a document costs in input tokens, estimated from above. A PDF is billed by its pages: Claude reads the text of each (1 500 to 3 000
// tokens) and an image of it (https://platform.claude.com/docs/en/build-with-claude/pdf-support), OpenAI both as well
// (https://developers.openai.com/api/docs/guides/file-inputs), Gemini 258 to 1 120 tokens for the image
// (https://ai.google.dev/gemini-api/docs/document-processing). Every other file is billed by its text.
import { countPdfPages } from './pdf-pages.ts';

/** Tokens; the caller bounds them by the model's context. */
export const beyondAnyContext = 1e9;

export type SentDocument = {
  /** Base64, or a data URI with it. */
  readonly data: string;
  /** As its sender says; null: it says nothing, unless the data URI does. */
  readonly mediaType: string | null;
};

export type DocumentSize =
  | { readonly kind: 'pages'; readonly pages: number }
  /** An Office file: a packed archive, whose text is longer than itself. */
  | { readonly kind: 'packed'; readonly bytes: number }
  /** A sound or a film: a few bytes of these can last for hours. */
  | { readonly kind: 'film' }
  | { readonly kind: 'text'; readonly text: string };

/** The largest image that Claude makes of a page, and a dense page of text. */
export const pageTokens = { upper: 4_800 + 3_000, likely: 2_000 };
/** At a document's address stands anything: more than any model's context. */
export const addressedDocumentTokens = { upper: beyondAnyContext, likely: pageTokens.likely };
/** Text of Office files measures some 3 bytes a token when packed. */
export const packedBytesPerToken = 2;

/** Decodes once. A vendor goes by the type that is said, so a text that begins like a PDF is a text. */
export function sizeOfDocument({ data, mediaType }: SentDocument): DocumentSize {
  const uri = /^\s*data:([^;,]{0,200})[^,]{0,200},/i.exec(data);
  const bytes = Buffer.from(uri ? data.slice(uri[0].length) : data, 'base64');
  const type = uri?.[1]?.toLowerCase() || mediaType?.toLowerCase() || null;
  if (type === 'application/pdf' || (type === null && bytes.subarray(0, 1_024).includes('%PDF-'))) {
    return { kind: 'pages', pages: countPdfPages(bytes) };
  }
  if (type !== null && /^\s*(?:audio|video)\//.test(type)) return { kind: 'film' };
  if (bytes.subarray(0, 4).equals(zipStart) && !type?.startsWith('text/')) return { kind: 'packed', bytes: bytes.length };
  return { kind: 'text', text: bytes.toString('utf8') };
}

const zipStart = Buffer.from('PK\x03\x04', 'latin1');

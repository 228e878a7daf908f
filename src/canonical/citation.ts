// Where an answer's words come from. A text block carries its citations, in streams between its deltas. Formats keep what both sides
// know; a field that only one vendor has is null elsewhere, and never made up.

export type Citation = UrlCitation | SearchResultCitation | DocumentCitation;

/** A page of the web. */
export type UrlCitation = {
  readonly type: 'url';
  readonly url: string;
  readonly title: string | null;
  /** The words of the page. */
  readonly citedText: string | null;
  /** Where in the block's own text; null: all of it, or nobody knows. */
  readonly span: TextSpan | null;
  /** Anthropic's opaque reference into its search results, without which it does not take the citation back. */
  readonly reference: string | null;
};

/** UTF-16 code units, as strings are indexed here; `end` is not in it. */
export type TextSpan = { readonly start: number; readonly end: number };

/** A result of the caller's own search, which it gave as a block of the conversation. Its source is often, not always, a URL. */
export type SearchResultCitation = {
  readonly type: 'search-result';
  readonly source: string;
  readonly title: string | null;
  readonly citedText: string;
  readonly resultIndex: number;
  readonly blocks: TextSpan;
};

/** A document of the conversation, counted from its first. */
export type DocumentCitation = {
  readonly type: 'document';
  readonly documentIndex: number;
  readonly title: string | null;
  readonly citedText: string;
  /** The first and the one after the last. Pages count from 1, characters and content blocks from 0. */
  readonly place: { readonly unit: 'char' | 'page' | 'block'; readonly start: number; readonly end: number };
};

/** A citation as formats that know the web alone can say it; null: it is of a document of the conversation, which they cannot name. */
export function asUrlCitation(citation: Citation): UrlCitation | null {
  if (citation.type === 'url') return citation;
  if (citation.type === 'document' || !/^https?:\/\//i.test(citation.source)) return null;
  const { source, title, citedText } = citation;
  return { type: 'url', url: source, title, citedText, span: null, reference: null };
}

/** The span that a format without "the whole block" writes. `blockStart`: what stands ahead of the block in the same text. */
export function placeSpan(span: TextSpan | null, { blockStart, length }: { blockStart: number; length: number }): TextSpan {
  const { start, end } = span ?? { start: 0, end: length };
  return { start: blockStart + start, end: blockStart + end };
}

/** Reads two indexes of an upstream. null when they are none, or hold nothing: OpenRouter sends 0 and 0 for a place that it does not know. */
export function readSpan(start: unknown, end: unknown): TextSpan | null {
  if (!Number.isSafeInteger(start) || !Number.isSafeInteger(end)) return null;
  const span = { start: start as number, end: end as number };
  return span.start >= 0 && span.end > span.start ? span : null;
}

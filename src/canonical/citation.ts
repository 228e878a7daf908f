// Sources of an answer's words. A text block carries its citations, in streams between its deltas.
// Formats keep what both sides have; a field that only one vendor has is null elsewhere, and never
// invented.

export type Citation = UrlCitation | SearchResultCitation | DocumentCitation;

/** A web page. */
export type UrlCitation = {
  readonly type: 'url';
  readonly url: string;
  readonly title: string | null;
  /** The words of the page. */
  readonly citedText: string | null;
  /** Where in the block's own text; null: all of it, or nobody knows. */
  readonly span: TextSpan | null;
  /**
   * Anthropic's opaque reference into its search results, without which it does not take the
   * citation back.
   */
  readonly reference: string | null;
};

/** Returns the citation of a page. What is left out is null. */
export function urlCitation(
  url: string,
  known: Partial<Omit<UrlCitation, 'type' | 'url'>>,
): UrlCitation {
  return { type: 'url', url, title: null, citedText: null, span: null, reference: null, ...known };
}

/** In UTF-16 code units, as JavaScript indexes strings; `end` is exclusive. */
export type TextSpan = { readonly start: number; readonly end: number };

/**
 * A result of the caller's own search, sent as a block of the conversation. Its source is often,
 * not always, a URL.
 */
export type SearchResultCitation = {
  readonly type: 'search-result';
  readonly source: string;
  readonly title: string | null;
  readonly citedText: string;
  readonly resultIndex: number;
  readonly blocks: TextSpan;
};

/** A document of the conversation, counted from the first. */
export type DocumentCitation = {
  readonly type: 'document';
  readonly documentIndex: number;
  readonly title: string | null;
  readonly citedText: string;
  /** The first and the one after the last. Pages count from 1, characters and content blocks from 0. */
  readonly place: {
    readonly unit: 'char' | 'page' | 'block';
    readonly start: number;
    readonly end: number;
  };
};

/**
 * A citation for formats that can only cite the web; null when it cites a document of the
 * conversation, which they cannot name.
 */
export function asUrlCitation(citation: Citation): UrlCitation | null {
  if (citation.type === 'url') return citation;
  if (citation.type === 'document' || !/^https?:\/\//i.test(citation.source)) return null;
  const { source, title, citedText } = citation;
  return urlCitation(source, { title, citedText });
}

/**
 * The span for a format that cannot cite a whole block. `blockStart`: length of the text ahead of
 * the block.
 */
export function placeSpan(
  span: TextSpan | null,
  { blockStart, length }: { blockStart: number; length: number },
): TextSpan {
  const { start, end } = span ?? { start: 0, end: length };
  return { start: blockStart + start, end: blockStart + end };
}

/**
 * Reads two indexes of an upstream. Returns null when they are invalid or empty: OpenRouter sends 0
 * and 0 for an unknown place.
 */
export function readSpan(start: unknown, end: unknown): TextSpan | null {
  if (!Number.isSafeInteger(start) || !Number.isSafeInteger(end)) return null;
  const span = { start: start as number, end: end as number };
  return span.start >= 0 && span.end > span.start ? span : null;
}

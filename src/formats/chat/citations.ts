// Citations of web pages, in the annotations of OpenAI's search models. Chat cannot cite documents
// of the conversation, so those are left out. `content`, the page's text, is OpenRouter's
// (openrouter.ai/docs/features/web-search, read 2026-11-21).
import {
  asUrlCitation,
  placeSpan,
  readSpan,
  urlCitation,
  type Citation,
  type UrlCitation,
} from '../../canonical/citation.ts';
import type { AnswerPart } from '../../canonical/own-tools.ts';
import { isObject, type JsonObject, listOf, textOrNull } from '../../lib/json.ts';

/**
 * Reads the annotations of a message or delta. Their spans refer to the message's whole content.
 */
export function readAnnotations(annotations: unknown): UrlCitation[] {
  return listOf(annotations).flatMap((annotation) => readAnnotation(annotation) ?? []);
}

function readAnnotation(annotation: unknown): UrlCitation | null {
  if (
    !isObject(annotation) ||
    annotation.type !== 'url_citation' ||
    !isObject(annotation.url_citation)
  )
    return null;
  const { url, title, content, start_index: start, end_index: end } = annotation.url_citation;
  return typeof url === 'string'
    ? urlCitation(url, {
        title: textOrNull(title),
        citedText: textOrNull(content),
        span: readSpan(start, end),
      })
    : null;
}

/** A span that begins before the block is dropped. */
export function citationInBlock(citation: UrlCitation, textStart: number): UrlCitation {
  const { span } = citation;
  if (!span || textStart === 0) return citation;
  const isWithin = span.start >= textStart;
  return {
    ...citation,
    span: isWithin ? { start: span.start - textStart, end: span.end - textStart } : null,
  };
}

/**
 * Perplexity and xAI list an answer's pages beside it: `search_results`, or `citations` with only
 * the URLs.
 */
export function readSources({ search_results: results, citations }: JsonObject): UrlCitation[] {
  const sources: unknown = Array.isArray(results) && results.length > 0 ? results : citations;
  if (!Array.isArray(sources)) return [];
  return sources.flatMap((source: unknown) => {
    const { url, title } = isObject(source) ? source : { url: source, title: null };
    // A file of the request has none.
    return typeof url === 'string' && url !== ''
      ? urlCitation(url, { title: textOrNull(title) })
      : [];
  });
}

/** Writes the annotations of an answer. Chat joins its texts into one. */
export function writeAnnotations(content: readonly AnswerPart[]): JsonObject[] {
  let blockStart = 0;
  return content.flatMap((part) => {
    if (part.type !== 'text') return [];
    const place = { blockStart, length: part.text.length };
    blockStart += part.text.length;
    return (part.citations ?? []).flatMap((citation) => writeAnnotation(citation, place));
  });
}

/**
 * `place`: where the citation's block is in the message's content. Returns nothing for citations
 * that Chat cannot express.
 */
export function writeAnnotation(
  citation: Citation,
  place: { blockStart: number; length: number },
): JsonObject[] {
  const web = asUrlCitation(citation);
  if (!web) return [];
  const { start, end } = placeSpan(web.span, place);
  const { url, title, citedText } = web;
  const page = { url, title: title ?? '', start_index: start, end_index: end };
  return [
    {
      type: 'url_citation',
      url_citation: citedText === null ? page : { ...page, content: citedText },
    },
  ];
}

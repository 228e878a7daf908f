// Citations of web pages, as annotations of a text part. Left out: annotations of files, which name
// provider state, and citations of the conversation's documents, for which there is no annotation.
import {
  asUrlCitation,
  placeSpan,
  readSpan,
  urlCitation,
  type Citation,
  type UrlCitation,
} from '../../canonical/citation.ts';
import type { TextPart } from '../../canonical/request.ts';
import { isObject, type JsonObject, listOf, textOrNull } from '../../lib/json.ts';

export function readAnnotations(annotations: unknown): Pick<TextPart, 'citations'> {
  const citations = listOf(annotations).flatMap((annotation) => readAnnotation(annotation) ?? []);
  return citations.length > 0 ? { citations } : {};
}

export function readAnnotation(annotation: unknown): UrlCitation | null {
  if (
    !isObject(annotation) ||
    annotation.type !== 'url_citation' ||
    typeof annotation.url !== 'string'
  )
    return null;
  const { url, title, start_index: start, end_index: end } = annotation;
  return urlCitation(url, { title: textOrNull(title), span: readSpan(start, end) });
}

/** Writes the annotations of a text part. `text`: the whole text. */
export function writeAnnotations({
  text,
  citations,
}: Pick<TextPart, 'text' | 'citations'>): JsonObject[] {
  return (citations ?? []).flatMap((citation: Citation) => {
    const web = asUrlCitation(citation);
    if (!web) return [];
    const { start, end } = placeSpan(web.span, { blockStart: 0, length: text.length });
    return [
      {
        type: 'url_citation',
        url: web.url,
        title: web.title ?? '',
        start_index: start,
        end_index: end,
      },
    ];
  });
}

// Citations of a text block. Messages cites whole blocks, so the span of another format's citation
// is left out.
import {
  readSpan,
  urlCitation,
  type Citation,
  type DocumentCitation,
  type SearchResultCitation,
} from '../../canonical/citation.ts';
import type { TextPart } from '../../canonical/request.ts';
import { isObject, type JsonObject, listOf, textOrNull } from '../../lib/json.ts';

/** Reads the citations of a text part. Ignores unknown kinds. */
export function readCitations(citations: unknown): Pick<TextPart, 'citations'> {
  const read = listOf(citations).flatMap((citation) => readCitation(citation) ?? []);
  return read.length > 0 ? { citations: read } : {};
}

/** Returns null when a citation names too little to be useful. */
export function readCitation(citation: unknown): Citation | null {
  if (!isObject(citation)) return null;
  if (citation.type === 'web_search_result_location') return readWebCitation(citation);
  if (citation.type === 'search_result_location') return readSearchResult(citation);
  const unit = units.find((one) => placeFields[one].type === citation.type);
  return unit ? readDocument(citation, unit) : null;
}

function readWebCitation(citation: JsonObject): Citation | null {
  const { url, title, cited_text: citedText, encrypted_index: reference } = citation;
  if (typeof url !== 'string') return null;
  return urlCitation(url, {
    title: textOrNull(title),
    citedText: textOrNull(citedText),
    reference: textOrNull(reference),
  });
}

function readSearchResult(citation: JsonObject): SearchResultCitation | null {
  const { source, title, cited_text: citedText, search_result_index: resultIndex } = citation;
  const blocks = readSpan(citation.start_block_index, citation.end_block_index);
  if (typeof source !== 'string' || !blocks || !isCount(resultIndex)) return null;
  return {
    type: 'search-result',
    source,
    title: textOrNull(title),
    citedText: textOrNull(citedText) ?? '',
    resultIndex,
    blocks,
  };
}

function readDocument(
  citation: JsonObject,
  unit: DocumentCitation['place']['unit'],
): DocumentCitation | null {
  const { document_index: documentIndex, document_title: title, cited_text: citedText } = citation;
  const { start, end } = placeFields[unit];
  const span = readSpan(citation[start], citation[end]);
  if (!span || !isCount(documentIndex)) return null;
  return {
    type: 'document',
    documentIndex,
    title: textOrNull(title),
    citedText: textOrNull(citedText) ?? '',
    place: { unit, ...span },
  };
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

/** Required fields that another vendor did not send stay empty. */
export function writeCitation(citation: Citation): JsonObject {
  switch (citation.type) {
    case 'url': {
      const { url, title, citedText, reference } = citation;
      return {
        type: 'web_search_result_location',
        cited_text: citedText ?? '',
        encrypted_index: reference ?? '',
        title,
        url,
      };
    }
    case 'search-result': {
      const { source, title, citedText, resultIndex, blocks } = citation;
      return {
        type: 'search_result_location',
        cited_text: citedText,
        search_result_index: resultIndex,
        source,
        title,
        start_block_index: blocks.start,
        end_block_index: blocks.end,
      };
    }
    case 'document':
      return writeDocument(citation);
  }
}

function writeDocument({ documentIndex, title, citedText, place }: DocumentCitation): JsonObject {
  const { type, start, end } = placeFields[place.unit];
  return {
    type,
    cited_text: citedText,
    document_index: documentIndex,
    document_title: title,
    file_id: null,
    [start]: place.start,
    [end]: place.end,
  };
}

const placeFields = {
  char: { type: 'char_location', start: 'start_char_index', end: 'end_char_index' },
  page: { type: 'page_location', start: 'start_page_number', end: 'end_page_number' },
  block: { type: 'content_block_location', start: 'start_block_index', end: 'end_block_index' },
} as const;
const units = ['char', 'page', 'block'] as const;

/** Writes the citations of an answer's text block; an answer states their absence too. */
export function writeCitations({ citations = [] }: Pick<TextPart, 'citations'>): {
  readonly citations?: readonly JsonObject[];
} {
  return citations.length > 0 ? { citations: citations.map(writeCitation) } : {};
}

/**
 * Returns true for a citation that Anthropic made, and so accepts back. Others name a search result
 * or document that it never saw.
 */
export function isOwnCitation(citation: unknown): boolean {
  if (!isObject(citation)) return false;
  return (
    citation.type !== 'web_search_result_location' || textOrNull(citation.encrypted_index) !== null
  );
}

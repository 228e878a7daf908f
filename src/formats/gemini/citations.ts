// Gemini's sources of an answer: pages of a search (grounding), and sources that it recites. It
// sends them once, after the text, and counts positions in bytes of UTF-8.
import { readSpan, urlCitation, type Citation, type TextSpan } from '../../canonical/citation.ts';
import {
  isObject,
  type JsonObject,
  objectOf,
  listOf,
  textOrNull,
  objectsOf,
} from '../../lib/json.ts';

/** A position in the text: in bytes, and by its words if Gemini sends them. */
export type FoundCitation = {
  readonly url: string;
  readonly title: string | null;
  readonly bytes: TextSpan | null;
  readonly words: string | null;
};

export function readCitations({
  groundingMetadata,
  citationMetadata,
}: JsonObject): FoundCitation[] {
  return [...readGrounding(groundingMetadata), ...readRecitations(citationMetadata)];
}

/**
 * `text`: the block that holds the words. A position outside it is left out; the source is kept.
 */
export function placeCitation({ url, title, bytes, words }: FoundCitation, text: string): Citation {
  return urlCitation(url, { title, span: placeBytes(bytes, words, text) });
}

/** Returns true when the text can be the one that holds the words. */
export function isWithin({ bytes, words }: FoundCitation, text: string): boolean {
  if (words !== null) return text.includes(words);
  return bytes === null || bytes.end <= Buffer.byteLength(text);
}

function readGrounding(metadata: unknown): FoundCitation[] {
  const { groundingChunks, groundingSupports } = objectOf(metadata);
  const chunks = listOf(groundingChunks);
  return objectsOf(groundingSupports).flatMap(({ segment, groundingChunkIndices: indexes }) =>
    listOf(indexes).flatMap((index) =>
      typeof index === 'number' ? readPage(chunks[index], objectOf(segment)) : [],
    ),
  );
}

function readPage(chunk: unknown, segment: JsonObject): FoundCitation[] {
  const page = objectOf(chunk).web;
  return isObject(page) ? readSource(page, segment) : [];
}

/** The Developer API calls the field `citationSources`, Vertex and the SDK's types `citations`. */
function readRecitations(metadata: unknown): FoundCitation[] {
  const { citations, citationSources } = objectOf(metadata);
  return objectsOf(citations ?? citationSources).flatMap((citation) =>
    readSource(citation, citation),
  );
}

/** Gemini leaves out an index of 0. */
function readSource(
  source: JsonObject,
  { startIndex, endIndex, text }: JsonObject,
): FoundCitation[] {
  if (typeof source.uri !== 'string' || source.uri === '') return [];
  const title = typeof source.title === 'string' ? source.title : null;
  const words = textOrNull(text);
  return [{ url: source.uri, title, bytes: readSpan(startIndex ?? 0, endIndex), words }];
}

function placeBytes(bytes: TextSpan | null, words: string | null, text: string): TextSpan | null {
  const span = bytes && characterSpan(bytes, text);
  if (span && (words === null || text.slice(span.start, span.end) === words)) return span;
  const start = words === null ? -1 : text.indexOf(words);
  return words === null || start === -1 ? null : { start, end: start + words.length };
}

function characterSpan({ start, end }: TextSpan, text: string): TextSpan | null {
  const encoded = Buffer.from(text, 'utf8');
  if (end > encoded.length) return null;
  return {
    start: encoded.toString('utf8', 0, start).length,
    end: encoded.toString('utf8', 0, end).length,
  };
}

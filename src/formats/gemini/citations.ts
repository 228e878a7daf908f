// Gemini's sources of an answer: pages of a search (grounding), and sources that it recites. It
// sends them once, after the text, and counts positions in bytes of UTF-8.
import { readSpan, type Citation, type TextSpan } from '../../canonical/citation.ts';
import { isObject, type JsonObject } from '../../lib/json.ts';

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
  return {
    type: 'url',
    url,
    title,
    citedText: null,
    span: placeBytes(bytes, words, text),
    reference: null,
  };
}

function readGrounding(metadata: unknown): FoundCitation[] {
  if (!isObject(metadata)) return [];
  const chunks: unknown[] = Array.isArray(metadata.groundingChunks) ? metadata.groundingChunks : [];
  const supports: unknown[] = Array.isArray(metadata.groundingSupports)
    ? metadata.groundingSupports
    : [];
  return supports.filter(isObject).flatMap((support) => {
    const segment = isObject(support.segment) ? support.segment : {};
    const indexes: unknown[] = Array.isArray(support.groundingChunkIndices)
      ? support.groundingChunkIndices
      : [];
    return indexes.flatMap((index) =>
      typeof index === 'number' ? readPage(chunks[index], segment) : [],
    );
  });
}

function readPage(chunk: unknown, segment: JsonObject): FoundCitation[] {
  const page = isObject(chunk) ? chunk.web : undefined;
  return isObject(page) ? readSource(page, segment) : [];
}

/** The Developer API calls the field `citationSources`, Vertex and the SDK's types `citations`. */
function readRecitations(metadata: unknown): FoundCitation[] {
  const { citations, citationSources } = isObject(metadata) ? metadata : {};
  const sources: unknown = citations ?? citationSources;
  if (!Array.isArray(sources)) return [];
  return (sources as unknown[])
    .filter(isObject)
    .flatMap((citation) => readSource(citation, citation));
}

/** Gemini leaves out an index of 0. */
function readSource(
  source: JsonObject,
  { startIndex, endIndex, text }: JsonObject,
): FoundCitation[] {
  if (typeof source.uri !== 'string' || source.uri === '') return [];
  const title = typeof source.title === 'string' ? source.title : null;
  const words = typeof text === 'string' && text !== '' ? text : null;
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

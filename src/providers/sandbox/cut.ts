// Ends an answer early: at a stop sequence, or at the output limit by our own token count.
import { wordsOf } from '../../canonical/answer.ts';
import type { SpokenPart } from '../../canonical/request.ts';
import { searchedStops, StopSearch } from '../../formats/adapting/stop-cut.ts';
import { utf8Length } from '../../lib/tokens-from-bytes.ts';

const bytesPerToken = 4;

/**
 * Ends the content before the stop sequence that completes first. Only text can contain one.
 * `sequence`: the one that was found. Throws ApiError when the search would cost too much.
 */
export function cutAtSequence(
  content: readonly SpokenPart[],
  sequences: readonly string[],
): { readonly content: readonly SpokenPart[]; readonly sequence: string | null } {
  const searched = searchedStops(sequences);
  for (const [index, part] of content.entries()) {
    if (part.type !== 'text') continue;
    const { shown, found } = new StopSearch(searched).push(part.text);
    if (found)
      return {
        content: [...content.slice(0, index), ...shorten(part, shown.length)],
        sequence: found.sequence,
      };
  }
  return { content, sequence: null };
}

/**
 * Ends the content at exactly the token limit. A character has at most four bytes, so the last
 * token counts as begun even when the next whole character does not fit.
 */
export function cutAtLimit(
  content: readonly SpokenPart[],
  tokensMax: number,
): { readonly content: readonly SpokenPart[]; readonly isCut: boolean } {
  let bytesLeft = tokensMax * bytesPerToken;
  for (const [index, part] of content.entries()) {
    const text = wordsOf(part);
    const bytes = utf8Length(text);
    if (bytes > bytesLeft)
      return {
        content: [...content.slice(0, index), ...shorten(part, fittingLength(text, bytesLeft))],
        isCut: true,
      };
    bytesLeft -= bytes;
  }
  return { content, isCut: false };
}

/** Returns the part with the first `length` characters of its text; no part for 0. */
function shorten(part: SpokenPart, length: number): SpokenPart[] {
  if (length === 0) return [];
  if (part.type === 'tool-call') return [{ ...part, arguments: part.arguments.slice(0, length) }];
  return [{ ...part, text: part.text.slice(0, length) }];
}

/**
 * Returns how many UTF-16 units of a text fit into `bytesMax` UTF-8 bytes without splitting a
 * character.
 */
function fittingLength(text: string, bytesMax: number): number {
  const bytes = Buffer.from(text, 'utf8');
  let end = bytesMax;
  while (isContinuation(bytes[end])) end--;
  return bytes.toString('utf8', 0, end).length;
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}

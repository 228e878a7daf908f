// Encodes where a block of reasoning stood among an answer's texts and calls, which Chat keeps
// apart. Anthropic and OpenAI refuse a turn whose blocks return in another order. So the `id` of a
// block that does not begin its answer holds the place: `after_12_1` follows 12 UTF-16 units of
// text and one call. Clients of OpenRouter's `reasoning_details` keep the field and treat it as
// opaque.
import type { AnswerPart } from '../../canonical/own-tools.ts';
import type { AssistantPart, ThinkingPart } from '../../canonical/request.ts';

export type ThinkingPlace = { readonly textLength: number; readonly calls: number };
/** `place`: null at the start of the answer, and when unknown. */
export type PlacedThinking = { readonly part: ThinkingPart; readonly place: ThinkingPlace | null };

export function writePlace({ textLength, calls }: ThinkingPlace): { readonly id?: string } {
  return textLength === 0 && calls === 0 ? {} : { id: `after_${textLength}_${calls}` };
}

export function readPlace(id: unknown): ThinkingPlace | null {
  const [, textLength, calls] =
    (typeof id === 'string' && /^after_(\d{1,9})_(\d{1,9})$/.exec(id)) || [];
  return textLength === undefined ? null : { textLength: Number(textLength), calls: Number(calls) };
}

export function placeThinking(content: readonly AnswerPart[]): PlacedThinking[] {
  const placed: PlacedThinking[] = [];
  let place = start;
  for (const part of content) {
    if (part.type === 'thinking') placed.push({ part, place });
    else if (part.type === 'text')
      place = { ...place, textLength: place.textLength + part.text.length };
    else if (part.type === 'tool-call') place = { ...place, calls: place.calls + 1 };
  }
  return placed;
}

/**
 * Inserts reasoning into a message's texts and calls, in the order of the places. A text is split
 * at a place inside it. The work is linear in the length of the message, because the client
 * controls both lists.
 */
export function insertThinking(
  thinking: readonly PlacedThinking[],
  rest: readonly AssistantPart[],
): AssistantPart[] {
  const placed = thinking
    .map(({ part, place }) => ({ part, ...(place ?? start) }))
    .toSorted(byPlace);
  const merged: AssistantPart[] = [];
  let next = 0;
  let { textLength, calls } = start;
  for (const part of splitTexts(rest, placed)) {
    // Reasoning before a call stays before it, whatever happened to the text.
    const isReached = (place: ThinkingPlace) =>
      place.calls <= calls && (part.type === 'tool-call' || place.textLength <= textLength);
    while (next < placed.length && isReached(placed[next]!)) merged.push(placed[next++]!.part);
    merged.push(part);
    if (part.type === 'text') textLength += part.text.length;
    else if (part.type === 'tool-call') calls++;
  }
  return [...merged, ...placed.slice(next).map(({ part }) => part)];
}

const start: ThinkingPlace = { textLength: 0, calls: 0 };

function byPlace(one: ThinkingPlace, other: ThinkingPlace): number {
  return one.textLength - other.textLength || one.calls - other.calls;
}

/**
 * Splits the texts at the places, which are in order. A text with citations is not split, because
 * their spans refer to it.
 */
function splitTexts(
  parts: readonly AssistantPart[],
  places: readonly ThinkingPlace[],
): AssistantPart[] {
  let textLength = 0;
  let next = 0;
  return parts.flatMap((part): AssistantPart[] => {
    if (part.type !== 'text') return [part];
    const pieces: AssistantPart[] = [];
    let cut = 0;
    for (
      ;
      next < places.length && places[next]!.textLength < textLength + part.text.length;
      next++
    ) {
      const at = places[next]!.textLength - textLength;
      if (at <= cut || part.citations) continue;
      pieces.push({ ...part, text: part.text.slice(cut, at) });
      cut = at;
    }
    textLength += part.text.length;
    return [...pieces, cut === 0 ? part : { ...part, text: part.text.slice(cut) }];
  });
}

// What the model said in earlier turns, with each thought signature back on the very part that it came on.
import type { AssistantPart, ThinkingPart, ToolCallPart } from '../../canonical/request.ts';
import { writeInput } from '../call-arguments.ts';
import type { JsonObject } from '../format.ts';
import { FreeParts } from './free-parts.ts';
import type { ModelTraits } from './model-traits.ts';
import { openSignature, type SignedPlace } from '../../canonical/thought-signature.ts';

export type WrittenParts = {
  readonly parts: readonly JsonObject[];
  /** Whether reasoning without a signature of Google's was left out: nobody could check it. */
  readonly droppedThinking: boolean;
};

type Part = {
  readonly kind: 'text' | 'thought' | 'call' | 'empty-text';
  readonly callId: string | null;
  readonly fields: JsonObject;
  signature: string;
};

/** A signature whose part is to be found once all parts are there. `at`: how many parts stood before it. */
type LooseSignature = { readonly place: SignedPlace; readonly value: string; readonly at: number };

/**
 * Stands for the signature of a call that Gemini 3 did not make, and would refuse without one: the value that Google documents for
 * conversations that began with another model. https://ai.google.dev/gemini-api/docs/thought-signatures, read 2026-11-21
 */
const foreignCallSignature = 'skip_thought_signature_validator';

export function writeModelParts(content: readonly AssistantPart[], { checksSignatures }: ModelTraits): WrittenParts {
  const parts: Part[] = [];
  const loose: LooseSignature[] = [];
  for (const part of content) addPart(part, parts, loose);
  const places = findPlaces(parts);
  const homeless = loose.filter((signature) => !placeSignature(places, signature));
  // From the last, so that the places of the others stay.
  for (const signature of homeless.toReversed()) addEmptyText(parts, signature);
  // Of parallel calls only the first is signed.
  const firstCall = parts.find(({ kind }) => kind === 'call');
  if (firstCall && checksSignatures) firstCall.signature ||= foreignCallSignature;
  return { parts: parts.map(writePart), droppedThinking: content.some(isForeignThinking) };
}

function addPart(part: AssistantPart, parts: Part[], loose: LooseSignature[]): void {
  switch (part.type) {
    case 'text':
    case 'refusal':
      if (part.text !== '') parts.push(newPart('text', { text: part.text }));
      return;
    case 'tool-call':
      parts.push({ ...newPart('call', { functionCall: writeCall(part) }), callId: part.id });
      return;
    case 'thinking':
      addThinking(part, parts, loose);
      return;
  }
}

function addThinking(part: ThinkingPart, parts: Part[], loose: LooseSignature[]): void {
  if (part.signature?.vendor !== 'google') return;
  const { place, value } = openSignature(part.signature.value);
  const thought = newPart('thought', { text: part.text, thought: true });
  if (place.kind === 'thought') {
    parts.push({ ...thought, signature: value });
    return;
  }
  if (part.text !== '') parts.push(thought);
  loose.push({ place, value, at: parts.length });
}

/** Where signatures may go. */
type Places = {
  readonly texts: FreeParts<Part>;
  readonly calls: FreeParts<Part>;
  /** The first of each id. */
  readonly callById: ReadonlyMap<string | null, Part>;
};

function findPlaces(parts: readonly Part[]): Places {
  const placed = parts.map((part, index) => ({ part, index }));
  const calls = placed.filter(({ part }) => part.kind === 'call');
  return {
    texts: new FreeParts(placed.filter(({ part }) => part.kind === 'text')),
    calls: new FreeParts(calls),
    callById: new Map(calls.toReversed().map(({ part }) => [part.callId, part])),
  };
}

/**
 * Chat puts all reasoning first, so the part that was signed may stand on either side; the one that the place names is meant. Returns
 * whether it was there, or is not needed: a call that was left out takes its signature along.
 */
function placeSignature(places: Places, { place, value, at }: LooseSignature): boolean {
  const target = findSigned(places, place, at);
  if (target) target.signature = value;
  return target !== undefined || place.kind === 'call';
}

function findSigned({ texts, calls, callById }: Places, place: SignedPlace, at: number): Part | undefined {
  if (place.kind === 'text') return texts.before(at) ?? texts.from(at);
  if (place.kind !== 'call') return undefined;
  const call = callById.get(place.callId);
  return call?.signature === '' ? call : calls.from(at);
}

function addEmptyText(parts: Part[], { value, at }: LooseSignature): void {
  parts.splice(endOfText(parts, at), 0, { ...newPart('empty-text', { text: '' }), signature: value });
}

/** Behind the text that the signature ended: the one before it, or else all that follows. */
function endOfText(parts: readonly Part[], at: number): number {
  if (parts.slice(0, at).some(({ kind }) => kind === 'text')) return at;
  return parts.findLastIndex(({ kind }) => kind === 'text') + 1 || at;
}

function newPart(kind: Part['kind'], fields: JsonObject): Part {
  return { kind, callId: null, fields, signature: '' };
}

function writePart({ fields, signature }: Part): JsonObject {
  return signature === '' ? fields : { ...fields, thoughtSignature: signature };
}

function writeCall({ id, name, arguments: text }: ToolCallPart): JsonObject {
  return { id, name, args: writeInput(text) };
}

function isForeignThinking(part: AssistantPart): boolean {
  return part.type === 'thinking' && part.signature?.vendor !== 'google';
}

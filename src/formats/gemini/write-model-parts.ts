// Writes the model's earlier turns and puts each thought signature back on its own part.
import type { AssistantPart, ThinkingPart, ToolCallPart } from '../../canonical/request.ts';
import { writeInput } from '../call-arguments.ts';
import type { JsonObject } from '../../lib/json.ts';
import { FreeParts } from './free-parts.ts';
import type { ModelTraits } from './model-traits.ts';
import { readPlacedSignature, type SignedPlace } from '../../canonical/thought-signature.ts';

type Part = {
  readonly kind: 'text' | 'thought' | 'call' | 'empty-text';
  readonly callId: string | null;
  readonly fields: JsonObject;
  signature: string;
};

/**
 * A signature whose part is found after all parts are written. `at`: the number of parts before it.
 */
type LooseSignature = { readonly place: SignedPlace; readonly value: string; readonly at: number };

/**
 * Replaces the signature of a call that Gemini 3 did not make, because it refuses calls without
 * one. Google documents this value for conversations that began with another model.
 * https://ai.google.dev/gemini-api/docs/thought-signatures, read 2026-11-21
 */
export const foreignCallSignature = 'skip_thought_signature_validator';

/**
 * Adds `thinking` to `ignored` when reasoning without a Google signature is left out: Gemini could not
 * verify it.
 */
export function writeModelParts(
  content: readonly AssistantPart[],
  { checksSignatures }: ModelTraits,
  ignored: Set<string>,
): readonly JsonObject[] {
  const parts: Part[] = [];
  const loose: LooseSignature[] = [];
  for (const part of content) addPart(part, parts, loose);
  const places = findPlaces(parts);
  const unplaced = loose.filter((signature) => !placeSignature(places, signature));
  // Of parallel calls only the first is signed.
  const firstCall = parts.find(({ kind }) => kind === 'call');
  if (firstCall && checksSignatures) firstCall.signature ||= foreignCallSignature;
  if (content.some(isForeignThinking)) ignored.add('thinking');
  return withEmptyTexts(parts, unplaced).map(writePart);
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
  const { place, value } = readPlacedSignature(part.signature.value);
  const thought = newPart('thought', { text: part.text, thought: true });
  if (place.kind === 'thought') {
    parts.push({ ...thought, signature: value });
    return;
  }
  if (part.text !== '') parts.push(thought);
  loose.push({ place, value, at: parts.length });
}

/** The parts that can take a signature. */
type Places = {
  readonly texts: FreeParts<Part>;
  readonly calls: FreeParts<Part>;
  /** The first call of each id. */
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
 * Chat puts all reasoning first, so the signed part may be on either side; the place decides.
 * Returns true when the part was found or is not needed: the signature of a removed call is
 * dropped.
 */
function placeSignature(places: Places, { place, value, at }: LooseSignature): boolean {
  const target = findSigned(places, place, at);
  if (target) target.signature = value;
  return target !== undefined || place.kind === 'call';
}

function findSigned(
  { texts, calls, callById }: Places,
  place: SignedPlace,
  at: number,
): Part | undefined {
  if (place.kind === 'text') return texts.before(at) ?? texts.from(at);
  if (place.kind !== 'call') return undefined;
  const call = callById.get(place.callId);
  return call?.signature === '' ? call : calls.from(at);
}

/**
 * Puts each remaining signature on an empty text of its own: behind the text before it, or else
 * behind all texts.
 */
function withEmptyTexts(parts: readonly Part[], unplaced: readonly LooseSignature[]): Part[] {
  const isText = ({ kind }: Part) => kind === 'text';
  const [first, last] = [parts.findIndex(isText), parts.findLastIndex(isText)];
  const placeOf = ({ at }: LooseSignature) => (first === -1 || first < at ? at : last + 1);
  const signatures = Map.groupBy(unplaced, placeOf);
  const emptyTextsAt = (index: number) =>
    (signatures.get(index) ?? []).map(({ value }) => ({
      ...newPart('empty-text', { text: '' }),
      signature: value,
    }));
  return [
    ...parts.flatMap((part, index) => [...emptyTextsAt(index), part]),
    ...emptyTextsAt(parts.length),
  ];
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

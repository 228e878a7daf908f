// What of a streamed response has begun and not ended, so that the gateway can end it properly itself, as at its length limit.
import { isObject } from '../../lib/json.ts';
import type { JsonObject } from '../format.ts';

/** An item as it was added, and the texts that have come for it since. */
type OpenItem = { readonly item: JsonObject; readonly texts: OpenText[] };
type OpenText = {
  readonly place: Place;
  readonly kind: TextKind;
  text: string;
  readonly annotations: unknown[];
  /** Whether its `.done` has come. */
  isDone: boolean;
  /** Whether its part was added: reasoning may stream without one. */
  readonly hasPart: boolean;
  /** The part that it stands in, as the upstream ended it. */
  donePart: unknown;
};
type Place = {
  readonly item_id: unknown;
  readonly output_index: number;
  readonly content_index?: unknown;
  readonly summary_index?: unknown;
};

/** A kind of text: the event of its deltas without `.delta`, the field that its `.done` carries it in, and whether it is a part of content. */
type TextKind = { readonly event: string; readonly field: string; readonly part: string | null };

const textKinds: readonly TextKind[] = [
  { event: 'response.output_text', field: 'text', part: 'output_text' },
  { event: 'response.refusal', field: 'refusal', part: 'refusal' },
  { event: 'response.reasoning_text', field: 'text', part: 'reasoning_text' },
  { event: 'response.reasoning_summary_text', field: 'text', part: 'summary_text' },
  { event: 'response.function_call_arguments', field: 'arguments', part: null },
  { event: 'response.custom_tool_call_input', field: 'input', part: null },
  { event: 'response.mcp_call_arguments', field: 'arguments', part: null },
  { event: 'response.code_interpreter_call_code', field: 'code', part: null },
];
const kindOfDelta = new Map(textKinds.map((kind) => [`${kind.event}.delta`, kind]));

export type ClosingEvent = { readonly type: string; readonly payload: JsonObject };

export class OpenItems {
  readonly #items = new Map<number, OpenItem>();
  #last: OpenText | null = null;

  /** To be told of every event of the upstream's stream. */
  track(type: string, payload: JsonObject): void {
    const { output_index: index, item, delta } = payload;
    if (typeof index !== 'number') return;
    if (typeof delta === 'string') this.#addDelta(type, placeOf(payload, index), delta);
    else if (type === 'response.output_item.added' && isObject(item)) this.#items.set(index, { item, texts: [] });
    else if (type === 'response.output_item.done') this.#items.delete(index);
    else if (type === 'response.output_text.annotation.added') this.#addAnnotation(payload.annotation, placeOf(payload, index));
    else if (type.endsWith('_part.added')) this.#addPart(payload.part, placeOf(payload, index));
    else if (type.endsWith('.done')) this.#endTexts(type, placeOf(payload, index), payload.part);
  }

  #addPart(part: unknown, place: Place): void {
    const kind = textKinds.find((known) => isObject(part) && known.part === part.type);
    if (kind) this.#items.get(place.output_index)?.texts.push(openText(place, kind, { hasPart: true }));
  }

  #addDelta(type: string, place: Place, delta: string): void {
    const kind = kindOfDelta.get(type);
    const texts = this.#items.get(place.output_index)?.texts;
    if (!kind || !texts) return;
    const isSame = (open: OpenText) => open.kind === kind && isSamePlace(open.place, place);
    // Nearly every delta goes on where the one before it did.
    const known = this.#last && isSame(this.#last) ? this.#last : texts.find(isSame);
    if (known) known.text += delta;
    else texts.push(openText(place, kind, { text: delta, hasPart: false }));
    this.#last = known ?? texts.at(-1)!;
  }

  #addAnnotation(annotation: unknown, place: Place): void {
    this.#items
      .get(place.output_index)
      ?.texts.find((open) => isSamePlace(open.place, place))
      ?.annotations.push(annotation);
  }

  #endTexts(type: string, place: Place, part: unknown): void {
    for (const text of this.#items.get(place.output_index)?.texts ?? []) {
      if (!isSamePlace(text.place, place)) continue;
      if (type === `${text.kind.event}.done`) text.isDone = true;
      if (type === partDoneOf(text.kind)) text.donePart = part;
    }
  }

  /** The events that end every open text, part and item, in the upstream's own places. */
  closingEvents(): readonly ClosingEvent[] {
    return [...this.#items].toSorted(([one], [other]) => one - other).flatMap(([index, open]) => closeItem(index, open));
  }
}

function openText(place: Place, kind: TextKind, { text = '', hasPart }: { text?: string; hasPart: boolean }): OpenText {
  return { place, kind, text, annotations: [], isDone: false, hasPart, donePart: null };
}

/** Deltas name a part of the content or of the summary; those of a call name the item alone. */
function placeOf({ item_id, content_index, summary_index }: JsonObject, output_index: number): Place {
  return {
    item_id,
    output_index,
    ...(content_index === undefined ? {} : { content_index }),
    ...(summary_index === undefined ? {} : { summary_index }),
  };
}

function isSamePlace(one: Place, other: Place): boolean {
  return (
    one.output_index === other.output_index &&
    one.content_index === other.content_index &&
    one.summary_index === other.summary_index
  );
}

function closeItem(index: number, { item, texts }: OpenItem): ClosingEvent[] {
  const whole = { ...texts.reduce(addText, item), status: 'incomplete' };
  return [...texts.flatMap(closeText), { type: 'response.output_item.done', payload: { output_index: index, item: whole } }];
}

function closeText(open: OpenText): ClosingEvent[] {
  const { place, kind, text, isDone, hasPart, donePart } = open;
  const logprobs = kind.part === 'output_text' ? { logprobs: [] } : {};
  const done = { type: `${kind.event}.done`, payload: { ...place, [kind.field]: text, ...logprobs } };
  const partDone = { type: partDoneOf(kind), payload: { ...place, part: partOf(open) } };
  return [...(isDone ? [] : [done]), ...(donePart || !hasPart ? [] : [partDone])];
}

function partDoneOf({ part }: TextKind): string {
  return part === 'summary_text' ? 'response.reasoning_summary_part.done' : 'response.content_part.done';
}

function partOf({ kind: { part, field }, text, annotations }: OpenText): JsonObject {
  return { type: part, [field]: text, ...(part === 'output_text' ? { annotations, logprobs: [] } : {}) };
}

/** The item with one of its texts filled in. */
function addText(item: JsonObject, open: OpenText): JsonObject {
  const { kind, text, donePart } = open;
  if (kind.part === null) return { ...item, [kind.field]: text };
  const holder = kind.part === 'summary_text' ? 'summary' : 'content';
  const parts: unknown[] = Array.isArray(item[holder]) ? item[holder] : [];
  return { ...item, [holder]: [...parts, donePart ?? partOf(open)] };
}

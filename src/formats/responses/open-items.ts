// Tracks which parts of a streamed response are open, so that the gateway can end it properly
// itself, for example at its length limit.
import { isObject, type JsonObject } from '../../lib/json.ts';

/** An item as it was added, and the texts that have arrived for it. */
type OpenItem = { readonly item: JsonObject; readonly texts: OpenText[] };
type OpenText = {
  readonly position: TextPosition;
  readonly kind: TextKind;
  text: string;
  readonly annotations: unknown[];
  /** True once its `.done` has arrived. */
  isDone: boolean;
  /** True when its part was added: reasoning may stream without one. */
  readonly hasPart: boolean;
  /** Its part, as the upstream ended it. */
  donePart: unknown;
};
type TextPosition = {
  readonly item_id: unknown;
  readonly output_index: number;
  readonly content_index?: unknown;
  readonly summary_index?: unknown;
};

/**
 * `event`: the type of its deltas without `.delta`. `field`: the field of its `.done` that holds
 * the text. `part`: the type of its content part; null: none.
 */
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

type ClosingEvent = { readonly type: string; readonly payload: JsonObject };

export class OpenItems {
  readonly #items = new Map<number, OpenItem>();
  #last: OpenText | null = null;

  /** Call it with every event of the upstream's stream. */
  track(type: string, payload: JsonObject): void {
    const { output_index: index, item, delta } = payload;
    if (typeof index !== 'number') return;
    if (typeof delta === 'string') this.#addDelta(type, positionOf(payload, index), delta);
    else if (type === 'response.output_item.added' && isObject(item))
      this.#items.set(index, { item, texts: [] });
    else if (type === 'response.output_item.done') this.#items.delete(index);
    else if (type === 'response.output_text.annotation.added')
      this.#addAnnotation(payload.annotation, positionOf(payload, index));
    else if (type.endsWith('_part.added')) this.#addPart(payload.part, positionOf(payload, index));
    else if (type.endsWith('.done')) this.#endTexts(type, positionOf(payload, index), payload.part);
  }

  #addPart(part: unknown, position: TextPosition): void {
    const kind = textKinds.find((known) => isObject(part) && known.part === part.type);
    if (kind)
      this.#items
        .get(position.output_index)
        ?.texts.push(openText(position, kind, { hasPart: true }));
  }

  #addDelta(type: string, position: TextPosition, delta: string): void {
    const kind = kindOfDelta.get(type);
    const texts = this.#items.get(position.output_index)?.texts;
    if (!kind || !texts) return;
    const isSame = (open: OpenText) =>
      open.kind === kind && isSamePosition(open.position, position);
    // Nearly every delta continues the same text as the one before.
    const known = this.#last && isSame(this.#last) ? this.#last : texts.find(isSame);
    if (known) known.text += delta;
    else texts.push(openText(position, kind, { text: delta, hasPart: false }));
    this.#last = known ?? texts.at(-1)!;
  }

  #addAnnotation(annotation: unknown, position: TextPosition): void {
    this.#items
      .get(position.output_index)
      ?.texts.find((open) => isSamePosition(open.position, position))
      ?.annotations.push(annotation);
  }

  #endTexts(type: string, position: TextPosition, part: unknown): void {
    for (const text of this.#items.get(position.output_index)?.texts ?? []) {
      if (!isSamePosition(text.position, position)) continue;
      if (type === `${text.kind.event}.done`) text.isDone = true;
      if (type === partDoneOf(text.kind)) text.donePart = part;
    }
  }

  /**
   * Returns the events that end every open text, part and item, with the upstream's own indices.
   * `status`: of the items.
   */
  closingEvents(status: string): readonly ClosingEvent[] {
    return [...this.#items]
      .toSorted(([one], [other]) => one - other)
      .flatMap(([index, open]) => closeItem(index, open, status));
  }
}

function openText(
  position: TextPosition,
  kind: TextKind,
  { text = '', hasPart }: { text?: string; hasPart: boolean },
): OpenText {
  return { position, kind, text, annotations: [], isDone: false, hasPart, donePart: null };
}

/** Deltas name a part of the content or of the summary. Those of a call name only the item. */
function positionOf(
  { item_id, content_index, summary_index }: JsonObject,
  output_index: number,
): TextPosition {
  return {
    item_id,
    output_index,
    ...(content_index === undefined ? {} : { content_index }),
    ...(summary_index === undefined ? {} : { summary_index }),
  };
}

function isSamePosition(one: TextPosition, other: TextPosition): boolean {
  return (
    one.output_index === other.output_index &&
    one.content_index === other.content_index &&
    one.summary_index === other.summary_index
  );
}

function closeItem(index: number, { item, texts }: OpenItem, status: string): ClosingEvent[] {
  const whole = { ...texts.reduce(addText, item), status };
  return [
    ...texts.flatMap(closeText),
    { type: 'response.output_item.done', payload: { output_index: index, item: whole } },
  ];
}

function closeText(open: OpenText): ClosingEvent[] {
  const { position, kind, text, isDone, hasPart, donePart } = open;
  const logprobs = kind.part === 'output_text' ? { logprobs: [] } : {};
  const done = {
    type: `${kind.event}.done`,
    payload: { ...position, [kind.field]: text, ...logprobs },
  };
  const partDone = { type: partDoneOf(kind), payload: { ...position, part: partOf(open) } };
  return [...(isDone ? [] : [done]), ...(donePart || !hasPart ? [] : [partDone])];
}

function partDoneOf({ part }: TextKind): string {
  return part === 'summary_text'
    ? 'response.reasoning_summary_part.done'
    : 'response.content_part.done';
}

function partOf({ kind: { part, field }, text, annotations }: OpenText): JsonObject {
  return {
    type: part,
    [field]: text,
    ...(part === 'output_text' ? { annotations, logprobs: [] } : {}),
  };
}

/** Returns the item with one of its texts filled in. */
function addText(item: JsonObject, open: OpenText): JsonObject {
  const { kind, text, donePart } = open;
  if (kind.part === null) return { ...item, [kind.field]: text };
  const holder = kind.part === 'summary_text' ? 'summary' : 'content';
  const parts: unknown[] = Array.isArray(item[holder]) ? item[holder] : [];
  return { ...item, [holder]: [...parts, donePart ?? partOf(open)] };
}

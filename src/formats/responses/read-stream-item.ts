// Reads one output item of a stream: a message with its parts, reasoning with its sections, a call
// with its arguments. Each tracks its deltas, so that a `done` text adds only what is missing.
import type { StreamEvent } from '../../canonical/event.ts';
import type { ToolCallPart } from '../../canonical/request.ts';
import { isObject, type JsonObject, objectOf, listOf, textOf } from '../../lib/json.ts';
import { plainArguments } from '../call-arguments.ts';
import { UnreadableAnswer } from '../format.ts';
import { readMediaUrl } from '../media-url.ts';
import { readAnnotation } from './citations.ts';
import { chooseSections, readSections, sectionSeparator, type SectionKind } from './reasoning.ts';
import { openReasoning } from '../sealed-reasoning.ts';

/** Each method returns the events to emit now. */
export type ItemReader = {
  /** Takes the item as `output_item.added` announces it. */
  readonly start: (item: JsonObject) => readonly StreamEvent[];
  /** Takes any other event of the item. */
  readonly read: (type: string, payload: JsonObject) => readonly StreamEvent[];
  /**
   * Takes the finished item, or {} when it is unknown. Throws UnreadableAnswer on a call without a
   * name.
   */
  readonly finish: (item: JsonObject) => readonly StreamEvent[];
};

export function createItemReader(type: string): ItemReader {
  switch (type) {
    case 'message':
      return createMessageReader();
    case 'reasoning':
      return createReasoningReader();
    case 'function_call':
      return createCallReader('function');
    case 'custom_tool_call':
      return createCallReader('custom');
    case 'image_generation_call':
      return { start: () => [], read: () => [], finish: readImage };
    default:
      return { start: () => [], read: () => [], finish: () => [] };
  }
}

/** `result`: base64; other gateways write an address or a data URL. */
function readImage({ result, output_format: format }: JsonObject): readonly StreamEvent[] {
  if (typeof result !== 'string' || result === '') return [];
  const isUrl = /^(?:https?|data):/.test(result);
  const url = isUrl ? result : `data:image/${textOf(format) || 'png'};base64,${result}`;
  const source = readMediaUrl(url, 'image');
  return source ? [{ type: 'image', source }] : [];
}

type PartKind = 'text' | 'refusal';

function createMessageReader(): ItemReader {
  let open: {
    readonly index: number;
    readonly kind: PartKind;
    length: number;
    annotations: number;
  } | null = null;
  let nextIndex = 0;

  function close(): StreamEvent[] {
    if (!open) return [];
    const { kind } = open;
    nextIndex = open.index + 1;
    open = null;
    return [{ type: `${kind}-end` }];
  }

  function openPart(index: number, kind: PartKind): StreamEvent[] {
    if (open?.index === index || index < nextIndex) return [];
    const events = close();
    open = { index, kind, length: 0, annotations: 0 };
    return [...events, { type: `${kind}-start` }];
  }

  function add(index: number, kind: PartKind, text: string): StreamEvent[] {
    const events = openPart(index, kind);
    if (text === '' || open?.index !== index || open.kind !== kind) return events;
    open.length += text.length;
    return [...events, { type: `${kind}-delta`, text }];
  }

  /** Completes a part with its whole text: adds what no delta has brought. */
  function complete(index: number, kind: PartKind, text: string): StreamEvent[] {
    const events = openPart(index, kind);
    return open?.index === index
      ? [...events, ...add(index, kind, text.slice(open.length))]
      : events;
  }

  function annotate(index: number, annotations: readonly unknown[]): StreamEvent[] {
    if (open?.index !== index || open.kind !== 'text') return [];
    open.annotations += annotations.length;
    const citations = annotations.flatMap((annotation) => readAnnotation(annotation) ?? []);
    return citations.map((citation) => ({ type: 'citation', citation }));
  }

  function completePart(index: number, part: unknown): StreamEvent[] {
    const kind = kindOfPart(part);
    if (kind === null) return [];
    const text = complete(index, kind, textOfPart(part));
    return [...text, ...annotate(index, annotationsOf(part).slice(open?.annotations)), ...close()];
  }

  return {
    start: () => [],
    read(type, payload) {
      const index =
        typeof payload.content_index === 'number'
          ? payload.content_index
          : (open?.index ?? nextIndex);
      switch (type) {
        case 'response.content_part.added': {
          const kind = kindOfPart(payload.part);
          return kind === null ? [] : openPart(index, kind);
        }
        case 'response.output_text.delta':
          return add(index, 'text', textOf(payload.delta));
        case 'response.refusal.delta':
          return add(index, 'refusal', textOf(payload.delta));
        case 'response.output_text.annotation.added':
          return annotate(index, [payload.annotation]);
        case 'response.output_text.done':
          return complete(index, 'text', textOf(payload.text));
        case 'response.refusal.done':
          return complete(index, 'refusal', textOf(payload.refusal));
        case 'response.content_part.done':
          return index < nextIndex ? [] : completePart(index, payload.part);
        default:
          return [];
      }
    },
    finish(item) {
      const parts = listOf(item.content);
      const missing = parts.flatMap((part, index) =>
        index < nextIndex ? [] : completePart(index, part),
      );
      return [...missing, ...close()];
    },
  };
}

function kindOfPart(part: unknown): PartKind | null {
  if (!isObject(part)) return null;
  if (part.type === 'output_text') return 'text';
  return part.type === 'refusal' ? 'refusal' : null;
}

function annotationsOf(part: unknown): readonly unknown[] {
  return listOf(objectOf(part).annotations);
}

function textOfPart(part: unknown): string {
  const { type, refusal, text } = objectOf(part);
  return textOf(type === 'refusal' ? refusal : text);
}

function createReasoningReader(): ItemReader {
  let isOpen = false;
  /** Raw text or summary, whichever came first: showing both would repeat everything. */
  let kind: SectionKind | null = null;
  let section = { index: 0, length: 0 };

  function add(deltaKind: SectionKind, index: number, text: string): StreamEvent[] {
    if (text === '' || (kind !== null && kind !== deltaKind) || index < section.index) return [];
    kind = deltaKind;
    const events: StreamEvent[] = isOpen ? [] : [{ type: 'thinking-start', redacted: false }];
    if (isOpen && index > section.index)
      events.push({ type: 'thinking-delta', text: sectionSeparator });
    if (index > section.index) section = { index, length: 0 };
    isOpen = true;
    section.length += text.length;
    return [...events, { type: 'thinking-delta', text }];
  }

  function complete(doneKind: SectionKind, index: number, text: string): StreamEvent[] {
    return add(doneKind, index, index === section.index ? text.slice(section.length) : text);
  }

  function sign(item: JsonObject): StreamEvent[] {
    const opened = openReasoning(item.encrypted_content);
    if (!opened?.signature) return [];
    const events: StreamEvent[] = isOpen
      ? []
      : [{ type: 'thinking-start', redacted: opened.redacted }];
    isOpen = true;
    return [...events, { type: 'thinking-signature', signature: opened.signature }];
  }

  return {
    start: () => [],
    read(type, payload) {
      const index = payload.summary_index ?? payload.content_index;
      const at = typeof index === 'number' ? index : section.index;
      switch (type) {
        case 'response.reasoning_text.delta':
          return add('content', at, textOf(payload.delta));
        case 'response.reasoning_summary_text.delta':
          return add('summary', at, textOf(payload.delta));
        case 'response.reasoning_text.done':
          return complete('content', at, textOf(payload.text));
        case 'response.reasoning_summary_text.done':
          return complete('summary', at, textOf(payload.text));
        default:
          return [];
      }
    },
    finish(item) {
      const known = kind ?? chooseSections(item);
      const text = readSections(item, known).flatMap((sectionText, index) =>
        complete(known, index, sectionText),
      );
      const events = [...text, ...sign(item)];
      return isOpen ? [...events, { type: 'thinking-end' }] : events;
    },
  };
}

function createCallReader(kind: ToolCallPart['kind']): ItemReader {
  let hasStarted = false;
  let length = 0;
  /** Arguments that arrived before the name. */
  let early = '';

  /** A call is announced once it has its name, which some hosts send at the end. */
  function start(item: JsonObject): StreamEvent[] {
    const names = readCallNames(item);
    if (hasStarted || names.name === '') return [];
    hasStarted = true;
    const begin: StreamEvent = { type: 'tool-call-start', ...names, kind };
    return early === '' ? [begin] : [begin, { type: 'tool-call-delta', text: early }];
  }

  function add(text: string): StreamEvent[] {
    if (text === '') return [];
    length += text.length;
    if (hasStarted) return [{ type: 'tool-call-delta', text }];
    early += text;
    return [];
  }

  return {
    start,
    read(type, payload) {
      switch (type) {
        case 'response.function_call_arguments.delta':
        case 'response.custom_tool_call_input.delta':
          return add(textOf(payload.delta));
        case 'response.function_call_arguments.done':
          return add(readArguments(payload.arguments).slice(length));
        case 'response.custom_tool_call_input.done':
          return add(textOf(payload.input).slice(length));
        default:
          return [];
      }
    },
    finish(item) {
      const begin = start(item);
      if (!hasStarted) throw new UnreadableAnswer('a tool call of the answer has no name');
      const whole = kind === 'custom' ? textOf(item.input) : readArguments(item.arguments);
      const isNew = kind === 'function' && length === 0;
      const rest = isNew ? plainArguments(whole) : whole.slice(length);
      return [...begin, ...add(rest), { type: 'tool-call-end' }];
    },
  };
}

/** Some hosts leave out `call_id` and use the item's id. */
function readCallNames(item: JsonObject): { id: string; name: string } {
  return { id: textOf(item.call_id) || textOf(item.id), name: textOf(item.name) };
}

/** Returns JSON text; some hosts send the object itself. */
function readArguments(value: unknown): string {
  return isObject(value) ? JSON.stringify(value) : textOf(value);
}

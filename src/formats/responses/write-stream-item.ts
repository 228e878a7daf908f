// Writes one output item of a stream: its announcement, the events of its blocks, and the finished
// item.
import type { Citation } from '../../canonical/citation.ts';
import type { StreamEvent } from '../../canonical/event.ts';
import type { MediaSource, Signature } from '../../canonical/request.ts';
import type { DrawingPart, SearchPart } from '../../canonical/own-tools.ts';
import type { JsonObject } from '../../lib/json.ts';
import {
  callItem,
  drawingItem,
  imageItem,
  itemId,
  messageItem,
  reasoningItem,
  refusalPart,
  searchItem,
  textPart,
  type CallItemContext,
  type ItemStatus,
} from './output-item.ts';
import type { AnswerContext } from '../format.ts';
import type { ResponsesRequest } from './schema.ts';
import { toolNamesOf } from './tool-names.ts';

/**
 * An event's type and own fields. The stream adds the item's id and index, and the sequence number.
 */
type ItemEvent = readonly [type: string, fields: JsonObject];

export type ItemWriter = {
  readonly id: string;
  readonly isMessage: boolean;
  /** The item in `output_item.added`. */
  readonly announced: JsonObject;
  readonly write: (event: StreamEvent) => readonly ItemEvent[];
  /** Returns the item for `output_item.done` and the final response. */
  readonly finish: (status: ItemStatus) => JsonObject;
};

export type BlockStart = Extract<
  StreamEvent,
  {
    type:
      | 'text-start'
      | 'refusal-start'
      | 'thinking-start'
      | 'tool-call-start'
      | 'search-start'
      | 'drawing-start'
      | 'image';
  }
>;

/** `event`: the first one of the item. `outputIndex`: its place in the output. */
export function createItem(
  event: BlockStart,
  context: AnswerContext,
  outputIndex: number,
): ItemWriter {
  switch (event.type) {
    case 'thinking-start':
      return createReasoningWriter(itemId('rs', context, outputIndex), event.redacted);
    case 'image':
      return createImageWriter(itemId('ig', context, outputIndex), event.source);
    case 'drawing-start':
      return createDrawingWriter(itemId('ig', context, outputIndex), event.prompt);
    case 'search-start':
      return createSearchWriter(itemId('ws', context, outputIndex), event.query);
    case 'tool-call-start': {
      const origin = toolNamesOf(context.request.body as ResponsesRequest).originOf(event.name);
      return createCallWriter(event, { origin, context, outputIndex });
    }
    default:
      return createMessageWriter(itemId('msg', context, outputIndex));
  }
}

/** Writes text and refusal blocks, each a part of the message. */
function createMessageWriter(id: string): ItemWriter {
  const content: JsonObject[] = [];
  let text = '';
  let citations: Citation[] = [];
  const say = (type: string, fields: JsonObject): ItemEvent => [
    type,
    { content_index: content.length, ...fields },
  ];

  function end(part: JsonObject, done: ItemEvent): ItemEvent[] {
    const events = [done, say('response.content_part.done', { part })];
    content.push(part);
    text = '';
    citations = [];
    return events;
  }

  /** Citations of the whole text have their span only now. */
  function endText(): ItemEvent[] {
    const part = textPart(citations.length > 0 ? { text, citations } : { text });
    const added = (part.annotations as JsonObject[]).map((annotation, index) =>
      say('response.output_text.annotation.added', { annotation_index: index, annotation }),
    );
    return [...added, ...end(part, say('response.output_text.done', { text, logprobs: [] }))];
  }

  return {
    id,
    isMessage: true,
    announced: messageItem(id, [], 'in_progress'),
    write(event) {
      switch (event.type) {
        case 'text-start':
          return [say('response.content_part.added', { part: textPart({ text: '' }) })];
        case 'refusal-start':
          return [say('response.content_part.added', { part: refusalPart('') })];
        case 'text-delta':
          text += event.text;
          return [say('response.output_text.delta', { delta: event.text, logprobs: [] })];
        case 'citation':
          citations.push(event.citation);
          return [];
        case 'refusal-delta':
          text += event.text;
          return [say('response.refusal.delta', { delta: event.text })];
        case 'text-end':
          return endText();
        case 'refusal-end':
          return end(refusalPart(text), say('response.refusal.done', { refusal: text }));
        default:
          return [];
      }
    },
    finish: (status) => messageItem(id, content, status),
  };
}

/**
 * Announces the item with its empty text, because the official SDK adds no delta to a part that it
 * has not seen.
 */
function createReasoningWriter(id: string, redacted: boolean): ItemWriter {
  let text = '';
  let signature: Signature | null = null;
  const content = redacted ? {} : { content: [{ type: 'reasoning_text', text: '' }] };
  return {
    id,
    isMessage: false,
    announced: { id, type: 'reasoning', summary: [], ...content },
    write(event) {
      switch (event.type) {
        case 'thinking-delta':
          text += event.text;
          return [['response.reasoning_text.delta', { content_index: 0, delta: event.text }]];
        case 'thinking-signature':
          signature = event.signature;
          return [];
        case 'thinking-end':
          return text === '' ? [] : [['response.reasoning_text.done', { content_index: 0, text }]];
        default:
          return [];
      }
    },
    finish: () => reasoningItem(id, { type: 'thinking', text, signature, redacted }),
  };
}

/** An image comes whole, with the finished item. */
function createImageWriter(id: string, source: MediaSource): ItemWriter {
  return {
    id,
    isMessage: false,
    announced: imageItem(id, null),
    write: () => [],
    finish: () => imageItem(id, source),
  };
}

/** A tool search has no events of its own: its arguments come with the finished item. */
function createCallWriter(
  start: Extract<StreamEvent, { type: 'tool-call-start' }>,
  context: Omit<CallItemContext, 'status'>,
): ItemWriter {
  const { id: callId, name, kind } = start;
  const item = (text: string, status: ItemStatus) =>
    callItem(
      { type: 'tool-call', id: callId, name, arguments: text, kind },
      { ...context, status },
    );
  const isSearch = context.origin.type === 'search';
  const events =
    kind === 'custom' ? 'response.custom_tool_call_input' : 'response.function_call_arguments';
  const announced = item('', 'in_progress');
  let text = '';
  return {
    id: String(announced.id),
    isMessage: false,
    announced,
    write(event) {
      switch (event.type) {
        case 'tool-call-delta':
          text += event.text;
          return isSearch ? [] : [[`${events}.delta`, { delta: event.text }]];
        case 'tool-call-end':
          return isSearch
            ? []
            : [[`${events}.done`, kind === 'custom' ? { input: text } : { arguments: text }]];
        default:
          return [];
      }
    },
    finish: (status) => item(text, status),
  };
}

/** Writes a web search of the gateway. */
function createSearchWriter(id: string, query: string | null): ItemWriter {
  let found: SearchPart['found'] = 'unavailable';
  return {
    id,
    isMessage: false,
    announced: searchItem(id, query, null),
    write(event) {
      if (event.type === 'search') ({ found } = event);
      return stepsOf(event, 'response.web_search_call', 'searching', found);
    },
    finish: () => searchItem(id, query, found),
  };
}

/** Writes an image that the gateway draws. */
function createDrawingWriter(id: string, prompt: string | null): ItemWriter {
  let drawn: DrawingPart['drawn'] = 'unavailable';
  return {
    id,
    isMessage: false,
    announced: drawingItem(id, prompt, null),
    write(event) {
      if (event.type === 'drawing-partial') {
        const { index, base64 } = event;
        const fields = { partial_image_index: index, partial_image_b64: base64 };
        return [['response.image_generation_call.partial_image', fields]];
      }
      if (event.type === 'drawing') ({ drawn } = event);
      return stepsOf(event, 'response.image_generation_call', 'generating', drawn);
    },
    finish: () => drawingItem(id, prompt, drawn),
  };
}

/** `result`: a word when the tool failed. */
function stepsOf({ type }: StreamEvent, events: string, running: string, result: unknown) {
  const isStart = type.endsWith('-start');
  const steps = isStart
    ? ['in_progress', running]
    : typeof result === 'string'
      ? []
      : ['completed'];
  return steps.map((step): ItemEvent => [`${events}.${step}`, {}]);
}

// The items of an answer's `output`, for both writers.
import type { DrawingPart, SearchPart } from '../../canonical/own-tools.ts';
import type { MediaSource, TextPart, ThinkingPart, ToolCallPart } from '../../canonical/request.ts';
import { isObject, type JsonObject } from '../../lib/json.ts';
import type { AnswerContext, ClientRequest } from '../format.ts';
import { writeAnnotations } from './citations.ts';
import { asksForCompaction } from './compaction.ts';
import { sealReasoning } from '../sealed-reasoning.ts';
import type { ResponsesRequest } from './schema.ts';
import { wantsEncryption } from './agent-messages.ts';
import type { ToolOrigin } from './tool-names.ts';
import { readSearchArguments } from './tool-search.ts';

export type ItemStatus = 'in_progress' | 'completed' | 'incomplete';

/** Unique in an answer and, because it contains the request id, in a conversation. */
export function itemId(
  prefix: 'msg' | 'rs' | 'ctc' | 'tsc' | 'ig' | 'cmp' | 'ws',
  context: AnswerContext,
  outputIndex: number,
): string {
  return `${prefix}_${context.requestId}_${outputIndex}`;
}

/** Returns true for an id that `itemId` made. No provider knows such an item. */
export function isOwnItemId(id: unknown): boolean {
  return typeof id === 'string' && /^[a-z]+_[0-9a-z]{26}_\d+$/.test(id);
}

export function textPart(part: Pick<TextPart, 'text' | 'citations'>): JsonObject {
  return {
    type: 'output_text',
    text: part.text,
    annotations: writeAnnotations(part),
    logprobs: [],
  };
}

export function refusalPart(refusal: string): JsonObject {
  return { type: 'refusal', refusal };
}

export function messageItem(
  id: string,
  content: readonly JsonObject[],
  status: ItemStatus,
): JsonObject {
  return { id, type: 'message', role: 'assistant', status, content };
}

/** Has no status, because OpenAI refuses one when the item returns as input. */
export function reasoningItem(id: string, part: ThinkingPart): JsonObject {
  const sealed = sealReasoning(part);
  return {
    id,
    type: 'reasoning',
    summary: [],
    ...(part.text === '' ? {} : { content: [{ type: 'reasoning_text', text: part.text }] }),
    ...(sealed === null ? {} : { encrypted_content: sealed }),
  };
}

/** `found`: null while the search runs. */
export function searchItem(
  id: string,
  query: string | null,
  found: SearchPart['found'] | null,
): JsonObject {
  const ended = typeof found === 'string' ? 'failed' : 'completed';
  const status = found === null ? 'in_progress' : ended;
  return { id, type: 'web_search_call', status, action: { type: 'search', query: query ?? '' } };
}

/** Writes an image as OpenAI's image tool does. `source`: null before it is there. */
export function imageItem(id: string, source: MediaSource | null): JsonObject {
  return {
    id,
    type: 'image_generation_call',
    status: source ? 'completed' : 'in_progress',
    result: source && (source.kind === 'base64' ? source.data : source.url),
  };
}

/**
 * Returns an earlier image as a text, because a model cannot take its own images back; null when it is
 * not known what was drawn.
 */
export function drawingAsText({ type, revised_prompt: prompt }: JsonObject): string | null {
  return type === 'image_generation_call' && typeof prompt === 'string'
    ? `I drew an image of this: ${prompt}`
    : null;
}

/** Writes an image of the gateway. `drawn`: null while it is drawn. */
export function drawingItem(
  id: string,
  prompt: string | null,
  drawn: DrawingPart['drawn'] | null,
): JsonObject {
  if (drawn === null) return imageItem(id, null);
  if (typeof drawn === 'string') return { ...imageItem(id, null), status: 'failed' };
  const { source, size, quality, action } = drawn;
  return {
    ...imageItem(id, source),
    revised_prompt: prompt,
    action,
    background: 'opaque',
    ...(source.kind === 'base64' && { output_format: source.mediaType.replace('image/', '') }),
    ...(size !== null && { size }),
    ...(quality !== null && { quality }),
  };
}

/**
 * Writes a call under the client's name for the tool. The specification wants a function call's
 * `id` to equal its `call_id`.
 */
export function callItem(
  call: ToolCallPart,
  { status, origin, context, outputIndex }: CallItemContext,
): JsonObject {
  const { id: callId, arguments: text } = call;
  if (origin.type === 'search') {
    const id = itemId('tsc', context, outputIndex);
    return {
      id,
      type: 'tool_search_call',
      call_id: callId,
      execution: 'client',
      arguments: readSearchArguments(text),
      status,
    };
  }
  const named = {
    name: origin.name,
    ...(origin.namespace === null ? {} : { namespace: origin.namespace }),
  };
  if (call.kind === 'function')
    return {
      id: callId,
      type: 'function_call',
      call_id: callId,
      ...named,
      arguments: text,
      // Without it, Codex hands the arguments on as encrypted ones.
      ...(wantsEncryption(context.request.body as ResponsesRequest, origin) && {
        encrypted_function_args: [],
      }),
      status,
    };
  return {
    id: itemId('ctc', context, outputIndex),
    type: 'custom_tool_call',
    call_id: callId,
    ...named,
    input: text,
    status,
  };
}

export type CallItemContext = {
  readonly status: ItemStatus;
  readonly origin: ToolOrigin;
  readonly context: AnswerContext;
  readonly outputIndex: number;
};

/**
 * Returns true when the answer must hold a reasoning item, even if the model produced none. A
 * compaction must be alone, and a warm-up has no output.
 */
export function wantsReasoningItem({ body, isWarmUp }: ClientRequest): boolean {
  const { reasoning } = body;
  if (isWarmUp || asksForCompaction(body)) return false;
  return isObject(reasoning) && (reasoning.effort ?? null) !== null;
}

/**
 * The first item when `reasoning.effort` was set and the model produced no reasoning. It is empty,
 * and is dropped when it returns.
 */
export function emptyReasoningItem(context: AnswerContext): JsonObject {
  return { id: itemId('rs', context, 0), type: 'reasoning', summary: [] };
}

// The items of an answer's `output`, as both writers make them.
import type { ThinkingPart, ToolCallPart } from '../../canonical/request.ts';
import { isObject } from '../../lib/json.ts';
import type { AnswerContext, ClientRequest, JsonObject } from '../format.ts';
import { sealSignature } from './signature.ts';

export type ItemStatus = 'in_progress' | 'completed' | 'incomplete';

/** Unique in an answer and, since it holds the request's id, in a conversation. */
export function itemId(prefix: 'msg' | 'rs' | 'ctc', context: AnswerContext, outputIndex: number): string {
  return `${prefix}_${context.requestId}_${outputIndex}`;
}

export function textPart(text: string): JsonObject {
  return { type: 'output_text', text, annotations: [], logprobs: [] };
}

export function refusalPart(refusal: string): JsonObject {
  return { type: 'refusal', refusal };
}

export function messageItem(id: string, content: readonly JsonObject[], status: ItemStatus): JsonObject {
  return { id, type: 'message', role: 'assistant', status, content };
}

/** Has no status: OpenAI refuses one when the item comes back as input. */
export function reasoningItem(id: string, part: ThinkingPart): JsonObject {
  const sealed = sealSignature(part);
  return {
    id,
    type: 'reasoning',
    summary: [],
    ...(part.text === '' ? {} : { content: [{ type: 'reasoning_text', text: part.text }] }),
    ...(sealed === null ? {} : { encrypted_content: sealed }),
  };
}

/** A function call's `id` equals its `call_id`: the specification says so. */
export function callItem(id: string, call: ToolCallPart, status: ItemStatus): JsonObject {
  const { name } = call;
  if (call.kind === 'custom') return { id, type: 'custom_tool_call', call_id: call.id, name, input: call.arguments, status };
  return { id: call.id, type: 'function_call', call_id: call.id, name, arguments: call.arguments, status };
}

/** Whether the answer must hold a reasoning item even if the model gave none. */
export function wantsReasoningItem(request: ClientRequest): boolean {
  const { reasoning } = request.body;
  return isObject(reasoning) && (reasoning.effort ?? null) !== null;
}

/** Stands first where `reasoning.effort` was set and the model gave no reasoning. It carries nothing, and is dropped when it comes back. */
export function emptyReasoningItem(context: AnswerContext): JsonObject {
  return { id: itemId('rs', context, 0), type: 'reasoning', summary: [] };
}

// Handles parts of earlier turns that came from another vendor and that a model refuses or must not
// see: reasoning, refusals and annotations, Google's call signatures (`extra_content`), call ids with
// other lengths or characters, and OpenAI's role `developer`.
import type { Signature, Vendor } from '../../canonical/request.ts';
import { isObject, type JsonObject } from '../../lib/json.ts';
import { fitMistralCallId, fitOpenAiChatCallId, isMistral } from '../call-ids.ts';
import { editAt, editFields, editItems, editText } from '../edit-json.ts';
import { isAskedFor } from '../field-verdicts.ts';
import type { UpstreamTarget } from '../format.ts';
import { readDetail } from './reasoning.ts';

/** Vendors by the names of their models. */
const makers: readonly (readonly [RegExp, Vendor])[] = [
  [/claude|anthropic/i, 'anthropic'],
  [/gemini|google/i, 'google'],
  [/gpt|openai|(?:^|\/)o\d/i, 'openai'],
  [/grok|x-ai/i, 'xai'],
  [/kimi|moonshot/i, 'moonshot'],
];

/** Returns true when a model may get a signature: when the model is known to be its vendor's. */
export function maySign({ vendor }: Signature, model: string): boolean {
  return makers.find(([pattern]) => pattern.test(model))?.[1] === vendor;
}

/** OpenAI's API knows no fields of other hosts. */
const openAiRefuses =
  'reasoning_content reasoning reasoning_details thinking_blocks images extra_content provider_specific_fields audio_content cache_control'.split(
    ' ',
  );

/** Returns the fields of earlier answers that the host refuses. */
export function refusedHistory({ isOpenAi, refusedHistory: refused }: UpstreamTarget) {
  return isOpenAi ? openAiRefuses : (refused ?? []);
}

/** Returns the function that fits call ids to a model. */
export function callIdFitter(target: UpstreamTarget): (id: string) => string {
  if (isMistral(target.model)) return fitMistralCallId;
  const isOpenAis = target.isOpenAi || target.model.startsWith('openai/');
  return isOpenAis ? fitOpenAiChatCallId : (id) => id;
}

/**
 * Edits a client's messages on the straight path. A message that needs no change stays the same
 * object.
 */
export function relayHistory(
  messages: readonly JsonObject[],
  target: UpstreamTarget,
  ignored: Set<string>,
): JsonObject[] {
  return messages.map((message) => relayMessage(message, target, ignored));
}

function relayMessage(
  message: JsonObject,
  target: UpstreamTarget,
  ignored: Set<string>,
): JsonObject {
  const fitId = callIdFitter(target);
  const edits: Record<string, unknown> = {};
  // OpenAI's role for instructions; several hosts know only `system`.
  if (message.role === 'developer' && !target.isOpenAi) edits.role = 'system';
  const { tool_call_id: callId, tool_calls: calls, reasoning_details: details } = message;
  edits.tool_call_id = editText(callId, fitId);
  edits.tool_calls = editItems(calls, (call) => relayCall(call, { target, fitId, ignored }));
  const refused = refusedHistory(target);
  if (refused.includes(cacheMark))
    edits.content = editItems(message.content, (part) => withoutMark(part, ignored));
  for (const field of refused) {
    const value = message[field];
    if (value === undefined) continue;
    edits[field] = undefined;
    if (field === 'refusal' && value && !message.content) edits.content = value;
    else if (isAskedFor(value)) ignored.add(field);
  }
  if (Array.isArray(details) && !('reasoning_details' in edits)) {
    const kept = details.filter((detail) => isOwnDetail(detail, target.model));
    if (kept.length < details.length) {
      edits.reasoning_details = kept.length === 0 ? undefined : kept;
      ignored.add('reasoning_details');
    }
  }
  return editFields(message, edits);
}

const cacheMark = 'cache_control';

/** Leaves out the mark of a part or a tool for Anthropic's cache. */
function withoutMark(marked: JsonObject, ignored: Set<string>): JsonObject {
  if (!Object.hasOwn(marked, cacheMark)) return marked;
  ignored.add(cacheMark);
  return editFields(marked, { [cacheMark]: undefined });
}

/** Leaves out the marks of tools where the host refuses them. */
export function withoutToolMarks(
  tools: unknown,
  target: UpstreamTarget,
  ignored: Set<string>,
): unknown {
  if (!refusedHistory(target).includes(cacheMark)) return tools;
  return editItems(tools, (tool) =>
    editAt(withoutMark(tool, ignored), ['function'], (called) => withoutMark(called, ignored)),
  );
}

function isOwnDetail(detail: unknown, model: string): boolean {
  const signature = readDetail(detail)?.signature;
  return !signature || maySign(signature, model);
}

type CallNotes = {
  readonly target: UpstreamTarget;
  readonly fitId: (id: string) => string;
  readonly ignored: Set<string>;
};

/** Only Google uses its signature, and most other hosts refuse the field. */
function relayCall(call: JsonObject, { target, fitId, ignored }: CallNotes): JsonObject {
  const { extra_content: extra, ...rest } = call;
  const isForeign = isObject(extra) && 'google' in extra && !/gemini|google/i.test(target.model);
  if (isForeign) ignored.add('extra_content');
  const id = typeof call.id === 'string' ? fitId(call.id) : call.id;
  if (!isForeign && id === call.id) return call;
  return { ...(isForeign ? rest : call), id };
}

// What earlier turns hold of other vendors, and a model that did not make it refuses or should never see: signed reasoning, Google's
// signatures of calls (`extra_content`), and ids of calls that are too long or of other characters.
import type { Signature, Vendor } from '../../canonical/request.ts';
import { isObject } from '../../lib/json.ts';
import { fitMistralCallId, fitOpenAiCallId, isMistral } from '../call-ids.ts';
import type { UpstreamTarget } from '../format.ts';
import { isOpenAi } from './openai-host.ts';
import { readDetail } from './reasoning.ts';

/** Makers that are told by the names of their models. A host may name one as it likes, so an unknown name may be anyone's. */
const makers: readonly (readonly [RegExp, Vendor | 'other'])[] = [
  [/claude|anthropic/i, 'anthropic'],
  [/gemini|google/i, 'google'],
  [/gpt|openai|(?:^|\/)o\d/i, 'openai'],
  [/deepseek|[a-z]stral|mixtral|qwen|llama|grok|kimi|glm|minimax/i, 'other'],
];

/** Whether a signature may go to a model: not to one that is known to be another vendor's. */
export function maySign({ vendor }: Signature, model: string): boolean {
  const maker = makers.find(([pattern]) => pattern.test(model))?.[1];
  return maker === undefined || maker === vendor;
}

/** How the ids of calls go to a model. */
export function callIdFitter(target: UpstreamTarget): (id: string) => string {
  if (isMistral(target.model)) return fitMistralCallId;
  return isOpenAi(target) ? fitOpenAiCallId : (id) => id;
}

/** The messages of a client on the straight path. What needs no change is the same object. */
export function relayHistory(messages: readonly unknown[], target: UpstreamTarget): { messages: unknown[]; ignored: string[] } {
  const ignored = new Set<string>();
  return { messages: messages.map((message) => relayMessage(message, target, ignored)), ignored: [...ignored] };
}

function relayMessage(message: unknown, target: UpstreamTarget, ignored: Set<string>): unknown {
  if (!isObject(message)) return message;
  const fitId = callIdFitter(target);
  const edits: Record<string, unknown> = {};
  const { tool_call_id: callId, tool_calls: calls, reasoning_details: details } = message;
  if (typeof callId === 'string' && fitId(callId) !== callId) edits.tool_call_id = fitId(callId);
  if (Array.isArray(calls)) {
    const relayed = calls.map((call: unknown) => relayCall(call, target.model, fitId));
    if (relayed.some((call, index) => call !== calls[index])) edits.tool_calls = relayed;
  }
  if (Array.isArray(details)) {
    const kept = details.filter((detail) => isOwnDetail(detail, target.model));
    if (kept.length < details.length) {
      edits.reasoning_details = kept.length === 0 ? undefined : kept;
      ignored.add('reasoning_details');
    }
  }
  return Object.keys(edits).length === 0 ? message : { ...message, ...edits };
}

function isOwnDetail(detail: unknown, model: string): boolean {
  const signature = readDetail(detail)?.signature;
  return !signature || maySign(signature, model);
}

/** A signature of Google's says nothing anywhere else, and most hosts refuse the field. */
function relayCall(call: unknown, model: string, fitId: (id: string) => string): unknown {
  if (!isObject(call)) return call;
  const { extra_content: extra, ...rest } = call;
  const isForeign = isObject(extra) && 'google' in extra && !/gemini|google/i.test(model);
  const id = typeof call.id === 'string' ? fitId(call.id) : call.id;
  if (!isForeign && id === call.id) return call;
  return { ...(isForeign ? rest : call), id };
}

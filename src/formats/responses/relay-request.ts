// The straight path up: the client's body as it came, but for what the gateway must set, what a shared credential forbids, and the ids of
// items that the provider never gave.
import { effortLevels } from '../../canonical/request.ts';
import { isObject } from '../../lib/json.ts';
import { fitOpenAiCallId } from '../call-ids.ts';
import type { ClientRequest, JsonObject, UpstreamRequest, UpstreamTarget } from '../format.ts';
import { fitKnownEffort } from '../openai-models.ts';
import { refuseUnshareable } from './shared-credential.ts';
import { openSignature } from './signature.ts';
import { encryptedReasoning, outputTokensMin } from './write-request.ts';

/** Throws ApiError `invalid_request`. `ignored`: `previous_response_id`, `client_metadata`, `store`, `reasoning`, and items such as `input[3]`. */
export function relayRequest({ body: clientBody }: ClientRequest, target: UpstreamTarget): UpstreamRequest {
  refuseUnshareable(clientBody, {
    search: target.searchesMax === undefined ? 'unpriced' : 'priced',
    opened: target.passFields,
  });
  const { previous_response_id: previousResponseId, client_metadata: clientMetadata, ...rest } = clientBody;
  const body: Record<string, unknown> = rest;
  const ignored: string[] = [];
  if ((previousResponseId ?? null) !== null) ignored.push('previous_response_id');
  if ((clientMetadata ?? null) !== null) ignored.push('client_metadata');
  if (body.store === true) ignored.push('store');
  body.model = target.model;
  body.stream = target.stream;
  body.store = false;
  body.max_output_tokens = Math.max(outputTokensMin, target.maxOutputTokens);
  if (target.searchesMax !== undefined) body.max_tool_calls = target.searchesMax;
  body.include = relayInclude(body.include, target);
  if (!target.thinking && dropReasoning(body)) ignored.push('reasoning');
  else if (isObject(body.reasoning)) body.reasoning = fitReasoning(body.reasoning, target.model);
  if (Array.isArray(body.input)) body.input = relayInput(body.input, ignored);
  return { body, ignored };
}

/**
 * Encrypted reasoning is asked for always: without it, the next turn's `input += response.output` would name what is not stored.
 * A model that does not think refuses to be asked, though clients such as Codex do so everywhere.
 */
function relayInclude(include: unknown, { thinking }: UpstreamTarget): unknown[] {
  const others = Array.isArray(include) ? include.filter((value) => value !== encryptedReasoning) : [];
  return thinking ? [...others, encryptedReasoning] : others;
}

/** A level that the model does not know becomes the nearest that it knows. */
function fitReasoning(reasoning: JsonObject, model: string): JsonObject {
  const effort = effortLevels.find((level) => level === reasoning.effort);
  return effort ? { ...reasoning, effort: fitKnownEffort(effort, model) } : reasoning;
}

/** A model that does not think refuses the field. Whether the caller loses anything by it. */
function dropReasoning(body: Record<string, unknown>): boolean {
  const { reasoning } = body;
  delete body.reasoning;
  return isObject(reasoning) && Object.values(reasoning).some((value) => value !== null);
}

function relayInput(input: readonly unknown[], ignored: string[]): unknown[] {
  const items: unknown[] = [];
  for (const [index, item] of input.entries()) {
    const relayed = isObject(item) ? relayItem(withFittingCallId(item)) : item;
    if (relayed === null) ignored.push(`input[${index}]`);
    else items.push(relayed);
  }
  return items;
}

function withFittingCallId(item: JsonObject): JsonObject {
  if (typeof item.call_id !== 'string') return item;
  const callId = fitOpenAiCallId(item.call_id);
  return callId === item.call_id ? item : { ...item, call_id: callId };
}

/** null: the item means nothing to this upstream. */
function relayItem(item: JsonObject): JsonObject | null {
  switch (item.type ?? 'message') {
    case 'reasoning':
      return relayReasoning(item);
    case 'function_call':
      return keepOwnId(item, 'fc_');
    case 'custom_tool_call':
      return keepOwnId(item, 'ctc_');
    case 'tool_search_call':
      return keepOwnId(item, 'tsc_');
    case 'message':
      return keepOwnId(item, 'msg_');
    default:
      return item;
  }
}

/** OpenAI refuses an id that does not start as its own ids of that kind do; without one the item is taken for new. */
function keepOwnId(item: JsonObject, prefix: string): JsonObject {
  if (item.id === undefined || (typeof item.id === 'string' && item.id.startsWith(prefix))) return item;
  const { id: _id, ...rest } = item;
  return rest;
}

/** Reasoning without its encrypted content would be looked up by its id, in vain; other vendors' would be refused. */
function relayReasoning(item: JsonObject): JsonObject | null {
  const opened = openSignature(item.encrypted_content);
  if (opened?.signature.vendor !== 'openai') return null;
  if (!opened.isOurs) return keepOwnId(item, 'rs_');
  return { type: 'reasoning', summary: item.summary ?? [], encrypted_content: opened.signature.value };
}

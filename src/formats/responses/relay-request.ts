// The straight path for a request: the client's body, except for what the gateway must set, what a
// shared credential forbids, and item ids that the provider did not create.
import { nothingToAnswer } from '../adapting/answerable.ts';
import { isObject, type JsonObject, listOf } from '../../lib/json.ts';
import { fitOpenAiCallId } from '../call-ids.ts';
import { editAt, editFields, editItems, editText, withoutNulls } from '../edit-json.ts';
import { destinationOf } from '../destination.ts';
import { droppedFields } from '../field-verdicts.ts';
import type { ClientRequest, UpstreamRequest, UpstreamTarget } from '../format.ts';
import { leaveOutFields, leaveOutProbabilities, refusedSampling } from '../model-abilities.ts';
import { mendSchema } from '../mend-schema.ts';
import { tierField } from '../service-tiers.ts';
import { mendMediaUrl } from '../media-url.ts';
import { fitKnownEffort, refusesVerbosity } from '../openai-models.ts';
import { verdictTable } from './field-verdicts.ts';
import { mendEncryptedPart } from './agent-messages.ts';
import { asksForCompaction, readCompaction } from './compaction.ts';
import { leaveOutUnsold } from './optional-tools.ts';
import { drawingAsText, isOwnItemId } from './output-item.ts';
import { completeCalls } from './pair-items.ts';
import { withFittedNames } from '../tool-names.ts';
import { renameTools, toolNames } from './relay-tool-names.ts';
import { withoutId } from './refused.ts';
import { relayTools } from './relay-tools.ts';
import type { ResponsesRequest } from './schema.ts';
import { refuseUnshareable } from './shared-credential.ts';
import { openReasoning } from '../sealed-reasoning.ts';
import { wantsReasoningText } from './summary-as-text.ts';
import { effortIn, encryptedReasoning, outputTokensMin } from './write-request.ts';

/**
 * Throws ApiError `invalid_request`. `ignored`: fields such as `previous_response_id`, and items such
 * as `input[3]`.
 */
export function relayRequest(
  { body: clientBody }: ClientRequest<ResponsesRequest>,
  target: UpstreamTarget,
): UpstreamRequest {
  const hasSearch = target.searchesMax !== undefined;
  const { body: lean, leftOut } = leaveOutUnsold(clientBody, { hasSearch });
  const known = refuseUnshareable(lean, destinationOf(target));
  const body: Record<string, unknown> = { ...withoutNulls(known) };
  const ignored = new Set(leftOut);
  leaveOutFields(body, dropped, ignored);
  if (body.store === true) ignored.add('store');
  body.model = target.model;
  body.stream = target.stream;
  body.store = false;
  delete body.service_tier;
  Object.assign(body, tierField(target));
  body.max_output_tokens = Math.max(outputTokensMin, target.maxOutputTokens);
  if (target.searchesMax !== undefined) body.max_tool_calls = target.searchesMax;
  body.include = relayInclude(body.include, target);
  if (!target.thinking && dropReasoning(body)) ignored.add('reasoning');
  else if (isObject(body.reasoning)) body.reasoning = fitReasoning(body.reasoning, target, ignored);
  fitToModel(body, target, ignored);
  if (body.tools) body.tools = relayTools(body.tools, ignored);
  if (Array.isArray(body.input)) body.input = relayInput(body.input, target, ignored);
  const written = editAt(body, ['text', 'format', 'schema'], mendSchema);
  const fitted = withFittedNames(clientBody, { written, renameTools, rule: toolNames });
  return { ...fitted, ignored: [...ignored] };
}

/** Only OpenAI compacts conversations itself. */
export function canRelay({ body }: ClientRequest, { isOpenAi }: UpstreamTarget): boolean {
  return isOpenAi || !asksForCompaction(body);
}

const dropped = droppedFields(verdictTable);

/** Leaves out what the model refuses. Throws ApiError when that would change the answer. */
function fitToModel(
  body: Record<string, unknown>,
  target: UpstreamTarget,
  ignored: Set<string>,
): void {
  const { reasoning, include } = body;
  const effort = effortIn(reasoning);
  leaveOutProbabilities(body, ['top_logprobs'], effort, target);
  if (Array.isArray(include) && include.includes('message.output_text.logprobs'))
    leaveOutProbabilities({ include }, ['include'], effort, target);
  leaveOutFields(body, refusedSampling(effort, target), ignored);
  const { text } = body;
  if (!target.isOpenAi || !isObject(text) || !refusesVerbosity(text.verbosity, target.model))
    return;
  body.text = editFields(text, { verbosity: undefined });
  ignored.add('text.verbosity');
}

/**
 * Always asks for encrypted reasoning: without it, a client's `input += response.output` would
 * refer to items that are not stored. A model that does not think refuses the request for it, but
 * clients such as Codex always send it.
 */
function relayInclude(include: unknown, { thinking }: UpstreamTarget): unknown[] {
  const others = listOf(include).filter((value) => value !== encryptedReasoning);
  return thinking ? [...others, encryptedReasoning] : others;
}

/**
 * An unknown level becomes the nearest one that the model accepts. A summary is asked for when the
 * client sets an effort alone, because OpenAI shows no other reasoning.
 */
function fitReasoning(
  reasoning: JsonObject,
  target: UpstreamTarget,
  ignored: Set<string>,
): JsonObject {
  const level = effortIn(reasoning);
  const effort = level && fitKnownEffort(level, target.model);
  const fitted = effort ? { ...reasoning, effort } : reasoning;
  if (target.refusesSummaries) {
    const { summary = null, generate_summary: oldSummary = null, ...rest } = fitted;
    if (summary !== null || oldSummary !== null) ignored.add('reasoning.summary');
    return rest;
  }
  const asks = target.isOpenAi && effort !== 'none' && wantsReasoningText({ reasoning });
  return asks ? { ...fitted, summary: 'auto' } : fitted;
}

/** A model that does not think refuses the field. Returns true when the client loses something. */
function dropReasoning(body: Record<string, unknown>): boolean {
  const { reasoning } = body;
  delete body.reasoning;
  return isObject(reasoning) && Object.values(reasoning).some((value) => value !== null);
}

/** OpenAI's type of code that it ran requires these. */
const nullable = ['code', 'outputs'];

function relayInput(
  input: readonly unknown[],
  target: UpstreamTarget,
  ignored: Set<string>,
): readonly unknown[] {
  const items: unknown[] = [];
  const ids = new Set<unknown>();
  for (const [index, item] of input.entries()) {
    const path = `input[${index}]`;
    const relayed = isObject(item)
      ? relayItem(mendItem(withoutNulls(item, ...nullable)), path, ignored)
      : item;
    if (relayed === null) ignored.add(path);
    else items.push(isObject(relayed) ? withIdOnce(relayed, ids) : relayed);
  }
  if (items.length === 0) throw nothingToAnswer('input');
  return completeCalls(items, target);
}

/**
 * Fits the id of a call, and corrects images and files in a message or a result. OpenAI refuses a
 * message without parts.
 */
function mendItem(item: JsonObject): JsonObject {
  const { role, content, output } = item;
  const isEmpty = Array.isArray(content) && content.length === 0 && typeof role === 'string';
  const noText = [{ type: role === 'assistant' ? 'output_text' : 'input_text', text: '' }];
  return editFields(item, {
    call_id: editText(item.call_id, (id) => fitOpenAiCallId(id)),
    content: isEmpty ? noText : editItems(content, mendPart),
    output: editItems(output, mendPart),
  });
}

function mendPart(part: JsonObject): JsonObject {
  return editFields(mendEncryptedPart(part), {
    image_url: editText(part.image_url, (url) => mendMediaUrl(url, 'image')),
    file_data: editText(part.file_data, (url) => mendMediaUrl(url, 'document')),
  });
}

/** Returns null when the item means nothing to this upstream. */
function relayItem(item: JsonObject, path: string, ignored: Set<string>): JsonObject | null {
  switch (item.type ?? 'message') {
    case 'reasoning':
      return relayReasoning(item);
    case 'compaction': {
      const summary = readCompaction(item, path);
      return summary === null ? item : { role: 'user', content: summary };
    }
    case 'image_generation_call':
      return isOwnItemId(item.id) ? relayDrawing(item) : item;
    // Only references to reasoning get this far.
    case 'item_reference':
      return null;
    case 'function_call':
      return keepOwnId(item, 'fc_');
    case 'custom_tool_call':
      return keepOwnId(item, 'ctc_');
    // github.com/Wei-Shaw/sub2api/issues/3785 (read 2026-11-30)
    case 'function_call_output':
      return keepOwnId(item, 'fc');
    case 'custom_tool_call_output':
      return keepOwnId(item, 'ctc');
    case 'tool_search_call':
      return keepOwnId(item, 'tsc_');
    case 'message':
      return keepOwnId(item, 'msg_');
    case 'additional_tools':
    case 'tool_search_output':
      return editFields(item, { tools: relayTools(item.tools, ignored) });
    default:
      return item;
  }
}

const idLengthMax = 64;

/**
 * OpenAI refuses an id without its own prefix for the kind of item, or a longer one. An item
 * without an id counts as new.
 */
function keepOwnId(item: JsonObject, prefix: string): JsonObject {
  const { id } = item;
  const isOwn = typeof id === 'string' && id.startsWith(prefix) && id.length <= idLengthMax;
  return id === undefined || isOwn ? item : withoutId(item);
}

/**
 * OpenAI refuses two items with one id, which clients have from several hosts:
 * https://github.com/earendil-works/pi/issues/5149 (read 2026-11-30).
 */
function withIdOnce(item: JsonObject, ids: Set<unknown>): JsonObject {
  if (ids.has(item.id)) return withoutId(item);
  if (item.id !== undefined) ids.add(item.id);
  return item;
}

/** OpenAI does not know an image of ours. */
function relayDrawing(item: JsonObject): JsonObject | null {
  const content = drawingAsText(item);
  return content === null ? null : { type: 'message', role: 'assistant', content };
}

/**
 * OpenAI would look up reasoning without encrypted content by its id, in vain, and refuses that of
 * other vendors.
 */
function relayReasoning(item: JsonObject): JsonObject | null {
  const opened = openReasoning(item.encrypted_content);
  if (opened?.signature?.vendor !== 'openai') return null;
  if (!opened.isOurs) return keepOwnId(item, 'rs_');
  return {
    type: 'reasoning',
    summary: item.summary ?? [],
    encrypted_content: opened.signature.value,
  };
}

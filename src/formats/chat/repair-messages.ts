// Repairs messages as hosts need them, on the straight path and behind translation. A message that
// needs no repair stays the same object.
import { markInstruction } from '../../canonical/marked-instruction.ts';
import { append } from '../../lib/append.ts';
import { isObject, type JsonObject, objectsOf } from '../../lib/json.ts';
import { emptyText } from '../adapting/answerable.ts';
import { pairResults, partsOf, type ResultShape, type Step } from '../adapting/paired-results.ts';
import { newScan, objectArguments, plainArguments } from '../call-arguments.ts';
import { isMistral } from '../call-ids.ts';
import { editFields, editItems, editText, withoutNulls } from '../edit-json.ts';
import type { UpstreamTarget } from '../format.ts';
import { mendMediaUrl } from '../media-url.ts';
import { refusedHistory } from './foreign-history.ts';
import { isKimi } from './kimi-schema.ts';
import { readReasoningText } from './reasoning.ts';

export function repairMessages(
  messages: readonly JsonObject[],
  target: UpstreamTarget,
): readonly JsonObject[] {
  const { model, isOpenAi } = target;
  const scan = newScan();
  const edit = (text: string) =>
    isOpenAi ? plainArguments(text, scan) : objectArguments(text, scan);
  const repaired = messages.map((message, index) => repairMessage(message, index, { model, edit }));
  const moved = moveAttachments(repaired);
  const kept = isMistral(model) || isKimi(model) ? moved.filter(saysSomething) : moved;
  const ordered = isMistral(model) ? orderForMistral(kept) : kept;
  const asked = userNeeded.test(model) ? withUser(ordered) : ordered;
  return takesReasoning(target) ? completeReasoning(asked, model) : asked;
}

/**
 * Qwen's chat template and Z.ai refuse a conversation without any message of the user, as one that was
 * cut to its last calls: github.com/BerriAI/litellm/issues/42432 (read 2026-11-30).
 */
const userNeeded = /qwen|glm/i;

function withUser(messages: readonly JsonObject[]): readonly JsonObject[] {
  const first = messages.findIndex((message) => !isInstruction(message));
  if (first === -1 || messages.some(({ role }) => role === 'user')) return messages;
  return messages.toSpliced(first, 0, { role: 'user', content: emptyText });
}

/** Returns true when earlier reasoning may be sent. */
export function takesReasoning(target: UpstreamTarget): boolean {
  return target.thinking && !refusedHistory(target).includes('reasoning_content');
}

/**
 * Models whose chat templates refuse instructions in mid-conversation, which Claude Code and Codex
 * send: github.com/ollama/ollama/issues/17774, github.com/ggml-org/llama.cpp/issues/27367,
 * github.com/raullenchai/Rapid-MLX/issues/1543 (read 2026-11-26); and MiniMax, which takes one system
 * message: github.com/openclaw/openclaw/issues/19386 (read 2026-11-30).
 */
const systemOnlyAhead = /qwen|llama|gemma|minimax|\bsonar/i;

function repairMessage(
  given: JsonObject,
  index: number,
  { model, edit }: { readonly model: string; readonly edit: (text: string) => string },
): JsonObject {
  // Clients return an answer with all fields of its type. Strict hosts refuse them even if null.
  const message = withoutNulls(given, 'content');
  const { content, tool_calls: calls, reasoning_details: details } = message;
  const edits: Record<string, unknown> = {};
  const hasCalls = Array.isArray(calls) && calls.length > 0;
  const repair = (call: JsonObject) => repairCall(call, edit);
  if (Array.isArray(calls)) edits.tool_calls = hasCalls ? editItems(calls, repair) : undefined;
  if (Array.isArray(content))
    edits.content = content.length > 0 ? editItems(content, repairPart) : hasCalls ? null : '';
  // An answer of reasoning or images alone, or one that a filter emptied, has no content.
  else if (message.role === 'assistant' && !hasCalls && !message.refusal && !message.function_call)
    edits.content = content ?? '';
  if (details && isKimi(model)) edits.reasoning_details = editItems(details, withoutIndex);
  const edited = editFields(message, edits);
  const isLate = index > 0 && isInstruction(edited);
  return isLate && systemOnlyAhead.test(model) ? asUser(edited) : edited;
}

function isInstruction({ role }: JsonObject): boolean {
  return role === 'system' || role === 'developer';
}

function asUser({ content }: JsonObject): JsonObject {
  const texts = partsOf(content).map(({ text }) => text);
  return {
    role: 'user',
    content: markInstruction({ type: 'text', text: texts.join('\n\n') }).text,
  };
}

/** Hosts parse the arguments of earlier calls, and fail on an answer that the limit cut off. */
function repairCall(call: JsonObject, edit: (text: string) => string): JsonObject {
  if (!isObject(call.function)) return call;
  const edited = { arguments: editText(call.function.arguments, edit) };
  return editFields(call, { function: editFields(call.function, edited) });
}

/** `detail: original`, which Codex sets on its screenshots, exists only in Responses. */
function repairPart(part: JsonObject): JsonObject {
  const { image_url: image, file } = part;
  if (part.type === 'image_url' && isObject(image)) {
    const detail = image.detail === 'original' ? 'high' : image.detail;
    const edited = { url: editText(image.url, (url) => mendMediaUrl(url, 'image')), detail };
    return editFields(part, { image_url: editFields(image, edited) });
  }
  if (part.type !== 'file' || !isObject(file)) return part;
  const edited = { file_data: editText(file.file_data, (url) => mendMediaUrl(url, 'document')) };
  return editFields(part, { file: editFields(file, edited) });
}

/** Moonshot refuses the place in the stream, which its own entries carry. OpenRouter's need it. */
function withoutIndex(detail: JsonObject): JsonObject {
  if (String(detail.type).startsWith('reasoning.')) return detail;
  return editFields(detail, { index: undefined });
}

/** Puts the results of calls right behind them: OpenAI refuses a tool message elsewhere. */
export function pairMessages(messages: readonly JsonObject[]): readonly JsonObject[] {
  if (!messages.some(({ role, tool_calls: calls }) => role === 'tool' || calls)) return messages;
  return pairResults(messages.map(stepOf), toolMessage) ?? messages;
}

function stepOf(message: JsonObject): Step {
  const { role, tool_call_id: callId, tool_calls: calls } = message;
  return {
    item: message,
    calls: objectsOf(calls).map(({ id }) => String(id)),
    answers: role === 'tool' ? String(callId) : null,
  };
}

const toolMessage: ResultShape = {
  field: 'content',
  textType: 'text',
  write: (callId, parts) => {
    const content = parts.every(isText) ? parts.map(({ text }) => text).join('\n') : parts;
    return { role: 'tool', tool_call_id: callId, content };
  },
};

/**
 * Chat's tool messages hold only text. Images and files follow in a user message, after all results
 * of the turn.
 */
function moveAttachments(messages: readonly JsonObject[]): readonly JsonObject[] {
  if (!messages.some(hasAttachments)) return messages;
  const moved: JsonObject[] = [];
  let attachments: JsonObject[] = [];
  for (const [index, message] of messages.entries()) {
    moved.push(hasAttachments(message) ? withoutAttachments(message) : message);
    if (hasAttachments(message)) append(attachments, attachmentsOf(message));
    if (attachments.length === 0 || messages[index + 1]?.role === 'tool') continue;
    moved.push({ role: 'user', content: attachments });
    attachments = [];
  }
  return moved;
}

function hasAttachments({ role, content }: JsonObject): boolean {
  return role === 'tool' && Array.isArray(content) && !content.every(isText);
}

function isText(part: unknown): part is JsonObject {
  return isObject(part) && part.type === 'text';
}

function withoutAttachments(message: JsonObject): JsonObject {
  const texts = partsOf(message.content).flatMap((part) => (isText(part) ? part.text : []));
  const note = '[The attachments of this result follow in the next user message.]';
  return { ...message, content: [...texts, note].join('\n') };
}

function attachmentsOf({ tool_call_id: callId, content }: JsonObject): JsonObject[] {
  const label = {
    type: 'text',
    text: `[Attachments of the result of tool call ${String(callId)}]`,
  };
  return [label, ...partsOf(content).filter((part) => !isText(part))];
}

/**
 * Mistral and Moonshot refuse an empty answer: github.com/Kilo-Org/kilocode/issues/10276 (read 2026-11-30).
 */
function saysSomething({ role, content, tool_calls: calls, partial }: JsonObject): boolean {
  return role !== 'assistant' || content !== '' || Boolean(calls) || partial === true;
}

/**
 * Mistral refuses a user message right behind tool results ("Unexpected role 'user' after role
 * 'tool'"), where Claude Code puts its reminders and the gateway puts images. So an answer stands
 * between them. It also refuses instructions behind results and answers.
 * github.com/mistralai/mistral-common, protocol/instruct/validator.py (read 2026-11-28)
 */
function orderForMistral(messages: readonly JsonObject[]): JsonObject[] {
  const ordered: JsonObject[] = [];
  for (const message of messages) {
    const before = ordered.at(-1)?.role;
    const isBehind = before === 'assistant' || before === 'tool';
    const next = isBehind && isInstruction(message) ? asUser(message) : message;
    if (next.role === 'user' && before === 'tool')
      ordered.push({ role: 'assistant', content: 'OK.' });
    ordered.push(next);
  }
  return ordered;
}

/**
 * DeepSeek, Moonshot, and hosts that copied them, refuse a conversation in which an answer lacks its
 * reasoning (api-docs.deepseek.com/guides/thinking_mode, read 2026-11-21). Answers of other models
 * have none, so they get an empty one. Moonshot counts an empty text as missing, but not a space
 * (github.com/earendil-works/pi/issues/4179, read 2026-11-26).
 */
function completeReasoning(messages: readonly JsonObject[], model: string): readonly JsonObject[] {
  const isWanted =
    /deepseek/i.test(model) ||
    isKimi(model) ||
    messages.some((message) => typeof message.reasoning_content === 'string');
  if (!isWanted) return messages;
  const missing = isKimi(model) ? ' ' : '';
  return messages.map((message) => {
    if (message.role !== 'assistant') return message;
    const text = readReasoningText(message) || missing;
    return message.reasoning_content === text ? message : { ...message, reasoning_content: text };
  });
}

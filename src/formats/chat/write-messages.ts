// Writes the conversation as Chat messages. Texts of instructions, assistant and tools are strings:
// the official types also allow parts, but DeepSeek and others refuse them.
import { invalidRequest } from '../../canonical/errors.ts';
import type {
  AssistantPart,
  CanonicalRequest,
  DocumentPart,
  ImagePart,
  Message,
  Signature,
  TextPart,
  ThinkingPart,
  ToolResultPart,
  UserPart,
} from '../../canonical/request.ts';
import { markInstruction } from '../../canonical/marked-instruction.ts';
import { contentWithFailure } from '../../canonical/tool-result.ts';
import type { JsonObject } from '../../lib/json.ts';
import { isMistral } from '../call-ids.ts';
import type { UpstreamTarget } from '../format.ts';
import { isKimi } from './kimi-schema.ts';
import { writeMediaUrl } from './media.ts';
import { callIdFitter, maySign, refusedHistory } from './foreign-history.ts';
import { writeAssistantContent } from './write-answer.ts';

type Notes = {
  /** Returns true for signatures that the model accepts. null: it accepts no reasoning. */
  readonly takesSignature: ((signature: Signature) => boolean) | null;
  readonly takesRefusal: boolean;
  readonly fitCallId: (id: string) => string;
  readonly ignored: Set<string>;
};

/**
 * Adds what is left out to `ignored`. Throws ApiError `invalid_request` on documents given by URL.
 */
export function writeMessages(
  request: CanonicalRequest,
  target: UpstreamTarget,
  ignored: Set<string>,
): JsonObject[] {
  const refused = refusedHistory(target);
  const takesReasoning = target.thinking && !refused.includes('reasoning_content');
  const takesSignature = takesReasoning
    ? (signature: Signature) => maySign(signature, target.model)
    : null;
  const notes: Notes = {
    takesSignature,
    takesRefusal: !refused.includes('refusal'),
    fitCallId: callIdFitter(target),
    ignored,
  };
  const system = request.system.length === 0 ? [] : [writeSystem(request.system)];
  const messages = [
    ...system,
    ...withResultsFirst(request.messages)
      .map(systemOnlyAhead.test(target.model) ? withoutSystemRole : (message) => message)
      .flatMap((message) => writeMessage(message, notes)),
  ];
  const ordered = isMistral(target.model) ? answerResults(messages) : messages;
  return takesReasoning ? completeReasoning(ordered, target.model) : ordered;
}

/**
 * Mistral refuses a user message right behind tool results ("Unexpected role 'user' after role
 * 'tool'"), where Claude Code puts its reminders and the gateway puts images. So an answer stands
 * between them.
 */
function answerResults(messages: readonly JsonObject[]): JsonObject[] {
  return messages.flatMap((message, index) =>
    message.role === 'user' && messages[index - 1]?.role === 'tool'
      ? [{ role: 'assistant', content: 'OK.' }, message]
      : [message],
  );
}

/**
 * Models whose chat templates refuse instructions in mid-conversation, which Claude Code and Codex
 * send: github.com/ollama/ollama/issues/17774, github.com/ggml-org/llama.cpp/issues/27367,
 * github.com/raullenchai/Rapid-MLX/issues/1543 (read 2026-11-26).
 */
const systemOnlyAhead = /qwen|llama|gemma/i;

function withoutSystemRole(message: Message): Message {
  return message.role === 'system'
    ? { role: 'user', content: message.content.map(markInstruction) }
    : message;
}

/**
 * Moves the results of a turn's calls right behind the turn, in one message: OpenAI refuses a tool
 * message elsewhere.
 */
function withResultsFirst(messages: readonly Message[]): Message[] {
  const ordered: Message[] = [];
  /** Right behind the last turn of the assistant; 0: there was none yet. */
  let place = 0;
  for (const message of messages) {
    const results = ordered[place];
    if (message.role !== 'tool' || place === 0) ordered.push(message);
    else if (results?.role !== 'tool') ordered.splice(place, 0, message);
    else ordered[place] = { ...results, content: [...results.content, ...message.content] };
    if (message.role === 'assistant') place = ordered.length;
  }
  return ordered;
}

/**
 * DeepSeek, Moonshot, and hosts that copied them, refuse a conversation in which an answer lacks its
 * reasoning (api-docs.deepseek.com/guides/thinking_mode, read 2026-11-21). Answers of other models
 * have none, so they get an empty one. Moonshot counts an empty text as missing, but not a space
 * (github.com/earendil-works/pi/issues/4179, read 2026-11-26).
 */
function completeReasoning(messages: JsonObject[], model: string): JsonObject[] {
  const isWanted =
    /deepseek/i.test(model) ||
    isKimi(model) ||
    messages.some((message) => message.reasoning_content !== undefined);
  if (!isWanted) return messages;
  const missing = isKimi(model) ? ' ' : '';
  return messages.map((message) =>
    message.role === 'assistant' ? { reasoning_content: missing, ...message } : message,
  );
}

function writeMessage(message: Message, notes: Notes): JsonObject[] {
  switch (message.role) {
    case 'system':
      return [writeSystem(message.content)];
    case 'user':
      return [{ role: 'user', content: writeUserContent(message.content) }];
    case 'assistant':
      return writeAssistant(message.content, notes);
    default:
      return writeToolResults(
        message.content.map((result) => ({ ...result, callId: notes.fitCallId(result.callId) })),
      );
  }
}

function writeSystem(content: readonly TextPart[]): JsonObject {
  return { role: 'system', content: content.map((part) => part.text).join('\n\n') };
}

function writeUserContent(content: readonly UserPart[]): string | JsonObject[] {
  const [first] = content;
  if (!first) return '';
  if (content.length === 1 && first.type === 'text') return first.text;
  return content.map(writeUserPart);
}

function writeUserPart(part: UserPart): JsonObject {
  switch (part.type) {
    case 'text':
      return { type: 'text', text: part.text };
    case 'image': {
      const url = writeMediaUrl(part.source);
      return {
        type: 'image_url',
        image_url: part.detail === undefined ? { url } : { url, detail: part.detail },
      };
    }
    default:
      return writeDocument(part);
  }
}

/** Hosts that accept files accept PDF. A text document is sent as text. */
function writeDocument({ source, name }: DocumentPart): JsonObject {
  if (source.kind === 'url') {
    throw invalidRequest(
      'messages',
      'messages must not contain documents by URL for this model; send the document itself as base64',
    );
  }
  if (source.mediaType.startsWith('text/') || source.mediaType === 'application/json') {
    const text = Buffer.from(source.data, 'base64').toString('utf8');
    return {
      type: 'text',
      text: `<document${name === undefined ? '' : ` name=${JSON.stringify(name)}`}>\n${text}\n</document>`,
    };
  }
  // OpenAI requires a name and reads the type from its extension.
  const filename = name ?? `document.${source.mediaType.split('/')[1]}`;
  return { type: 'file', file: { filename, file_data: writeMediaUrl(source) } };
}

/** Returns nothing for a turn without remaining content. */
function writeAssistant(
  content: readonly AssistantPart[],
  { takesSignature, takesRefusal, fitCallId, ignored }: Notes,
): JsonObject[] {
  const kept = content.flatMap((part): AssistantPart[] =>
    part.type === 'thinking' ? keepThinking(part, takesSignature) : [part],
  );
  if (kept.length < content.length) ignored.add('reasoning_content');
  if (kept.some((part) => part.type === 'text' && part.citations)) ignored.add('annotations');
  if (kept.length === 0 && content.length > 0) return [];
  const written = kept.map(withArguments).map(takesRefusal ? (part) => part : asText);
  const { refusal, ...message } = writeAssistantContent(written, fitCallId);
  return [{ role: 'assistant', ...message, ...(refusal === null ? null : { refusal }) }];
}

/** Removes another vendor's signature; its readable text is sent on. */
function keepThinking(part: ThinkingPart, takesSignature: Notes['takesSignature']): ThinkingPart[] {
  if (!takesSignature) return [];
  if (!part.signature || takesSignature(part.signature)) return [part];
  return part.redacted || part.text === '' ? [] : [{ ...part, signature: null }];
}

function asText(part: AssistantPart): AssistantPart {
  return part.type === 'refusal' ? { ...part, type: 'text' } : part;
}

/** Hosts parse the arguments of earlier calls and fail when there are none. */
function withArguments(part: AssistantPart): AssistantPart {
  const isBlank =
    part.type === 'tool-call' && part.kind === 'function' && part.arguments.trim() === '';
  return isBlank ? { ...part, arguments: '{}' } : part;
}

/**
 * Chat's tool messages hold only text. Images and files follow in a user message, after all results
 * of the turn.
 */
function writeToolResults(results: readonly ToolResultPart[]): JsonObject[] {
  const attachments = results.flatMap(writeAttachments);
  const messages = results.map(writeToolResult);
  return attachments.length === 0
    ? messages
    : [...messages, { role: 'user', content: attachments }];
}

function writeToolResult(result: ToolResultPart): JsonObject {
  const content = contentWithFailure(result);
  const texts = content.filter((part) => part.type === 'text').map((part) => part.text);
  if (texts.length < content.length)
    texts.push('[The attachments of this result follow in the next user message.]');
  return { role: 'tool', tool_call_id: result.callId, content: texts.join('\n') };
}

function writeAttachments({ callId, content }: ToolResultPart): JsonObject[] {
  const attachments = content.filter(
    (part): part is ImagePart | DocumentPart => part.type !== 'text',
  );
  if (attachments.length === 0) return [];
  return [
    { type: 'text', text: `[Attachments of the result of tool call ${callId}]` },
    ...attachments.map(writeUserPart),
  ];
}

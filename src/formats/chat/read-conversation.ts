// Reads a request's messages.
import { quoted, refuseField } from '../../canonical/errors.ts';
import type { MediaPlace } from '../../canonical/media-type.ts';
import type {
  AssistantPart,
  CacheControl,
  DocumentPart,
  ImagePart,
  MediaSource,
  Message,
  TextPart,
  ThinkingPart,
  ToolCallPart,
  ToolResultPart,
} from '../../canonical/request.ts';
import { gatherConversation, type Conversation } from '../adapting/conversation.ts';
import { isAskedFor } from '../field-verdicts.ts';
import { givenFields } from '../given-fields.ts';
import { readSound, type SoundField } from '../input-audio.ts';
import { isPdf, readMediaUrl } from '../media-url.ts';
import { isObject } from '../../lib/json.ts';
import { findCallSignatures, readCallSignature } from './call-signatures.ts';
import { readAnnotations } from './citations.ts';
import { readReasoning } from './reasoning.ts';
import { insertThinking, type PlacedThinking } from './thinking-places.ts';
import type { ChatAssistantMessage, ChatMessage, ChatPart, ChatToolCall } from './schema.ts';

/** Instructions before the first turn become the system prompt. Later ones stay in place. */
export function readConversation(messages: readonly ChatMessage[]): Conversation {
  return gatherConversation(
    messages.map((message, index) => readMessage(message, `messages[${index}]`)),
  );
}

/** Lists the fields that have no canonical form and do not change the answer's meaning. */
export function ignoredMessageFields(messages: readonly ChatMessage[]): string[] {
  const ignored = new Set<string>();
  for (const message of messages) {
    if (message.role !== 'function' && 'name' in message) ignored.add('messages.name');
    if (Array.isArray(message.content) && message.content.some(hasBreakpoint))
      ignored.add('messages.prompt_cache_breakpoint');
    // Annotations refer to positions in one text, so they need `content` as a string.
    if (
      message.role === 'assistant' &&
      isAskedFor(message.annotations) &&
      typeof message.content !== 'string'
    ) {
      ignored.add('messages.annotations');
    }
  }
  return [...ignored, ...givenFields({ messages }, unread)];
}

/** Fields of other hosts' answers. Images do not go back, and hosts repeat the rest in other fields. */
const unread = ['messages.images', 'messages.thinking_blocks', 'messages.audio_content'];

/** OpenAI's mark for its prompt cache. */
function hasBreakpoint(part: object): boolean {
  return 'prompt_cache_breakpoint' in part && isAskedFor(part.prompt_cache_breakpoint);
}

/**
 * Anthropic's cache mark, which other hosts of this format accept too. Its long lifetime was
 * refused earlier.
 */
export function readCacheControl(holder: object): { readonly cacheControl?: CacheControl } {
  const mark = 'cache_control' in holder ? holder.cache_control : null;
  if (!isObject(mark) || mark.type !== 'ephemeral') return {};
  return {
    cacheControl: mark.ttl === '5m' ? { type: 'ephemeral', ttl: '5m' } : { type: 'ephemeral' },
  };
}

function readMessage(message: ChatMessage, path: string): Message {
  switch (message.role) {
    case 'system':
    case 'developer':
      return { role: 'system', content: readParts(message.content, path, readTextPart) };
    case 'user':
      return { role: 'user', content: readParts(message.content, path, readUserPart) };
    case 'assistant':
      return { role: 'assistant', content: readAssistantParts(message, path) };
    case 'tool':
      return { role: 'tool', content: [readToolResult(message, path)] };
    default:
      return refuseField(
        `${path}.role`,
        'must not be `function` for this model; use `tool` with a tool_call_id',
      );
  }
}

type ReadPart<T> = (part: ChatPart, path: string) => T;

function readParts<T>(
  content: string | readonly object[],
  path: string,
  readPart: ReadPart<T>,
): (T | TextPart)[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  return content.map((part, index) => readPart(part as ChatPart, `${path}.content[${index}]`));
}

function readTextPart(part: ChatPart, path: string): TextPart {
  if (part.type !== 'text')
    return refuseField(`${path}.type`, `must be \`text\` for this model; got ${quoted(part.type)}`);
  return { type: 'text', text: part.text as string, ...readCacheControl(part) };
}

function readUserPart(part: ChatPart, path: string): TextPart | ImagePart | DocumentPart {
  switch (part.type) {
    case 'text':
      return readTextPart(part, path);
    case 'image_url':
      return readImage(part, path);
    case 'file':
      return readFile(part, path);
    case 'input_audio':
      return readSound(part.input_audio as SoundField, `${path}.input_audio.data`);
    default:
      return refuseField(
        `${path}.type`,
        `must be \`text\`, \`image_url\`, \`file\` or \`input_audio\` for this model; got ${quoted(part.type)}`,
      );
  }
}

function readImage(part: ChatPart, path: string): ImagePart | DocumentPart {
  const { url, detail } = part.image_url as { url: string; detail?: string | null };
  const source = readSource(url, 'image', `${path}.image_url.url`);
  if (isPdf(source)) return { type: 'document', source, ...readCacheControl(part) };
  return { type: 'image', source, ...(detail ? { detail } : null), ...readCacheControl(part) };
}

function readFile(part: ChatPart, path: string): DocumentPart {
  const { file_data: data, filename } = part.file as {
    file_data?: string | null;
    filename?: string | null;
  };
  const source = readSource(data ?? '', 'document', `${path}.file.file_data`);
  return {
    type: 'document',
    source,
    ...(filename ? { name: filename } : null),
    ...readCacheControl(part),
  };
}

function readSource(url: string, place: MediaPlace, path: string): MediaSource {
  return (
    readMediaUrl(url, place) ??
    refuseField(path, 'must be a data URI (data:<type>;base64,<data>) or an http(s) URL')
  );
}

function readAssistantParts(message: ChatAssistantMessage, path: string): AssistantPart[] {
  if (message.function_call)
    refuseField(`${path}.function_call`, 'is not supported by this model; use tool_calls');
  const { refusal } = message;
  const reasoning = readReasoning(message);
  return insertThinking(reasoning, [
    ...readCallSignatures(message, reasoning),
    ...readAssistantText(message, path),
    ...(refusal ? [{ type: 'refusal' as const, text: refusal }] : []),
    ...(message.tool_calls ?? []).map(readToolCall),
  ]);
}

/**
 * Uses the signature beside a call unless the reasoning has it already: clients may keep either, or
 * both.
 */
function readCallSignatures(
  message: ChatAssistantMessage,
  reasoning: readonly PlacedThinking[],
): ThinkingPart[] {
  const known = findCallSignatures(reasoning.map(({ part }) => part));
  const besideCalls = (message.tool_calls ?? []).filter((call) => !known.has(call.id));
  return besideCalls.flatMap((call) => readCallSignature(call, call.id));
}

/** Clients send '' beside tool calls; other providers refuse an empty text. */
function readAssistantText(
  { content, annotations }: ChatAssistantMessage,
  path: string,
): AssistantPart[] {
  if (!content) return [];
  if (typeof content !== 'string') return readParts(content, path, readAssistantPart);
  const citations = readAnnotations(annotations);
  return [{ type: 'text', text: content, ...(citations.length > 0 ? { citations } : null) }];
}

function readAssistantPart(part: ChatPart, path: string): AssistantPart {
  if (part.type === 'refusal') return { type: 'refusal', text: part.refusal as string };
  if (part.type !== 'text')
    return refuseField(
      `${path}.type`,
      `must be \`text\` or \`refusal\` for this model; got ${quoted(part.type)}`,
    );
  return readTextPart(part, path);
}

function readToolCall(call: ChatToolCall): ToolCallPart {
  const { id, type: kind } = call;
  const { name, text } =
    call.type === 'custom'
      ? { name: call.custom.name, text: call.custom.input }
      : { name: call.function.name, text: call.function.arguments };
  return { type: 'tool-call', id, name, arguments: text, kind };
}

function readToolResult(
  message: Extract<ChatMessage, { role: 'tool' }>,
  path: string,
): ToolResultPart {
  return {
    type: 'tool-result',
    callId: message.tool_call_id,
    content: readParts(message.content, path, readUserPart),
    isError: false,
    ...readCacheControl(message),
  };
}

// The conversation as Chat messages. Texts of instructions, assistant and tools are sent as one string: the official types also allow
// parts there, but DeepSeek and others refuse them.
import { invalidRequest } from '../../canonical/errors.ts';
import type {
  AssistantPart,
  CanonicalRequest,
  DocumentPart,
  ImagePart,
  Message,
  TextPart,
  ToolResultPart,
  UserPart,
} from '../../canonical/request.ts';
import type { JsonObject, UpstreamTarget } from '../format.ts';
import { writeMediaUrl } from './media.ts';
import { writeAssistantContent } from './write-answer.ts';

type Notes = { readonly thinking: boolean; readonly ignored: Set<string> };

/** Adds to `ignored` what is left out. Throws ApiError `invalid_request` on documents that are given by address. */
export function writeMessages(request: CanonicalRequest, target: UpstreamTarget, ignored: Set<string>): JsonObject[] {
  const notes = { thinking: target.thinking, ignored };
  const system = request.system.length === 0 ? [] : [writeSystem(request.system, notes)];
  return [...system, ...request.messages.flatMap((message) => writeMessage(message, notes))];
}

function writeMessage(message: Message, notes: Notes): JsonObject[] {
  switch (message.role) {
    case 'system':
      return [writeSystem(message.content, notes)];
    case 'user':
      return [{ role: 'user', content: writeUserContent(message.content, notes) }];
    case 'assistant':
      return [{ role: 'assistant', ...writeAssistant(message.content, notes) }];
    default:
      return writeToolResults(message.content, notes);
  }
}

function writeSystem(content: readonly TextPart[], notes: Notes): JsonObject {
  noteCacheControl(content, notes);
  return { role: 'system', content: content.map((part) => part.text).join('\n\n') };
}

function writeUserContent(content: readonly UserPart[], notes: Notes): string | JsonObject[] {
  noteCacheControl(content, notes);
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
      return { type: 'image_url', image_url: part.detail === undefined ? { url } : { url, detail: part.detail } };
    }
    default:
      return { type: 'file', file: writeFile(part) };
  }
}

function writeFile({ source, name }: DocumentPart): JsonObject {
  if (source.kind === 'url') {
    throw invalidRequest('messages', 'documents by URL are not supported by this model; send the document itself as base64');
  }
  // OpenAI wants a name, and tells the type by its ending.
  const filename = name ?? `document.${source.mediaType.split('/')[1]}`;
  return { filename, file_data: writeMediaUrl(source) };
}

/** Reasoning goes back only to models that think: many hosts refuse the field otherwise. */
function writeAssistant(content: readonly AssistantPart[], notes: Notes): JsonObject {
  const kept = notes.thinking ? content : content.filter((part) => part.type !== 'thinking');
  if (kept.length < content.length) notes.ignored.add('reasoning_content');
  noteCacheControl(content, notes);
  const { refusal, ...message } = writeAssistantContent(kept);
  return refusal === null ? message : { ...message, refusal };
}

/** Chat's tool messages hold text alone: images and files follow in a message of the user, after all results of the turn. */
function writeToolResults(results: readonly ToolResultPart[], notes: Notes): JsonObject[] {
  noteCacheControl(results, notes);
  if (results.some((result) => result.isError)) notes.ignored.add('is_error');
  const attachments = results.flatMap(writeAttachments);
  const messages = results.map((result) => writeToolResult(result, notes));
  return attachments.length === 0 ? messages : [...messages, { role: 'user', content: attachments }];
}

function writeToolResult({ callId, content }: ToolResultPart, notes: Notes): JsonObject {
  noteCacheControl(content, notes);
  const texts = content.filter((part) => part.type === 'text').map((part) => part.text);
  if (texts.length < content.length) texts.push('[The attachments of this result follow in the next user message.]');
  return { role: 'tool', tool_call_id: callId, content: texts.join('\n') };
}

function writeAttachments({ callId, content }: ToolResultPart): JsonObject[] {
  const attachments = content.filter((part): part is ImagePart | DocumentPart => part.type !== 'text');
  if (attachments.length === 0) return [];
  return [{ type: 'text', text: `[Attachments of the result of tool call ${callId}]` }, ...attachments.map(writeUserPart)];
}

/** A mark for Anthropic's prompt cache; Chat's hosts cache by themselves. */
function noteCacheControl(holders: readonly object[], { ignored }: Notes): void {
  if (holders.some((holder) => 'cacheControl' in holder && holder.cacheControl)) ignored.add('cache_control');
}

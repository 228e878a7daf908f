// Writes messages as input items. Ids are left out: they name stored items, and nothing is stored.
import type {
  AssistantPart,
  CanonicalRequest,
  DocumentPart,
  Message,
  TextPart,
  ThinkingPart,
  UserPart,
} from '../../canonical/request.ts';
import { contentWithFailure } from '../../canonical/tool-result.ts';
import { append } from '../../lib/append.ts';
import { fitOpenAiCallId } from '../call-ids.ts';
import type { JsonObject } from '../../lib/json.ts';
import { missingInstruction } from '../adapting/json-object.ts';
import { isSound, writeSound } from '../input-audio.ts';
import { writeMediaUrl } from '../media-url.ts';
import { writeAnnotations } from './citations.ts';

/** Adds what is left out to `ignored`: `thinking` of other vendors or without a signature. */
export function writeConversation(request: CanonicalRequest, ignored: Set<string>): JsonObject[] {
  const customCalls = findCustomCalls(request.messages);
  const system = request.system.slice(1);
  // OpenAI does not look at the `instructions`.
  if (request.outputFormat.type === 'json')
    append(system, missingInstruction(system, request.messages));
  const items = system.map((part) => message('system', [writeUserPart(part)]));
  for (const { role, content } of request.messages) {
    if (role === 'assistant') append(items, writeAssistant(content, ignored));
    else if (role === 'tool')
      append(
        items,
        content.map((part) => writeResult(part, customCalls)),
      );
    else items.push(message(role, content.map(writeUserPart)));
  }
  return items;
}

function message(role: string, content: readonly JsonObject[]): JsonObject {
  return { type: 'message', role, content };
}

/** The result of a custom tool's call has its own item type. */
function findCustomCalls(messages: readonly Message[]): ReadonlySet<string> {
  const ids = new Set<string>();
  for (const { role, content } of messages) {
    if (role !== 'assistant') continue;
    for (const part of content)
      if (part.type === 'tool-call' && part.kind === 'custom') ids.add(part.id);
  }
  return ids;
}

function writeAssistant(content: readonly AssistantPart[], ignored: Set<string>): JsonObject[] {
  const items: JsonObject[] = [];
  let parts: JsonObject[] = [];
  const closeMessage = () => {
    if (parts.length > 0) items.push(message('assistant', parts));
    parts = [];
  };
  for (const part of content) {
    if (part.type === 'text') parts.push(writeAssistantText(part, ignored));
    else if (part.type === 'image') continue;
    else if (part.type === 'refusal') parts.push({ type: 'refusal', refusal: part.text });
    else {
      closeMessage();
      const item = part.type === 'thinking' ? writeThinking(part) : writeCall(part);
      if (item) items.push(item);
      else ignored.add('thinking');
    }
  }
  closeMessage();
  return items;
}

function writeAssistantText({ text, citations }: TextPart, ignored: Set<string>): JsonObject {
  if (!citations) return { type: 'output_text', text };
  const annotations = writeAnnotations({ text, citations });
  if (annotations.length < citations.length) ignored.add('annotations');
  return { type: 'output_text', text, annotations };
}

/** Only OpenAI's own encrypted reasoning is sent, byte for byte. */
function writeThinking({ text, signature }: ThinkingPart): JsonObject | null {
  if (signature?.vendor !== 'openai') return null;
  const summary = text === '' ? [] : [{ type: 'summary_text', text }];
  return { type: 'reasoning', summary, encrypted_content: signature.value };
}

function writeCall({
  id,
  name,
  arguments: text,
  kind,
}: Extract<AssistantPart, { type: 'tool-call' }>): JsonObject {
  const callId = fitOpenAiCallId(id);
  if (kind === 'custom') return { type: 'custom_tool_call', call_id: callId, name, input: text };
  return { type: 'function_call', call_id: callId, name, arguments: text };
}

type ToolResult = Extract<Message, { role: 'tool' }>['content'][number];

function writeResult(result: ToolResult, customCalls: ReadonlySet<string>): JsonObject {
  const type = customCalls.has(result.callId) ? 'custom_tool_call_output' : 'function_call_output';
  return {
    type,
    call_id: fitOpenAiCallId(result.callId),
    output: writeOutput(contentWithFailure(result)),
  };
}

function writeOutput(content: readonly UserPart[]): string | JsonObject[] {
  const [only] = content;
  if (!only) return '';
  return content.length === 1 && only.type === 'text' && only.text !== ''
    ? only.text
    : content.map(writeUserPart);
}

function writeUserPart(part: UserPart): JsonObject {
  switch (part.type) {
    case 'text':
      return { type: 'input_text', text: part.text };
    case 'image':
      return {
        type: 'input_image',
        image_url: writeMediaUrl(part.source),
        ...(part.detail === undefined ? {} : { detail: part.detail }),
      };
    case 'document':
      return writeDocument(part);
  }
}

/** A file sent as bytes needs a name, whose extension gives its type. */
function writeDocument({ source, name }: DocumentPart): JsonObject {
  if (source.kind === 'url')
    return {
      type: 'input_file',
      file_url: source.url,
      ...(name === undefined ? {} : { filename: name }),
    };
  if (isSound(source.mediaType)) return writeSound(source);
  const ending = source.mediaType === 'application/pdf' ? 'pdf' : 'txt';
  return {
    type: 'input_file',
    filename: name ?? `document.${ending}`,
    file_data: writeMediaUrl(source),
  };
}

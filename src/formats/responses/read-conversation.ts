// Reads the input items as messages: one each, which are then gathered into turns.
import { invalidRequest, quoted, refuseField } from '../../canonical/errors.ts';
import type { MediaPlace } from '../../canonical/media-type.ts';
import type {
  AssistantPart,
  DocumentPart,
  ImagePart,
  MediaSource,
  Message,
  TextPart,
  ToolCallPart,
  ToolResultPart,
  UserPart,
} from '../../canonical/request.ts';
import type { JsonObject } from '../../lib/json.ts';
import { gatherConversation, type Conversation } from '../adapting/conversation.ts';
import { uncalledLabel } from '../adapting/paired-results.ts';
import { readSound } from '../input-audio.ts';
import { isPdf, readMediaUrl } from '../media-url.ts';
import { readAnnotations } from './citations.ts';
import { isTrigger, readCompaction, summaryRequest } from './compaction.ts';
import { drawingAsText } from './output-item.ts';
import { readReasoning } from './reasoning.ts';
import { readPlainText } from './agent-messages.ts';
import type { ContentPart, InputItem, ResponsesRequest } from './schema.ts';
import type { ToolNames } from './tool-names.ts';
import { describeFoundTools, readSearchCall, searchCallId } from './tool-search.ts';

export function readConversation(input: ResponsesRequest['input'], names: ToolNames): Conversation {
  if (typeof input === 'string') return { system: [], messages: [userText(input)] };
  const items = input ?? [];
  const messages = items.flatMap((item, index) => {
    const drawing = drawingAsText(item);
    if (drawing !== null) return [assistantText(drawing)];
    if (isLeftOut(item)) return [];
    if (index === items.length - 1 && isTrigger(item)) return [userText(summaryRequest)];
    return readItem(item, `input[${index}]`, names);
  });
  return gatherConversation(
    messages.filter(({ role, content }) => role !== 'assistant' || content.length > 0),
  );
}

/**
 * Returns true for items that are not part of the conversation. Tools are read elsewhere. A web
 * search made elsewhere is not needed: the next message has its results. Of an image, models of other
 * formats get its prompt, if it has one. The only references that get this far are to reasoning. The
 * request itself says what Codex changed in its configuration.
 */
export function isLeftOut(
  item: InputItem,
): item is Extract<InputItem, { type: 'additional_tools' }> {
  return leftOut.has(item.type ?? 'message') && drawingAsText(item) === null;
}

const leftOut: ReadonlySet<string> = new Set([
  'additional_tools',
  'web_search_call',
  'image_generation_call',
  'item_reference',
  'configuration_update',
]);

function userText(text: string): Message {
  return userMessage([{ type: 'text', text }]);
}

function assistantText(text: string): Message {
  return { role: 'assistant', content: [{ type: 'text', text }] };
}

function userMessage(content: readonly UserPart[]): Message {
  return { role: 'user', content };
}

function readItem(
  item: Exclude<InputItem, { type: 'additional_tools' }>,
  path: string,
  names: ToolNames,
): Message {
  switch (item.type) {
    case undefined:
    case null:
    case 'message':
      return readMessage(item, `${path}.content`);
    case 'agent_message':
      return readMessage({ role: 'user', content: item.content }, `${path}.content`);
    case 'reasoning': {
      const thinking = readReasoning(item);
      return { role: 'assistant', content: thinking ? [thinking] : [] };
    }
    case 'function_call':
    case 'custom_tool_call': {
      const { call_id: id, name, namespace = null } = item;
      const flat = names.nameOf({ namespace, name });
      return item.type === 'custom_tool_call'
        ? call({ id, name: flat, arguments: item.input, kind: 'custom' })
        : call({ id, name: flat, arguments: item.arguments, kind: 'function' });
    }
    case 'tool_search_call':
      return call({ ...readSearchCall(item, path), name: names.searchName, kind: 'function' });
    case 'function_call_output':
    case 'custom_tool_call_output': {
      const output = readOutput(item.output, `${path}.output`);
      return typeof item.call_id === 'string' ? result(item.call_id, output) : told(item, output);
    }
    case 'tool_search_output':
      return result(searchCallId(item, path), [
        { type: 'text', text: describeFoundTools(item, names) },
      ]);
    default:
      return userText(readSummary(item, path));
  }
}

/** Throws ApiError `invalid_request` for an item that is no compaction of ours. */
function readSummary(item: JsonObject, path: string): string {
  const text = item.type === 'compaction' ? readCompaction(item, path) : null;
  if (text !== null) return text;
  throw invalidRequest(`${path}.type`, `${path}.type ${whyUnreadable(item)}`);
}

function whyUnreadable({ type }: JsonObject): string {
  if (type === 'compaction')
    return (
      '"compaction" holds a conversation that only the provider which compacted it can read. Go on with a model of that ' +
      'provider, or send the conversation itself.'
    );
  if (type === 'compaction_trigger') return '"compaction_trigger" must be the last item.';
  return `${quoted(type)} is not available on this model. Leave the item out.`;
}

function call(part: Omit<ToolCallPart, 'type'>): Message {
  return { role: 'assistant', content: [{ type: 'tool-call', ...part }] };
}

function result(callId: string, content: ToolResultPart['content']): Message {
  return { role: 'tool', content: [{ type: 'tool-result', callId, content, isError: false }] };
}

function readMessage(
  { role, content }: { role: string; content: string | ContentPart[] },
  path: string,
): Message {
  switch (role) {
    case 'assistant':
      return { role, content: readParts(content, path, readAssistantPart) };
    case 'user':
      return userMessage(readParts(content, path, readUserPart));
    default:
      return { role: 'system', content: readParts(content, path, readTextPart) };
  }
}

function told(tool: JsonObject, output: readonly UserPart[]): Message {
  return userMessage([{ type: 'text', text: uncalledLabel(tool) }, ...output]);
}

function readOutput(
  output: string | ContentPart[],
  path: string,
): (TextPart | ImagePart | DocumentPart)[] {
  return output === '' ? [] : readParts(output, path, readUserPart);
}

function readParts<T>(
  content: string | ContentPart[],
  path: string,
  readPart: (part: ContentPart, path: string) => T,
): (T | TextPart)[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  return content.map((part, index) => readPart(part, `${path}[${index}]`));
}

function readTextPart(part: ContentPart, path: string): TextPart {
  if (part.type === 'input_text' || part.type === 'output_text')
    return { type: 'text', text: part.text };
  if (part.type === 'encrypted_content')
    return { type: 'text', text: readPlainText(part.encrypted_content, path) };
  throw misplaced(part, path);
}

function readAssistantPart(part: ContentPart, path: string): AssistantPart {
  if (part.type === 'refusal') return { type: 'refusal', text: part.refusal };
  return {
    ...readTextPart(part, path),
    ...('annotations' in part ? readAnnotations(part.annotations) : {}),
  };
}

function readUserPart(part: ContentPart, path: string): UserPart {
  switch (part.type) {
    case 'input_image':
      return readImage(part, path);
    case 'input_file':
      return readFile(part, path);
    case 'input_audio':
      return readSound(part.input_audio, `${path}.input_audio.data`);
    default:
      return readTextPart(part, path);
  }
}

function readImage(
  { image_url: url, detail }: Extract<ContentPart, { type: 'input_image' }>,
  path: string,
): ImagePart | DocumentPart {
  if (!url) refuseField(`${path}.image_url`, 'is required: a URL or a data URL.');
  const source = readSource(url, 'image', `${path}.image_url`);
  if (isPdf(source)) return { type: 'document', source };
  return { type: 'image', source, ...(detail ? { detail } : {}) };
}

function readFile(part: Extract<ContentPart, { type: 'input_file' }>, path: string): DocumentPart {
  const field = part.file_data ? 'file_data' : 'file_url';
  const url = part[field];
  if (!url)
    throw invalidRequest(`${path}.file_data`, `${path}.file_data or ${path}.file_url is required.`);
  return {
    type: 'document',
    source: readSource(url, 'document', `${path}.${field}`),
    ...(part.filename ? { name: part.filename } : {}),
  };
}

function readSource(url: string, place: MediaPlace, path: string): MediaSource {
  const source = readMediaUrl(url, place);
  if (source) return source;
  refuseField(path, `must be an http or https URL, or a data URL: \`data:<type>;base64,<data>\`.`);
}

function misplaced({ type }: { type: string }, path: string) {
  return invalidRequest(
    `${path}.type`,
    `${path}.type ${quoted(type)} cannot be used here on this model. Leave it out.`,
  );
}

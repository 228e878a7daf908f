// The input items to messages. Items are flatter than messages: what the assistant said, thought and called in one turn becomes one
// message, and so do the results that follow each other.
import { invalidRequest } from '../../canonical/errors.ts';
import type {
  AssistantPart,
  DocumentPart,
  ImagePart,
  Message,
  TextPart,
  ToolResultPart,
  UserPart,
} from '../../canonical/request.ts';
import { readMediaUrl } from './media-url.ts';
import { readReasoning } from './reasoning.ts';
import type { ContentPart, InputItem, ResponsesRequest } from './schema.ts';

export type ReadInput = {
  /** The system and developer messages ahead of everything else. */
  readonly system: readonly TextPart[];
  readonly messages: readonly Message[];
  /** Codex sends tools as items for some models. */
  readonly additionalTools: readonly { readonly tools: ResponsesRequest['tools']; readonly path: string }[];
};

/** Throws ApiError `invalid_request` that names the item. */
export function readInput(input: ResponsesRequest['input']): ReadInput {
  if (typeof input === 'string')
    return { system: [], messages: [userMessage([{ type: 'text', text: input }])], additionalTools: [] };
  const read = {
    system: [] as TextPart[],
    messages: [] as Message[],
    additionalTools: [] as ReadInput['additionalTools'][number][],
  };
  for (const [index, item] of (input ?? []).entries()) {
    const path = `input[${index}]`;
    if (item.type === 'additional_tools') read.additionalTools.push({ tools: item.tools, path: `${path}.tools` });
    else addMessage(read, readItem(item, path));
  }
  return read;
}

function userMessage(content: readonly UserPart[]): Message {
  return { role: 'user', content };
}

function addMessage({ system, messages }: { system: TextPart[]; messages: Message[] }, message: Message): void {
  const last = messages.at(-1);
  if (message.role === 'system' && !last) system.push(...message.content);
  else if (message.role === 'assistant' && last?.role === 'assistant') {
    messages[messages.length - 1] = { role: 'assistant', content: [...last.content, ...message.content] };
  } else if (message.role === 'tool' && last?.role === 'tool') {
    messages[messages.length - 1] = { role: 'tool', content: [...last.content, ...message.content] };
  } else if (message.role !== 'assistant' || message.content.length > 0) messages.push(message);
}

function readItem(item: Exclude<InputItem, { type: 'additional_tools' }>, path: string): Message {
  switch (item.type) {
    case undefined:
    case null:
    case 'message':
      return readMessage(item, `${path}.content`);
    case 'reasoning': {
      const thinking = readReasoning(item);
      return { role: 'assistant', content: thinking ? [thinking] : [] };
    }
    case 'function_call':
      return call({ type: 'tool-call', id: item.call_id, name: item.name, arguments: item.arguments, kind: 'function' });
    case 'custom_tool_call':
      return call({ type: 'tool-call', id: item.call_id, name: item.name, arguments: item.input, kind: 'custom' });
    case 'function_call_output':
    case 'custom_tool_call_output':
      return result({
        type: 'tool-result',
        callId: item.call_id,
        content: readOutput(item.output, `${path}.output`),
        isError: false,
      });
    default: {
      const { type } = item as { type: string };
      throw invalidRequest(`${path}.type`, `${path}.type '${type}' is not available on this model. Leave the item out.`);
    }
  }
}

function call(part: AssistantPart): Message {
  return { role: 'assistant', content: [part] };
}

function result(part: ToolResultPart): Message {
  return { role: 'tool', content: [part] };
}

function readMessage({ role, content }: { role: string; content: string | ContentPart[] }, path: string): Message {
  switch (role) {
    case 'assistant':
      return { role, content: readParts(content, path, readAssistantPart) };
    case 'user':
      return userMessage(readParts(content, path, readUserPart));
    default:
      return { role: 'system', content: readParts(content, path, readTextPart) };
  }
}

function readOutput(output: string | ContentPart[], path: string): (TextPart | ImagePart | DocumentPart)[] {
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
  if (part.type === 'input_text' || part.type === 'output_text') return { type: 'text', text: part.text };
  throw misplaced(part, path);
}

function readAssistantPart(part: ContentPart, path: string): AssistantPart {
  return part.type === 'refusal' ? { type: 'refusal', text: part.refusal } : readTextPart(part, path);
}

function readUserPart(part: ContentPart, path: string): UserPart {
  switch (part.type) {
    case 'input_image':
      return readImage(part, path);
    case 'input_file':
      return readFile(part, path);
    default:
      return readTextPart(part, path);
  }
}

function readImage({ image_url: url, detail }: Extract<ContentPart, { type: 'input_image' }>, path: string): ImagePart {
  if (!url) throw invalidRequest(`${path}.image_url`, `${path}.image_url is required: a URL or a data URL.`);
  return { type: 'image', source: readMediaUrl(url, `${path}.image_url`), ...(detail ? { detail } : {}) };
}

function readFile(part: Extract<ContentPart, { type: 'input_file' }>, path: string): DocumentPart {
  const field = part.file_data ? 'file_data' : 'file_url';
  const url = part[field];
  if (!url) throw invalidRequest(`${path}.file_data`, `${path}.file_data or ${path}.file_url is required.`);
  return { type: 'document', source: readMediaUrl(url, `${path}.${field}`), ...(part.filename ? { name: part.filename } : {}) };
}

function misplaced({ type }: { type: string }, path: string) {
  return invalidRequest(`${path}.type`, `${path}.type '${type}' cannot be used here on this model.`);
}

// Reads requests as the clients of any wire format write them. The formats' own readers refuse what
// other formats cannot express; a host takes all of its own. Missing fields and other types read as
// nothing.
import type {
  AssistantPart,
  Message,
  OutputFormat,
  TextPart,
  ThinkingPart,
  Tool,
  ToolCallPart,
  ToolChoice,
  ToolResultPart,
  UserPart,
} from '../../canonical/request.ts';
import { userTurn } from '../../formats/adapting/conversation.ts';
import { jsonInstruction } from '../../formats/adapting/json-object.ts';
import { isObject, type JsonObject, objectOf, objectsOf, textOf } from '../../lib/json.ts';

export function numberOf(value: unknown): number | null {
  return typeof value === 'number' ? value : null;
}

export function booleanOf(value: unknown): boolean | null {
  return typeof value === 'boolean' ? value : null;
}

/** Reads a text, or a list of texts. */
export function readStop(value: unknown): string[] {
  const list: unknown[] = Array.isArray(value) ? value : [value];
  return list.filter((entry) => typeof entry === 'string');
}

/** The answers that a request asks for: some for each prompt, which are texts or lists of tokens. */
export function choicesIn({ prompt, n }: JsonObject): number {
  const prompts = Array.isArray(prompt) && typeof prompt[0] !== 'number' ? prompt.length : 1;
  return prompts * (numberOf(n) ?? 1);
}

type Part = UserPart | AssistantPart | ToolResultPart;

/** Reads content: a text, or a list of parts. Parts that the sandbox does not use are left out. */
export function readParts(content: unknown): Part[] {
  return typeof content === 'string' ? [textPart(content)] : objectsOf(content).flatMap(readPart);
}

/** Reads only the texts of content. */
export function textsOf(content: unknown): TextPart[] {
  return readParts(content).filter((part) => part.type === 'text');
}

/** The gateway's heading of what a host does not take inside a result. It is no new question. */
const attachments = /^\[Attachments of the result of tool call (.*)\]$/;

/** Returns the results in a user's turn as a message of their own, before the rest. */
export function readMessage(role: unknown, parts: readonly Part[]): Message[] {
  if (role === 'assistant') return [{ role, content: parts.filter(isSpoken) }];
  const asked = parts.filter(isAsked);
  const texts = asked.filter((part) => part.type === 'text');
  if (role !== 'user') return [{ role: 'system', content: texts }];
  const results = parts.filter((part) => part.type === 'tool-result');
  const [, callId] = attachments.exec(texts[0]?.text ?? '') ?? [];
  if (callId === undefined) return userTurn(results, asked);
  const attached = asked.filter((part) => part.type !== 'text');
  return userTurn([...results, resultPart(callId, attached)], []);
}

function isAsked(part: Part) {
  return part.type === 'text' || part.type === 'image' || part.type === 'document';
}

function isSpoken(part: Part) {
  return part.type !== 'image' && part.type !== 'document' && part.type !== 'tool-result';
}

/** Reads a part in whatever format: each names its parts by other fields. */
function readPart(part: JsonObject): Part[] {
  const { type, text, refusal, content, inlineData, fileData, input_audio: sound } = part;
  const thought = part.thinking ?? objectOf(objectOf(part.reasoningContent).reasoningText).text;
  const mediaType = textOf(objectOf(inlineData ?? fileData).mimeType);
  if (typeof thought === 'string') return [thinkingPart(thought)];
  if (typeof text === 'string')
    return [part.thought === true ? thinkingPart(text) : textPart(text)];
  if (typeof refusal === 'string') return [{ type: 'refusal', text: refusal }];
  if (sound !== undefined || mediaType.startsWith('audio/'))
    return [soundPart(sound ?? inlineData)];
  if (images.has(type) || part.image !== undefined || mediaType.startsWith('image/'))
    return [{ type: 'image', source: unread }];
  if (documents.has(type) || part.document !== undefined || mediaType !== '')
    return [...readParts(part.context), { type: 'document', source: unread }];
  if (type === 'search_result') return textsOf(content);
  return readCall(part) ?? readResult(part) ?? [];
}

const images = new Set<unknown>(['image', 'image_url', 'input_image']);
const documents = new Set<unknown>(['document', 'file', 'input_file']);
/** The sandbox counts images and documents without reading them. */
const unread = { kind: 'url', url: '' } as const;

/** Its length is counted. `media`: with its base64 in `data`. */
function soundPart(media: unknown): UserPart {
  const data = textOf(objectOf(media).data);
  return { type: 'document', source: { kind: 'base64', mediaType: 'audio/wav', data } };
}

export function textPart(text: unknown): TextPart {
  return { type: 'text', text: textOf(text) };
}

export function thinkingPart(text: string): ThinkingPart {
  return { type: 'thinking', text, signature: null, redacted: false };
}

const calls = new Set<unknown>([
  'tool_use',
  'function_call',
  'custom_tool_call',
  'tool_search_call',
]);

/** Chat, Gemini and Converse have the call in a field of its own. */
function readCall(part: JsonObject): ToolCallPart[] | null {
  const { type, custom, function: made, functionCall, toolUse } = part;
  const call = custom ?? made ?? functionCall ?? toolUse ?? (calls.has(type) ? part : null);
  if (!isObject(call)) return null;
  const id = textOf(call.toolUseId ?? call.call_id ?? call.id ?? part.id);
  const input = call.arguments ?? call.args ?? call.input ?? {};
  return [
    {
      type: 'tool-call',
      id,
      name: textOf(call.name),
      arguments: typeof input === 'string' ? input : JSON.stringify(input),
      kind: isObject(custom) || type === 'custom_tool_call' ? 'custom' : 'function',
    },
  ];
}

const outputs = new Set<unknown>([
  'tool_result',
  'function_call_output',
  'custom_tool_call_output',
  'tool_search_output',
]);

/** Gemini, whose clients choose the name of the output, and Converse have it in a field of its own. */
function readResult(part: JsonObject): ToolResultPart[] | null {
  const { type, functionResponse, toolResult } = part;
  const result = functionResponse ?? toolResult ?? (outputs.has(type) ? part : null);
  if (!isObject(result)) return null;
  const { id, name, status, response, parts } = result;
  const { error, output = error ?? objectOf(response).result ?? response } = objectOf(response);
  const answered = typeof output === 'string' ? output : [{ text: JSON.stringify(output) }];
  const callId = result.toolUseId ?? result.tool_use_id ?? result.call_id ?? (id || name);
  const content = [...readParts(result.content ?? result.output ?? answered), ...readParts(parts)];
  return [
    resultPart(
      callId,
      content.filter(isAsked),
      result.is_error === true || status === 'error' || Boolean(error),
    ),
  ];
}

function resultPart(
  callId: unknown,
  content: readonly UserPart[],
  isError = false,
): ToolResultPart {
  return { type: 'tool-result', callId: textOf(callId), content, isError };
}

/** Reads a tool, whose kind is in a field of its own in Chat and Converse; none without a name. */
export function readTool(tool: JsonObject): Tool[] {
  const { name, description, ...made } = objectOf(
    tool.custom ?? tool.function ?? tool.toolSpec ?? tool,
  );
  if (typeof name !== 'string') return [];
  const schema =
    made.parametersJsonSchema ??
    made.parameters ??
    made.input_schema ??
    objectOf(made.inputSchema).json;
  const isCustom = schema === undefined && (isObject(tool.custom) || tool.type === 'custom');
  return [
    {
      name,
      description: textOf(description) || null,
      parameters: isCustom ? null : objectOf(schema),
      strict: null,
      kind: isCustom ? 'custom' : 'function',
    },
  ];
}

/** A choice among some of the tools offers only these. */
export function readTools(tools: readonly Tool[], choice: unknown) {
  const { type, allowed_tools: allowed = type === 'allowed_tools' && choice } = objectOf(choice);
  if (!isObject(allowed)) return { tools, toolChoice: readChoice(choice) };
  const names = new Set(objectsOf(allowed.tools).map(nameIn));
  return {
    tools: tools.filter(({ name }) => names.has(name)),
    toolChoice: readChoice(allowed.mode),
  };
}

/** Reads a word of any format, such as Mistral's `any`, or the choice of a tool. */
export function readChoice(choice: unknown): ToolChoice | null {
  const name = nameIn(choice);
  if (name !== '') return { type: 'tool', name };
  const given = isObject(choice) ? (choice.type ?? Object.keys(choice)[0]) : choice;
  const word = textOf(given).toLowerCase();
  if (word === 'any') return { type: 'required' };
  return word === 'auto' || word === 'none' || word === 'required' ? { type: word } : null;
}

/** The name of a tool or of the choice of one; '' without. */
export function nameIn(named: unknown): string {
  const { custom, function: made, tool } = objectOf(named);
  return textOf(objectOf(custom ?? made ?? tool ?? named).name);
}

export function jsonSchema(schema: unknown, name?: unknown): OutputFormat {
  return {
    type: 'json-schema',
    name: textOf(name) || 'answer',
    description: null,
    schema: objectOf(schema),
    strict: null,
  };
}

/** JSON mode of formats without one is an instruction in the prompt, which the sandbox follows. */
export function instructedFormat(system: unknown): OutputFormat {
  const isJson = textsOf(system).some(({ text }) => text === jsonInstruction.text);
  return { type: isJson ? 'json' : 'text' };
}

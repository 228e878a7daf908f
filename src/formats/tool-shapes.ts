// The three official shapes of a tool, a tool choice, a call and its result. Clients such as Cursor
// send one format's shape to another's address; parsing turns it into the address's own, so that all
// later steps see only that.
import { isObject, type JsonObject, listOf } from '../lib/json.ts';

/** Returns the same list when nothing changes. Returns anything but a list unchanged. */
export function mapChanged(list: unknown, change: (entry: unknown) => unknown): unknown {
  if (!Array.isArray(list)) return list;
  const changed = list.map(change);
  return changed.some((entry, index) => entry !== list[index]) ? changed : list;
}

/**
 * Adds the `type` that some clients leave out of tools, calls and a choice of Chat; the field beside
 * it implies it: `{"function": {"name": "f"}}`.
 */
export function withKind(value: unknown): unknown {
  const kind = isObject(value) ? kindOf(value) : null;
  return isObject(value) && kind !== null && value.type !== kind ? { ...value, type: kind } : value;
}

/**
 * Returns a tool of Responses or Messages in Chat's shape, which names the function one level down.
 * Anything else stays the same object.
 */
export function toChatTool(tool: unknown): unknown {
  if (!isObject(tool) || kindOf(tool) !== null) return withKind(tool);
  const { type, name, description, input_schema, format, strict, ...rest } = tool;
  const { parameters = input_schema, ...others } = rest;
  // Google's own tools, such as `{"googleSearch": {}}`, are nothing but their kind.
  const [kind = '', ...more] = Object.keys(tool);
  if (more.length === 0 && isObject(tool[kind]))
    return /^google_?search$/i.test(kind) ? { type: 'web_search' } : { ...tool, type: kind };
  if (typeof name !== 'string' || ![undefined, null, 'function', 'custom'].includes(type as null))
    return tool;
  if (type === 'custom' && (parameters ?? null) === null)
    return { ...others, type, custom: defined({ name, description, format: nestGrammar(format) }) };
  const described = defined({ name, description, parameters, strict });
  return { ...others, type: 'function', function: described };
}

/**
 * Returns a tool choice of Responses or Messages in Chat's shape. Mistral's clients say `any`, and
 * Cursor `validated`, as Gemini calls it, for models of Google's.
 */
export function toChatChoice(choice: unknown): unknown {
  if (choice === 'any') return 'required';
  if (choice === 'validated') return 'auto';
  if (!isObject(choice)) return choice;
  const { type, name, disable_parallel_tool_use: _, ...rest } = choice;
  if (type === 'any') return 'required';
  if (type === 'auto' || type === 'none') return type;
  const kind = type === 'tool' ? 'function' : type;
  if ((kind === 'function' || kind === 'custom') && typeof name === 'string')
    return { ...rest, type: kind, [kind]: { name } };
  return withKind(choice);
}

/**
 * Returns messages with blocks of Messages as those of Chat: calls beside an assistant's text, results
 * as messages of their own before the user's text, where Chat wants them. Returns the same list when
 * there are none.
 */
export function toChatMessages(messages: unknown): unknown {
  if (!Array.isArray(messages) || !messages.some(hasForeignBlock)) return messages;
  return messages.flatMap((message) =>
    hasForeignBlock(message) ? toOwnMessages(message) : [message],
  );
}

type Blocks = JsonObject & { readonly content: readonly unknown[] };

function hasForeignBlock(message: unknown): message is Blocks {
  if (!isObject(message) || !Array.isArray(message.content)) return false;
  const isForeign = (block: unknown) =>
    isCall(block) || isResult(block) || isImage(block) || isBareImage(block);
  return message.content.some(isForeign);
}

function toOwnMessages(message: Blocks): JsonObject[] {
  const { role, content, tool_calls: earlier } = message;
  const calls = role === 'assistant' ? content.filter(isCall) : [];
  const results = role === 'user' ? content.filter(isResult) : [];
  const isTaken = calls.length > 0 ? isCall : results.length > 0 ? isResult : () => false;
  const kept = content.filter((block) => !isTaken(block)).map(toChatImage);
  const own = { ...message, content: kept.length > 0 ? kept : null };
  if (calls.length > 0) {
    const all = [...listOf(earlier), ...calls.map(toChatCall)];
    return [{ ...own, tool_calls: all }];
  }
  return [...results.map(toChatResult), ...(kept.length > 0 ? [own] : [])];
}

type Call = JsonObject & { readonly id: string; readonly name: string };
type Result = JsonObject & { readonly tool_use_id: string };

function isCall(block: unknown): block is Call {
  if (!isObject(block) || block.type !== 'tool_use' || !isObject(block.input)) return false;
  return typeof block.id === 'string' && typeof block.name === 'string';
}

function isResult(block: unknown): block is Result {
  return isObject(block) && block.type === 'tool_result' && typeof block.tool_use_id === 'string';
}

function toChatCall(call: Call): JsonObject {
  const { type: _, id, name, input, ...rest } = call;
  return { ...rest, id, type: 'function', function: { name, arguments: JSON.stringify(input) } };
}

function toChatResult(result: Result): JsonObject {
  const { type: _, tool_use_id: id, content, ...rest } = result;
  const own = mapChanged(content ?? '', toChatImage);
  return { ...rest, role: 'tool', tool_call_id: id, content: own };
}

type Image = JsonObject & { readonly source: JsonObject };

function isImage(block: unknown): block is Image {
  return isObject(block) && block.type === 'image' && isObject(block.source);
}

/** Mistral's own clients send the address alone. */
function isBareImage(block: unknown): block is JsonObject {
  return isObject(block) && block.type === 'image_url' && typeof block.image_url === 'string';
}

/** Returns an image of Messages, or of Mistral, as one of Chat. Anything else stays the same object. */
function toChatImage(block: unknown): unknown {
  if (isBareImage(block)) return { ...block, image_url: { url: block.image_url } };
  if (!isImage(block)) return block;
  const { source, ...rest } = block;
  const { media_type: type, data } = source;
  const isData = typeof type === 'string' && typeof data === 'string';
  const url = isData ? `data:${type};base64,${data}` : source.url;
  return typeof url === 'string' ? { ...rest, type: 'image_url', image_url: { url } } : block;
}

/** Returns a tool, or a tool choice, of Chat in Responses' shape, which has the name on top. */
export function toResponsesTool(tool: unknown): unknown {
  const kind = isObject(tool) && tool.name === undefined ? kindOf(tool) : null;
  if (!isObject(tool) || kind === null) return tool;
  const { [kind]: named, ...rest } = tool;
  const { format, ...fields } = named as JsonObject;
  return defined({ ...rest, type: kind, ...fields, format: flattenGrammar(format) });
}

/** The field that Chat puts a tool's definition, call or choice in. */
function kindOf(tool: JsonObject): 'function' | 'custom' | null {
  const kind = (['function', 'custom'] as const).find((name) => isObject(tool[name])) ?? null;
  return (tool.type ?? kind) === kind ? kind : null;
}

function nestGrammar(format: unknown): unknown {
  if (!isObject(format) || format.type !== 'grammar' || isObject(format.grammar)) return format;
  const { type, ...grammar } = format;
  return { type, grammar };
}

function flattenGrammar(format: unknown): unknown {
  return isObject(format) && isObject(format.grammar)
    ? { type: format.type, ...format.grammar }
    : format;
}

function defined(fields: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

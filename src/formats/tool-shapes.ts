// The three official shapes of a tool and of a tool choice. Clients such as Cursor send one format's
// shape to another's address; parsing turns it into the address's own, so that all later steps see
// only that.
import { isObject, type JsonObject } from '../lib/json.ts';

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
  if (typeof name !== 'string' || ![undefined, null, 'function', 'custom'].includes(type as null))
    return tool;
  if (type === 'custom' && (parameters ?? null) === null)
    return { ...others, type, custom: defined({ name, description, format: nestGrammar(format) }) };
  const described = defined({ name, description, parameters, strict });
  return { ...others, type: 'function', function: described };
}

/** Returns a tool choice of Responses or Messages in Chat's shape. */
export function toChatChoice(choice: unknown): unknown {
  if (!isObject(choice)) return choice;
  const { type, name, disable_parallel_tool_use: _, ...rest } = choice;
  if (type === 'any') return 'required';
  if (type === 'auto' || type === 'none') return type;
  const kind = type === 'tool' ? 'function' : type;
  if ((kind === 'function' || kind === 'custom') && typeof name === 'string')
    return { ...rest, type: kind, [kind]: { name } };
  return withKind(choice);
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

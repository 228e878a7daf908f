// Translates a tool search that the client runs into a function call. Its result names the found
// tools; the tools themselves are then part of the request (tool-names.ts).
import { invalidRequest } from '../../canonical/errors.ts';
import type { Tool, ToolCallPart } from '../../canonical/request.ts';
import { isObject, isTooDeep, parsedOr } from '../../lib/json.ts';
import type { InputItem, ToolDefinition } from './schema.ts';
import type { ToolNames } from './tool-names.ts';

type SearchTool = Extract<ToolDefinition, { type: 'tool_search' }>;
type SearchItem = Extract<InputItem, { type: 'tool_search_call' | 'tool_search_output' }>;

export function readSearchTool({ description, parameters }: SearchTool, name: string): Tool {
  return {
    name,
    description:
      description ?? 'Searches for tools. The tools that it finds can be called from then on.',
    parameters: parameters ?? {
      type: 'object',
      properties: { query: { type: 'string' } },
      required: ['query'],
    },
    strict: null,
    kind: 'function',
  };
}

export function readSearchCall(
  item: Extract<InputItem, { type: 'tool_search_call' }>,
  path: string,
): Pick<ToolCallPart, 'id' | 'arguments'> {
  const { arguments: value } = item;
  return {
    id: searchCallId(item, path),
    arguments: typeof value === 'string' ? value : JSON.stringify(value ?? {}),
  };
}

/** A search that ran at the provider has no call to answer. */
export function searchCallId({ call_id: callId, execution }: SearchItem, path: string): string {
  if (callId && execution !== 'server') return callId;
  throw invalidRequest(
    `${path}.call_id`,
    `${path}.call_id is required: only a tool search that runs in the client (\`execution: "client"\`) is available on this model.`,
  );
}

/** Returns the result that the model reads. */
export function describeFoundTools(
  { tools }: { readonly tools: readonly ToolDefinition[] },
  names: ToolNames,
): string {
  const found = tools.flatMap((tool) => {
    if (tool.type === 'namespace') {
      return tool.tools.flatMap((member) =>
        'name' in member ? [names.nameOf({ namespace: tool.name, name: member.name })] : [],
      );
    }
    return tool.type === 'function' || tool.type === 'custom' ? [tool.name] : [];
  });
  return found.length === 0
    ? 'No tools were found.'
    : `These tools can be called now: ${found.join(', ')}`;
}

/**
 * Arguments that are not a JSON object, for example of a call that was cut off, or that are nested
 * too deep to be written again, stay text: the official type allows anything.
 */
export function readSearchArguments(text: string): unknown {
  if (text.trim() === '') return {};
  if (isTooDeep(text)) return text;
  const value = parsedOr(text, null);
  return isObject(value) ? value : text;
}

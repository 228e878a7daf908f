// The web search of a Responses request, run by the gateway for a model that has none: the model
// gets a function, and the client sees OpenAI's search items.
import type { SearchTool } from '../../terms/web-search.ts';
import { isObject, type JsonObject } from '../../lib/json.ts';
import { isAskedFor } from '../field-verdicts.ts';
import type { ClientRequest } from '../format.ts';
import { readSearchArguments } from './tool-search.ts';
import { isSearchTool, readSearchTool } from './web-search.ts';

const functionName = 'web_search';
const searchFunction = {
  type: 'function',
  name: functionName,
  description: 'Searches the web. Returns titles, addresses and excerpts of pages.',
  parameters: {
    type: 'object',
    properties: { query: { type: 'string', description: 'What to search for.' } },
    required: ['query'],
  },
};

/**
 * Returns null when no search is asked for, when it may not leave the provider, when it is limited
 * to some pages, and when the client has a function of its name. Throws ApiError on an impossible
 * limit.
 */
export function readHostedSearch(request: ClientRequest): SearchTool | null {
  const { tools, tool_choice: choice } = request.body;
  if (choice === 'none' || !Array.isArray(tools) || !tools.some(isHosted)) return null;
  if (tools.some((tool) => isObject(tool) && tool.name === functionName)) return null;
  return readSearchTool(request);
}

function isHosted(tool: unknown): boolean {
  if (!isObject(tool) || !isSearchTool(tool)) return false;
  return tool.external_web_access !== false && (tool.filters ?? null) === null;
}

/** Returns the request with the function in place of the search. */
export function withSearchFunction(request: ClientRequest): ClientRequest {
  const { tools, tool_choice: choice, max_tool_calls: _, ...body } = request.body;
  const list: readonly unknown[] = Array.isArray(tools) ? tools : [];
  const place = list.findIndex(isHosted);
  if (place === -1) return request;
  const asFunction = (tool: unknown) =>
    isObject(tool) && isSearchTool(tool) ? { type: 'function', name: functionName } : tool;
  const chosen =
    isObject(choice) && Array.isArray(choice.tools)
      ? { ...choice, tools: choice.tools.map(asFunction) }
      : asFunction(choice);
  return {
    ...request,
    body: { ...body, tools: list.with(place, searchFunction), tool_choice: chosen },
  };
}

/** Lists the options of the search that have no effect here. */
export function ignoredSearchFields({ body }: ClientRequest): string[] {
  const list: readonly unknown[] = Array.isArray(body.tools) ? body.tools : [];
  const place = list.findIndex(isHosted);
  const tool = list[place] as JsonObject | undefined;
  return ['search_context_size', 'user_location']
    .filter((name) => isAskedFor(tool?.[name]))
    .map((name) => `tools[${place}].${name}`);
}

/** Returns the request for the next turn: with the items of the last one, and what was found. */
export function continueWith(
  request: ClientRequest,
  items: readonly JsonObject[],
  found: readonly JsonObject[],
): ClientRequest {
  const { input, tool_choice: choice } = request.body;
  const before: unknown[] = Array.isArray(input) ? input : [{ role: 'user', content: input }];
  const isForced = isObject(choice) ? choice.type !== 'allowed_tools' : choice === 'required';
  return {
    ...request,
    body: {
      ...request.body,
      input: [...before, ...items, ...found],
      ...(isForced && { tool_choice: 'auto' }),
    },
  };
}

export function isSearchCall(item: JsonObject): boolean {
  return item.type === 'function_call' && item.name === functionName;
}

/** Returns true for a call that the client must answer. */
export function isClientCall(item: JsonObject): boolean {
  return String(item.type).endsWith('_call') && !isSearchCall(item);
}

/** Returns null when the model sent none. */
export function readQuery({ arguments: text }: JsonObject): string | null {
  const read = readSearchArguments(String(text));
  const query = isObject(read) ? read.query : null;
  return typeof query === 'string' && query.trim() !== '' ? query.trim().toWellFormed() : null;
}

export function searchItem(
  id: string,
  { query, status }: { readonly query: string | null; readonly status: string },
): JsonObject {
  return { id, type: 'web_search_call', status, action: { type: 'search', query: query ?? '' } };
}

export function callOutput({ call_id: callId }: JsonObject, output: string): JsonObject {
  return { type: 'function_call_output', call_id: callId, output };
}

// The web search that Anthropic runs itself: where a request asks for it, what bounds it, and how often an answer has used it.
import { invalidRequest } from '../../canonical/errors.ts';
import { readSearchCount, searchesPerRequestMax, type SearchTool } from '../../canonical/web-search.ts';
import { isObject } from '../../lib/json.ts';
import type { ClientRequest, JsonObject } from '../format.ts';

/** The version without code. Later ones filter their results with code that the model writes and runs, unless told not to. */
const plainVersion = 'web_search_20250305';

export function isSearchTool(tool: JsonObject): boolean {
  return typeof tool.type === 'string' && /^web_search_\d{8}$/.test(tool.type);
}

/** Throws ApiError `invalid_request` for a second one, a bad limit, and callers that would run code. */
export function readSearchTool({ body }: ClientRequest): SearchTool | null {
  const tools: unknown[] = Array.isArray(body.tools) ? body.tools : [];
  const indices = [...tools.keys()].filter((index) => isObject(tools[index]) && isSearchTool(tools[index]));
  const [first, second] = indices;
  if (first === undefined) return null;
  if (second !== undefined)
    throw invalidRequest(`tools[${second}].type`, `tools[${second}].type: one web search is enough; leave this one out.`);
  const tool = tools[first] as JsonObject;
  refuseCode(tool, `tools[${first}].allowed_callers`);
  const limitField = `tools[${first}].max_uses`;
  return { name: 'web_search', searchesMax: readLimit(tool.max_uses, limitField), limitField };
}

/** Code runs in a container that the provider keeps, in rounds that `max_uses` does not bound. */
function refuseCode({ allowed_callers: callers }: JsonObject, path: string): void {
  if (callers === undefined || callers === null) return;
  if (Array.isArray(callers) && callers.length === 1 && callers[0] === 'direct') return;
  throw invalidRequest(path, `${path} must be ["direct"]: code that the provider runs has no price here.`);
}

function readLimit(value: unknown, path: string): number | null {
  if (value === undefined || value === null) return null;
  if (typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= searchesPerRequestMax) return value;
  throw invalidRequest(
    path,
    `${path} must be a whole number from 1 to ${searchesPerRequestMax}, since each search is charged; got ${JSON.stringify(value)}`,
  );
}

export type RelayedTools = { readonly tools: readonly unknown[]; readonly ignored: readonly string[] };

/** The tools with the search bounded, and called by the model alone: that a later version may not run code is listed. */
export function relayTools(tools: readonly unknown[], searchesMax: number): RelayedTools {
  const ignored: string[] = [];
  const relayed = tools.map((tool, index) => {
    if (!isObject(tool) || !isSearchTool(tool)) return tool;
    const bounded = { ...tool, max_uses: searchesMax };
    if (tool.type === plainVersion || Array.isArray(tool.allowed_callers)) return bounded;
    ignored.push(`tools[${index}].allowed_callers`);
    return { ...bounded, allowed_callers: ['direct'] };
  });
  return { tools: relayed, ignored };
}

/** The provider's own count; null when it gave none. */
export function readSearches(usage: unknown): number | null {
  if (!isObject(usage) || !isObject(usage.server_tool_use)) return null;
  return readSearchCount(usage.server_tool_use.web_search_requests);
}

/** Whether a block is what a search has found. One that failed is not billed: it holds an error instead of a list. */
export function isSearchDone(block: unknown): boolean {
  return isObject(block) && block.type === 'web_search_tool_result' && Array.isArray(block.content);
}

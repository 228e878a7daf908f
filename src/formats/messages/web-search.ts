// Anthropic's own web search: where a request asks for it, what limits it, and how often an answer
// used it.
import { invalidRequest, refuseField } from '../../canonical/errors.ts';
import { readSearchCount, type SearchTool } from '../../terms/web-search.ts';
import { isObject, type JsonObject, listOf } from '../../lib/json.ts';
import type { ClientRequest } from '../format.ts';
import { readSearchLimit } from '../search-limit.ts';

/**
 * The version without code. Later versions filter results with code that the model writes and runs,
 * unless this is switched off.
 */
const plainVersion = 'web_search_20250305';

export function isSearchTool(tool: JsonObject): boolean {
  return typeof tool.type === 'string' && /^web_search_\d{8}$/.test(tool.type);
}

/**
 * Throws ApiError `invalid_request` for a second search tool, an invalid limit, and callers that
 * would run code.
 */
export function readSearchTool({ body }: ClientRequest): SearchTool | null {
  const tools = listOf(body.tools);
  const indices = [...tools.keys()].filter(
    (index) => isObject(tools[index]) && isSearchTool(tools[index]),
  );
  const [first, second] = indices;
  if (first === undefined) return null;
  if (second !== undefined)
    throw invalidRequest(
      `tools[${second}].type`,
      `tools[${second}].type: only one web search tool is allowed; leave this one out.`,
    );
  const tool = tools[first] as JsonObject;
  refuseCode(tool, `tools[${first}].allowed_callers`);
  const limitField = `tools[${first}].max_uses`;
  return {
    name: 'web_search',
    searchesMax: readSearchLimit(tool.max_uses, limitField),
    limitField,
  };
}

/** Code runs in a container at the provider, in rounds that `max_uses` does not limit. */
function refuseCode({ allowed_callers: callers }: JsonObject, path: string): void {
  if (callers === undefined || callers === null) return;
  if (Array.isArray(callers) && callers.length === 1 && callers[0] === 'direct') return;
  refuseField(path, 'must be ["direct"]: code that the provider runs has no price here.');
}

/**
 * Limits the searches of the tools and lets only the model call them. Adds to `ignored` that a later
 * version may not run code.
 */
export function relayTools(
  tools: readonly unknown[],
  searchesMax: number,
  ignored: Set<string>,
): readonly unknown[] {
  return tools.map((tool, index) => {
    if (!isObject(tool) || !isSearchTool(tool)) return tool;
    const bounded = { ...tool, max_uses: searchesMax };
    if (tool.type === plainVersion || Array.isArray(tool.allowed_callers)) return bounded;
    ignored.add(`tools[${index}].allowed_callers`);
    return { ...bounded, allowed_callers: ['direct'] };
  });
}

/** Returns the provider's own count; null when it sent none. */
export function readSearches(usage: unknown): number | null {
  if (!isObject(usage) || !isObject(usage.server_tool_use)) return null;
  return readSearchCount(usage.server_tool_use.web_search_requests);
}

/**
 * Returns true for the results of a search. A failed search holds an error instead of a list and is
 * not billed.
 */
export function isSearchDone(block: unknown): boolean {
  return isObject(block) && block.type === 'web_search_tool_result' && Array.isArray(block.content);
}

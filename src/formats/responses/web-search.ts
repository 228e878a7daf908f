// OpenAI's own web search: where a request asks for it, what limits it, and how often an answer
// used it.
import { invalidRequest } from '../../canonical/errors.ts';
import { readSearchCount, type SearchTool, type SearchToolName } from '../../terms/web-search.ts';
import { isObject, type JsonObject, objectOf, listOf } from '../../lib/json.ts';
import type { ClientRequest } from '../format.ts';
import { readSearchLimit } from '../search-limit.ts';

const searchTools: ReadonlyMap<unknown, SearchToolName> = new Map([
  ['web_search', 'web_search'],
  ['web_search_2025_08_26', 'web_search'],
  ['web_search_preview', 'web_search_preview'],
  ['web_search_preview_2025_03_11', 'web_search_preview'],
]);

export function isSearchTool(tool: JsonObject): boolean {
  return searchTools.has(tool.type);
}

/**
 * Throws ApiError `invalid_request` for two search tools with different prices, because an answer
 * does not say which one it used, and for an invalid limit.
 */
export function readSearchTool({ body }: ClientRequest): SearchTool | null {
  const asked = listTools(body).flatMap(({ tool, path }) => {
    const name = searchTools.get(tool.type);
    return name === undefined ? [] : [{ name, path }];
  });
  const first = asked[0];
  if (!first) return null;
  const other = asked.find(({ name }) => name !== first.name);
  if (other) {
    throw invalidRequest(
      `${other.path}.type`,
      `${other.path}.type: send either \`web_search\` or \`web_search_preview\`; they have different prices.`,
    );
  }
  return {
    name: first.name,
    searchesMax: readSearchLimit(body.max_tool_calls, 'max_tool_calls', ' with a web search'),
    limitField: 'max_tool_calls',
  };
}

type ListedTool = { readonly tool: JsonObject; readonly path: string };

/** Returns the request's tools and those in its items, which newer clients send. */
function listTools(body: JsonObject): ListedTool[] {
  const ofItems = listOf(body.input).flatMap((item, index) =>
    withPaths(objectOf(item).tools, `input[${index}].tools`),
  );
  return [...withPaths(body.tools, 'tools'), ...ofItems];
}

function withPaths(tools: unknown, path: string): ListedTool[] {
  return listOf(tools).flatMap((tool, index) =>
    isObject(tool) ? [{ tool, path: `${path}[${index}]` }] : [],
  );
}

/**
 * Returns the provider's own count, or else the number of searches among the items. Opening a found
 * page is not a search.
 */
export function countSearches(response: JsonObject, output: readonly unknown[]): number {
  const usage = objectOf(response.tool_usage).web_search;
  const counted = readSearchCount(objectOf(usage).num_requests);
  return counted ?? output.filter(isSearchDone).length;
}

/** Older answers do not state the action; it was always a search. */
export function isSearchDone(item: unknown): boolean {
  if (!isObject(item) || item.type !== 'web_search_call') return false;
  const { status = 'completed', action } = item;
  return (
    status === 'completed' &&
    (!isObject(action) || action.type === undefined || action.type === 'search')
  );
}

// The web search of a Responses request, run by the gateway for a model that has none.
import { searchFunction } from '../../canonical/searched.ts';
import { isObject, type JsonObject } from '../../lib/json.ts';
import type { ClientRequest } from '../format.ts';
import type { HostedSearch, HostedTool } from '../hosted-search.ts';
import { readPages, searchFunctionAt } from '../search-options.ts';
import { readSites } from '../search-sites.ts';
import { asksForCompaction } from './compaction.ts';
import { isSearchTool, readSearchTool } from './web-search.ts';
import { writeAnswer } from './write-answer.ts';

const { name: functionName } = searchFunction;

export const hostedSearch: HostedSearch = { readTool, withFunction, writeAnswer };

/**
 * Returns null also when the search may not leave the provider, when it has filters of another kind
 * than sites, and when the client has a function of its name.
 */
function readTool(request: ClientRequest): HostedTool | null {
  const { tools, tool_choice: choice } = request.body;
  if (choice === 'none' || !Array.isArray(tools) || asksForCompaction(request.body)) return null;
  if (tools.some((tool) => isObject(tool) && tool.name === functionName)) return null;
  const place = tools.findIndex(isHosted);
  if (place === -1) return null;
  const tool = tools[place] as JsonObject & { readonly filters?: JsonObject };
  const { filters } = tool;
  const allowed = readSites(filters?.allowed_domains, `tools[${place}].filters.allowed_domains`);
  const read = readSearchTool(request);
  return read && { ...read, sites: { allowed, blocked: [] }, ...readPages(tool) };
}

function isHosted(tool: unknown): boolean {
  if (!isObject(tool) || !isSearchTool(tool) || tool.external_web_access === false) return false;
  const { filters = null } = tool;
  if (filters === null) return true;
  return isObject(filters) && Object.keys(filters).every((name) => name === 'allowed_domains');
}

function withFunction(request: ClientRequest): ClientRequest {
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
    body: {
      ...body,
      tools: list.with(place, { type: 'function', ...searchFunctionAt(list[place] as JsonObject) }),
      tool_choice: chosen,
    },
  };
}

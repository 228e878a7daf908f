// The web search of a Chat request, run by the gateway for a model that has none.
import { searchFunction } from '../../canonical/own-tools.ts';
import { isObject, type JsonObject, objectOf, objectsOf } from '../../lib/json.ts';
import type { ClientRequest } from '../format.ts';
import type { HostedSearch, HostedTools } from '../hosted-tools.ts';
import { readPages, searchFunctionAt } from '../search-options.ts';
import { isSearchTool, listedSearch, readSearchTool } from './web-search.ts';

export const hostedTools: HostedTools = { readSearch, withFunctions };

/**
 * Chat has no limit of the searches. Returns null also when the client has a function of its name. A search
 * tool is left out when no tool may be called, or several answers could call it.
 */
function readSearch(request: ClientRequest): HostedSearch | null {
  const mayCall = request.choices === 1 && request.body['tool_choice'] !== 'none';
  const isListed = mayCall && toolsOf(request).some(isSearchTool);
  const tool = readSearchTool(request) ?? (isListed ? listedSearch : null);
  const isTaken = toolsOf(request).some(
    ({ function: own }) => isObject(own) && own.name === searchFunction.name,
  );
  if (!tool || isTaken) return null;
  return { ...tool, searchesMax: null, ...readPages(optionsOf(request)) };
}

/** A choice of no tool is about the client's own. */
function withFunctions(request: ClientRequest): ClientRequest {
  const { web_search_options: _, tool_choice: choice, ...body } = request.body;
  const search = { type: 'function', function: searchFunctionAt(optionsOf(request)) };
  const clients = toolsOf(request).filter((tool) => !isSearchTool(tool));
  const isSearch = isObject(choice) && isSearchTool(choice);
  const chosen = isSearch ? { type: 'function', function: { name: searchFunction.name } } : choice;
  return {
    ...request,
    body: {
      ...body,
      tools: choice === 'none' ? [search] : [...clients, search],
      ...(choice !== 'none' && { tool_choice: chosen }),
    },
  };
}

function optionsOf(request: ClientRequest): JsonObject {
  const { web_search_options: options } = request.body;
  return objectOf(options ?? toolsOf(request).find(isSearchTool));
}

function toolsOf({ body: { tools } }: ClientRequest): readonly JsonObject[] {
  return objectsOf(tools);
}

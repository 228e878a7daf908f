// The web search of a Chat request, run by the gateway for a model that has none.
import { searchFunction } from '../../canonical/searched.ts';
import { isObject, type JsonObject } from '../../lib/json.ts';
import type { ClientRequest } from '../format.ts';
import type { HostedSearch, HostedTool } from '../hosted-search.ts';
import { readPages, searchFunctionAt } from '../search-options.ts';
import { readSearchTool } from './web-search.ts';
import { writeAnswer } from './write-answer.ts';

export const hostedSearch: HostedSearch = {
  readTool,
  withFunction,
  // Chat shows only the citations of a search.
  writeAnswer: ({ content, ...answer }, context) =>
    writeAnswer({ ...answer, content: content.filter((part) => part.type !== 'search') }, context),
};

/** Chat has no limit of the searches. Returns null also when the client has a function of its name. */
function readTool(request: ClientRequest): HostedTool | null {
  const tool = readSearchTool(request);
  const isTaken = toolsOf(request).some(
    ({ function: own }) => isObject(own) && own.name === searchFunction.name,
  );
  if (!tool || isTaken) return null;
  return { ...tool, searchesMax: null, ...readPages(optionsOf(request)) };
}

/** A choice of no tool is about the client's own. */
function withFunction(request: ClientRequest): ClientRequest {
  const { web_search_options: _, tool_choice: choice, ...body } = request.body;
  const search = { type: 'function', function: searchFunctionAt(optionsOf(request)) };
  const tools = choice === 'none' ? [search] : [...toolsOf(request), search];
  return {
    ...request,
    body: { ...body, tools, ...(choice !== 'none' && { tool_choice: choice }) },
  };
}

function optionsOf({ body: { web_search_options: options } }: ClientRequest): JsonObject {
  return isObject(options) ? options : {};
}

function toolsOf({ body: { tools } }: ClientRequest): readonly JsonObject[] {
  return Array.isArray(tools) ? tools : [];
}

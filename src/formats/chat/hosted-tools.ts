// The web search of a Chat request, run by the gateway for a model that has none.
import { searchFunction, type AnswerPart } from '../../canonical/own-tools.ts';
import type { AssistantPart } from '../../canonical/request.ts';
import { isObject, type JsonObject, objectOf, objectsOf } from '../../lib/json.ts';
import type { ClientRequest } from '../format.ts';
import type { HostedSearch, HostedTools } from '../hosted-tools.ts';
import { readPages, searchFunctionAt } from '../search-options.ts';
import { isSearchTool, listedSearch, readSearchTool } from './web-search.ts';
import { writeAnswer } from './write-answer.ts';

export const hostedTools: HostedTools = {
  readSearch,
  withFunctions,
  // Chat shows only the citations of a search.
  writeAnswer: ({ content, ...answer }, context) =>
    writeAnswer({ ...answer, content: content.filter(isShown) }, context),
};

/**
 * Chat has no limit of the searches. Returns null also when the client has a function of its name, or when
 * several answers could use a search tool, which is then left out.
 */
function readSearch(request: ClientRequest): HostedSearch | null {
  const isListed = request.choices === 1 && toolsOf(request).some(isSearchTool);
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
  const isIdle = choice === 'none' || clients.length === 0;
  return {
    ...request,
    body: {
      ...body,
      tools: choice === 'none' ? [search] : [...clients, search],
      ...(!isIdle && { tool_choice: choice }),
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

function isShown(part: AnswerPart): part is AssistantPart {
  return part.type !== 'search' && part.type !== 'drawing';
}

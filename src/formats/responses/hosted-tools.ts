// The web search and the images of a Responses request, run by the gateway for a model that has none.
import { imageFunction, searchFunction, type OwnFunction } from '../../canonical/own-tools.ts';
import { isObject, objectsOf, type JsonObject } from '../../lib/json.ts';
import type { ClientRequest } from '../format.ts';
import type { HostedImages, HostedSearch, HostedTools } from '../hosted-tools.ts';
import { readSearchLimit } from '../search-limit.ts';
import { readPages, searchFunctionAt } from '../search-options.ts';
import { readSites } from '../search-sites.ts';
import { asksForCompaction } from './compaction.ts';
import { isSearchTool, readSearchTool } from './web-search.ts';

export const hostedTools: HostedTools = { readSearch, readImages, withFunctions };

type Placed = { readonly tool: JsonObject; readonly path: string };

/**
 * Returns null also when the search may not leave the provider, when it has filters of another kind
 * than sites, and when the client has a function of its name.
 */
function readSearch(request: ClientRequest): HostedSearch | null {
  const placed = findTool(request, isHostedSearch, searchFunction.name);
  if (!placed) return null;
  const { tool, path } = placed;
  const filters = tool.filters as JsonObject | null | undefined;
  const allowed = readSites(filters?.allowed_domains, `${path}.filters.allowed_domains`);
  const read = readSearchTool(request);
  return read && { ...read, sites: { allowed, blocked: [] }, ...readPages(tool) };
}

function readImages(request: ClientRequest): HostedImages | null {
  const body = request.given ?? request.body;
  const placed = findTool({ body }, isImageTool, imageFunction.name);
  if (!placed) return null;
  const limitField = 'max_tool_calls';
  const { max_tool_calls: limit } = body;
  const imagesMax = readSearchLimit(limit, limitField, ' with images');
  const { stream: isStream } = request;
  return { ...placed, limitField, imagesMax, inputs: imagesIn(body), isStream };
}

function imagesIn({ input }: JsonObject): readonly string[] {
  return objectsOf(input).flatMap(({ type, result, content, output }) => {
    if (type === 'image_generation_call') return imageOf(result);
    const parts = [...objectsOf(content), ...objectsOf(output)];
    return parts.flatMap((part) => (part.type === 'input_image' ? imageOf(part.image_url) : []));
  });
}

/** Earlier images are base64 alone. */
function imageOf(text: unknown): readonly string[] {
  if (typeof text !== 'string' || text === '') return [];
  return [/^(?:https?|data):/i.test(text) ? text : `data:image/png;base64,${text}`];
}

/** Returns the first such tool; null when none may run, or the client has a function of its name. */
function findTool(
  { body }: Pick<ClientRequest, 'body'>,
  isHosted: (tool: unknown) => boolean,
  name: string,
): Placed | null {
  const { tools, tool_choice: choice } = body;
  if (choice === 'none' || !Array.isArray(tools) || asksForCompaction(body)) return null;
  const place = tools.findIndex(isHosted);
  if (place === -1 || tools.some((tool) => isObject(tool) && tool.name === name)) return null;
  return { tool: tools[place] as JsonObject, path: `tools[${place}]` };
}

function isHostedSearch(tool: unknown): boolean {
  if (!isObject(tool) || !isSearchTool(tool) || tool.external_web_access === false) return false;
  const { filters = null } = tool;
  if (filters === null) return true;
  return isObject(filters) && Object.keys(filters).every((name) => name === 'allowed_domains');
}

function isImageTool(tool: unknown): boolean {
  return isObject(tool) && tool.type === 'image_generation';
}

function withFunctions(
  request: ClientRequest,
  functions: ReadonlyMap<string, OwnFunction>,
): ClientRequest {
  const { tools, tool_choice: choice, max_tool_calls: _, ...body } = request.body;
  const list = tools as readonly unknown[];
  const places = [
    functions.has(searchFunction.name) ? list.findIndex(isHostedSearch) : -1,
    functions.has(imageFunction.name) ? list.findIndex(isImageTool) : -1,
  ];
  const asChosen = (tool: unknown) => {
    const name = nameOfFunction(tool);
    return name !== null && functions.has(name) ? { type: 'function', name } : tool;
  };
  const chosen =
    isObject(choice) && Array.isArray(choice.tools)
      ? { ...choice, tools: choice.tools.map(asChosen) }
      : asChosen(choice);
  return {
    ...request,
    body: {
      ...body,
      tools: list.map((tool, index) =>
        places.includes(index) ? asFunction(tool, functions) : tool,
      ),
      tool_choice: chosen,
    },
  };
}

function asFunction(tool: unknown, functions: ReadonlyMap<string, OwnFunction>): JsonObject {
  return {
    type: 'function',
    ...(isImageTool(tool)
      ? functions.get(imageFunction.name)
      : searchFunctionAt(tool as JsonObject)),
  };
}

function nameOfFunction(tool: unknown): string | null {
  if (isImageTool(tool)) return imageFunction.name;
  return isObject(tool) && isSearchTool(tool) ? searchFunction.name : null;
}

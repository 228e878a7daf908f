// The web search of a Messages request, run by the gateway for a model that has none.
import { invalidRequest } from '../../canonical/errors.ts';
import { searchFunction } from '../../canonical/own-tools.ts';
import { isObject, type JsonObject } from '../../lib/json.ts';
import { isAskedFor } from '../field-verdicts.ts';
import type { ClientRequest } from '../format.ts';
import type { HostedSearch, HostedTools } from '../hosted-tools.ts';
import { searchFunctionAt } from '../search-options.ts';
import { readSites } from '../search-sites.ts';
import { isSearchTool, readSearchTool } from './web-search.ts';

const { name } = searchFunction;

export const hostedTools: HostedTools = { readSearch, withFunctions, ignoredFields };

/** Returns null also when the client has a function of its name, or code is to call the search. */
function readSearch(request: ClientRequest): HostedSearch | null {
  const { tools, tool_choice: choice } = request.body;
  if (!Array.isArray(tools) || (isObject(choice) && choice.type === 'none')) return null;
  const named = tools.filter((tool) => isObject(tool) && tool.name === name);
  const place = tools.findIndex(isHosted);
  if (place === -1 || named.length > 1) return null;
  const tool = tools[place] as JsonObject;
  const path = `tools[${place}]`;
  const sites = {
    allowed: readSites(tool.allowed_domains, `${path}.allowed_domains`),
    blocked: readSites(tool.blocked_domains, `${path}.blocked_domains`),
  };
  if (sites.allowed.length > 0 && sites.blocked.length > 0) {
    const both = `${path}.blocked_domains cannot be combined with allowed_domains; leave one out`;
    throw invalidRequest(`${path}.blocked_domains`, both);
  }
  const read = readSearchTool(request);
  return read && { ...read, sites };
}

function isHosted(tool: unknown): boolean {
  if (!isObject(tool) || !isSearchTool(tool) || tool.name !== name) return false;
  const { allowed_callers: callers = null } = tool;
  return callers === null || (Array.isArray(callers) && callers.includes('direct'));
}

/** The function has the tool's name, so a choice of it needs no change. */
function withFunctions(request: ClientRequest): ClientRequest {
  const tools = (request.body.tools as readonly JsonObject[]).map((tool) => {
    if (!isHosted(tool)) return tool;
    const { description, parameters: input_schema } = searchFunctionAt(tool);
    return { name, description, input_schema, cache_control: tool.cache_control };
  });
  return { ...request, body: { ...request.body, tools } };
}

function ignoredFields({ body }: ClientRequest): string[] {
  const tools = body.tools as readonly JsonObject[];
  const place = tools.findIndex(isHosted);
  const fields = ['defer_loading', 'strict', 'response_inclusion'];
  return fields
    .filter((field) => isAskedFor(tools[place]?.[field]))
    .map((field) => `tools[${place}].${field}`);
}

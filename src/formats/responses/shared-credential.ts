// All tenants share the operator's credential at the provider. Refuses what names state kept there
// or changes the price in a way that the catalogue does not know. The tables cover every field and
// tool of the official SDK; a test keeps them complete.
import { invalidRequest, quoted } from '../../canonical/errors.ts';
import { isObject, type JsonObject } from '../../lib/json.ts';
import type { Destination, SearchOffer } from '../destination.ts';
import { compileVerdicts } from '../field-verdicts.ts';
import { partKinds, verdictTable } from './field-verdicts.ts';
import { refuseLostCalls } from './pair-items.ts';
import { isSearchTool } from './web-search.ts';

const keepKnown = compileVerdicts(verdictTable, partKinds);

/**
 * Where a tool runs. At the caller it costs only its tokens; at the provider it is billed apart.
 */
export const toolPlaces: Readonly<Record<string, 'caller' | 'provider' | 'depends'>> = {
  apply_patch: 'caller',
  code_interpreter: 'provider',
  computer: 'provider',
  computer_use_preview: 'provider',
  custom: 'caller',
  file_search: 'provider',
  function: 'caller',
  image_generation: 'provider',
  local_shell: 'caller',
  mcp: 'provider',
  namespace: 'caller',
  programmatic_tool_calling: 'provider',
  shell: 'depends',
  tool_search: 'depends',
  web_search: 'provider',
  web_search_2025_08_26: 'provider',
  web_search_preview: 'provider',
  web_search_preview_2025_03_11: 'provider',
};

/**
 * Returns the body without unknown fields. Throws ApiError `invalid_request` for what a shared
 * credential must not pass. Translation calls it too, because what it refuses has no meaning
 * elsewhere. The body must have passed the schema.
 */
export function refuseUnshareable<Body extends JsonObject>(
  body: Body,
  { search = 'elsewhere', unknown }: Destination = {},
): Body {
  const known = keepKnown(body, unknown);
  refuseTools(body.tools, 'tools', search);
  if (Array.isArray(body.input)) {
    for (const [index, item] of body.input.entries()) refuseItem(item, `input[${index}]`, search);
  }
  refuseLostCalls(body);
  return known;
}

function refuseTools(tools: unknown, path: string, search: SearchOffer): void {
  if (!Array.isArray(tools)) return;
  for (const [index, tool] of tools.entries()) {
    if (!isObject(tool)) continue;
    if (tool.type === 'namespace') refuseTools(tool.tools, `${path}[${index}].tools`, search);
    if (runsAtCaller(tool)) continue;
    if (isSearchTool(tool)) {
      refuseSearch(search, `${path}[${index}].type`, String(tool.type));
      continue;
    }
    throw unpriced(
      `${path}[${index}].type`,
      `${quoted(tool.type)} runs at the provider and`,
      'Use a function of your own',
    );
  }
}

function refuseSearch(search: SearchOffer, path: string, type: string): void {
  if (search === 'priced') return;
  if (search === 'unpriced')
    throw unpriced(path, `${quoted(type)} runs at the provider and`, unpricedSearchRemedy);
  throw invalidRequest(
    path,
    `${path}: ${quoted(type)} runs at OpenAI, but this model does not run there in this format. Use a function of your own.`,
  );
}

const unpricedSearchRemedy =
  'Use a function of your own, or ask the operator to set a price in `tool_prices`';

export function isKnownTool({ type }: JsonObject): boolean {
  return lookUp(toolPlaces, String(type)) !== undefined;
}

/** Unknown kinds may cost anything. */
export function runsAtCaller(tool: JsonObject): boolean {
  const place = lookUp(toolPlaces, String(tool.type));
  if (place !== 'depends') return place === 'caller';
  if (tool.type === 'tool_search') return tool.execution === 'client';
  return isObject(tool.environment) && tool.environment.type === 'local';
}

/** The field without which the provider would look up an item by its id. */
const itemContents: Readonly<Record<string, string>> = {
  image_generation_call: 'result',
  compaction: 'encrypted_content',
};

function refuseItem(item: unknown, path: string, search: SearchOffer): void {
  if (!isObject(item)) return;
  const content = lookUp(itemContents, String(item.type));
  if (content !== undefined && typeof item[content] !== 'string') {
    throw invalidRequest(
      `${path}.${content}`,
      `${path}.${content} is required: without it, the item refers to state kept at the provider, which is not offered here.`,
    );
  }
  if (item.type !== 'mcp_list_tools') refuseTools(item.tools, `${path}.tools`, search);
}

/** A request may contain names that every object has, such as `constructor`. */
function lookUp<Value>(table: Readonly<Record<string, Value>>, name: string): Value | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}

function unpriced(path: string, what: string, remedy: string) {
  return invalidRequest(
    path,
    `${path}: ${what} is not priced in the catalogue, so it cannot be charged. ${remedy}.`,
  );
}

// All callers share the operator's credential at the provider: what names state kept there, or changes the price in a way the catalogue
// does not know, is refused. The tables cover every field and tool of the official SDK; a test keeps them complete.
import { invalidRequest } from '../../canonical/errors.ts';
import { isObject } from '../../lib/json.ts';
import { compileVerdicts, type OpenedFields } from '../field-verdicts.ts';
import type { JsonObject } from '../format.ts';
import { partKinds, verdictTable } from './field-verdicts.ts';
import { isSearchTool } from './web-search.ts';

const refuseFields = compileVerdicts(verdictTable, partKinds);

/** Where a tool runs. What runs at the caller costs nothing beyond its tokens; what runs at the provider is billed apart. */
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

type Going = {
  /** Whether the provider runs a web search here, and at what price. */
  readonly search?: SearchOffer;
  readonly opened?: OpenedFields;
};

/**
 * Throws ApiError `invalid_request` for what a shared credential must not pass. Translation asks too: what it refuses has no
 * meaning elsewhere either. Call it with a body that has passed the schema.
 */
export function refuseUnshareable(body: JsonObject, { search = 'elsewhere', opened }: Going = {}): void {
  refuseFields(body, opened);
  refuseTools(body.tools, 'tools', search);
  if (Array.isArray(body.input)) {
    for (const [index, item] of body.input.entries()) refuseItem(item, `input[${index}]`, search);
  }
}

/** `elsewhere`: the model runs at a provider of another format, which has no such tool. */
type SearchOffer = 'priced' | 'unpriced' | 'elsewhere';

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
    throw unpriced(`${path}[${index}].type`, `'${String(tool.type)}' runs at the provider and`, 'Use a function of your own');
  }
}

function refuseSearch(search: SearchOffer, path: string, type: string): void {
  if (search === 'priced') return;
  if (search === 'unpriced') throw unpriced(path, `'${type}' runs at the provider and`, unpricedSearchRemedy);
  throw invalidRequest(
    path,
    `${path}: '${type}' runs at OpenAI, and this model does not run there in this format. Use a function of your own.`,
  );
}

const unpricedSearchRemedy = 'Use a function of your own, or ask the operator to price it with `tool_prices`';

/** Unknown kinds may cost anything. */
function runsAtCaller(tool: JsonObject): boolean {
  const place = lookUp(toolPlaces, String(tool.type));
  if (place !== 'depends') return place === 'caller';
  if (tool.type === 'tool_search') return tool.execution === 'client';
  return isObject(tool.environment) && tool.environment.type === 'local';
}

/** What a kind of item is nothing without: by its id alone it would be looked up at the provider. */
const itemContents: Readonly<Record<string, string>> = { image_generation_call: 'result', compaction: 'encrypted_content' };

function refuseItem(item: unknown, path: string, search: SearchOffer): void {
  if (!isObject(item)) return;
  const content = lookUp(itemContents, String(item.type));
  if (content !== undefined && typeof item[content] !== 'string') {
    throw invalidRequest(
      `${path}.${content}`,
      `${path}.${content} is required: without it the item names what is kept at the provider, in an account that all callers share.`,
    );
  }
  if (item.type !== 'mcp_list_tools') refuseTools(item.tools, `${path}.tools`, search);
}

/** Names from a request may be those that every object has, such as `constructor`. */
function lookUp<Value>(table: Readonly<Record<string, Value>>, name: string): Value | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}

function unpriced(path: string, what: string, remedy: string) {
  return invalidRequest(path, `${path}: ${what} is not priced in the catalogue, so it cannot be charged. ${remedy}.`);
}

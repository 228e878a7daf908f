// All callers share the operator's credential at the provider: what names state kept there, or changes the price in a way the catalogue
// does not know, is refused. The tables cover every field and tool of the official SDK; a test keeps them complete.
import { invalidRequest } from '../../canonical/errors.ts';
import { isObject } from '../../lib/json.ts';
import type { JsonObject } from '../format.ts';

/** `set`: the gateway writes it. `drop`: never sent. `refuse`: 400 when given. `check`: some values are refused. */
type FieldRule = 'pass' | 'set' | 'drop' | 'refuse' | 'check';

export const requestFieldRules: Readonly<Record<string, FieldRule>> = {
  access_programs: 'refuse',
  background: 'refuse',
  context_management: 'pass',
  conversation: 'refuse',
  image: 'pass',
  include: 'set',
  input: 'check',
  instructions: 'pass',
  max_output_tokens: 'set',
  max_tool_calls: 'pass',
  metadata: 'pass',
  model: 'set',
  moderation: 'refuse',
  parallel_tool_calls: 'pass',
  previous_response_id: 'drop',
  prompt: 'refuse',
  prompt_cache_key: 'pass',
  prompt_cache_options: 'check',
  prompt_cache_retention: 'pass',
  reasoning: 'check',
  safety_identifier: 'pass',
  service_tier: 'check',
  store: 'set',
  stream: 'set',
  stream_options: 'pass',
  temperature: 'pass',
  text: 'pass',
  tool_choice: 'pass',
  tools: 'check',
  top_logprobs: 'pass',
  top_p: 'pass',
  truncation: 'pass',
  user: 'pass',
};

const refusals: Readonly<Record<string, string>> = {
  access_programs: "draws on permissions of the operator's account at the provider, which callers do not share",
  background: 'keeps the response at the provider; this endpoint keeps nothing between requests. Use `stream` for long answers',
  conversation: 'names a conversation kept at the provider; send the whole conversation in `input`',
  moderation: 'runs another model, which has no price in the catalogue',
  prompt: 'names a prompt stored at the provider; send its text in `instructions` and `input`',
};

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

/**
 * Throws ApiError `invalid_request` for what a shared credential must not pass. Translation asks too: what it refuses has no
 * meaning elsewhere either. Call it with a body that has passed the schema.
 */
export function refuseUnshareable(body: JsonObject): void {
  for (const [field, reason] of Object.entries(refusals)) {
    if (isGiven(body[field])) throw invalidRequest(field, `${field} ${reason}.`);
  }
  refuseTiers(body);
  refuseTools(body.tools, 'tools');
  if (Array.isArray(body.input)) {
    for (const [index, item] of body.input.entries()) refuseItem(item, `input[${index}]`);
  }
}

/** `background: false` asks for nothing. */
function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null && value !== false;
}

/** Options that make the same tokens cost more. */
function refuseTiers({ service_tier: tier, reasoning, prompt_cache_options: cache }: JsonObject): void {
  if (isGiven(tier) && tier !== 'auto' && tier !== 'default') {
    throw unpriced('service_tier', `'${String(tier)}'`, 'Send `default` or leave it out');
  }
  if (isObject(reasoning) && isGiven(reasoning.mode) && reasoning.mode !== 'standard') {
    throw unpriced('reasoning.mode', `'${String(reasoning.mode)}'`, 'Leave it out');
  }
  if (!isObject(cache)) return;
  if (isGiven(cache.comparison_response_id)) {
    throw stored('prompt_cache_options.comparison_response_id', 'a response');
  }
  if (isGiven(cache.prewarm)) throw unpriced('prompt_cache_options.prewarm', 'A request without an answer', 'Leave it out');
  refuseCacheLifetime(cache, 'prompt_cache_options');
}

function refuseCacheLifetime(value: JsonObject, path: string): void {
  if (!isGiven(value.ttl) || value.ttl === '30m') return;
  throw unpriced(`${path}.ttl`, `'${String(value.ttl)}'`, 'Send `30m` or leave it out');
}

function refuseTools(tools: unknown, path: string): void {
  if (!Array.isArray(tools)) return;
  for (const [index, tool] of tools.entries()) {
    if (!isObject(tool) || runsAtCaller(tool)) continue;
    throw unpriced(`${path}[${index}].type`, `'${String(tool.type)}' runs at the provider and`, 'Use a function of your own');
  }
}

/** Unknown kinds may cost anything. */
function runsAtCaller(tool: JsonObject): boolean {
  const place = lookUp(toolPlaces, String(tool.type));
  if (place !== 'depends') return place === 'caller';
  if (tool.type === 'tool_search') return tool.execution === 'client';
  return isObject(tool.environment) && tool.environment.type === 'local';
}

const partHolders: Readonly<Record<string, string>> = {
  message: 'content',
  function_call_output: 'output',
  custom_tool_call_output: 'output',
};

function refuseItem(item: unknown, path: string): void {
  if (!isObject(item)) return;
  const type = typeof item.type === 'string' ? item.type : 'message';
  const holder = lookUp(partHolders, type);
  if (holder !== undefined) return refuseParts(item[holder], `${path}.${holder}`);
  if (type === 'additional_tools' || type === 'tool_search_output') return refuseTools(item.tools, `${path}.tools`);
  if (type !== 'function_call' && type !== 'custom_tool_call' && type !== 'reasoning') refuseStoredIds(item, path);
}

function refuseParts(parts: unknown, path: string): void {
  if (!Array.isArray(parts)) return;
  for (const [index, part] of parts.entries()) {
    if (!isObject(part)) continue;
    const partPath = `${path}[${index}]`;
    if (isGiven(part.file_id)) throw stored(`${partPath}.file_id`, 'a file');
    if (isObject(part.prompt_cache_breakpoint)) {
      refuseCacheLifetime(part.prompt_cache_breakpoint, `${partPath}.prompt_cache_breakpoint`);
    }
  }
}

const storedThings: Readonly<Record<string, string>> = {
  file_id: 'a file',
  file_ids: 'files',
  container_id: 'a container',
  vector_store_id: 'a vector store',
  vector_store_ids: 'vector stores',
};

/** Items that we have no schema for: looks for the ids at any depth. */
function refuseStoredIds(value: unknown, path: string): void {
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) refuseStoredIds(item, `${path}[${index}]`);
  } else if (isObject(value)) {
    for (const [key, child] of Object.entries(value)) {
      const thing = lookUp(storedThings, key);
      if (thing !== undefined && isGiven(child)) throw stored(`${path}.${key}`, thing);
      refuseStoredIds(child, `${path}.${key}`);
    }
  }
}

/** Names from a request may be those that every object has, such as `constructor`. */
function lookUp<Value>(table: Readonly<Record<string, Value>>, name: string): Value | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}

function stored(path: string, thing: string) {
  return invalidRequest(
    path,
    `${path} names ${thing} kept at the provider, in an account that all callers share. Send the content itself: \`file_data\`, ` +
      '`file_url` or `image_url`.',
  );
}

function unpriced(path: string, what: string, remedy: string) {
  return invalidRequest(path, `${path}: ${what} is not priced in the catalogue, so it cannot be charged. ${remedy}.`);
}

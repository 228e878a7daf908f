// Refuses what a client must not use. All accounts share the operator's credential, so a field that
// changes the price or names state kept at the provider passes only if the catalogue prices it. A
// test keeps these tables in step with the official SDK's types.
import { invalidRequest, type ApiError, quoted } from '../../canonical/errors.ts';
import { isObject, type JsonObject } from '../../lib/json.ts';
import type { Destination, SearchOffer } from '../destination.ts';
import { compileVerdicts, reasons } from '../field-verdicts.ts';
import { partKinds, verdictTable } from './field-verdicts.ts';
import { isSearchTool } from './web-search.ts';

const keepKnown = compileVerdicts(verdictTable, partKinds);

/** Typed tools that the client runs itself: the beginning of their type, before the version. */
const clientTools = ['bash_', 'text_editor_', 'memory_', 'computer_', 'browser_'];
/** Searches only the tools of the same request, stores nothing and has no price of its own. */
const freeProviderTools = ['tool_search_tool_'];
const refusedTools: Readonly<Record<string, string>> = {
  web_fetch_: 'what it fetches is billed as input that no hold can cover',
  code_execution_: 'it runs in a container kept at the provider, billed by the hour',
  advisor_: 'it runs another model at another price',
  mcp_toolset: 'the provider would call the server, and no hold can cover those tokens',
};

/** Returns true for a tool that the client runs, whoever defines it. */
export function runsAtClient({ type }: JsonObject): boolean {
  return typeof type !== 'string' || type === 'custom' || startsWithOne(type, clientTools);
}

/** Returns true for a kind of tool that nobody knows here. */
export function isUnknownTool(tool: JsonObject): boolean {
  const known = [...freeProviderTools, ...Object.keys(refusedTools)];
  return !runsAtClient(tool) && !isSearchTool(tool) && !startsWithOne(String(tool.type), known);
}

/** Edits of `context_management` that only shorten the model's input. */
const freeEdits = ['clear_tool_uses_', 'clear_thinking_'];

const unofferedSearch: Readonly<Record<Exclude<SearchOffer, 'priced'>, string>> = {
  unpriced: reasons.unpricedSearch,
  elsewhere:
    'it runs at Anthropic, but this model does not run there; use a tool of your own, or set `tool_choice` to `auto`',
};

/**
 * Returns the body without unknown fields. Throws ApiError `invalid_request` that names the field
 * and gives the reason.
 */
export function refuseUnshareable<Body extends JsonObject>(
  body: Body,
  { search = 'elsewhere', unknown }: Destination = {},
): Body {
  const known = keepKnown(body, unknown);
  if (Array.isArray(body.tools))
    for (const [index, tool] of body.tools.entries()) refuseTool(tool, `tools[${index}]`, search);
  for (const management of [body.context_management].flat())
    if (isObject(management)) refuseEdits(management.edits);
  if (Array.isArray(body.messages)) {
    for (const [index, message] of body.messages.entries()) {
      if (isObject(message)) refuseContent(message.content, `messages[${index}].content`);
    }
  }
  return known;
}

/**
 * Web search is refused inside the conversation, because the hold covers only searches in `tools`.
 */
function refuseTool(tool: unknown, path: string, search: SearchOffer = 'unpriced'): void {
  if (!isObject(tool) || runsAtClient(tool)) return;
  const type = String(tool.type);
  if (startsWithOne(type, freeProviderTools)) return;
  if (isSearchTool(tool)) {
    if (search === 'priced') return;
    throw refusal(`${path}.type`, unofferedSearch[search], ` ${quoted(type)}`);
  }
  const known = Object.entries(refusedTools).find(([start]) => type.startsWith(start));
  throw refusal(`${path}.type`, known?.[1] ?? reasons.unpriced, ` ${quoted(type)}`);
}

function refuseEdits(edits: unknown): void {
  if (!Array.isArray(edits)) return;
  for (const [index, edit] of edits.entries()) {
    const type = isObject(edit) ? String(edit.type) : '';
    if (startsWithOne(type, freeEdits)) continue;
    throw refusal(
      `context_management.edits[${index}].type`,
      'its tokens are not in the usage that the provider reports',
      ` ${quoted(type)}`,
    );
  }
}

/**
 * Checks blocks at any depth, and the tools in them, which can change during a conversation. A
 * call's `input` is the client's own data.
 */
function refuseContent(content: unknown, path: string): void {
  if (Array.isArray(content)) {
    for (const [index, block] of content.entries())
      if (isObject(block)) refuseBlock(block, `${path}[${index}]`);
  } else if (isObject(content)) {
    refuseBlock(content, path);
  }
}

function refuseBlock(block: Record<string, unknown>, path: string): void {
  if (isObject(block.tool)) refuseToolChange(block.tool, `${path}.tool`);
  refuseContent(block.content, `${path}.content`);
  refuseContent(block.tool_changes, `${path}.tool_changes`);
}

function refuseToolChange(change: Record<string, unknown>, path: string): void {
  if (change.definition !== undefined) refuseTool(change.definition, `${path}.definition`);
}

function startsWithOne(text: string, starts: readonly string[]): boolean {
  return starts.some((start) => text.startsWith(start));
}

function refusal(path: string, why: string, what = ''): ApiError {
  return invalidRequest(path, `${path}${what} is not available here; leave it out: ${why}`);
}

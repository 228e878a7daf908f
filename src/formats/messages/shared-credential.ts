// What a client may not pass on. All accounts of a gateway share the operator's credential, so a field that changes the price, or names
// state kept at the provider, passes only if the catalogue prices it. A test keeps these tables in step with the official SDK's types.
import { invalidRequest, type ApiError } from '../../canonical/errors.ts';
import { isObject } from '../../lib/json.ts';
import type { JsonObject } from '../format.ts';

type FieldRule =
  | { readonly rule: 'pass' }
  /** Left out and listed: it changes nothing in the answer. */
  | { readonly rule: 'drop' }
  /** Refused, save for the values that mean the default. */
  | { readonly rule: 'refuse'; readonly why: string; readonly except?: readonly unknown[] }
  /** Sent always, whatever the client asked for among `accepts`. */
  | { readonly rule: 'force'; readonly value: unknown; readonly accepts: readonly unknown[] };

const pass: FieldRule = { rule: 'pass' };
const keepsState = 'it names state kept at the provider, which this gateway does not keep for its accounts';
const costsExtra = 'it is billed beside the tokens, and this gateway has no price for it';
const otherPrice = 'it changes the price of the tokens, and this gateway has no price for it';

/** Every field of a body that the official types know. Fields they do not know pass. */
export const fieldRules: Readonly<Record<string, FieldRule>> = {
  model: pass,
  max_tokens: pass,
  messages: pass,
  system: pass,
  stream: pass,
  temperature: pass,
  top_p: pass,
  top_k: pass,
  stop_sequences: pass,
  tools: pass,
  tool_choice: pass,
  thinking: pass,
  output_config: pass,
  output_format: pass,
  metadata: pass,
  /** Both lifetimes have prices in the catalogue. */
  cache_control: pass,
  context_management: pass,
  container: { rule: 'refuse', why: keepsState },
  thread: { rule: 'refuse', why: keepsState },
  mcp_servers: { rule: 'refuse', why: 'the provider would call the servers, with tokens that no hold can cover' },
  compaction: { rule: 'refuse', why: 'its tokens are not in the usage that the provider reports' },
  fallbacks: { rule: 'refuse', why: 'another model at another price could answer' },
  fallback_credit_token: { rule: 'refuse', why: otherPrice },
  billing_policy: { rule: 'refuse', why: 'it names who pays the provider' },
  user_profile_id: { rule: 'refuse', why: 'it names a customer of the operator' },
  workspace_id: { rule: 'refuse', why: 'it names a workspace of the operator' },
  betas: { rule: 'refuse', why: 'beta features are asked for in the `anthropic-beta` header' },
  inference_geo: { rule: 'refuse', why: otherPrice, except: ['global'] },
  speed: { rule: 'refuse', why: otherPrice, except: ['standard'] },
  /** `auto`, the default, would draw on capacity that the operator has bought for a commitment. */
  service_tier: { rule: 'force', value: 'standard_only', accepts: ['auto', 'standard_only'] },
  /** Compares with an earlier request by its id; it would tell one account about the prompts of another. */
  diagnostics: { rule: 'drop' },
};

/** Typed tools that the client runs itself, by the start of their type; the version follows. */
const clientTools = ['bash_', 'text_editor_', 'memory_', 'computer_', 'browser_'];
/** Searches nothing but the tools of the same request, keeps nothing and has no price of its own. */
const freeProviderTools = ['tool_search_tool_'];
const refusedTools: Readonly<Record<string, string>> = {
  web_search_: costsExtra,
  web_fetch_: 'what it fetches is billed as input that no hold can cover',
  code_execution_: 'it runs in a container kept at the provider, billed by the hour',
  advisor_: 'another model at another price is asked',
  mcp_toolset: 'the provider would call the server, with tokens that no hold can cover',
};

/** Edits of `context_management` that only shorten what the model sees. */
const freeEdits = ['clear_tool_uses_', 'clear_thinking_'];

/** Throws ApiError `invalid_request` that names the field and says why. */
export function refuseSharedState(body: JsonObject): void {
  for (const name of Object.keys(body)) refuseField(name, body[name]);
  if (Array.isArray(body.tools)) for (const [index, tool] of body.tools.entries()) refuseTool(tool, `tools[${index}]`);
  if (isObject(body.context_management)) refuseEdits(body.context_management.edits);
  if (Array.isArray(body.messages)) {
    for (const [index, message] of body.messages.entries()) {
      if (isObject(message)) refuseContent(message.content, `messages[${index}].content`);
    }
  }
}

function refuseField(name: string, value: unknown): void {
  const rule = Object.hasOwn(fieldRules, name) ? fieldRules[name] : undefined;
  if (!rule || !isGiven(value)) return;
  if (rule.rule === 'refuse' && !rule.except?.includes(value)) throw refusal(name, rule.why);
  if (rule.rule === 'force' && !rule.accepts.includes(value)) {
    throw invalidRequest(name, `${name} must be ${rule.accepts.map((accepted) => `\`${String(accepted)}\``).join(' or ')}`);
  }
}

export function isGiven(value: unknown): boolean {
  return (value ?? null) !== null && !(Array.isArray(value) && value.length === 0);
}

function refuseTool(tool: unknown, path: string): void {
  const type = isObject(tool) ? tool.type : undefined;
  if (typeof type !== 'string' || type === 'custom' || startsWithOne(type, clientTools) || startsWithOne(type, freeProviderTools))
    return;
  const known = Object.entries(refusedTools).find(([start]) => type.startsWith(start));
  throw refusal(`${path}.type`, known?.[1] ?? costsExtra, ` \`${type}\``);
}

function refuseEdits(edits: unknown): void {
  if (!Array.isArray(edits)) return;
  for (const [index, edit] of edits.entries()) {
    const type = isObject(edit) ? String(edit.type) : '';
    if (startsWithOne(type, freeEdits)) continue;
    throw refusal(
      `context_management.edits[${index}].type`,
      'its tokens are not in the usage that the provider reports',
      ` \`${type}\``,
    );
  }
}

/** Blocks can hold blocks, files and, where the tools change in mid-conversation, tools. A call's `input` is the client's own data. */
function refuseContent(content: unknown, path: string): void {
  if (Array.isArray(content)) {
    for (const [index, block] of content.entries()) if (isObject(block)) refuseBlock(block, `${path}[${index}]`);
  } else if (isObject(content)) {
    refuseBlock(content, path);
  }
}

function refuseBlock(block: Record<string, unknown>, path: string): void {
  if (isGiven(block.file_id)) throw refusal(`${path}.file_id`, keepsState);
  if (isObject(block.source)) refuseBlock(block.source, `${path}.source`);
  if (isObject(block.tool)) refuseToolChange(block.tool, `${path}.tool`);
  refuseContent(block.content, `${path}.content`);
  refuseContent(block.tool_changes, `${path}.tool_changes`);
}

function refuseToolChange(change: Record<string, unknown>, path: string): void {
  if (change.type === 'tool_definition') refuseTool(change.definition, `${path}.definition`);
}

function startsWithOne(text: string, starts: readonly string[]): boolean {
  return starts.some((start) => text.startsWith(start));
}

function refusal(path: string, why: string, what = ''): ApiError {
  return invalidRequest(path, `${path}${what} is not available here: ${why}`);
}

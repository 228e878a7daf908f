// The straight path for a request: the client's body with the upstream's model and a limited
// output, without what Anthropic would refuse of other vendors' turns. Everything else stays
// unchanged.
import type { Effort } from '../../canonical/request.ts';
import { isObject, type JsonObject } from '../../lib/json.ts';
import { editAt, editFields, editItems, withoutNulls } from '../edit-json.ts';
import { destinationOf } from '../destination.ts';
import { isAskedFor } from '../field-verdicts.ts';
import type { ClientRequest, UpstreamRequest, UpstreamTarget } from '../format.ts';
import { mendSchema } from '../mend-schema.ts';
import { leaveOutFields } from '../model-abilities.ts';
import { asObjectSchema } from '../tool-parameters.ts';
import { limitCacheMarks } from './cache-marks.ts';
import { verdictTable } from './field-verdicts.ts';
import { ignoredMetadata } from './ignored-fields.ts';
import { fitSampling, claudeTraits } from '../claude-traits.ts';
import { leaveOutUnsold } from './optional-tools.ts';
import { relayHistory, relaySystem } from './relay-history.ts';
import { withFittedNames } from '../tool-names.ts';
import { renameTools, toolNames } from './relay-tool-names.ts';
import type { MessagesRequest } from './schema.ts';
import { refuseUnshareable } from './shared-credential.ts';
import { fitAskedThinking, fitBudget, mayThinkWithBudget } from '../claude-thinking.ts';
import { withAddedTools } from './tool-changes.ts';
import { relayTools } from './web-search.ts';
import { speedField } from './write-request.ts';

/** Throws ApiError `invalid_request` on what the shared upstream credential must not pass. */
export function relayRequest(
  { body: clientBody }: ClientRequest<MessagesRequest>,
  target: UpstreamTarget,
): UpstreamRequest {
  const hasSearch = target.searchesMax !== undefined;
  const { body: lean, leftOut } = leaveOutUnsold(clientBody, { hasSearch });
  const known = refuseUnshareable(lean, destinationOf(target));
  const traits = claudeTraits(target.model);
  const body = traits.systemMessages ? known : withAddedTools(known);
  const ignored = new Set([...leftOut, ...ignoredMetadata(body)]);
  const messages = relayHistory(body.messages, traits, ignored);
  const mustThinkFirst = ignored.has('thinking');
  const maxTokens = Math.min(body.max_tokens, target.maxOutputTokens);
  const outgoing = {
    ...relayFields(withMendedFormats(body), ignored),
    model: target.model,
    max_tokens: maxTokens,
    messages,
    ...(Array.isArray(body.system) && { system: relaySystem(body.system) }),
    ...withObjectSchemas(body),
    ...speedField(target),
  };
  if (target.searchesMax !== undefined && Array.isArray(outgoing.tools))
    outgoing.tools = relayTools(outgoing.tools, target.searchesMax, ignored);
  if (!target.thinking) dropEffort(outgoing, target.model, ignored);
  fitThinking(outgoing, target.model, ignored);
  boundBudget(outgoing, { mustThinkFirst }, ignored);
  fitToModel(outgoing, body, target.model, ignored);
  const isClaude = target.model.includes('claude');
  // Other vendors copied Messages without verdicts on calls.
  if (!isClaude) leaveOutFields(outgoing, ['safeguards'], ignored);
  const cacheMarks = limitCacheMarks(outgoing, ignored);
  return {
    ...withFittedNames(body, { written: outgoing, renameTools, rule: toolNames }),
    ignored: [...ignored],
    ...(isClaude && { cacheMarks }),
  };
}

/**
 * Anthropic refuses a tool whose schema lacks `type: object`, as those without arguments often do.
 */
function withObjectSchemas({ tools }: JsonObject): { readonly tools?: unknown } {
  if (!Array.isArray(tools)) return {};
  const edited = editItems(tools, (tool) => {
    const { input_schema: schema } = tool;
    const edits = isObject(schema) ? { input_schema: asObjectSchema(schema) } : {};
    return editFields(withoutNulls(tool), edits);
  });
  return { tools: edited };
}

/** Mends the schema of structured output, in the field's new place and its old one. */
function withMendedFormats(body: JsonObject): JsonObject {
  const edited = editAt(body, ['output_config', 'format', 'schema'], mendSchema);
  return editAt(edited, ['output_format', 'schema'], mendSchema);
}

/**
 * Leaves out dropped fields and known fields that are `null`: validation treats `null` as "not
 * set", but Anthropic refuses it in some fields. Unknown names pass.
 */
function relayFields(body: JsonObject, ignored: Set<string>): Record<string, unknown> {
  const entries: [string, unknown][] = [];
  for (const [name, value] of Object.entries(body)) {
    if (sampling.has(name)) continue;
    const known = Object.hasOwn(verdictTable.request, name)
      ? verdictTable.request[name]
      : undefined;
    if (!known || (known.rule !== 'drop' && value !== null)) entries.push([name, value]);
    else if (isAskedFor(value)) ignored.add(name);
  }
  // From entries, because assigning `__proto__` would lose it.
  const fields: Record<string, unknown> = Object.fromEntries(entries);
  for (const [name, value] of forcedFields) {
    if (isAskedFor(body[name]) && body[name] !== value) ignored.add(name);
    fields[name] = value;
  }
  return fields;
}

/**
 * `fitToModel` adds those that are sent. To copy all and delete some would make the object a dictionary, which
 * V8 reads, copies and writes slowly.
 */
const sampling: ReadonlySet<string> = new Set(['temperature', 'top_p', 'top_k']);

const forcedFields = Object.entries(verdictTable.request).flatMap(([name, rule]) =>
  rule.rule === 'force' ? [[name, rule.value] as const] : [],
);

/** Adds the sampling fields that the model, and its thinking, accept. */
function fitToModel(
  outgoing: Outgoing,
  { temperature = null, top_p: topP = null, top_k: topK = null }: MessagesRequest,
  model: string,
  ignored: Set<string>,
): void {
  const { thinking } = outgoing;
  const isThinking = (thinking ?? null) !== null && thinking?.type !== 'disabled';
  const fit = { traits: claudeTraits(model), isThinking };
  Object.assign(outgoing, fitSampling({ temperature, topP, topK }, fit, ignored));
}

type Outgoing = Record<string, unknown> &
  Pick<MessagesRequest, 'thinking' | 'output_config' | 'max_tokens'> & {
    messages: readonly unknown[];
  };

/**
 * A model that does not think refuses an effort. One that would think unasked gets the client's word
 * against it.
 */
function dropEffort(outgoing: Outgoing, model: string, ignored: Set<string>): void {
  const { thinking, output_config: config } = outgoing;
  const isOff = thinking?.type === 'disabled';
  if (thinking && !isOff) ignored.add('thinking');
  if (!isOff || !claudeTraits(model).thinksUnasked) delete outgoing.thinking;
  if (!config?.effort) return;
  ignored.add('output_config.effort');
  setEffort(outgoing, null);
}

/** null: none. */
function setEffort(outgoing: Outgoing, effort: Effort | null): void {
  const { effort: _, ...rest } = outgoing.output_config ?? {};
  const changed: JsonObject = { ...rest, ...(effort && { effort }) };
  if (Object.keys(changed).length > 0)
    outgoing.output_config = changed as Outgoing['output_config'];
  else delete outgoing.output_config;
}

/** Thinks as the model's generation does; what it cannot is left out. */
function fitThinking(outgoing: Outgoing, model: string, ignored: Set<string>): void {
  const { thinking = null, output_config: config } = outgoing;
  const asked = { thinking, effort: config?.effort ?? null };
  const fitted = fitAskedThinking(asked, {
    model,
    maxTokens: outgoing.max_tokens,
    mayUseBudget: mayThinkWithBudget(outgoing.messages),
  });
  if (fitted.thinking !== thinking) {
    if (fitted.thinking) outgoing.thinking = fitted.thinking as Outgoing['thinking'];
    else delete outgoing.thinking;
    if (!fitted.thinking) ignored.add('thinking');
  }
  if (fitted.effort === asked.effort) return;
  if (fitted.effort === null) ignored.add('output_config.effort');
  setEffort(outgoing, fitted.effort);
}

/**
 * Keeps a budget below the output limit. Removes it when the continued turn has lost the thinking
 * that it must begin with.
 */
function boundBudget(
  outgoing: Outgoing,
  { mustThinkFirst }: { mustThinkFirst: boolean },
  ignored: Set<string>,
): void {
  const { thinking } = outgoing;
  if (thinking?.type !== 'enabled') return;
  const mayThink = !mustThinkFirst || mayThinkWithBudget(outgoing.messages);
  const budget = mayThink ? fitBudget(thinking.budget_tokens, outgoing.max_tokens) : null;
  if (budget === thinking.budget_tokens) return;
  ignored.add('thinking.budget_tokens');
  if (budget === null) delete outgoing.thinking;
  else outgoing.thinking = { ...thinking, budget_tokens: budget };
}

// The straight path up: the client's body with the upstream's model and a bounded output, and without what Anthropic would refuse of
// other vendors' turns. Nothing else of it changes.
import { isAskedFor } from '../field-verdicts.ts';
import type { ClientRequest, JsonObject, UpstreamRequest, UpstreamTarget } from '../format.ts';
import { verdictTable } from './field-verdicts.ts';
import { relayHistory } from './relay-history.ts';
import type { MessagesRequest } from './schema.ts';
import { refuseSharedState } from './shared-credential.ts';
import { fitBudget, mayThinkWithBudget } from './thinking-config.ts';
import { relayTools } from './web-search.ts';

/** Throws ApiError `invalid_request` on what the shared upstream credential must not pass. */
export function relayRequest({ body }: ClientRequest, target: UpstreamTarget): UpstreamRequest {
  refuseSharedState(body, {
    search: target.searchesMax === undefined ? 'unpriced' : 'priced',
    opened: target.passFields,
  });
  const request = body as MessagesRequest;
  const ignored: string[] = [];
  const { messages, droppedThinking, droppedCitations } = relayHistory(request.messages);
  if (droppedThinking) ignored.push('thinking');
  if (droppedCitations) ignored.push('citations');
  const maxTokens = Math.min(request.max_tokens, target.maxOutputTokens);
  const outgoing = { ...relayFields(body, ignored), model: target.model, max_tokens: maxTokens, messages };
  if (target.searchesMax !== undefined) boundSearches(outgoing, target.searchesMax, ignored);
  if (!target.thinking) dropEffort(outgoing, ignored);
  else boundBudget(outgoing, { mustThinkFirst: droppedThinking }, ignored);
  return { body: outgoing, ignored };
}

/** `null` means "not given" to our validation, and some fields of it would be refused upstream. Names that we do not know pass. */
function relayFields(body: JsonObject, ignored: string[]): Record<string, unknown> {
  const entries: [string, unknown][] = [];
  for (const [name, value] of Object.entries(body)) {
    const known = Object.hasOwn(verdictTable.request, name) ? verdictTable.request[name] : undefined;
    if (!known || (known.rule !== 'drop' && value !== null)) entries.push([name, value]);
    else if (isAskedFor(value)) ignored.push(name);
  }
  // From entries, since assigning `__proto__` would lose it.
  const fields: Record<string, unknown> = Object.fromEntries(entries);
  for (const [name, value] of forcedFields) {
    if (isAskedFor(body[name]) && body[name] !== value) ignored.push(name);
    fields[name] = value;
  }
  return fields;
}

const forcedFields = Object.entries(verdictTable.request).flatMap(([name, rule]) =>
  rule.rule === 'force' ? [[name, rule.value] as const] : [],
);

function boundSearches(outgoing: Outgoing, searchesMax: number, ignored: string[]): void {
  if (!Array.isArray(outgoing.tools)) return;
  const relayed = relayTools(outgoing.tools, searchesMax);
  outgoing.tools = relayed.tools;
  ignored.push(...relayed.ignored);
}

type Outgoing = Record<string, unknown> &
  Pick<MessagesRequest, 'thinking' | 'output_config' | 'max_tokens'> & { messages: readonly unknown[] };

/** A model that does not think refuses to be asked for it. */
function dropEffort(outgoing: Outgoing, ignored: string[]): void {
  const { thinking, output_config: config } = outgoing;
  if (thinking && thinking.type !== 'disabled') ignored.push('thinking');
  delete outgoing.thinking;
  if (!config?.effort) return;
  ignored.push('output_config.effort');
  const { effort: _, ...rest } = config;
  outgoing.output_config = rest;
}

/** Keeps a budget below the bounded output, and leaves it out where the turn that goes on has lost the thinking it must begin with. */
function boundBudget(outgoing: Outgoing, { mustThinkFirst }: { mustThinkFirst: boolean }, ignored: string[]): void {
  const { thinking } = outgoing;
  if (thinking?.type !== 'enabled') return;
  const mayThink = !mustThinkFirst || mayThinkWithBudget(outgoing.messages);
  const budget = mayThink ? fitBudget(thinking.budget_tokens, outgoing.max_tokens) : null;
  if (budget === thinking.budget_tokens) return;
  ignored.push('thinking.budget_tokens');
  if (budget === null) delete outgoing.thinking;
  else outgoing.thinking = { ...thinking, budget_tokens: budget };
}

// How much a model should think: efforts and budgets, as the model's generation takes them.
import { budgetOfEffort, effortOfBudget, nearestEffort } from '../../canonical/effort.ts';
import type { CanonicalRequest, Effort } from '../../canonical/request.ts';
import { isObject } from '../../lib/json.ts';
import type { JsonObject, UpstreamTarget } from '../format.ts';
import type { ModelTraits } from './model-traits.ts';

export type WrittenThinking = {
  readonly thinking: JsonObject | null;
  readonly effort: string | null;
  /** Whether what the caller asked for was left out. */
  readonly isDropped: boolean;
};

const nothing: WrittenThinking = { thinking: null, effort: null, isDropped: false };
const dropped: WrittenThinking = { ...nothing, isDropped: true };

const budgetTokensMin = 1_024;

/** `messages`: the conversation as it goes out. */
export function writeThinkingConfig(
  { reasoning, toolChoice }: CanonicalRequest,
  { target, traits, messages }: { target: UpstreamTarget; traits: ModelTraits; messages: readonly JsonObject[] },
): WrittenThinking {
  if (!reasoning) return nothing;
  const { effort, budgetTokens } = reasoning;
  if (effort === 'none') return target.thinking ? writeNoThinking(traits) : nothing;
  if (!target.thinking) return dropped;
  const usesBudget = traits.thinking === 'budget' || (traits.thinking === 'both' && budgetTokens !== null);
  // Anthropic refuses thinking with a tool that must be called.
  const isForced = toolChoice?.type === 'required' || toolChoice?.type === 'tool';
  if (!usesBudget) {
    const wanted = budgetTokens === null ? effort : effortOfBudget(budgetTokens);
    return { thinking: isForced ? null : { type: 'adaptive' }, effort: wanted && writeEffort(wanted, traits), isDropped: false };
  }
  const budget = fitBudget(budgetTokens ?? budgetOfEffort[effort ?? 'medium'], target.maxOutputTokens);
  if (budget === null || isForced || !mayThinkWithBudget(messages)) return dropped;
  return { thinking: { type: 'enabled', budget_tokens: budget }, effort: null, isDropped: false };
}

/** Newer models refuse `disabled`: some think always. The least effort is as near as they come. */
function writeNoThinking({ thinking }: ModelTraits): WrittenThinking {
  return thinking === 'adaptive' ? { ...nothing, effort: 'low' } : { ...nothing, thinking: { type: 'disabled' } };
}

function writeEffort(effort: Effort, { xhighEffort }: ModelTraits): string {
  return nearestEffort(effort, xhighEffort ? ['low', 'medium', 'high', 'xhigh', 'max'] : ['low', 'medium', 'high', 'max']);
}

/** A budget that leaves room for an answer below the limit; null when there is no room for any. */
export function fitBudget(budgetTokens: number, maxOutputTokens: number): number | null {
  if (budgetTokens < maxOutputTokens) return budgetTokens;
  return maxOutputTokens > budgetTokensMin ? Math.max(budgetTokensMin, maxOutputTokens - budgetTokensMin) : null;
}

/**
 * With a budget, Anthropic wants the turn whose calls are being answered to begin with its thinking. It has none when another vendor's
 * model made the calls, so that one answer is given without thinking.
 */
export function mayThinkWithBudget(messages: readonly unknown[]): boolean {
  const last = messages.findLast((message) => isObject(message) && message.role === 'assistant');
  if (!isObject(last) || !Array.isArray(last.content)) return true;
  const types = last.content.map((block) => (isObject(block) ? block.type : undefined));
  return !types.includes('tool_use') || types[0] === 'thinking' || types[0] === 'redacted_thinking';
}

/** No model thinks here unasked. */
export function mayThink({ thinking }: JsonObject): boolean {
  return isObject(thinking) && thinking.type !== 'disabled';
}

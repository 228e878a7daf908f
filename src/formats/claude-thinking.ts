// How much Claude should think: the effort or budget that its generation accepts.
import { budgetOfEffort, effortOfBudget, nearestEffort } from '../canonical/effort.ts';
import type { CanonicalRequest, Effort } from '../canonical/request.ts';
import { isObject, type JsonObject, objectOf, textOf } from '../lib/json.ts';
import type { UpstreamTarget } from './format.ts';
import { readClaudeId } from '../terms/prompt-cache.ts';
import { claudeTraits, type ClaudeTraits } from './claude-traits.ts';

type WrittenThinking = {
  readonly thinking: JsonObject | null;
  readonly effort: Effort | null;
};

const nothing: WrittenThinking = { thinking: null, effort: null };
const disabled: JsonObject = { type: 'disabled' };

const budgetTokensMin = 1_024;

/**
 * Adds `reasoning_effort` to `ignored` when the client's setting is left out. `mayUseBudget`: false where
 * the conversation forbids it.
 */
export function writeThinkingConfig(
  { reasoning, toolChoice }: CanonicalRequest,
  {
    target,
    traits,
    mayUseBudget,
  }: { target: UpstreamTarget; traits: ClaudeTraits; mayUseBudget: boolean },
  ignored: Set<string>,
): WrittenThinking {
  // Anthropic refuses thinking together with a forced tool call.
  const alwaysThinks = traits.thinksUnasked && traits.offWord === null;
  const isForced =
    !alwaysThinks && (toolChoice?.type === 'required' || toolChoice?.type === 'tool');
  const unasked = isForced && traits.thinksUnasked ? disabled : null;
  if (!reasoning) return { ...nothing, thinking: unasked };
  const { effort, budgetTokens } = reasoning;
  if (effort === 'none')
    return target.thinking || traits.thinksUnasked ? writeNoThinking(traits) : nothing;
  if (!target.thinking || isForced) ignored.add('reasoning_effort');
  if (!target.thinking) return { ...nothing, thinking: unasked };
  const usesBudget =
    traits.thinking === 'budget' || (traits.thinking === 'both' && budgetTokens !== null);
  if (!usesBudget) {
    const wanted = budgetTokens === null ? effort : effortOfBudget(budgetTokens);
    return {
      thinking: isForced ? unasked : writeAdaptive(traits),
      effort: wanted && writeEffort(wanted, traits, unasked !== null),
    };
  }
  if (isForced) return nothing;
  const budget = fitBudget(
    budgetTokens ?? budgetOfEffort[effort ?? 'medium'],
    target.maxOutputTokens,
  );
  if (budget !== null && mayUseBudget)
    return { thinking: { type: 'enabled', budget_tokens: budget }, effort: null };
  ignored.add('reasoning_effort');
  return nothing;
}

/** Since 4.7 Claude hides its thinking unless asked (its release notes, read 2026-11-26). */
function writeAdaptive({ thinking, unsignedThinking }: ClaudeTraits): JsonObject {
  const hides = thinking === 'adaptive' && !unsignedThinking;
  return { type: 'adaptive', ...(hides && { display: 'summarized' }) };
}

/** The client's thinking on the straight path. `effort`: null when the request has none. */
export type AskedThinking = {
  readonly thinking: JsonObject | null;
  readonly effort: Effort | null;
};

/**
 * Returns what the client asks for in the words of the model's generation: those before 4.6 know
 * budgets only, and all but Opus 4.5 no effort; those after 4.6 refuse budgets. Clients know a model
 * by an alias, or are older than it. `mayUseBudget`: as above. A Claude without a number stays as asked, and
 * so do others that know budgets.
 */
export function fitAskedThinking(
  asked: AskedThinking,
  { model, maxTokens, mayUseBudget }: FitThinking,
): AskedThinking {
  const { family, version } = readClaudeId(model);
  const traits = claudeTraits(model);
  const isNumbered = Number.isFinite(version) || traits.unsignedThinking;
  if (!isNumbered || (traits.unsignedThinking && traits.thinking !== 'adaptive')) return asked;
  const { type, budget_tokens: budgetTokens, ...others } = asked.thinking ?? {};
  if (traits.thinking === 'budget') {
    const effort = family === 'opus' && version === 405 ? asked.effort : null;
    if (!asked.thinking || type === 'enabled' || type === 'disabled') return { ...asked, effort };
    const budget = mayUseBudget
      ? fitBudget(budgetOfEffort[asked.effort ?? 'medium'], maxTokens)
      : null;
    const thinking = budget === null ? null : { ...others, type: 'enabled', budget_tokens: budget };
    return { thinking, effort };
  }
  if (type === 'disabled' && traits.thinksUnasked) {
    const { thinking, effort } = writeNoThinking(traits);
    return {
      thinking,
      effort: asked.effort ? writeEffort(asked.effort, traits, thinking !== null) : effort,
    };
  }
  const isBudget = type === 'enabled' && traits.thinking === 'adaptive';
  const wanted = asked.effort ?? (isBudget ? effortOfBudget(Number(budgetTokens)) : null);
  return {
    thinking: isBudget ? { ...writeAdaptive(traits), ...others } : asked.thinking,
    effort: wanted && writeEffort(wanted, traits, false),
  };
}

type FitThinking = {
  readonly model: string;
  readonly maxTokens: number;
  readonly mayUseBudget: boolean;
};

/** The lowest effort is the closest match for a model that always thinks, or knows no word for it. */
function writeNoThinking({ offWord }: ClaudeTraits): WrittenThinking {
  return offWord === null
    ? { ...nothing, effort: 'low' }
    : { ...nothing, thinking: { type: offWord } };
}

/** Claude 5 takes `disabled` up to the effort `high`; before, any effort: pydantic/pydantic-ai#7991. */
function writeEffort(
  effort: Effort,
  { xhighEffort, thinksUnasked }: ClaudeTraits,
  isDisabled: boolean,
): Effort {
  const usual: readonly Effort[] = ['low', 'medium', 'high'];
  const highest: readonly Effort[] = xhighEffort ? ['xhigh', 'max'] : ['max'];
  return nearestEffort(effort, isDisabled && thinksUnasked ? usual : [...usual, ...highest]);
}

/** Returns a budget that leaves room for an answer below the limit; null when there is no room. */
export function fitBudget(budgetTokens: number, maxOutputTokens: number): number | null {
  if (budgetTokens < maxOutputTokens) return budgetTokens;
  return maxOutputTokens > budgetTokensMin
    ? Math.max(budgetTokensMin, maxOutputTokens - budgetTokensMin)
    : null;
}

/**
 * With a budget, Anthropic wants the turn that made the answered calls to begin with its thinking.
 * A turn of another vendor's model has none, so the next answer is given without thinking.
 */
export function mayThinkWithBudget(messages: readonly unknown[]): boolean {
  const last = messages.findLast((message) => isObject(message) && message.role === 'assistant');
  if (!isObject(last) || !Array.isArray(last.content)) return true;
  const types = last.content.map((block) => objectOf(block).type);
  return !types.includes('tool_use') || types[0] === 'thinking' || types[0] === 'redacted_thinking';
}

export function mayThink({ thinking, model }: JsonObject): boolean {
  return isObject(thinking)
    ? thinking.type !== 'disabled'
    : claudeTraits(textOf(model)).thinksUnasked;
}

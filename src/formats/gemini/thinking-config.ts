// How much a model should think: levels since Gemini 3, budgets before. Gemini refuses a request
// with both.
import { budgetOfEffort, nearestEffort, wantedEffort } from '../../canonical/effort.ts';
import type { Reasoning } from '../../canonical/request.ts';
import { isObject, type JsonObject, objectOf } from '../../lib/json.ts';
import type { UpstreamTarget } from '../format.ts';
import type { ModelTraits, ThinkingBudgets } from './model-traits.ts';

/**
 * A client that asks for reasoning sees the thoughts. For a model that always thinks, `none`
 * becomes its minimum. Adds `reasoning_effort` to `ignored` when the client's setting is left out.
 */
export function writeThinkingConfig(
  reasoning: Reasoning | null,
  { target, traits }: { readonly target: UpstreamTarget; readonly traits: ModelTraits },
  ignored: Set<string>,
): JsonObject | null {
  if (!reasoning) return null;
  const { effort, budgetTokens } = reasoning;
  // Thinking was requested without an amount: the model's default applies.
  if (effort === null && budgetTokens === null && target.thinking) return { includeThoughts: true };
  const wanted = wantedEffort(reasoning) ?? 'medium';
  const isOff = wanted === 'none';
  if (!target.thinking) {
    if (!isOff) ignored.add('reasoning_effort');
    return null;
  }
  const { thinking } = traits;
  const amount =
    thinking.kind === 'level'
      ? { thinkingLevel: nearestEffort(wanted, thinking.levels).toUpperCase() }
      : {
          thinkingBudget: isOff
            ? leastBudget(thinking)
            : fitBudget(reasoning, thinking, target.maxOutputTokens),
        };
  return isOff ? amount : { ...amount, includeThoughts: true };
}

function leastBudget({ min, canBeOff }: ThinkingBudgets): number {
  return canBeOff ? 0 : min;
}

/**
 * Thoughts count towards the output limit: a budget that would fill it leaves half for the answer,
 * but is not below a lower level's budget that fits.
 */
function fitBudget(
  { effort, budgetTokens }: Reasoning,
  { min, max }: ThinkingBudgets,
  maxOutputTokens: number,
): number {
  const wanted = Math.min(budgetTokens ?? budgetOfEffort[effort ?? 'medium'], max);
  if (wanted < maxOutputTokens) return Math.max(wanted, min);
  const lower = Object.values(budgetOfEffort).filter((budget) => budget < maxOutputTokens);
  const most = Math.max(Math.floor(maxOutputTokens / 2), ...lower);
  return Math.max(Math.min(most, wanted), min);
}

/** A budget of 0 switches thinking off. Every other model thinks by default. */
export function mayThink({ generationConfig }: JsonObject): boolean {
  const config = objectOf(generationConfig).thinkingConfig;
  return !isObject(config) || config.thinkingBudget !== 0;
}

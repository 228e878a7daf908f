// How much a model should think: levels since Gemini 3, budgets before. Gemini refuses a request
// with both.
import { budgetOfEffort, nearestEffort, wantedEffort } from '../../canonical/effort.ts';
import type { Reasoning } from '../../canonical/request.ts';
import { isObject, type JsonObject, objectOf } from '../../lib/json.ts';
import type { UpstreamTarget } from '../format.ts';
import type { ModelTraits, ThinkingBudgets } from './model-traits.ts';

type WrittenThinking = {
  readonly config: JsonObject | null;
  /** True when the client's setting was left out. */
  readonly isDropped: boolean;
};

/**
 * A client that asks for reasoning sees the thoughts. For a model that always thinks, `none`
 * becomes its minimum.
 */
export function writeThinkingConfig(
  reasoning: Reasoning | null,
  target: UpstreamTarget,
  traits: ModelTraits,
): WrittenThinking {
  if (!reasoning) return { config: null, isDropped: false };
  const { effort, budgetTokens } = reasoning;
  // Thinking was requested without an amount: the model's default applies.
  if (effort === null && budgetTokens === null && target.thinking)
    return { config: { includeThoughts: true }, isDropped: false };
  const wanted = wantedEffort(reasoning) ?? 'medium';
  const isOff = wanted === 'none';
  if (!target.thinking) return { config: null, isDropped: !isOff };
  const { thinking } = traits;
  const amount =
    thinking.kind === 'level'
      ? { thinkingLevel: nearestEffort(wanted, thinking.levels).toUpperCase() }
      : {
          thinkingBudget: isOff
            ? leastBudget(thinking)
            : fitBudget(reasoning, thinking, target.maxOutputTokens),
        };
  return { config: isOff ? amount : { ...amount, includeThoughts: true }, isDropped: false };
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

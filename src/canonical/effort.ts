// How hard a model thinks, expressed in two ways: a level of effort or a budget of tokens. One
// mapping serves all formats. ai.google.dev/gemini-api/docs/openai gives 1,024, 8,192 and 24,576
// tokens for low, medium and high (read 2026-11-20); the levels above high continue from there.
import { effortLevels, type Effort, type Reasoning } from './request.ts';

export const budgetOfEffort: Readonly<Record<Effort, number>> = {
  none: 0,
  minimal: 1_024,
  low: 1_024,
  medium: 8_192,
  high: 24_576,
  xhigh: 32_768,
  max: 65_536,
};

/** The level whose budget is nearest: `effortOfBudget(10_000)` is `medium`. A budget of 0 is `none`. */
export function effortOfBudget(budgetTokens: number): Effort {
  if (budgetTokens <= 0) return 'none';
  const distance = (effort: Effort) => Math.abs(budgetOfEffort[effort] - budgetTokens);
  return rising.reduce((nearest, effort) =>
    distance(effort) < distance(nearest) ? effort : nearest,
  );
}

/** Returns null when the client leaves the level to the model. */
export function wantedEffort({ effort, budgetTokens }: Reasoning): Effort | null {
  return effort ?? (budgetTokens === null ? null : effortOfBudget(budgetTokens));
}

/** The levels that have a budget. */
const rising: readonly Effort[] = ['low', 'medium', 'high', 'xhigh', 'max'];

/**
 * The level that a model gets for one that it does not know: the next lower of those it knows,
 * since more would cost more than was asked for, but never `none`, which is not thinking at all;
 * else its lowest. `known` is in rising order and not empty.
 */
export function nearestEffort(effort: Effort, known: readonly Effort[]): Effort {
  const lower = known.filter(
    (level) =>
      effortLevels.indexOf(level) <= effortLevels.indexOf(effort) &&
      (level !== 'none' || effort === 'none'),
  );
  return lower.at(-1) ?? known.find((level) => level !== 'none') ?? 'none';
}

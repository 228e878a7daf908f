// How much a Chat client wants the model to think. OpenAI's field is `reasoning_effort`; clients
// built for other hosts and gateways send OpenRouter's `reasoning`, the `thinking` of Anthropic and
// Zhipu, or Qwen's `enable_thinking`. Hosts of Chat other than OpenAI get these as they are; here
// they are read for models whose provider speaks another format.
// https://openrouter.ai/docs/use-cases/reasoning-tokens
import { budgetOfEffort } from '../../canonical/effort.ts';
import { effortLevels, type Reasoning } from '../../canonical/request.ts';
import { isObject, type JsonObject } from '../../lib/json.ts';
import { isAskedFor } from '../field-verdicts.ts';
import type { ChatRequest } from './schema.ts';

const off: Reasoning = { effort: 'none', budgetTokens: null };
const on: Reasoning = { effort: null, budgetTokens: null };

const readers: Readonly<Record<string, (value: unknown) => Reasoning | null>> = {
  reasoning: (asked) => {
    if (!isObject(asked)) return null;
    const { effort, max_tokens: budget, enabled } = asked;
    if (enabled === false) return off;
    const level = effortLevels.find((known) => known === effort);
    if (level) return { effort: level, budgetTokens: null };
    return (
      readBudget(budget) ?? (enabled === true ? { effort: 'medium', budgetTokens: null } : null)
    );
  },
  thinking: (asked) => {
    if (!isObject(asked)) return null;
    if (asked.type === 'disabled') return off;
    if (asked.type !== 'enabled' && asked.type !== 'adaptive') return null;
    return readBudget(asked.budget_tokens) ?? on;
  },
  enable_thinking: readSwitch,
  chat_template_kwargs: (asked) =>
    isObject(asked) ? readSwitch(asked.enable_thinking ?? asked.thinking) : null,
};

/** The fields that are read inside the ones that are objects. */
const readInside: Readonly<Record<string, readonly string[]>> = {
  reasoning: ['effort', 'max_tokens', 'enabled'],
  thinking: ['type', 'budget_tokens'],
  chat_template_kwargs: ['enable_thinking', 'thinking'],
};

/**
 * Lists what is asked for beside the amount of thinking, such as `reasoning.exclude`, or a second
 * amount: `effort` wins.
 */
export function unreadReasoning(request: ChatRequest, name: string): string[] {
  const asked = (request as JsonObject)[name];
  const read = readInside[name];
  if (!isObject(asked) || !read) return [];
  return Object.keys(asked)
    .filter((field) => !read.includes(field) || isSecondAmount(asked, field))
    .filter((field) => isAskedFor(asked[field]))
    .map((field) => `${name}.${field}`);
}

function isSecondAmount({ effort }: JsonObject, field: string): boolean {
  return field === 'max_tokens' && effortLevels.some((known) => known === effort);
}

/** `reasoning_effort` wins, then the first field that can be read; `name` is that field's. */
export function readAskedReasoning(
  request: ChatRequest,
): { readonly name: string; readonly reasoning: Reasoning } | null {
  const { reasoning_effort: effort } = request;
  if (effort) return { name: 'reasoning_effort', reasoning: { effort, budgetTokens: null } };
  for (const [name, read] of Object.entries(readers)) {
    const reasoning = read((request as JsonObject)[name]);
    if (reasoning) return { name, reasoning };
  }
  return null;
}

function readSwitch(asked: unknown): Reasoning | null {
  return typeof asked === 'boolean' ? (asked ? on : off) : null;
}

function readBudget(budget: unknown): Reasoning | null {
  if (typeof budget !== 'number' || !Number.isInteger(budget) || budget < 0) return null;
  if (budget === 0) return off;
  // Anthropic refuses less.
  return { effort: null, budgetTokens: Math.max(budget, budgetOfEffort.low) };
}

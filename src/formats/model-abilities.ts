// Fields that models behind OpenAI's two formats refuse. Known by the model's id, because the
// catalogue has no fields for it. The straight path and translation both ask here.
import { invalidRequest } from '../canonical/errors.ts';
import type { Effort } from '../canonical/request.ts';
import { isObject } from '../lib/json.ts';
import { isAskedFor } from './field-verdicts.ts';
import type { UpstreamTarget } from './format.ts';
import { defaultEffort } from './openai-models.ts';

type Target = Pick<UpstreamTarget, 'model' | 'thinking' | 'isOpenAi' | 'refusesStop'>;

const penalties = ['frequency_penalty', 'presence_penalty'];
const sampling = ['temperature', 'top_p', ...penalties];

/**
 * Returns the sampling fields that the model refuses, which are left out and listed. `effort`: as
 * sent; null: the model's own. OpenAI's thinking models take them only while they do not think; xAI's
 * refuse penalties (https://docs.x.ai/docs/guides/reasoning, read 2026-11-23).
 */
export function refusedSampling(effort: Effort | null, target: Target): readonly string[] {
  if (thinksAtOpenAi(effort, target)) return sampling;
  return isThinkingGrok(target) ? penalties : [];
}

/** Leaves the fields out of a body, and adds those that ask for something to `ignored`. */
export function leaveOutFields(
  body: Record<string, unknown>,
  names: readonly string[],
  ignored: Set<string>,
): void {
  for (const name of names) {
    if (!(name in body)) continue;
    if (isAskedFor(body[name])) ignored.add(name);
    delete body[name];
  }
}

/**
 * Removes the fields if the model refuses them. Throws ApiError `invalid_request` for one that asks
 * for something: without it the answer would not be what was asked for.
 */
export function leaveOutProbabilities(
  body: Record<string, unknown>,
  names: readonly string[],
  effort: Effort | null,
  target: Target,
): void {
  if (!thinksAtOpenAi(effort, target)) return;
  for (const name of names) {
    const value = body[name];
    const isEmpty = value === 0 || (isObject(value) && Object.keys(value).length === 0);
    if (!isEmpty && isAskedFor(value))
      throw invalidRequest(name, `${name} is not supported while this model thinks; leave it out`);
    delete body[name];
  }
}

/** The format's own limit; few hosts accept more. */
export const stopSequencesMax = 4;

/**
 * Returns false when the gateway must search for the sequences itself. Thinking models of OpenAI and
 * xAI refuse any. OpenAI's reference: "not supported with latest reasoning models".
 */
export function takesStops(sequences: readonly string[], target: Target): boolean {
  if (sequences.length === 0) return true;
  const refusesAny =
    target.refusesStop || (target.isOpenAi && target.thinking) || isThinkingGrok(target);
  return !refusesAny && sequences.length <= stopSequencesMax;
}

function thinksAtOpenAi(effort: Effort | null, { isOpenAi, thinking, model }: Target): boolean {
  return isOpenAi && thinking && (effort ?? defaultEffort(model)) !== 'none';
}

function isThinkingGrok({ thinking, model }: Target): boolean {
  return thinking && model.includes('grok');
}

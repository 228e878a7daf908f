// Counts a request's input without running it: `POST /responses/input_tokens`, of OpenAI's API and
// of ours. https://platform.openai.com/docs/api-reference/responses/input-tokens, from the types of
// its SDK, 2026-11.
import { readTokenCount } from '../../canonical/usage.ts';
import { type JsonObject, objectOf } from '../../lib/json.ts';
import type { InputCount } from '../format.ts';

/** The fields that count. All others only affect the answer. */
const countedFields = [
  'model',
  'input',
  'instructions',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'reasoning',
  'text',
  'truncation',
  'personality',
];

export const inputCount: InputCount = {
  write: (body) =>
    Object.fromEntries(Object.entries(body).filter(([name]) => countedFields.includes(name))),
  read: (answer) => readTokenCount(objectOf(answer).input_tokens),
};

/** `estimated` is our own field, present only when true. */
export function writeInputCount({
  inputTokens,
  isEstimated,
}: {
  inputTokens: number;
  isEstimated: boolean;
}): JsonObject {
  return {
    object: 'response.input_tokens',
    input_tokens: inputTokens,
    ...(isEstimated && { estimated: true }),
  };
}

// Counts a request's input without running it.
// https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_CountTokens.html
import { readTokenCount } from '../../canonical/usage.ts';
import { objectOf } from '../../lib/json.ts';
import type { InputCount } from '../format.ts';

export const inputCount: InputCount = {
  write: ({ messages, system, toolConfig }) => ({
    input: {
      converse: {
        messages,
        ...(system !== undefined && { system }),
        ...(toolConfig !== undefined && { toolConfig }),
      },
    },
  }),
  read: readInputCount,
};

export function readInputCount(answer: unknown): number | null {
  return readTokenCount(objectOf(answer)['inputTokens']);
}

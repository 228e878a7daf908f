// Random answers for the formats of OpenAI, whose stop reason follows from the content.
import fc from '../property.ts';
import { record } from '../plain-record.ts';
import type { Answer } from '../../../src/canonical/answer.ts';
import type { AssistantPart } from '../../../src/canonical/request.ts';

const anyUsage = record({
  inputTokens: fc.integer({ min: 1, max: 9_999 }),
  cacheReadTokens: fc.nat(9_999),
  cacheWriteTokens: fc.nat(9_999),
  cacheWrite1hTokens: fc.constant(0),
  outputTokens: fc.integer({ min: 1, max: 9_999 }),
  reasoningTokens: fc.nat(9_999),
}).map((usage) => ({
  ...usage,
  reasoningTokens: Math.min(usage.reasoningTokens, usage.outputTokens),
}));

export function anyAnswerOf(content: fc.Arbitrary<AssistantPart[]>): fc.Arbitrary<Answer> {
  const ending = fc.constantFrom('natural', 'length', 'content-filter');
  return fc.tuple(content, ending, anyUsage).map(([parts, end, usage]) => {
    const has = (type: string) => parts.some((part) => part.type === type);
    const natural = has('tool-call') ? 'tool-calls' : has('refusal') ? 'refusal' : 'end';
    const reason = end === 'natural' ? natural : end;
    return { content: parts, stop: { reason, sequence: null }, usage };
  });
}

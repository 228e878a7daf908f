import assert from 'node:assert/strict';
import { test } from 'node:test';
import { noUsage } from '../../canonical/usage.ts';
import { readUsage } from './usage.ts';

const cases: [name: string, given: unknown, read: object | null][] = [
  ['no input is no count', { prompt_tokens: 0, completion_tokens: 0 }, null],
  [
    'input and output',
    { prompt_tokens: 5, completion_tokens: 3 },
    { inputTokens: 5, outputTokens: 3 },
  ],
  [
    'the cached and written part of the input is taken out of it',
    {
      prompt_tokens: 10,
      completion_tokens: 1,
      prompt_tokens_details: { cached_tokens: 6, cache_write_tokens: 3 },
    },
    { inputTokens: 1, cacheReadTokens: 6, cacheWriteTokens: 3, outputTokens: 1 },
  ],
  [
    'more cache than input is no negative input',
    {
      prompt_tokens: 10,
      completion_tokens: 1,
      prompt_tokens_details: { cached_tokens: 60, cache_write_tokens: 3 },
    },
    { inputTokens: 0, cacheReadTokens: 10, outputTokens: 1 },
  ],
  [
    'DeepSeek’s cache',
    { prompt_tokens: 5, completion_tokens: 1, prompt_cache_hit_tokens: 4 },
    { inputTokens: 1, cacheReadTokens: 4, outputTokens: 1 },
  ],
  [
    'Together’s cache',
    { prompt_tokens: 5, completion_tokens: 1, cached_tokens: 4 },
    { inputTokens: 1, cacheReadTokens: 4, outputTokens: 1 },
  ],
  [
    'reasoning inside the output, as OpenAI counts',
    {
      prompt_tokens: 5,
      completion_tokens: 9,
      total_tokens: 14,
      completion_tokens_details: { reasoning_tokens: 4 },
    },
    { inputTokens: 5, outputTokens: 9, reasoningTokens: 4 },
  ],
  [
    'reasoning beside the output, as xAI counts',
    {
      prompt_tokens: 12,
      completion_tokens: 300,
      total_tokens: 540,
      completion_tokens_details: { reasoning_tokens: 228 },
    },
    { inputTokens: 12, outputTokens: 528, reasoningTokens: 228 },
  ],
  [
    'more reasoning than output without a total',
    {
      prompt_tokens: 12,
      completion_tokens: 1,
      completion_tokens_details: { reasoning_tokens: 228 },
    },
    { inputTokens: 12, outputTokens: 229, reasoningTokens: 228 },
  ],
  [
    'thoughts in the total only, as layers over Gemini count',
    { prompt_tokens: 20, completion_tokens: 198, total_tokens: 623 },
    { inputTokens: 20, outputTokens: 603 },
  ],
  [
    'Alibaba’s cache writes',
    {
      prompt_tokens: 100,
      completion_tokens: 1,
      prompt_tokens_details: { cached_tokens: 10, cache_creation_input_tokens: 60 },
    },
    { inputTokens: 30, cacheReadTokens: 10, cacheWriteTokens: 60, outputTokens: 1 },
  ],
  [
    'details that are null',
    { prompt_tokens: 5, completion_tokens: 3, prompt_tokens_details: null },
    { inputTokens: 5, outputTokens: 3 },
  ],
  ['a negative count', { prompt_tokens: -5, completion_tokens: 3 }, { outputTokens: 3 }],
  ['a fraction', { prompt_tokens: 5, completion_tokens: 0.5 }, { inputTokens: 5 }],
  ['an absurd count', { prompt_tokens: 5, completion_tokens: 1e15 }, { inputTokens: 5 }],
  ['a missing count', { prompt_tokens: 5 }, { inputTokens: 5 }],
  [
    'no count of the input, as OpenRouter sends it',
    { prompt_tokens: 0, completion_tokens: 7 },
    { outputTokens: 7 },
  ],
  [
    'reasoning beside the output, and no count of the input',
    { completion_tokens: 1, completion_tokens_details: { reasoning_tokens: 228 } },
    { outputTokens: 229, reasoningTokens: 228 },
  ],
  ['two counts of nothing', { prompt_tokens: 0, completion_tokens: 0 }, null],
  ['null', null, null],
];

for (const [name, given, read] of cases) {
  test(`usage: ${name}`, () => assert.deepEqual(readUsage(given), read && { ...noUsage, ...read }));
}

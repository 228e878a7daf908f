import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from '../../../tests/support/property.ts';
import { noUsage, totalInputTokens } from '../../canonical/usage.ts';
import { readUsage, showUsage } from './usage.ts';

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
    'more cache than input, without a total, is beside the input',
    {
      prompt_tokens: 10,
      completion_tokens: 1,
      prompt_tokens_details: { cached_tokens: 60, cache_write_tokens: 3 },
    },
    { inputTokens: 10, cacheReadTokens: 60, cacheWriteTokens: 3, outputTokens: 1 },
  ],
  [
    'more cache than input, where the total has no room for it: Grok on Azure',
    {
      prompt_tokens: 78,
      completion_tokens: 9,
      total_tokens: 87,
      prompt_tokens_details: { cached_tokens: 158, audio_tokens: 0, text_tokens: 78 },
      completion_tokens_details: { reasoning_tokens: 0, audio_tokens: 0 },
    },
    { cacheReadTokens: 78, outputTokens: 9 },
  ],
  [
    'cached input beside the prompt, as Anthropic names it',
    {
      prompt_tokens: 368,
      completion_tokens: 19,
      total_tokens: 10923,
      cache_read_input_tokens: 10536,
      cache_creation_input_tokens: 0,
    },
    { inputTokens: 368, cacheReadTokens: 10536, outputTokens: 19 },
  ],
  [
    'cached input beside the prompt, as OpenAI names it',
    {
      prompt_tokens: 368,
      completion_tokens: 19,
      total_tokens: 10923,
      prompt_tokens_details: { cached_tokens: 10536 },
    },
    { inputTokens: 368, cacheReadTokens: 10536, outputTokens: 19 },
  ],
  [
    'cached input inside the prompt, under Anthropic’s names too',
    {
      prompt_tokens: 10904,
      completion_tokens: 19,
      total_tokens: 10923,
      prompt_tokens_details: { cached_tokens: 10536 },
      cache_read_input_tokens: 10536,
      cache_creation_input_tokens: 300,
    },
    { inputTokens: 68, cacheReadTokens: 10536, cacheWriteTokens: 300, outputTokens: 19 },
  ],
  [
    'cache reads and writes beside the prompt',
    {
      prompt_tokens: 8,
      completion_tokens: 20,
      total_tokens: 3_128,
      cache_read_input_tokens: 2_000,
      cache_creation_input_tokens: 1_100,
    },
    { inputTokens: 8, cacheReadTokens: 2_000, cacheWriteTokens: 1_100, outputTokens: 20 },
  ],
  [
    'cache writes beside the prompt, and reads inside it',
    {
      prompt_tokens: 100,
      completion_tokens: 20,
      total_tokens: 1_220,
      prompt_tokens_details: { cached_tokens: 40, cache_creation_tokens: 1_100 },
    },
    { inputTokens: 60, cacheReadTokens: 40, cacheWriteTokens: 1_100, outputTokens: 20 },
  ],
  [
    'cached input and reasoning, both beside their counts',
    {
      prompt_tokens: 12,
      completion_tokens: 30,
      total_tokens: 842,
      prompt_tokens_details: { cached_tokens: 500 },
      completion_tokens_details: { reasoning_tokens: 300 },
    },
    { inputTokens: 12, cacheReadTokens: 500, outputTokens: 330, reasoningTokens: 300 },
  ],
  [
    'audio beside the prompt, as Mistral counts',
    {
      prompt_tokens: 9,
      completion_tokens: 201,
      total_tokens: 585,
      prompt_tokens_details: { audio_tokens: 375, cached_tokens: 0 },
    },
    { inputTokens: 384, outputTokens: 201 },
  ],
  [
    'audio inside the prompt, as OpenAI counts',
    {
      prompt_tokens: 400,
      completion_tokens: 20,
      total_tokens: 420,
      prompt_tokens_details: { audio_tokens: 375, cached_tokens: 0 },
    },
    { inputTokens: 400, outputTokens: 20 },
  ],
  [
    'a surplus that nothing explains is no output',
    { prompt_tokens: 20, completion_tokens: 198, total_tokens: 623 },
    { inputTokens: 20, outputTokens: 198, unexplainedTokens: 405 },
  ],
  [
    'a surplus is no output beside cached input either',
    {
      prompt_tokens: 20,
      completion_tokens: 9,
      total_tokens: 1_000,
      prompt_tokens_details: { cached_tokens: 900 },
    },
    { inputTokens: 20, cacheReadTokens: 900, outputTokens: 9, unexplainedTokens: 71 },
  ],
  [
    'more reasoning than output, which the total does not have',
    {
      prompt_tokens: 10,
      completion_tokens: 100,
      total_tokens: 110,
      completion_tokens_details: { reasoning_tokens: 100_000 },
    },
    { inputTokens: 10, outputTokens: 100, reasoningTokens: 100, unexplainedTokens: 99_900 },
  ],
  [
    'reasoning at the top, as SGLang sends it',
    { prompt_tokens: 5, completion_tokens: 9, total_tokens: 14, reasoning_tokens: 4 },
    { inputTokens: 5, outputTokens: 9, reasoningTokens: 4 },
  ],
  [
    'Mistral’s cache',
    { prompt_tokens: 5, completion_tokens: 1, total_tokens: 6, num_cached_tokens: 4 },
    { inputTokens: 1, cacheReadTokens: 4, outputTokens: 1 },
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
  test(`usage: ${name}`, () =>
    assert.deepEqual(readUsage({ usage: given }), read && { ...noUsage, ...read }));
}

const geminiCases: [name: string, usage: object, read: object][] = [
  [
    'thoughts in the total only',
    { prompt_tokens: 20, completion_tokens: 198, total_tokens: 623 },
    { inputTokens: 20, outputTokens: 603 },
  ],
  [
    'an answer of thoughts alone',
    { prompt_tokens: 20, total_tokens: 623 },
    { inputTokens: 20, outputTokens: 603 },
  ],
  [
    'thoughts inside the output, as OpenRouter counts',
    {
      prompt_tokens: 20,
      completion_tokens: 26,
      total_tokens: 46,
      completion_tokens_details: { reasoning_tokens: 25 },
    },
    { inputTokens: 20, outputTokens: 26, reasoningTokens: 25 },
  ],
  [
    'thoughts beside the output and the total, as DeepInfra counts',
    {
      prompt_tokens: 20,
      completion_tokens: 84,
      total_tokens: 104,
      completion_tokens_details: { reasoning_tokens: 1_081 },
    },
    { inputTokens: 20, outputTokens: 1_165, reasoningTokens: 1_081 },
  ],
];

for (const [name, usage, read] of geminiCases) {
  test(`usage of Gemini: ${name}`, () =>
    assert.deepEqual(readUsage({ model: 'google/gemini-2.5-flash', usage }), {
      ...noUsage,
      ...read,
    }));
}

const count = fc.oneof(fc.nat(3), fc.nat(1_000), fc.constant(0));
const details = fc.record(
  {
    cached_tokens: count,
    cache_write_tokens: count,
    cache_creation_tokens: count,
    audio_tokens: count,
    reasoning_tokens: count,
  },
  { requiredKeys: [] },
);
/** Usage as hosts of all kinds count it: any part inside or beside, with and without a total. */
const anyUsage = fc
  .record({
    counts: fc.record({
      prompt_tokens: count,
      completion_tokens: count,
      cache_read_input_tokens: count,
      prompt_tokens_details: details,
      completion_tokens_details: details,
    }),
    total: fc.oneof(fc.constant(undefined), fc.constant(0), count),
    surplus: fc.oneof(fc.constant(0), fc.nat(1_000)),
    beside: fc.array(fc.boolean(), { minLength: 4, maxLength: 4 }),
  })
  .map(({ counts, total, surplus, beside }) => {
    const { prompt_tokens_details: input, completion_tokens_details: output } = counts;
    const parts = [
      Math.max(counts.cache_read_input_tokens, input.cached_tokens ?? 0),
      Math.max(input.cache_write_tokens ?? 0, input.cache_creation_tokens ?? 0),
      input.audio_tokens ?? 0,
      output.reasoning_tokens ?? 0,
    ];
    const sum = counts.prompt_tokens + counts.completion_tokens + surplus;
    const added = parts.reduce((all, part, index) => all + (beside[index] ? part : 0), 0);
    const shown = total === 0 ? sum + added : total;
    return { ...counts, ...(shown !== undefined && { total_tokens: shown }) };
  });

test('the charge never exceeds the host’s own counts, and each token is in one bucket', () => {
  fc.assert(
    fc.property(anyUsage, (usage) => {
      const read = readUsage({ usage }) ?? noUsage;
      const own = usage.prompt_tokens + usage.completion_tokens;
      const charged = totalInputTokens(read) + read.outputTokens;
      // A total below prompt and completion contradicts the counts that it sums up.
      if ('total_tokens' in usage)
        assert.ok(charged <= Math.max(usage.total_tokens!, own), `${charged} of ${own}`);
      assert.ok(charged >= own);
      assert.ok(Object.values(read).every((tokens) => tokens >= 0));
      assert.ok(read.reasoningTokens <= read.outputTokens);
    }),
  );
});

test('what is shown is what is charged, read in OpenAI’s way', () => {
  fc.assert(
    fc.property(anyUsage, fc.constantFrom('m', 'gemini-3-pro'), (usage, model) => {
      const charged = readUsage({ usage, model });
      if (!charged) return;
      const shown = showUsage({ ...usage, vendor: 'x' }, charged) as typeof usage;
      const total = totalInputTokens(charged) + charged.outputTokens;
      assert.equal(shown.prompt_tokens, totalInputTokens(charged));
      assert.equal(shown.completion_tokens, charged.outputTokens);
      assert.equal(shown.total_tokens ?? total, total);
      const { unexplainedTokens: _, ...rest } = charged;
      assert.deepEqual(readUsage({ usage: shown, model }), rest);
    }),
  );
});

test('a usage that is charged as it stands is shown as it stands', () => {
  const usage = {
    queue_time: 0.5,
    prompt_tokens: 5,
    completion_tokens: 9,
    prompt_cache_hit_tokens: 4,
    completion_tokens_details: { reasoning_tokens: 4, audio_tokens: 0 },
  };
  assert.equal(showUsage(usage, readUsage({ usage })!), usage);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from '../../../tests/support/property.ts';
import { mergeUsage, noUsage, totalInputTokens, type Usage } from '../../canonical/usage.ts';
import { readUsage, showUsage } from './usage.ts';

type More = { total?: number; input?: object | null; output?: object; [top: string]: unknown };

/** Usage as hosts write it. `input` and `output`: the details of the prompt and the completion. */
function counts(prompt?: number, completion?: number, more: More = {}): object {
  const { total, input, output, ...top } = more;
  return {
    ...(prompt !== undefined && { prompt_tokens: prompt }),
    ...(completion !== undefined && { completion_tokens: completion }),
    ...(total !== undefined && { total_tokens: total }),
    ...(input !== undefined && { prompt_tokens_details: input }),
    ...(output && { completion_tokens_details: output }),
    ...top,
  };
}

const cases: Record<string, [given: unknown, read: object | null]> = {
  'no input is no count': [counts(0, 0), null],
  'input and output': [counts(5, 3), { inputTokens: 5, outputTokens: 3 }],
  'the names of Anthropic, whose input is without the cache': [
    {
      input_tokens: 5,
      output_tokens: 3,
      cache_read_input_tokens: 4,
      cache_creation_input_tokens: 2,
    },
    { inputTokens: 5, cacheReadTokens: 4, cacheWriteTokens: 2, outputTokens: 3 },
  ],
  'the names of Anthropic, where the total has the cache in the input': [
    { input_tokens: 100, output_tokens: 5, total_tokens: 105, cache_read_input_tokens: 80 },
    { inputTokens: 20, cacheReadTokens: 80, outputTokens: 5 },
  ],
  'the names of Responses': [
    {
      input_tokens: 5,
      output_tokens: 3,
      total_tokens: 8,
      input_tokens_details: { cached_tokens: 4 },
      output_tokens_details: { reasoning_tokens: 2 },
    },
    { inputTokens: 1, cacheReadTokens: 4, outputTokens: 3, reasoningTokens: 2 },
  ],
  'the cached and written part of the input is taken out of it': [
    counts(10, 1, { input: { cached_tokens: 6, cache_write_tokens: 3 } }),
    { inputTokens: 1, cacheReadTokens: 6, cacheWriteTokens: 3, outputTokens: 1 },
  ],
  'more cache than input, without a total, is beside the input': [
    counts(10, 1, { input: { cached_tokens: 60, cache_write_tokens: 3 } }),
    { inputTokens: 10, cacheReadTokens: 60, cacheWriteTokens: 3, outputTokens: 1 },
  ],
  'more cache than input, where the total has no room for it: Grok on Azure': [
    counts(78, 9, {
      total: 87,
      input: { cached_tokens: 158, audio_tokens: 0, text_tokens: 78 },
      output: { reasoning_tokens: 0, audio_tokens: 0 },
    }),
    { cacheReadTokens: 78, outputTokens: 9 },
  ],
  'cached input beside the prompt, as Anthropic names it': [
    counts(368, 19, {
      total: 10923,
      cache_read_input_tokens: 10536,
      cache_creation_input_tokens: 0,
    }),
    { inputTokens: 368, cacheReadTokens: 10536, outputTokens: 19 },
  ],
  'cached input beside the prompt, as OpenAI names it': [
    counts(368, 19, { total: 10923, input: { cached_tokens: 10536 } }),
    { inputTokens: 368, cacheReadTokens: 10536, outputTokens: 19 },
  ],
  'cached input inside the prompt, under Anthropic’s names too': [
    counts(10904, 19, {
      total: 10923,
      input: { cached_tokens: 10536 },
      cache_read_input_tokens: 10536,
      cache_creation_input_tokens: 300,
    }),
    { inputTokens: 68, cacheReadTokens: 10536, cacheWriteTokens: 300, outputTokens: 19 },
  ],
  'cache reads and writes beside the prompt': [
    counts(8, 20, {
      total: 3_128,
      cache_read_input_tokens: 2_000,
      cache_creation_input_tokens: 1_100,
    }),
    { inputTokens: 8, cacheReadTokens: 2_000, cacheWriteTokens: 1_100, outputTokens: 20 },
  ],
  'cache writes beside the prompt, and reads inside it': [
    counts(100, 20, { total: 1_220, input: { cached_tokens: 40, cache_creation_tokens: 1_100 } }),
    { inputTokens: 60, cacheReadTokens: 40, cacheWriteTokens: 1_100, outputTokens: 20 },
  ],
  'cached input and reasoning, both beside their counts': [
    counts(12, 30, {
      total: 842,
      input: { cached_tokens: 500 },
      output: { reasoning_tokens: 300 },
    }),
    { inputTokens: 12, cacheReadTokens: 500, outputTokens: 330, reasoningTokens: 300 },
  ],
  'audio beside the prompt, as Mistral counts': [
    counts(9, 201, { total: 585, input: { audio_tokens: 375, cached_tokens: 0 } }),
    { inputTokens: 384, outputTokens: 201, audioTokens: 375, cacheReadAudioTokens: 0 },
  ],
  'audio inside the prompt, as OpenAI counts': [
    counts(400, 20, { total: 420, input: { audio_tokens: 375, cached_tokens: 0 } }),
    { inputTokens: 400, outputTokens: 20, audioTokens: 375, cacheReadAudioTokens: 0 },
  ],
  'sound of which the cache can have had a part': [
    counts(400, 20, { total: 420, input: { audio_tokens: 375, cached_tokens: 100 } }),
    {
      inputTokens: 300,
      cacheReadTokens: 100,
      outputTokens: 20,
      audioTokens: 300,
      cacheReadAudioTokens: 75,
    },
  ],
  'a surplus that nothing explains is no output': [
    counts(20, 198, { total: 623 }),
    { inputTokens: 20, outputTokens: 198, unexplainedTokens: 405 },
  ],
  'a surplus is no output beside cached input either': [
    counts(20, 9, { total: 1_000, input: { cached_tokens: 900 } }),
    { inputTokens: 20, cacheReadTokens: 900, outputTokens: 9, unexplainedTokens: 71 },
  ],
  'more reasoning than output, which the total does not have': [
    counts(10, 100, { total: 110, output: { reasoning_tokens: 100_000 } }),
    { inputTokens: 10, outputTokens: 100, reasoningTokens: 100, unexplainedTokens: 99_900 },
  ],
  'reasoning at the top, as SGLang sends it': [
    counts(5, 9, { total: 14, reasoning_tokens: 4 }),
    { inputTokens: 5, outputTokens: 9, reasoningTokens: 4 },
  ],
  'Mistral’s cache': [
    counts(5, 1, { total: 6, num_cached_tokens: 4 }),
    { inputTokens: 1, cacheReadTokens: 4, outputTokens: 1 },
  ],
  'DeepSeek’s cache': [
    counts(5, 1, { prompt_cache_hit_tokens: 4 }),
    { inputTokens: 1, cacheReadTokens: 4, outputTokens: 1 },
  ],
  'Together’s cache': [
    counts(5, 1, { cached_tokens: 4 }),
    { inputTokens: 1, cacheReadTokens: 4, outputTokens: 1 },
  ],
  'reasoning inside the output, as OpenAI counts': [
    counts(5, 9, { total: 14, output: { reasoning_tokens: 4 } }),
    { inputTokens: 5, outputTokens: 9, reasoningTokens: 4 },
  ],
  'reasoning beside the output, as xAI counts': [
    counts(12, 300, { total: 540, output: { reasoning_tokens: 228 } }),
    { inputTokens: 12, outputTokens: 528, reasoningTokens: 228 },
  ],
  'more reasoning than output without a total': [
    counts(12, 1, { output: { reasoning_tokens: 228 } }),
    { inputTokens: 12, outputTokens: 229, reasoningTokens: 228 },
  ],
  'Alibaba’s cache writes': [
    counts(100, 1, { input: { cached_tokens: 10, cache_creation_input_tokens: 60 } }),
    { inputTokens: 30, cacheReadTokens: 10, cacheWriteTokens: 60, outputTokens: 1 },
  ],
  'details that are null': [counts(5, 3, { input: null }), { inputTokens: 5, outputTokens: 3 }],
  'a negative count': [counts(-5, 3), { outputTokens: 3 }],
  'a fraction': [counts(5, 0.5), { inputTokens: 5 }],
  'an absurd count': [counts(5, 1e15), { inputTokens: 5 }],
  'a missing count': [counts(5), { inputTokens: 5 }],
  'no count of the input, as OpenRouter sends it': [counts(0, 7), { outputTokens: 7 }],
  'reasoning beside the output, and no count of the input': [
    counts(undefined, 1, { output: { reasoning_tokens: 228 } }),
    { outputTokens: 229, reasoningTokens: 228 },
  ],
  null: [null, null],
};

for (const [name, [given, read]] of Object.entries(cases)) {
  test(`usage: ${name}`, () =>
    assert.deepEqual(readUsage({ usage: given }), read && { ...noUsage, ...read }));
}

const geminiCases: Record<string, [usage: object, read: object]> = {
  'thoughts in the total only': [
    counts(20, 198, { total: 623 }),
    { inputTokens: 20, outputTokens: 603 },
  ],
  'an answer of thoughts alone': [
    counts(20, undefined, { total: 623 }),
    { inputTokens: 20, outputTokens: 603 },
  ],
  'thoughts inside the output, as OpenRouter counts': [
    counts(20, 26, { total: 46, output: { reasoning_tokens: 25 } }),
    { inputTokens: 20, outputTokens: 26, reasoningTokens: 25 },
  ],
  'thoughts beside the output and the total, as DeepInfra counts': [
    counts(20, 84, { total: 104, output: { reasoning_tokens: 1_081 } }),
    { inputTokens: 20, outputTokens: 1_165, reasoningTokens: 1_081 },
  ],
};

for (const [name, [usage, read]] of Object.entries(geminiCases)) {
  test(`usage of Gemini: ${name}`, () =>
    assert.deepEqual(readUsage({ model: 'google/gemini-2.5-flash', usage }), {
      ...noUsage,
      ...read,
    }));
}

test('usage of Perplexity’s research: its reasoning is beside completion and total', () => {
  const usage = counts(33, 7_163, {
    total: 7_196,
    citation_tokens: 20_016,
    num_search_queries: 18,
    reasoning_tokens: 73_997,
    cost: { total_cost: 0.409 },
  });
  assert.deepEqual(readUsage({ model: 'sonar-deep-research', usage }), {
    ...noUsage,
    inputTokens: 33,
    outputTokens: 81_160,
    reasoningTokens: 73_997,
  });
});

test('usage of older streams of Groq is in `x_groq` only, that of Moonshot in the choice', () => {
  const usage = counts(5, 3, { total: 8, queue_time: 0.1 });
  const read = { ...noUsage, inputTokens: 5, outputTokens: 3 };
  assert.deepEqual(readUsage({ x_groq: { id: 'req', usage } }), read);
  assert.deepEqual(readUsage({ usage: null, x_groq: { usage } }), read);
  assert.equal(readUsage({ x_groq: { id: 'req' } }), null);
  const choice = { index: 0, delta: {}, finish_reason: 'stop' };
  assert.deepEqual(readUsage({ choices: [{ ...choice, usage }] }), read);
  assert.deepEqual(readUsage({ choices: [{ ...choice, usage: counts(9, 9) }], usage }), read);
  assert.equal(readUsage({ choices: [choice, null] }), null);
});

const anyValue = fc.oneof(
  fc.integer({ min: -1_000, max: 1_000 }),
  fc.double(),
  fc.maxSafeInteger(),
  fc.constantFrom(null, '5', true, [], {}, 1e9, 0.5),
);
const topNames =
  'prompt_tokens completion_tokens total_tokens cached_tokens num_cached_tokens prompt_cache_hit_tokens prompt_cache_miss_tokens ' +
  'cache_read_input_tokens cache_creation_input_tokens reasoning_tokens citation_tokens cost cost_in_usd_ticks';
const detailNames =
  'cached_tokens cache_write_tokens cache_creation_tokens audio_tokens text_tokens reasoning_tokens';
const fieldsOf = (names: string, value: fc.Arbitrary<unknown>) =>
  fc.record(Object.fromEntries(names.split(' ').map((name) => [name, value])), {
    requiredKeys: [],
  });
const wildDetails = fc.oneof(fieldsOf(detailNames, anyValue), anyValue);
const wildUsage = fc
  .tuple(fieldsOf(topNames, anyValue), wildDetails, wildDetails)
  .map(([top, input, output]) => ({
    ...top,
    prompt_tokens_details: input,
    completion_tokens_details: output,
  }));

test('whatever a host writes, every count is a whole number of at least 0, and stays so in a stream', () => {
  const model = fc.constantFrom('m', 'gemini-3-pro', 'sonar-deep-research');
  fc.assert(
    fc.property(fc.array(wildUsage, { minLength: 1, maxLength: 4 }), model, (usages, name) => {
      let merged: Usage | null = null;
      for (const usage of usages) {
        merged = mergeUsage(merged, readUsage({ usage, model: name }));
        if (!merged) continue;
        for (const tokens of Object.values(merged))
          assert.ok(Number.isInteger(tokens) && (tokens as number) >= 0, JSON.stringify(merged));
        assert.ok(merged.reasoningTokens <= merged.outputTokens);
      }
    }),
  );
});

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
    own: fc.record({
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
  .map(({ own, total, surplus, beside }) => {
    const { prompt_tokens_details: input, completion_tokens_details: output } = own;
    const parts = [
      Math.max(own.cache_read_input_tokens, input.cached_tokens ?? 0),
      Math.max(input.cache_write_tokens ?? 0, input.cache_creation_tokens ?? 0),
      input.audio_tokens ?? 0,
      output.reasoning_tokens ?? 0,
    ];
    const sum = own.prompt_tokens + own.completion_tokens + surplus;
    const added = parts.reduce((all, part, index) => all + (beside[index] ? part : 0), 0);
    const shown = total === 0 ? sum + added : total;
    return { ...own, ...(shown !== undefined && { total_tokens: shown }) };
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

test('under the names of other formats neither, but for a cache that cannot be inside the input', () => {
  fc.assert(
    fc.property(anyUsage, ({ prompt_tokens: input, completion_tokens: output, ...rest }) => {
      const usage = { input_tokens: input, output_tokens: output, ...rest };
      const read = readUsage({ usage }) ?? noUsage;
      const { cache_read_input_tokens: cached, total_tokens: total = Infinity } = rest;
      const most = Math.max(total, input + output, cached > input ? input + cached + output : 0);
      const charged = totalInputTokens(read) + read.outputTokens;
      assert.ok(charged >= input + output && charged <= most, `${charged} of ${most}`);
    }),
  );
});

test('what is shown is what is charged, read in OpenAI’s way', () => {
  fc.assert(
    fc.property(
      anyUsage,
      fc.constantFrom('m', 'gemini-3-pro', 'sonar-deep-research'),
      (usage, model) => {
        const charged = readUsage({ usage, model });
        if (!charged) return;
        const shown = showUsage({ ...usage, vendor: 'x' }, charged) as typeof usage;
        const total = totalInputTokens(charged) + charged.outputTokens;
        assert.equal(shown.prompt_tokens, totalInputTokens(charged));
        assert.equal(shown.completion_tokens, charged.outputTokens);
        assert.equal(shown.total_tokens ?? total, total);
        const { unexplainedTokens: _, ...rest } = charged;
        assert.deepEqual(readUsage({ usage: shown, model }), rest);
      },
    ),
  );
});

test('counts under other names are shown under those that clients read, too', () => {
  const usage = { input_tokens: 5, output_tokens: 3 };
  const names = { prompt_tokens: 5, completion_tokens: 3, total_tokens: 8 };
  assert.deepEqual(showUsage(usage, readUsage({ usage })!), { ...usage, ...names });
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

// Small made-up lists of both forms and a small catalogue: every kind of difference, and malformed
// entries.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ModelEntry } from '../../../config/model-schema.ts';
import { compareWithSource, type Proposal } from './compare.ts';
import { readGenaiPrices } from './genai-prices.ts';
import { readLitellm } from './litellm.ts';

const nowMs = Date.parse('2026-11-23T12:00:00Z');

const ours: ModelEntry & { id: string } = {
  id: 'big-one',
  context_tokens: 1_048_576,
  max_input_tokens: 1_048_576,
  max_output_tokens: 65_536,
  supports: { thinking: true, streaming: true, vision: false, tools: true },
  routes: [{ provider: 'openai', model: 'big-1' }],
  prices: {
    input: 2,
    output: 10,
    cache_read: 0.2,
    cache_write: 2.5,
    tiers: [{ above_input_tokens: 200_000, input: 4, output: 15, cache_read: 0.4, cache_write: 5 }],
  },
};

/** The catalogue's data in LiteLLM's format. */
const litellmEntry = {
  litellm_provider: 'openai',
  input_cost_per_token: 2e-6,
  output_cost_per_token: 1e-5,
  cache_read_input_token_cost: 2e-7,
  cache_creation_input_token_cost: 2.5e-6,
  cache_creation_input_token_cost_above_1hr: 4e-6,
  input_cost_per_token_above_200k_tokens: 4e-6,
  output_cost_per_token_above_200k_tokens: 1.5e-5,
  input_cost_per_token_above_200k_tokens_priority: 8e-6,
  max_input_tokens: 1_000_000,
  max_output_tokens: 65_536,
  supports_reasoning: true,
  supports_function_calling: true,
};
const genaiModel = {
  id: 'big-1',
  match: { equals: 'big-1' },
  context_window: 1_000_000,
  prices: {
    input_mtok: { base: 2, tiers: [{ start: 199_999, price: 4 }] },
    output_mtok: { base: 10, tiers: [{ start: 199_999, price: 15 }] },
    cache_read_mtok: 0.2,
    cache_write_1h_mtok: 4,
  },
};

const inLitellm = (change: object) => ({ 'big-1': { ...litellmEntry, ...change } });
const inGenai = (change: object) => [{ id: 'openai', models: [{ ...genaiModel, ...change }] }];

function compare(list: unknown, models = [ours]) {
  const source = readLitellm(list) ?? readGenaiPrices(list, { nowMs });
  assert(source);
  return compareWithSource(models, source, { nowMs });
}

const shown = (proposals: readonly Proposal[]) =>
  proposals.map(({ field, ours: own, theirs }) => [field, own, theirs]);

test('equal data agrees, including rounded limits and thresholds', () => {
  for (const list of [inLitellm({}), inGenai({})]) {
    assert.deepEqual(compare(list), { agree: ['big-one'], absent: [], proposals: [] });
  }
});

describe('models that do not answer conversations', () => {
  const of = (type: ModelEntry['type'], prices: object) =>
    ({ id: 'x', type, routes: [{ provider: 'openai', model: 'x' }], prices }) as typeof ours;
  const minute = of('transcription', { input: 0, output: 0, minute: 0.006 });
  const characters = of('speech', { input: 0, output: 0, million_characters: 15 });
  const search = of('rerank', { input: 0, output: 0, search: 0.002 });
  const tokens = of('transcription', { input: 2.5, output: 10 });
  const vectors = of('embedding', { input: 0.02, output: 0 });
  const inLists = (litellm: object, genai: object | null) => [
    { x: { litellm_provider: 'openai', mode: 'other', ...litellm } },
    ...(genai ? [[{ id: 'openai', models: [{ id: 'x', prices: genai }] }]] : []),
  ];
  const seconds = (usd: number) =>
    inLists({ input_cost_per_second: usd / 3_600 }, { input_audio_hours: usd });
  const letters = (usd: number) =>
    inLists({ input_cost_per_character: usd / 1e6 }, { input_mchars: usd });
  const searched = (usd: number) => inLists({ input_cost_per_query: usd }, null);
  const sounds = inLists(
    { input_cost_per_token: 2.5e-6, input_cost_per_audio_token: 6e-6, output_cost_per_token: 1e-5 },
    { input_mtok: 2.5, input_audio_mtok: 6, output_mtok: 10 },
  );
  const embedded = inLists(
    { input_cost_per_token: 2e-8, output_cost_per_token: 2e-8, max_output_tokens: 5 },
    { input_mtok: 0.02 },
  );
  type Case = readonly [
    what: string,
    typeof ours,
    lists: readonly unknown[],
    ...differs: unknown[],
  ];
  const cases: readonly Case[] = [
    ['a minute, of which lists round the second', minute, seconds(0.36)],
    ['another minute', minute, seconds(0.72), ['minute', 0.006, 0.012]],
    ['characters', characters, letters(15)],
    ['other characters', characters, letters(30), ['million_characters', 15, 30]],
    ['a search', search, searched(0.002)],
    ['another search', search, searched(0.001), ['search', 0.002, 0.001]],
    ['tokens of audio, which cost more than text', tokens, sounds, ['input', 2.5, 6]],
    ['vectors, which have no output', vectors, embedded],
  ];
  for (const [what, model, lists, ...differences] of cases)
    test(what, () => {
      for (const list of lists) {
        const { agree, absent, proposals } = compare(list, [model]);
        assert.deepEqual(shown(proposals), differences);
        assert.deepEqual([agree, absent], [differences.length === 0 ? ['x'] : [], []]);
      }
    });

  test('a list without the unit does not have the model', () => {
    const [list] = inLists({ input_cost_per_token: 1, output_cost_per_token: 1 }, null);
    assert.deepEqual(compare(list, [minute]).absent, ['x']);
  });
});

test('a proposal contains the date, model, field, both values and the source', () => {
  const stated = { date: '2026-11-23', model: 'big-one', source: 'litellm' };
  const proposals = [{ ...stated, field: 'input', ours: 2, theirs: 3 }];
  const compared = compare(inLitellm({ input_cost_per_token: 3e-6 }));
  assert.deepEqual(compared, { agree: [], absent: [], proposals });
});

test('the last day of a model and the models that we lack are proposed; names of known ones are not', () => {
  const list = {
    ...inLitellm({ mode: 'chat', deprecation_date: '2026-12-11' }),
    'big-1-2026-09-01': { ...litellmEntry, mode: 'chat' },
    'big-1-latest': { ...litellmEntry, mode: 'chat' },
    'ft:big-2': { ...litellmEntry, mode: 'chat' },
    'big-2': { ...litellmEntry, mode: 'responses', deprecation_date: '2026-11-24' },
    ended: { ...litellmEntry, mode: 'chat', deprecation_date: '2026-11-23' },
    drawn: { ...litellmEntry, mode: 'image_generation' },
    free: { ...litellmEntry, mode: 'chat', input_cost_per_token: 0 },
    elsewhere: { ...litellmEntry, mode: 'chat', litellm_provider: 'azure' },
  };
  const { agree, proposals } = compare(list);
  assert.deepEqual(agree, ['big-one']);
  assert.deepEqual(
    proposals.map(({ model, field, ours: own, theirs }) => [model, field, own, theirs]),
    [
      ['big-one', 'retires_at', null, '2026-12-11'],
      ['openai/big-2', 'input', null, 2],
      ['openai/big-2', 'output', null, 10],
      ['openai/big-2', 'cache_read', null, 0.2],
      ['openai/big-2', 'cache_write', null, 2.5],
      ['openai/big-2', 'cache_write_1h', null, 4],
    ],
  );
  const known = { ...ours, retires_at: '2026-12-11' };
  assert.deepEqual(compare(inLitellm({ deprecation_date: '2026-12-11' }), [known]).proposals, []);
  assert.deepEqual(compare(inLitellm({ deprecation_date: 'soon' })).proposals, []);

  const { id: _id, match: _match, ...stated } = genaiModel;
  const models = [
    genaiModel,
    { ...stated, id: 'big-2', match: {} },
    { ...stated, id: 'old', match: {}, deprecated: true },
  ];
  assert.deepEqual(
    new Set(compare([{ id: 'openai', models }]).proposals.map(({ model }) => model)),
    new Set(['openai/big-2']),
  );
});

const tiered_pricing = [
  { range: [0, 100_000], input_cost_per_token: 2e-6 },
  { range: [100_000, 900_000], input_cost_per_token: 3e-6 },
];
const untiered = { input_mtok: 2, output_mtok: 10 };
const heard = { ...genaiModel.prices, input_audio_mtok: 7 };
/** In a row: a field of LiteLLM or a change of genai-prices, and the difference that is proposed. */
const differences: [string, object, ...proposed: unknown[]][] = [
  ['output', { output_cost_per_token: 1.2e-5 }, 'output', 10, 12],
  ['cache read', { cache_read_input_token_cost: 5e-7 }, 'cache_read', 0.2, 0.5],
  ['cache write', { cache_creation_input_token_cost: 3e-6 }, 'cache_write', 2.5, 3],
  [
    'one-hour write, which we charge at twice the input',
    { cache_creation_input_token_cost_above_1hr: 5e-6 },
    'cache_write_1h',
    4,
    5,
  ],
  ["a tier's price", { input_cost_per_token_above_200k_tokens: 5e-6 }, 'tiers[200000].input', 4, 5],
  [
    'a tier that we do not have',
    { input_cost_per_token_above_512k_tokens: 8e-6 },
    'tiers[512000].input',
    null,
    8,
  ],
  ['a tier that only we have', inGenai({ prices: untiered }), 'tiers[200000].input', 4, null],
  ['context', inGenai({ context_window: 400_000 }), 'context_tokens', 1_048_576, 400_000],
  ['output limit', { max_output_tokens: 8_192 }, 'max_output_tokens', 65_536, 8_192],
  ['thinking', { supports_reasoning: false }, 'supports.thinking', true, false],
  ['vision', { supports_vision: true }, 'supports.vision', false, true],
  ['hearing', { supports_audio_input: true }, 'supports.audio', false, true],
  ['sound', { input_cost_per_audio_token: 7e-6 }, 'audio', 2, 7],
  ['sound in the other list', inGenai({ prices: heard }), 'audio', 2, 7],
  ['tools', { supports_function_calling: false }, 'supports.tools', true, false],
  ['ranges', { tiered_pricing }, 'tiers[100000].input', null, 3],
];
for (const [name, change, ...proposed] of differences)
  test(`a difference is proposed: ${name}`, () => {
    const list = Array.isArray(change) ? change : inLitellm(change);
    assert.deepEqual(shown(compare(list).proposals), [proposed]);
  });

describe('genai-prices by date and time of day', () => {
  const priced = (input: number) => ({
    ...genaiModel.prices,
    input_mtok: { base: input, tiers: [{ start: 200_000, price: 4 }] },
  });
  const from = (day: string, input: number) => ({
    constraint: { type: 'start_date', start_date: day },
    prices: priced(input),
  });

  test('the price that started last counts', () => {
    const prices = [{ prices: priced(9) }, from('2026-01-01', 2), from('2026-12-01', 5)];
    assert.deepEqual(compare(inGenai({ prices })).agree, ['big-one']);
  });

  test('with prices by time of day, the highest counts', () => {
    const hours = { type: 'time_of_date', start_time: '01:00:00Z', end_time: '04:00:00Z' };
    const prices = [{ prices: priced(1) }, { constraint: hours, prices: priced(2) }];
    assert.deepEqual(compare(inGenai({ prices })).agree, ['big-one']);
  });
});

test('our current price is compared', () => {
  const later = { effective_from: '2026-12-01', input: 9, output: 9 };
  const changing = { ...ours, prices: [later, { input: 2, output: 10 }] };
  const list = inGenai({ prices: { input_mtok: 2, output_mtok: 10 } });
  assert.deepEqual(compare(list, [changing]).agree, ['big-one']);
});

describe('which entry of a list is which of our routes', () => {
  const at = (provider: string, model: string) => [{ ...ours, routes: [{ provider, model }] }];
  const keys: [provider: string, prefix: string, litellmProvider: string][] = [
    ['anthropic', '', 'anthropic'],
    ['google', 'gemini/', 'gemini'],
    ['xai', 'xai/', 'xai'],
    ['deepseek', 'deepseek/', 'deepseek'],
    ['mistral', 'mistral/', 'mistral'],
    ['groq', 'groq/', 'groq'],
    ['moonshotai', 'moonshot/', 'moonshot'],
    ['zai', 'zai/', 'zai'],
    ['minimax', 'minimax/', 'minimax'],
    ['alibaba', 'dashscope/', 'dashscope'],
    ['meta', 'meta_llama/', 'meta_llama'],
  ];
  for (const [provider, prefix, name] of keys) {
    test(`LiteLLM lists ${provider} as ${prefix || 'bare ids'}`, () => {
      const list = { [`${prefix}m/1`]: { ...litellmEntry, litellm_provider: name } };
      assert.deepEqual(compare(list, at(provider, 'm/1')).agree, ['big-one']);
    });
  }

  test('the same id at another provider is another model', () => {
    const list = {
      'big-1': { ...litellmEntry, litellm_provider: 'azure' },
      'azure/big-1': litellmEntry,
    };
    assert.deepEqual(compare(list).absent, ['big-one']);
  });

  test('genai-prices: finds models by id or by a match of the full id, under its own provider names', () => {
    const ids = { or: [{ equals: 'Big-1' }, { or: [{ equals: 'big-1' }] }] };
    const patterns = { or: [{ starts_with: 'gro' }, { regex: '(a+)+$' }] };
    const models = [
      { ...genaiModel, id: 'big', match: ids },
      { ...genaiModel, id: 'other', match: patterns },
    ];
    const list = [{ id: 'x-ai', models }];
    assert.deepEqual(compare(list, at('xai', 'big-1')).agree, ['big-one']);
    for (const model of ['grok-9', 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!']) {
      assert.deepEqual(compare(list, at('xai', model)).absent, ['big-one'], model);
    }
  });

  test('a provider that no list contains is absent, for any name', () => {
    for (const provider of ['my-vllm', 'constructor', '__proto__']) {
      for (const list of [inLitellm({}), inGenai({})]) {
        assert.deepEqual(compare(list, at(provider, 'big-1')).absent, ['big-one']);
      }
    }
  });
});

test('text, negative numbers and nonsense count as missing', () => {
  const nonsense = ['0.000002', 'one of: chat', -1, 0, 1e12, null, [], {}, true];
  for (const value of nonsense) {
    const odd = Object.fromEntries(Object.keys(litellmEntry).map((field) => [field, value]));
    const right = { input_cost_per_token: 2e-6, output_cost_per_token: 1e-5 };
    const wrong = {
      supports_reasoning: 'x',
      supports_function_calling: 'x',
      tiered_pricing: value,
    };
    const list = { 'big-1': { ...odd, litellm_provider: 'openai', ...right, ...wrong } };
    const missing = [['tiers[200000].input', 4, null]];
    assert.deepEqual(shown(compare(list).proposals), missing, JSON.stringify(value));
    const without = { ...inLitellm({}), 'big-1': value, x: litellmEntry };
    assert.deepEqual(compare(without).absent, ['big-one']);
    for (const part of [
      { prices: value },
      { prices: [value] },
      { prices: { input_mtok: { base: value, tiers: value } } },
    ]) {
      assert.deepEqual(compare(inGenai(part)).absent, ['big-one']);
    }
    assert.deepEqual(compare([value, { id: 'openai', models: [value] }]).absent, ['big-one']);
  }
});

test('anything else is not a price list', () => {
  for (const value of [null, 7, 'text', [], {}, [{}], { models: [] }, { a: { b: 1 } }])
    assert.deepEqual([readLitellm(value), readGenaiPrices(value, { nowMs })], [null, null]);
});

test('prices of service tiers and hours are proposed and compared', () => {
  const list = inLitellm({
    input_cost_per_token_flex: 1e-6,
    output_cost_per_token_flex: 5e-6,
    provider_specific_entry: { us: 1.1, fast: 2 },
    off_peak_pricing: { input_cost_per_token: 1.5e-6, windows: [] },
  });
  const fieldsOf = (prices: object) =>
    compare(list, [{ ...ours, prices: { ...(ours.prices as object), ...prices } } as typeof ours])
      .proposals.filter(({ field }) => /service_tiers|hours/.test(field))
      .map(({ field, ours: own, theirs }) => [field, own, theirs]);
  assert.deepEqual(fieldsOf({}), [
    ['service_tiers.flex.input', null, 1],
    ['service_tiers.flex.output', null, 5],
    ['service_tiers.priority.input', null, 4],
    ['service_tiers.priority.output', null, 20],
    ['service_tiers.priority.cache_read', null, 0.4],
    ['service_tiers.priority.cache_write', null, 5],
    ['service_tiers.priority.cache_write_1h', null, 8],
    ['hours[0].input', null, 1.5],
  ]);
  const priority = { input: 4, output: 20, cache_read: 0.4, cache_write: 5, cache_write_1h: 8 };
  const known = {
    service_tiers: { flex: { input: 1, output: 6 }, priority },
    hours: [{ utc: ['Mon 00:00-01:00'], input: 1.5, output: 9 }],
  };
  assert.deepEqual(fieldsOf(known), [['service_tiers.flex.output', 6, 5]]);
});

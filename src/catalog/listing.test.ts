import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createCatalog } from './catalog.ts';
import { listModelInfo, listModels, modelEntry, type Viewer } from './listing.ts';
import type { Model } from './model.ts';
import { readPrices } from './read-prices.ts';

const dayMs = 86_400_000;
const live = model('gpt-x', 'openai', [
  { input: 1.25, output: 10, cache_write: 1.5, cache_read: 0.125, tiers: [{ above_input_tokens: 5, input: 9, output: 9 }] },
  { effective_from: '2027-01-01', input: 2, output: 20 },
]);
const off = model('gemini-x', 'google', [{ input: 1, output: 1 }]);
const unpriced = model('mystery', 'openai', []);
const catalog = createCatalog({
  models: [live, off, unpriced],
  aliases: new Map([
    ['fast', live],
    ['slow', off],
  ]),
  liveProviders: new Set(['openai']),
  warnings: [],
});

const nobody: Viewer = { mode: 'live', models: null, nowMs: Date.UTC(2026, 10, 20), markup: 1, multiplierPpmOf: () => 1_000_000 };

describe('which models are listed', () => {
  const cases: [who: string, viewer: Viewer, ids: string[]][] = [
    ['nobody in particular sees what has a live route and a price, then the aliases', nobody, ['gpt-x', 'fast']],
    ['a test key sees all that have a price', { ...nobody, mode: 'test' }, ['gpt-x', 'gemini-x', 'fast', 'slow']],
    ['a restricted key sees only its own', { ...nobody, mode: 'test', models: new Set(['gemini-x']) }, ['gemini-x', 'slow']],
    ['a restricted live key does not see what cannot run', { ...nobody, models: new Set(['gemini-x']) }, []],
  ];
  for (const [who, viewer, ids] of cases) {
    test(who, () => {
      const { data, first_id, last_id, has_more, object } = listModels(catalog, viewer);
      assert.deepEqual(
        data.map(({ id }) => id),
        ids,
      );
      assert.deepEqual(
        { first_id, last_id, has_more, object },
        { first_id: ids[0] ?? null, last_id: ids.at(-1) ?? null, has_more: false, object: 'list' },
      );
      assert.deepEqual(
        listModelInfo(catalog, viewer).data.map(({ id }) => id),
        ids,
      );
    });
  }
});

test('an entry has the fields of both SDKs', () => {
  assert.deepEqual(listModels(catalog, nobody).data[0], {
    id: 'gpt-x',
    object: 'model',
    created: 1_700_000_000,
    owned_by: 'openai',
    type: 'model',
    display_name: 'The gpt-x',
    created_at: '2023-11-14T22:13:20Z',
  });
});

test('one model is found by any of its names, and an alias keeps its own id', () => {
  assert.equal(modelEntry(catalog, nobody, 'gpt-x')?.id, 'gpt-x');
  assert.equal(modelEntry(catalog, nobody, 'fast')?.id, 'fast');
  assert.equal(modelEntry(catalog, nobody, 'openai/gpt-x-20260101')?.id, 'gpt-x');
  assert.equal(modelEntry(catalog, nobody, 'gemini-x'), null);
  assert.equal(modelEntry(catalog, nobody, 'mystery'), null);
  assert.equal(modelEntry(catalog, nobody, 'unheard-of'), null);
  assert.equal(modelEntry(catalog, { ...nobody, models: new Set(['gemini-x']) }, 'gpt-x'), null);
});

describe('the info of a model', () => {
  test('has exactly the fields of the specification, with base prices in dollars per million', () => {
    assert.deepEqual(listModelInfo(catalog, nobody).data[0], {
      id: 'gpt-x',
      display_name: 'The gpt-x',
      max_input_tokens: 100,
      max_output_tokens: 20,
      supports_thinking: true,
      supports_streaming: true,
      supports_vision: false,
      input_price_per_1m: 1.25,
      output_price_per_1m: 10,
      cache_write_price_per_1m: 1.5,
      cache_read_price_per_1m: 0.125,
    });
  });

  test('has the price that is in effect, with the markup and the multiplier of the account', () => {
    assert.equal(inputPriceOf({ ...nobody, markup: 1.2 }), 1.5);
    assert.equal(inputPriceOf({ ...nobody, markup: 1.2, multiplierPpmOf: () => 500_000 }), 0.75);
    assert.equal(inputPriceOf({ ...nobody, nowMs: Date.UTC(2027, 0, 1) - 1 }), 1.25);
    assert.equal(inputPriceOf({ ...nobody, nowMs: Date.UTC(2027, 0, 1) + dayMs }), 2);
  });
});

function inputPriceOf(viewer: Viewer): number {
  return listModelInfo(catalog, viewer).data[0]!.input_price_per_1m;
}

function model(id: string, provider: string, prices: Parameters<typeof readPrices>[0]['prices']): Model {
  return {
    id,
    displayName: `The ${id}`,
    ownedBy: provider,
    createdAtSeconds: 1_700_000_000,
    contextTokens: 120,
    maxInputTokens: 100,
    maxOutputTokens: 20,
    supports: { thinking: true, streaming: true, vision: false, tools: true },
    routes: [{ provider, upstreamModel: id, api: null, rank: 0, weight: 1, contextTokens: null, lacks: new Set() }],
    prices: readPrices({ prices }, false),
    toolPrices: {},
    timeouts: {},
  };
}

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { columnOf } from '../../../tests/support/column-of.ts';
import { modelAt } from '../../../tests/support/model-at.ts';
import type { ImageModel } from '../../terms/image-model.ts';
import { createCatalog } from './catalog.ts';
import { createImageCatalog } from './image-catalog.ts';
import { type Charging, listModelInfo, listModels, modelEntry, type Viewer } from './listing.ts';
import { endpointSearchPrice } from './search-price.ts';
import type { ModelInfoEntry } from './model-info.ts';
import type { Model } from './model.ts';
import { readPrices } from './read-prices.ts';

const live = model('gpt-x', 'openai', [
  {
    input: 1.25,
    output: 10,
    cache_write: 1.5,
    cache_read: 0.125,
    tiers: [{ above_input_tokens: 5, input: 9, output: 9 }],
  },
  {
    effective_from: '2027-01-01',
    input: 2,
    output: 20,
    cache_write: 2.5,
    cache_write_1h: 4,
    cache_read: 0.2,
    tiers: [{ above_input_tokens: 50, input: 4, output: 40 }],
  },
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

const nobody: Viewer = {
  mode: 'live',
  models: null,
  nowMs: Date.UTC(2026, 10, 20),
  markup: 1,
  multiplierPpmOf: () => 1_000_000,
};

const charging: Charging = {
  providers: {},
  searchPrices: (factor) => {
    const priceOf = (statedUsd: number) =>
      endpointSearchPrice({ provider: null, num: 10, calls: 1 }, { ...factor, statedUsd });
    return { usual: priceOf(0.005), most: priceOf(0.02) };
  },
  isSearchLive: true,
};

describe('which models are listed', () => {
  const models = new Set(['gemini-x']);
  const cases: [who: string, viewer: Partial<Viewer>, ids: string][] = [
    [
      'a caller without a key sees models with a live route and a price, then the aliases',
      {},
      'gpt-x fast',
    ],
    ['a test key sees every model with a price', { mode: 'test' }, 'gpt-x gemini-x fast slow'],
    ['a restricted key sees only its own', { mode: 'test', models }, 'gemini-x slow'],
    ['a restricted live key does not see models that cannot run', { models }, ''],
  ];
  for (const [who, fields, expected] of cases) {
    test(who, () => {
      const viewer = { ...nobody, ...fields };
      const ids = expected.split(' ').filter(Boolean);
      const { data, ...rest } = listModels(catalog, viewer);
      assert.deepEqual(columnOf(data, 'id'), ids);
      const [first_id, last_id] = [ids[0] ?? null, ids.at(-1) ?? null];
      assert.deepEqual(rest, { first_id, last_id, has_more: false, object: 'list' });
      assert.deepEqual(columnOf(listModelInfo(catalog, viewer, charging).data, 'id'), ids);
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
    max_input_tokens: 100,
    max_tokens: 20,
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
  test('has all prices in dollars: every bucket, tier, future price and search', () => {
    assert.deepEqual(infoOf(nobody), {
      id: 'gpt-x',
      display_name: 'The gpt-x',
      context_window: 120,
      max_input_tokens: 120,
      max_prompt_tokens: 100,
      max_output_tokens: 20,
      supports_thinking: true,
      supports_streaming: true,
      supports_vision: false,
      supports_audio: false,
      input_price_per_1m: 1.25,
      output_price_per_1m: 10,
      cache_write_price_per_1m: 1.5,
      cache_write_1h_price_per_1m: 2.5,
      cache_read_price_per_1m: 0.125,
      price_tiers: [{ above_input_tokens: 5, ...flat(9) }],
      price_variants: [],
      scheduled_prices: [
        {
          effective_from: '2027-01-01T00:00:00Z',
          input_price_per_1m: 2,
          output_price_per_1m: 20,
          cache_write_price_per_1m: 2.5,
          cache_write_1h_price_per_1m: 4,
          cache_read_price_per_1m: 0.2,
          price_tiers: [{ above_input_tokens: 50, ...flat(4), output_price_per_1m: 40 }],
          price_variants: [],
        },
      ],
      search_prices: { web_search: 0.01, web_search_preview: 0.01 },
    });
  });

  test('has tiers, future prices and searches as the account pays them', () => {
    const own = infoOf({ ...nobody, markup: 1.2, multiplierPpmOf: () => 500_000 });
    const [later] = own.scheduled_prices;
    assert.deepEqual(own.price_tiers, [{ above_input_tokens: 5, ...flat(5.4) }]);
    assert.deepEqual([later!.input_price_per_1m, later!.cache_write_1h_price_per_1m], [1.2, 2.4]);
    const tier = { input_price_per_1m: 2.4, output_price_per_1m: 24 };
    assert.partialDeepStrictEqual(later!.price_tiers[0], tier);
    assert.deepEqual(own.search_prices, { web_search: 0.006, web_search_preview: 0.006 });
    const afterwards = infoOf({ ...nobody, nowMs: Date.UTC(2027, 0, 1) });
    assert.deepEqual(afterwards.scheduled_prices, []);
    assert.equal(afterwards.cache_write_1h_price_per_1m, 4);
  });

  test('has the highest search price among the providers that serve it', () => {
    const dear = { kind: 'openai-compatible', tool_prices: { web_search: 0.03 } } as const;
    const two = model('two-x', 'openai', [{ input: 1, output: 1 }]);
    const routes = [...two.routes, { ...two.routes[0]!, provider: 'dear' }];
    const searchPricesWith = (liveProviders: string[]) => {
      const models = [{ ...two, routes }];
      const rest = { aliases: new Map(), warnings: [], liveProviders: new Set(liveProviders) };
      const only = createCatalog({ models, ...rest });
      const [entry] = listModelInfo(only, nobody, { ...charging, providers: { dear } }).data;
      return (entry as ModelInfoEntry).search_prices;
    };
    const both = { web_search: 0.03, web_search_preview: 0.01 };
    assert.deepEqual(searchPricesWith(['openai', 'dear']), both);
    assert.deepEqual(searchPricesWith(['dear']), { web_search: 0.03 });
  });

  test('contains the price of the search endpoint if the caller may use it', () => {
    const searchOf = (viewer: Viewer, with_: Partial<typeof charging> = {}) =>
      listModelInfo(catalog, viewer, { ...charging, ...with_ }).web_search;
    const half = { id: 'web-search', price_per_search: 0.0025, price_per_search_max: 0.01 };
    assert.deepEqual(searchOf({ ...nobody, multiplierPpmOf: () => 500_000 }), half);
    // A list of models does not limit searches.
    for (const models of [['web-search'], ['gpt-x'], []])
      assert.equal(searchOf({ ...nobody, models: new Set(models) })?.price_per_search, 0.005);
    assert.equal(searchOf(nobody, { isSearchLive: false }), null);
    const inTests = searchOf({ ...nobody, mode: 'test' }, { isSearchLive: false });
    assert.equal(inTests?.price_per_search, 0.005);
    assert.equal(searchOf(nobody, { searchPrices: () => ({ usual: null, most: null }) }), null);
  });

  test("has the current price with the account's markup and multiplier", () => {
    for (const [fields, price] of [
      [{ markup: 1.2 }, 1.5],
      [{ markup: 1.2, multiplierPpmOf: () => 500_000 }, 0.75],
      [{ nowMs: Date.UTC(2027, 0, 1) - 1 }, 1.25],
      [{ nowMs: Date.UTC(2027, 0, 2) }, 2],
    ] as const)
      assert.equal(infoOf({ ...nobody, ...fields }).input_price_per_1m, price);
  });
});

describe('models that make images', () => {
  const drawing = imageModel('draw-x', 'openai');
  const edits = { mode: 'edit' as const, inputImages: { min: 1, max: 1 } };
  const editing = { ...imageModel('edit-x', 'bfl'), ...edits };
  const images = createImageCatalog({
    models: [drawing, editing, { ...imageModel('unpriced-x', 'openai'), price: null }],
    aliases: new Map([['draw', drawing]]),
    liveProviders: new Set(['openai']),
  });
  const both = createCatalog({
    models: [live],
    aliases: new Map(),
    liveProviders: new Set(['openai']),
    warnings: [],
    images,
  });
  const idsFor = (viewer: Viewer) =>
    listModels(both, viewer).data.map(({ id, type }) => `${type} ${id}`);

  test('are listed after the chat models, by the same rules', () => {
    assert.deepEqual(idsFor(nobody), ['model gpt-x', 'image draw-x', 'image draw']);
    const all = ['model gpt-x', 'image draw-x', 'image edit-x', 'image draw'];
    assert.deepEqual(idsFor({ ...nobody, mode: 'test' }), all);
    const models = new Set(['edit-x']);
    assert.deepEqual(idsFor({ ...nobody, mode: 'test', models }), ['image edit-x']);
    assert.equal(listModels(both, nobody).last_id, 'draw');
  });

  test('are found by any of their names if the caller may see them', () => {
    for (const [name, id] of [
      ['draw-x', 'draw-x'],
      ['draw', 'draw'],
      ['openai/draw-x-latest', 'draw-x'],
    ] as const)
      assert.equal(modelEntry(both, nobody, name)?.id, id);
    for (const name of ['edit-x', 'unpriced-x', 'nobody-x'])
      assert.equal(modelEntry(both, nobody, name), null);
    assert.equal(modelEntry(both, { ...nobody, models: new Set(['gpt-x']) }, 'draw-x'), null);
  });

  test('have token prices of 0 in their info, and image prices as the account pays them', () => {
    const viewer: Viewer = {
      ...nobody,
      mode: 'test',
      markup: 1.2,
      multiplierPpmOf: (id) => (id === 'edit-x' ? 500_000 : 1_000_000),
    };
    const [, drawn, edited] = listModelInfo(both, viewer, charging).data;
    assert.deepEqual(edited, {
      id: 'edit-x',
      display_name: 'The edit-x',
      type: 'image',
      mode: 'edit',
      family: 'gpt-image',
      max_input_images: 1,
      context_window: 0,
      max_input_tokens: 0,
      max_prompt_tokens: 0,
      max_output_tokens: 0,
      supports_thinking: false,
      supports_streaming: false,
      supports_vision: true,
      input_price_per_1m: 0,
      output_price_per_1m: 0,
      cache_write_price_per_1m: 0,
      cache_read_price_per_1m: 0,
      image_prices: {
        per_megapixel: true,
        output: { low: 0.006, high: 0.012 },
        further_megapixel: { low: 0.006, high: 0.012 },
        input_image: { low: 0.0006, high: 0.0006 },
        input_per_megapixel: false,
        tokens: null,
      },
    });
    assert.ok(drawn && 'image_prices' in drawn);
    assert.deepEqual(drawn.image_prices.output, { low: 0.012, high: 0.024 });
    assert.deepEqual(drawn.image_prices.input_image, {});
  });
});

function imageModel(id: string, provider: string): ImageModel {
  return {
    id,
    displayName: `The ${id}`,
    ownedBy: provider,
    createdAtSeconds: 1_700_000_000,
    retirement: null,
    mode: 'text-to-image',
    family: 'gpt-image',
    inputImages: { min: 0, max: 0 },
    promptCharactersMax: 100,
    countMax: 1,
    parameters: {
      kind: 'shape',
      aspectRatio: { default: '1:1', allowed: ['1:1'] },
      resolution: { default: '1k', allowed: ['1k'] },
      outputFormats: [],
    },
    routes: [{ provider, upstreamModels: {} }],
    price: {
      isListPrice: false,
      perMegapixel: true,
      output: { low: 10_000_000_000n, high: 20_000_000_000n },
      furtherMegapixel: { low: 10_000_000_000n, high: 20_000_000_000n },
      input: { low: 1_000_000_000n, high: 1_000_000_000n },
      inputPerMegapixel: false,
      tokens: null,
    },
  };
}

function infoOf(viewer: Viewer): ModelInfoEntry {
  return listModelInfo(catalog, viewer, charging).data[0] as ModelInfoEntry;
}

/** A price with only input and output. */
function flat(usd: number) {
  return {
    input_price_per_1m: usd,
    output_price_per_1m: usd,
    cache_write_price_per_1m: usd,
    cache_write_1h_price_per_1m: 2 * usd,
    cache_read_price_per_1m: usd,
  };
}

function model(
  id: string,
  provider: string,
  prices: Parameters<typeof readPrices>[0]['prices'],
): Model {
  return modelAt(id, provider, [provider], { prices: readPrices({ prices }, false) });
}

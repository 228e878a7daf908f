import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ImageModel } from '../canonical/image-model.ts';
import { createCatalog } from './catalog.ts';
import { createImageCatalog } from './image-catalog.ts';
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

describe('models that make images', () => {
  const drawing = imageModel('draw-x', 'openai');
  const editing = { ...imageModel('edit-x', 'bfl'), mode: 'edit' as const, inputImages: { min: 1, max: 1 } };
  const images = createImageCatalog({
    models: [drawing, editing, { ...imageModel('unpriced-x', 'openai'), price: null }],
    aliases: new Map([['draw', drawing]]),
    liveProviders: new Set(['openai']),
  });
  const both = createCatalog({ models: [live], aliases: new Map(), liveProviders: new Set(['openai']), warnings: [], images });
  const idsFor = (viewer: Viewer) => listModels(both, viewer).data.map(({ id, type }) => `${type} ${id}`);

  test('are listed after the chat models, by the same rules', () => {
    assert.deepEqual(idsFor(nobody), ['model gpt-x', 'image draw-x', 'image draw']);
    assert.deepEqual(idsFor({ ...nobody, mode: 'test' }), ['model gpt-x', 'image draw-x', 'image edit-x', 'image draw']);
    assert.deepEqual(idsFor({ ...nobody, mode: 'test', models: new Set(['edit-x']) }), ['image edit-x']);
    assert.equal(listModels(both, nobody).last_id, 'draw');
  });

  test('are found by any of their names, where they may be seen', () => {
    const found = ['draw-x', 'draw', 'openai/draw-x-latest'].map((name) => modelEntry(both, nobody, name)?.id);
    assert.deepEqual(found, ['draw-x', 'draw', 'draw-x']);
    const hidden = ['edit-x', 'unpriced-x', 'nobody-x'].map((name) => modelEntry(both, nobody, name));
    assert.deepEqual(hidden, [null, null, null]);
    assert.equal(modelEntry(both, { ...nobody, models: new Set(['gpt-x']) }, 'draw-x'), null);
  });

  test('have zero token prices in their info, and image prices as the account pays them', () => {
    const viewer: Viewer = {
      ...nobody,
      mode: 'test',
      markup: 1.2,
      multiplierPpmOf: (id) => (id === 'edit-x' ? 500_000 : 1_000_000),
    };
    const [, drawn, edited] = listModelInfo(both, viewer).data;
    assert.deepEqual(edited, {
      id: 'edit-x',
      display_name: 'The edit-x',
      type: 'image',
      mode: 'edit',
      family: 'gpt-image',
      max_input_images: 1,
      max_input_tokens: 0,
      max_output_tokens: 0,
      supports_thinking: false,
      supports_streaming: false,
      supports_vision: true,
      input_price_per_1m: 0,
      output_price_per_1m: 0,
      cache_write_price_per_1m: 0,
      cache_read_price_per_1m: 0,
      image_prices: { per_megapixel: true, output: { low: 0.006, high: 0.012 }, input_image: { low: 0.0006, high: 0.0006 } },
    });
    assert.ok(drawn && 'image_prices' in drawn);
    assert.deepEqual(drawn.image_prices, { per_megapixel: true, output: { low: 0.012, high: 0.024 }, input_image: {} });
  });
});

function imageModel(id: string, provider: string): ImageModel {
  return {
    id,
    displayName: `The ${id}`,
    ownedBy: provider,
    createdAtSeconds: 1_700_000_000,
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
      input: { low: 1_000_000_000n, high: 1_000_000_000n },
    },
  };
}

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
    passFields: new Set(),
    timeouts: {},
  };
}

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { loadCatalog, readBuiltInCatalog } from '../../domain/catalog/load-catalog.ts';
import { readBuiltInImageCatalog } from '../../domain/catalog/load-image-catalog.ts';
import { loadConfig } from '../../config/load.ts';
import { describeCatalogue, type CatalogueView } from './models.ts';

const config = loadConfig({
  env: { OPENAI_API_KEY: 'sk-none', TOLLGATE_CONFIG: '/dev/null' },
  cwd: '/',
});
const built = {
  ...config,
  pricing: { ...config.pricing, markup: 1.25 },
  aliases: { fast: 'gpt-6-luna', draw: 'flux-2' },
  models: {
    'gpt-6-luna': {
      prices: [
        {
          input: 1,
          output: 2,
          cache_read: 0.1,
          tiers: [{ above_input_tokens: 1_000, input: 3, output: 4 }],
        },
        { effective_from: '2027-03-01', input: 9, output: 9 },
        { effective_from: '2027-01-01', input: 5, output: 6 },
      ],
    },
  },
} as typeof config;
const view: CatalogueView = {
  catalog: loadCatalog(built),
  config: built,
  multiplierPpmOf: (id) => (id === 'gpt-6-luna' ? 500_000 : 1_000_000),
  isSearchLive: false,
  nowMs: Date.UTC(2026, 10, 21),
};
const { chat, images, web_search: search } = describeCatalogue(view);
const find = <Entry extends { readonly id: string }>(entries: readonly Entry[], id: string) =>
  entries.find((entry) => entry.id === id)!;

test('the catalogue states the date of the built-in prices', () => {
  assert.deepEqual(describeCatalogue(view).as_of, {
    chat: readBuiltInCatalog().as_of,
    images: readBuiltInImageCatalog().as_of,
  });
});

describe('a chat model', () => {
  const model = find(chat, 'gpt-6-luna');

  test("has the account's price with its tiers, then its scheduled prices, the next one first", () => {
    assert.equal(model.multiplier_ppm, 500_000);
    assert.equal(model.price!.effective_at, null);
    assert.deepEqual(model.price!.base, {
      input_micros: 500_000,
      output_micros: 1_000_000,
      cache_read_micros: 50_000,
      cache_write_micros: 500_000,
      cache_write_1h_micros: 1_000_000,
    });
    assert.deepEqual(
      model.price!.tiers.map((tier) => [tier.above_input_tokens, tier.prices.input_micros]),
      [[1_000, 1_500_000]],
    );
    assert.deepEqual(
      model.scheduled_prices.map((price) => [price.effective_at, price.base.input_micros]),
      [
        ['2027-01-01T00:00:00.000Z', 2_500_000],
        ['2027-03-01T00:00:00.000Z', 4_500_000],
      ],
    );
  });

  test('lists its aliases, and is live when a route serves it', () => {
    assert.deepEqual(model.aliases, ['fast']);
    assert.equal(model.is_live, true);
    assert.equal(find(chat, 'claude-haiku-4-5').is_live, false);
  });

  test("has its provider's search price with the markup, or none when the provider cannot search", () => {
    assert.equal(find(chat, 'gpt-5').web_search_micros, 12_500);
    assert.equal(
      find(chat, 'claude-haiku-4-5').web_search_micros,
      null,
      'no provider of it is switched on',
    );
  });
});

test('an image model has its prices by tier with the markup, and its parameters', () => {
  const model = find(images, 'flux-2');
  const [tier, price] = Object.entries(model.price!.output_micros)[0]!;
  const plain = describeCatalogue({
    ...view,
    config: { ...built, pricing: { ...config.pricing, markup: 1 } },
  });
  const listed = find(plain.images, model.id).price!.output_micros[tier as 'low']!;
  assert.equal(price, listed * 1.25);
  assert.deepEqual(model.aliases, ['draw']);
  assert.equal(model.parameters.kind, 'size');
});

test('a web search has its usual and its highest price', () => {
  assert.deepEqual(search, {
    id: 'web-search',
    price_micros: 6_250,
    price_max_micros: 6_250,
    is_live: false,
  });
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ChatModel } from '../../../src/management/contract/models.ts';
import { chatModelMatches, inOrder, type ModelFilters } from './model-filters.ts';

function model(id: string, fields: Partial<ChatModel>, inputMicros: number | null = 1): ChatModel {
  const prices = {
    input_micros: inputMicros ?? 0,
    output_micros: 0,
    cache_read_micros: 0,
    cache_write_micros: 0,
  };
  return {
    id,
    name: id.toUpperCase(),
    vendor: 'openai',
    created_at: '2026-01-01T00:00:00.000Z',
    aliases: [],
    is_live: true,
    retires_at: null,
    successor: null,
    multiplier_ppm: 1_000_000,
    context_tokens: 1,
    max_input_tokens: 1,
    max_output_tokens: 1,
    abilities: { thinking: false, streaming: true, vision: false, audio: false, tools: true },
    price:
      inputMicros === null
        ? null
        : {
            effective_at: null,
            base: { ...prices, cache_write_1h_micros: 0 },
            tiers: [],
            variants: [],
          },
    scheduled_prices: [],
    web_search_micros: null,
    ...fields,
  };
}

const models = [
  model('cheap', { aliases: ['fast'], context_tokens: 5 }, 10),
  model('unpriced', { is_live: false }, null),
  model(
    'costly',
    { vendor: 'anthropic', web_search_micros: 10_000, created_at: '2026-05-01T00:00:00.000Z' },
    900,
  ),
  model(
    'seeing',
    { abilities: { thinking: true, streaming: true, vision: true, audio: false, tools: false } },
    50,
  ),
];
const all: ModelFilters = {
  text: '',
  vendor: '',
  abilities: [],
  inputMicrosMax: null,
  onlyLive: false,
};
const found = (filters: Partial<ModelFilters>) =>
  models.filter((each) => chatModelMatches({ ...all, ...filters }, each)).map(({ id }) => id);

test('filters work alone and combined', () => {
  assert.deepEqual(found({}), ['cheap', 'unpriced', 'costly', 'seeing']);
  assert.deepEqual(found({ text: ' FAST che' }), ['cheap'], 'every word, in the name or an alias');
  assert.deepEqual(found({ vendor: 'anthropic' }), ['costly']);
  assert.deepEqual(found({ onlyLive: true }), ['cheap', 'costly', 'seeing']);
  assert.deepEqual(found({ inputMicrosMax: 50 }), ['cheap', 'seeing']);
  assert.deepEqual(found({ abilities: ['vision', 'thinking'] }), ['seeing']);
  assert.deepEqual(found({ abilities: ['search'] }), ['costly']);
  assert.deepEqual(found({ abilities: ['tools', 'vision'] }), []);
});

test('models without a price come last in both price orders', () => {
  const ordered = (order: Parameters<typeof inOrder>[1]) =>
    inOrder(models, order).map(({ id }) => id);
  assert.deepEqual(ordered('price'), ['cheap', 'seeing', 'costly', 'unpriced']);
  assert.deepEqual(ordered('price-down'), ['costly', 'seeing', 'cheap', 'unpriced']);
  assert.equal(ordered('newest')[0], 'costly');
  assert.equal(ordered('context')[0], 'cheap');
  assert.deepEqual(ordered('catalogue'), ['cheap', 'unpriced', 'costly', 'seeing']);
});

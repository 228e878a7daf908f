import assert from 'node:assert/strict';
import { test } from 'node:test';
import { firstModel, firstSamples } from '../../parts/first-request.ts';

const prices = (input: number) => ({
  input_micros: input,
  output_micros: input,
  cache_read_micros: 0,
  cache_write_micros: 0,
  cache_write_1h_micros: 0,
});

function model(
  id: string,
  input: number | null,
  isLive = true,
): Parameters<typeof firstModel>[0][number] {
  return {
    id,
    name: id,
    vendor: 'v',
    created_at: '2026-01-01T00:00:00.000Z',
    aliases: [],
    is_live: isLive,
    retires_at: null,
    successor: null,
    multiplier_ppm: 1_000_000,
    context_tokens: 1,
    max_input_tokens: 1,
    max_output_tokens: 1,
    abilities: { thinking: false, streaming: true, vision: false, audio: false, tools: false },
    price:
      input === null ? null : { effective_at: null, base: prices(input), tiers: [], variants: [] },
    scheduled_prices: [],
    web_search_micros: null,
  };
}

test('the first request goes to the cheapest model that the key may use and that can run', () => {
  const models = [
    model('costly', 9),
    model('cheap', 1),
    model('off', 0.5, false),
    model('unpriced', null),
  ];
  assert.equal(firstModel(models, { mode: 'live', allowed: null }), 'cheap');
  assert.equal(firstModel(models, { mode: 'test', allowed: null }), 'off');
  assert.equal(firstModel(models, { mode: 'live', allowed: ['costly', 'off'] }), 'costly');
  assert.equal(firstModel(models, { mode: 'live', allowed: ['unpriced', 'off'] }), null);
  assert.equal(firstModel([], { mode: 'test', allowed: null }), null);
});

test('the first request prefers a model whose end is not announced', () => {
  const ending = { ...model('ending', 1), retires_at: '2026-12-01T00:00:00.000Z' };
  const models = [ending, model('lasting', 9)];
  assert.equal(firstModel(models, { mode: 'live', allowed: null }), 'lasting');
  assert.equal(firstModel([ending], { mode: 'live', allowed: null }), 'ending');
});

test('each sample contains the address, the key, the model and the text', () => {
  const request = {
    baseUrl: 'https://gateway.example',
    key: 'tg_test_abc',
    model: 'gpt-6-luna',
    text: "It's one",
  };
  const samples = firstSamples(request);
  assert.deepEqual(
    samples.map(({ language }) => language),
    ['curl', 'Python', 'JavaScript', 'Go'],
  );
  for (const { language, code } of samples) {
    for (const part of ['https://gateway.example/v1', 'tg_test_abc', 'gpt-6-luna', 'one']) {
      assert.ok(code.includes(part), `${language} has no ${part}`);
    }
  }
});

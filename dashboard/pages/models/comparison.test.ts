import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ChatModel } from '../../../src/management/contract/models.ts';
import { compareModels, toggleCompared } from './comparison.ts';
import { speedText, uptimeText } from './measured.ts';

function model(id: string, inputMicros: number): ChatModel {
  const base = {
    input_micros: inputMicros,
    output_micros: 2_000_000,
    cache_read_micros: 0,
    cache_write_micros: 0,
    cache_write_1h_micros: 0,
  };
  return {
    id,
    name: id,
    vendor: 'openai',
    created_at: '2026-01-01T00:00:00.000Z',
    aliases: [],
    is_live: true,
    retires_at: null,
    successor: null,
    multiplier_ppm: 1_000_000,
    context_tokens: 400_000,
    max_input_tokens: 272_000,
    max_output_tokens: 128_000,
    abilities: { thinking: false, streaming: true, vision: id === 'b', audio: false, tools: true },
    price: { effective_at: null, base, tiers: [], variants: [] },
    scheduled_prices: [],
    web_search_micros: null,
  };
}

const measured = {
  id: 'a',
  answered: 9_999,
  failed: 1,
  first_token: { p50_ms: 820, p95_ms: 2_000 },
  whole: { p50_ms: 3_000, p95_ms: 9_000 },
  tokens_per_second: 73.6,
};

test('a comparison marks the rows that differ, and only those', () => {
  const rows = compareModels([model('a', 250_000), model('b', 3_000_000)], new Map()).flatMap(
    (group) => group.rows,
  );
  const valuesOf = (label: string) => rows.find((row) => row.label === label)!.values;
  assert.deepEqual(
    rows.filter(({ differs }) => differs).map(({ label }) => label),
    ['Input', 'Vision'],
  );
  assert.deepEqual(valuesOf('Input'), ['$0.25', '$3.00']);
  assert.deepEqual(valuesOf('Vision'), ['No', 'Yes']);
  assert.deepEqual(valuesOf('Uptime'), [null, null]);
});

test('measurements of one model stand beside a gap for the other', () => {
  const rows = compareModels([model('a', 1), model('b', 1)], new Map([['a', measured]])).flatMap(
    (group) => group.rows,
  );
  const valuesOf = (label: string) => rows.find((row) => row.label === label)!.values;
  assert.deepEqual(valuesOf('Uptime'), ['99.99%', null]);
  assert.deepEqual(valuesOf('First token, median'), ['820 ms', null]);
  assert.deepEqual(valuesOf('Speed'), ['74 tokens/s', null]);
});

test('uptime is 100% only when no request failed', () => {
  assert.equal(uptimeText({ ...measured, answered: 1_000_000, failed: 1 }), '99.99%');
  assert.equal(uptimeText({ ...measured, answered: 7, failed: 0 }), '100%');
  assert.equal(uptimeText({ ...measured, answered: 0, failed: 2 }), '0%');
  assert.equal(speedText({ ...measured, tokens_per_second: null }), null);
  assert.equal(speedText({ ...measured, tokens_per_second: 2.04 }), '2.0 tokens/s');
});

test('a fifth model is not added to the comparison', () => {
  assert.deepEqual(toggleCompared(['a', 'b'], 'a'), ['b']);
  assert.deepEqual(toggleCompared(['a', 'b', 'c', 'd'], 'e'), ['a', 'b', 'c', 'd']);
});

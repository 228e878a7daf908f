import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { marginText, pricesAtMarkup, type Model } from './prices.ts';
import {
  changesBetween,
  fromForm,
  groupToForm,
  labelOf,
  namesIn,
  placeOf,
  schemaOf,
  textOf,
  toForm,
} from './schema.ts';

type Entry = { readonly id: string } & Readonly<Record<string, unknown>>;

function builtIn(file: string): readonly Entry[] {
  const path = join(import.meta.dirname, '../../../../catalog', file);
  return (JSON.parse(readFileSync(path, 'utf8')) as { models: Entry[] }).models;
}

test('every built-in model passes through the form unchanged, so that saving it changes no price', () => {
  for (const [section, models] of [
    ['models', builtIn('chat-models.json')],
    ['image_models', builtIn('images.json')],
  ] as const)
    for (const { id: _id, note: _note, checked: _checked, created_is: _is, ...entry } of models) {
      const schema = schemaOf(section);
      assert.deepEqual(fromForm(schema, toForm(schema, entry)), entry);
    }
});

test('any price that the gateway takes is the same number after it was shown and read', () => {
  const { input } = schemaOf('models').properties!['prices']!.anyOf![0]!.properties!;
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 1e9 }), (millionths) => {
      const usd = millionths / 1e6;
      assert.doesNotMatch(textOf(usd), /e/);
      assert.equal(fromForm(input!, toForm(input!, usd)), usd);
    }),
  );
});

const schema = schemaOf('models');
const path = ['models', 'gpt-5.2'];
const form = (entry: object) => groupToForm(schema, entry);

test('only changed fields are saved, each whole, and an emptied one is removed', () => {
  const before = form({ display_name: 'A', max_input_tokens: 5, prices: { input: 1, output: 2 } });
  const after = form({ max_input_tokens: 5, prices: { input: 1, output: 3 } });
  assert.deepEqual(changesBetween(schema, path, { before, after: before }), []);
  assert.deepEqual(changesBetween(schema, path, { before, after }), [
    { path: [...path, 'display_name'] },
    { path: [...path, 'prices'], value: { input: 1, output: 3 } },
  ]);
});

test('a text that is no plain number is sent as it is, for the gateway to refuse', () => {
  for (const text of [' many ', '1,5', '0x10', '1e3', 'Infinity']) {
    const after = form({});
    after['max_input_tokens'] = text;
    assert.deepEqual(changesBetween(schema, path, { before: form({}), after }), [
      { path: [...path, 'max_input_tokens'], value: text.trim() },
    ]);
  }
});

test('an error of the API is shown at its field, or at the group that it is in', () => {
  const at = (param: string) => placeOf(schema, path, param);
  assert.equal(at('models["gpt-5.2"].routes[1].provider'), 'routes.1.provider');
  assert.equal(at('models["gpt-5.2"].prices.input'), 'prices.0.input');
  assert.equal(at('models["gpt-5.2"].prices[1].tiers[0].input'), 'prices.1.tiers.0.input');
  assert.equal(at('models["gpt-5.2"].prices'), 'prices');
  assert.equal(at('models["gpt-5.2"].nonsense'), undefined);
  assert.equal(at('models.other.prices'), undefined);
  assert.deepEqual(namesIn('a["b\\"]c"][2].d-e'), ['a', 'b"]c', '2', 'd-e']);
});

test('names are written as words', () => {
  assert.deepEqual(['first_byte_ms', 'api_key', 'max_input_tokens'].map(labelOf), [
    'First byte (ms)',
    'API key',
    'Max input tokens',
  ]);
});

test('own prices begin with what accounts pay, never below it', () => {
  const tiers = [{ above_input_tokens: 200_000, input: 2.1, output: 3 }];
  const entry = { prices: { input: 0.1, output: 0.3333333, tiers } };
  const model = { entry, is_own_price: false } as unknown as Model;
  assert.deepEqual(pricesAtMarkup(model, 1.2), {
    input: 0.12,
    output: 0.4,
    tiers: [{ above_input_tokens: 200_000, input: 2.52, output: 3.6 }],
  });
  assert.equal(pricesAtMarkup({ ...model, is_own_price: true }, 1.2), entry.prices);
});

test('the margin is the share of the price that is left', () => {
  assert.deepEqual(
    [marginText(120, 100), marginText(100, 150), marginText(0, 5), marginText(5, null)],
    ['16.7%', '−50%', 'a loss', '–'],
  );
});

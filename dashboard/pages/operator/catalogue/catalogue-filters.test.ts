import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CatalogueModel } from '../../../../src/management/contract/service.ts';
import { mostUrgentFirst, modelMatches, remedyOf } from './catalogue-filters.ts';

function model(id: string, rest: Partial<CatalogueModel> = {}): CatalogueModel {
  const routes = [{ provider: 'one', models: [`${id}-upstream`], is_on: true }];
  return {
    id,
    name: id.toUpperCase(),
    type: 'chat',
    problems: [],
    routes,
    aliases: [],
    price: null,
    cost: null,
    context_tokens: null,
    max_output_tokens: null,
    is_own_price: false,
    entry: {},
    ...rest,
  };
}

const filters = { text: '', view: 'all', provider: '' } as const;

test('models without a price come first, then those without a route', () => {
  const models = [
    model('fine'),
    model('routeless', { problems: ['no-route'] }),
    model('both', { problems: ['no-price', 'no-route'] }),
    model('fine-too'),
  ];
  assert.deepEqual(
    mostUrgentFirst(models).map(({ id }) => id),
    ['both', 'routeless', 'fine', 'fine-too'],
  );
});

test('models are found by ID, name and the provider’s own ID, by problem and by provider', () => {
  const [fine, broken] = [model('gpt-x'), model('other', { problems: ['no-price'] })];
  assert.equal(modelMatches(fine, { ...filters, text: 'GPT upstream' }), true);
  assert.equal(modelMatches(fine, { ...filters, text: 'gpt nothing' }), false);
  assert.deepEqual(
    (['all', 'problems', 'live'] as const).map((view) =>
      [fine, broken].map((each) => modelMatches(each, { ...filters, view })),
    ),
    [
      [true, true],
      [false, true],
      [true, false],
    ],
  );
  assert.deepEqual(
    ['one', 'two'].map((provider) => modelMatches(fine, { ...filters, provider })),
    [true, false],
  );
});

test('each problem has a remedy', () => {
  const route = (provider: string) => ({ provider, models: ['x'], is_on: false });
  assert.equal(remedyOf(model('a'), 'no-price'), 'Add prices under models.');
  assert.equal(
    remedyOf(model('a', { type: 'image' }), 'no-price'),
    'Add prices under image_models.',
  );
  assert.equal(remedyOf(model('a', { routes: [] }), 'no-route'), 'Add routes under models.');
  assert.equal(
    remedyOf(model('a', { routes: [route('x'), route('x')] }), 'no-route'),
    'Enable x under providers.',
  );
  const three = model('a', { routes: [route('x'), route('y'), route('z')] });
  assert.equal(remedyOf(three, 'no-route'), 'Enable x, y or z under providers.');
});

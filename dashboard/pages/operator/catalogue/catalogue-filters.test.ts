import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CatalogueModel } from '../../../../src/dashboard-contract/operator-service.ts';
import { inUrgency, modelFits, remedyOf } from './catalogue-filters.ts';

function model(id: string, rest: Partial<CatalogueModel> = {}): CatalogueModel {
  const routes = [{ provider: 'one', models: [`${id}-upstream`], is_on: true }];
  return { id, name: id.toUpperCase(), type: 'chat', problems: [], routes, ...rest };
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
    inUrgency(models).map(({ id }) => id),
    ['both', 'routeless', 'fine', 'fine-too'],
  );
});

test('models are found by id, name and the provider’s own id, by problem and by provider', () => {
  const [fine, broken] = [model('gpt-x'), model('other', { problems: ['no-price'] })];
  assert.equal(modelFits(fine, { ...filters, text: 'GPT upstream' }), true);
  assert.equal(modelFits(fine, { ...filters, text: 'gpt nothing' }), false);
  assert.deepEqual(
    (['all', 'problems', 'live'] as const).map((view) => [fine, broken].map((each) => modelFits(each, { ...filters, view }))),
    [
      [true, true],
      [false, true],
      [true, false],
    ],
  );
  assert.deepEqual(
    ['one', 'two'].map((provider) => modelFits(fine, { ...filters, provider })),
    [true, false],
  );
});

test('each problem has its remedy', () => {
  const route = (provider: string) => ({ provider, models: ['x'], is_on: false });
  assert.equal(remedyOf(model('a'), 'no-price'), 'Give it prices under models.');
  assert.equal(remedyOf(model('a', { type: 'image' }), 'no-price'), 'Give it prices under image_models.');
  assert.equal(remedyOf(model('a', { routes: [] }), 'no-route'), 'Give it routes under models.');
  assert.equal(remedyOf(model('a', { routes: [route('x'), route('x')] }), 'no-route'), 'Switch on x under providers.');
  const three = model('a', { routes: [route('x'), route('y'), route('z')] });
  assert.equal(remedyOf(three, 'no-route'), 'Switch on x, y or z under providers.');
});

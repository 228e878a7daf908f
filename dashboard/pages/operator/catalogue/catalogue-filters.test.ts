import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CatalogueModel } from '../../../../src/management/contract/service.ts';
import { groupsOf, modelMatches } from './catalogue-filters.ts';

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
    retires_at: null,
    successor: null,
    is_own_price: false,
    entry: {},
    ...rest,
  };
}

const filters = { text: '', view: 'all', provider: '' } as const;

test('models are grouped by what would bring them: a price, or a provider that is off', () => {
  const route = (provider: string) => ({ provider, models: ['x'], is_on: false });
  const groups = groupsOf([
    model('live'),
    model('unpriced', { problems: ['no-price'] }),
    model('one', { problems: ['no-route'], routes: [route('small')] }),
    model('two', { problems: ['no-price', 'no-route'], routes: [route('big'), route('small')] }),
    model('three', { problems: ['no-route'], routes: [route('big'), route('big')] }),
    model('four', { problems: ['no-route'], routes: [route('big')] }),
    model('nowhere', { problems: ['no-route'], routes: [] }),
  ]);
  const ids = (models: readonly CatalogueModel[]) => models.map(({ id }) => id);
  assert.deepEqual(
    [ids(groups.live), ids(groups.unpriced), ids(groups.routeless)],
    [['live'], ['unpriced'], ['nowhere']],
  );
  assert.deepEqual(
    groups.byProvider.map(([name, models]) => [name, ids(models)]),
    [
      ['big', ['two', 'three', 'four']],
      ['small', ['one', 'two']],
    ],
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

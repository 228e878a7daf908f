import assert from 'node:assert/strict';
import { test } from 'node:test';
import { otherChoices } from './model-choices.ts';

test('models whose end is announced come last, so that none is chosen at first', () => {
  const model = (id: string, retires_at: string | null) =>
    ({ id, retires_at, is_live: true, price: {} }) as Parameters<typeof otherChoices>[0][number];
  const models = [model('ending', '2026-12-01T00:00:00.000Z'), model('lasting', null)];
  const choices = otherChoices(models, { mode: 'live', models: null });
  assert.deepEqual(
    choices.map(({ id }) => id),
    ['lasting', 'ending'],
  );
});

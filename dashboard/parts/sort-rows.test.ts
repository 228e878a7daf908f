import assert from 'node:assert/strict';
import { test } from 'node:test';
import { firstOrder, orderText, readOrder, sortRows } from './sort-rows.ts';

const rows = [
  { name: 'key 10', spent: 5 },
  { name: 'Key 9', spent: null },
  { name: '', spent: 700 },
  { name: 'alpha', spent: 5 },
];

test('rows are sorted by number or name, and missing values come last either way', () => {
  const names = (isUp: boolean) => sortRows(rows, ({ name }) => name, isUp).map(({ name }) => name);
  assert.deepEqual(names(true), ['alpha', 'Key 9', 'key 10', '']);
  assert.deepEqual(names(false), ['key 10', 'Key 9', 'alpha', '']);
  const spent = sortRows(rows, (row) => row.spent, false).map((row) => row.name);
  assert.deepEqual(spent, ['', 'key 10', 'alpha', 'Key 9'], 'equal rows keep their order');
});

test('the first click shows the highest numbers, the newest times and the first names', () => {
  assert.equal(firstOrder({ title: 'Spent' }, [null, 4]).isUp, false);
  for (const kind of ['time', 'ago', 'day'] as const)
    assert.equal(firstOrder({ title: 'Created', kind }, ['2026-11-22T00:00:00Z']).isUp, false);
  assert.equal(firstOrder({ title: 'Name' }, [undefined, 'b']).isUp, true);
});

test('the address names the order of one table', () => {
  const text = orderText('API keys', { title: 'Last used', isUp: true });
  assert.equal(text, 'api-keys.last-used.up');
  const titles = ['Name', 'Last used'];
  assert.deepEqual(readOrder(text, 'API keys', titles), { title: 'Last used', isUp: true });
  assert.equal(readOrder(text, 'Members', titles), null);
  assert.equal(readOrder('api-keys.gone.up', 'API keys', titles), null);
  assert.equal(readOrder(undefined, 'API keys', titles), null);
});

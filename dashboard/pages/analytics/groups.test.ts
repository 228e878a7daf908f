import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readGroup, rowFilter, rowName, sortWithin } from './groups.ts';

test('a row has a name, and a filter if it has an id', () => {
  assert.equal(rowName('key', { id: 'key_1', name: 'Shop', is_rest: false }), 'Shop');
  assert.equal(rowName('key', { id: 'key_1', name: null, is_rest: false }), 'Unnamed');
  assert.equal(rowName('model', { id: 'old', name: null, is_rest: false }), 'old');
  assert.equal(rowName('member', { id: null, name: null, is_rest: false }), 'Keys of no member');
  assert.equal(rowName('key', { id: null, name: null, is_rest: true }), 'All others');
  assert.deepEqual(rowFilter('tag', { id: 'env=prod' }), { tag: 'env=prod' });
  assert.equal(rowFilter('model', { id: null }), null);
});

test('requests are ordered only within a month', () => {
  assert.deepEqual(sortWithin({ from: '2026-10-01', to: '2026-10-31' }, 'cost'), { sort: 'cost' });
  assert.deepEqual(sortWithin({ from: '2026-10-01', to: '2026-11-01' }, 'cost'), {});
});

test('an unknown group in the address is the model', () => {
  assert.equal(readGroup({ by: 'tag' }), 'tag');
  assert.equal(readGroup({ by: 'toString' }), 'model');
});

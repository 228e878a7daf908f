import assert from 'node:assert/strict';
import { test } from 'node:test';
import { searchTextOf } from './key-search.ts';

test('a pasted key is searched for by its last characters only', () => {
  assert.equal(searchTextOf(' tg_live_0123456789abcdefghijklmnopqrstuvwxyz1234 '), '1234');
  assert.equal(searchTextOf(' laptop '), 'laptop');
});

test('of a pasted admin key, the address holds four characters at most', () => {
  assert.equal(searchTextOf(`tg_admin_${'a'.repeat(34)}x4Qz`), 'x4Qz');
});

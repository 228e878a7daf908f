import assert from 'node:assert/strict';
import { test } from 'node:test';
import { headersOf } from './header-lines.ts';

test('headers are one in each line, with colons in their values', () => {
  assert.deepEqual(headersOf('Authorization: Bearer a:b\n\n x-team :  web \n'), {
    Authorization: 'Bearer a:b',
    'x-team': 'web',
  });
  assert.deepEqual(headersOf('\n'), {});
  assert.equal(headersOf('authorization Bearer'), null);
});

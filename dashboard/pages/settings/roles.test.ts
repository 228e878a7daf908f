import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isLastOwner, isRole, roleOptions } from './roles.ts';

test('only an owner can make owners', () => {
  const offered = (own: 'admin' | 'owner') => roleOptions(own).map(({ value }) => value);
  assert.deepEqual(offered('admin'), ['viewer', 'member', 'admin']);
  assert.deepEqual(offered('owner'), ['viewer', 'member', 'admin', 'owner']);
  assert.deepEqual(['owner', 'operator', null].map(isRole), [true, false, false]);
});

test('the last owner is recognised', () => {
  const ada = { user_id: 'ada', role: 'owner' } as const;
  const grace = { user_id: 'grace', role: 'owner' } as const;
  const alan = { user_id: 'alan', role: 'admin' } as const;
  assert.equal(isLastOwner([ada, alan], ada), true);
  assert.equal(isLastOwner([ada, grace, alan], ada), false);
  assert.equal(isLastOwner([ada, alan], alan), false);
});

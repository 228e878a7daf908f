import assert from 'node:assert/strict';
import { test } from 'node:test';
import { changedFields } from './changed-fields.ts';

test('only fields that differ are returned; lists are compared by their values', () => {
  const before = { name: 'a', cap: null, models: ['x'], kept: [1] };
  const after = { name: 'b', cap: 5, models: ['x', 'y'], kept: [1] };
  assert.deepEqual(changedFields(before, after), {
    before: { name: 'a', cap: null, models: ['x'] },
    after: { name: 'b', cap: 5, models: ['x', 'y'] },
  });
});

test('equal states have no changed fields', () => {
  assert.equal(changedFields({ name: 'a', models: ['x'] }, { name: 'a', models: ['x'] }), null);
});

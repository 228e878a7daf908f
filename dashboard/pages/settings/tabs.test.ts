import assert from 'node:assert/strict';
import { test } from 'node:test';
import { shownTab, tabsFor } from './tabs.ts';

test('a user without an account sees only the user tabs', () => {
  assert.equal(shownTab(tabsFor({}), 'members'), 'members');
  assert.equal(shownTab(tabsFor(null), 'members'), 'profile');
  assert.equal(shownTab(tabsFor(null), 'security'), 'security');
  assert.equal(shownTab(tabsFor({}), 'nothing'), 'profile');
});

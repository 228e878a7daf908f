import assert from 'node:assert/strict';
import { test } from 'node:test';
import { shownTab, tabsFor } from './tabs.ts';

test('who belongs to no account has settings of his own only', () => {
  assert.equal(shownTab(tabsFor({}), 'members'), 'members');
  assert.equal(shownTab(tabsFor(null), 'members'), 'profile');
  assert.equal(shownTab(tabsFor(null), 'security'), 'security');
  assert.equal(shownTab(tabsFor({}), 'nothing'), 'profile');
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { shownTab, tabsFor } from './tabs.ts';

test('a user without an account sees only the user tabs', () => {
  const [owner, admin] = [{ role: 'owner' }, { role: 'admin' }];
  assert.equal(shownTab(tabsFor(owner), 'members'), 'members');
  assert.equal(shownTab(tabsFor(owner), 'changes'), 'changes');
  assert.equal(shownTab(tabsFor(admin), 'changes'), 'profile');
  assert.equal(shownTab(tabsFor(admin), 'traces'), 'traces');
  assert.equal(shownTab(tabsFor({ role: 'member' }), 'traces'), 'profile');
  assert.equal(shownTab(tabsFor(null), 'members'), 'profile');
  assert.equal(shownTab(tabsFor(null), 'security'), 'security');
  assert.equal(shownTab(tabsFor(owner), 'nothing'), 'profile');
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { shownTab, tabsFor } from './tabs.ts';

test('a user sees the tabs that the role allows', () => {
  const [owner, admin] = [{ role: 'owner' }, { role: 'admin' }];
  assert.equal(shownTab(tabsFor(owner), 'members'), 'members');
  assert.equal(shownTab(tabsFor(owner), 'changes'), 'changes');
  assert.equal(shownTab(tabsFor(admin), 'changes'), 'profile');
  assert.equal(shownTab(tabsFor(owner), 'own-keys'), 'own-keys');
  assert.equal(shownTab(tabsFor(admin), 'own-keys'), 'profile');
  assert.equal(shownTab(tabsFor(admin), 'traces'), 'traces');
  for (const role of ['member', 'viewer'])
    assert.equal(shownTab(tabsFor({ role }), 'traces'), 'profile', role);
  assert.equal(shownTab(tabsFor(null), 'members'), 'profile');
  assert.equal(shownTab(tabsFor(null), 'security'), 'security');
  assert.equal(shownTab(tabsFor(owner), 'nothing'), 'profile');
});

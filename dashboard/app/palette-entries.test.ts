import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Entry, matching, namedFirst } from './palette-entries.ts';

const entry = (label: string, description = ''): Entry => ({
  id: label,
  label,
  description,
  icon: () => null,
  run: () => {},
});
const pages = [entry('Keys', 'Create keys and set their caps'), entry('Billing', 'Top-ups')];
const actions = [entry('Top up'), entry('Create key')];

test('every typed word must be found, and a label counts more than a description', () => {
  const labels = (text: string) => matching([...pages, ...actions], text).map(({ label }) => label);
  assert.deepEqual(labels('create key'), ['Create key', 'Keys']);
  assert.deepEqual(labels('TOP'), ['Top up', 'Billing']);
  assert.deepEqual(labels('create nothing'), []);
  assert.equal(labels('').length, 4);
});

test('the group of the entry that was named comes first', () => {
  const groupsFor = (text: string) =>
    namedFirst(
      [
        { group: 'Pages', entries: matching(pages, text) },
        { group: 'Actions', entries: matching(actions, text) },
      ],
      text,
    ).map(({ group }) => group);
  assert.deepEqual(groupsFor('create key'), ['Actions', 'Pages']);
  assert.deepEqual(groupsFor('keys'), ['Pages', 'Actions']);
  assert.deepEqual(groupsFor(''), ['Pages', 'Actions']);
});

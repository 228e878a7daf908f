import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseUtcDay, parseZonedTime } from './iso-time.ts';

test('only calendar days are accepted', () => {
  assert.equal(parseUtcDay('2028-02-29'), Date.UTC(2028, 1, 29));
  for (const text of [
    '2027-02-29',
    '2027-02-30',
    '2027-13-01',
    '2027-1-1',
    '2027-01',
    '',
    '2027-01-01T00:00:00Z',
  ])
    assert.equal(parseUtcDay(text), null, text);
});

test('a time needs a calendar day and a zone', () => {
  assert.equal(parseZonedTime('2027-01-31T18:00Z'), Date.UTC(2027, 0, 31, 18));
  assert.equal(parseZonedTime('2027-01-31T18:00:00.5+02:00'), Date.UTC(2027, 0, 31, 16, 0, 0, 500));
  for (const text of [
    '2027-01-31T18:00:00',
    '2027-02-30T18:00:00Z',
    '2027-01-31T25:00:00Z',
    '2027-01-31',
    'tomorrow',
  ])
    assert.equal(parseZonedTime(text), null, text);
});

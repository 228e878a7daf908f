import assert from 'node:assert/strict';
import { test } from 'node:test';
import { localTimeText, relativeText } from './time-text.ts';

const nowMs = Date.UTC(2026, 10, 22, 12);

test('relative times use the largest unit that fits', () => {
  const cases: readonly [number, string][] = [
    [0, 'just now'],
    [-59_000, 'just now'],
    [59_000, 'just now'],
    [-60_000, '1 minute ago'],
    [-3_599_000, '59 minutes ago'],
    [7_200_000, 'in 2 hours'],
    // An invitation lasts for seven days, also a second after it was sent.
    [7 * 86_400_000 - 1_000, 'in 7 days'],
    // 40 hours ago may have been the day before yesterday.
    [-40 * 3_600_000, '1 day ago'],
    [-45 * 86_400_000, '1 month ago'],
    [-800 * 86_400_000, '2 years ago'],
  ];
  for (const [distance, text] of cases) assert.equal(relativeText(nowMs + distance, nowMs), text);
});

test("a time field shows the reader's time zone", () => {
  const at = new Date('2027-01-31T18:05:00.000Z');
  assert.match(localTimeText(at), /^2027-0[12]-\d\dT\d\d:\d5$/);
  assert.equal(new Date(localTimeText(at)).getTime(), at.getTime());
});

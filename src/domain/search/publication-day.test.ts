import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from '../../../tests/support/property.ts';
import { readPublicationDay } from './publication-day.ts';

const nowMs = Date.UTC(2026, 2, 31, 12);

const known: [text: string, day: string][] = [
  ['2026-01-05', '2026-01-05'],
  ['2026-01-05T10:20:30', '2026-01-05'],
  ['2026-01-05 10:20', '2026-01-05'],
  ['2026-01-05T23:30:00-05:00', '2026-01-06'],
  ['2026-01-05T00:30:00+0100', '2026-01-04'],
  ['2026-01-05 10:20:30 UTC', '2026-01-05'],
  ['Mon, 05 Jan 2026 10:20:30 GMT', '2026-01-05'],
  ['Mon, 5 Jan 2026 23:20 -0500', '2026-01-06'],
  ['5 January 2026', '2026-01-05'],
  ['Jan. 5, 2026', '2026-01-05'],
  ['Sept 30, 2025', '2025-09-30'],
  ['MAY 1 2024', '2024-05-01'],
  ['11 hours ago', '2026-03-31'],
  ['13 hours ago', '2026-03-30'],
  ['1 day ago', '2026-03-30'],
  ['3 weeks ago', '2026-03-10'],
  ['1 month ago', '2026-03-01'],
  ['2 years ago', '2024-03-31'],
  [' 2 days ago ', '2026-03-29'],
];
for (const [text, day] of known) {
  test(`${JSON.stringify(text)} is ${day}`, () =>
    assert.equal(readPublicationDay(text, nowMs), day));
}

const others =
  '|null|5|2026|Jan 2026|2026-01|01/05/2026|1767571200|Chapter 5|vor 2 Tagen|5. Januar 2026|2026-13-01|2026-02-30|2026-02-30T10:20:30-05:00|31 Apr 2026|Feb 29, 2025|Mon, 31 Jun 2026 10:20 GMT|2026-01-32|2026-01-05T25:00:00Z|2026-01-05T10:61:00Z|Foo 5, 2026|2 days|2 fortnights ago|99999 years ago|9999 years ago|2 days ago and more|5 Jan 2026 10:20 XYZ';
for (const text of [...others.split('|'), ' ', '0'.repeat(100)]) {
  test(`${JSON.stringify(text)} is not understood`, () =>
    assert.equal(readPublicationDay(text, nowMs), null));
}

test('for any text, the result is a valid date or null', () => {
  const parts = fc.constantFrom(
    ...'2026|-|05| |Jan|,|ago|days|T|:|9999|+|Z|a|0000|years'.split('|'),
  );
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.array(parts, { maxLength: 12 }).map((words) => words.join('')),
      ),
      (text) => {
        const day = readPublicationDay(text, nowMs);
        if (day === null) return;
        assert.match(day, /^\d{4}-\d{2}-\d{2}$/, text);
        assert.ok(new Date(day).toISOString().startsWith(day), `${text}: ${day}`);
      },
    ),
    { numRuns: 2_000 },
  );
});

test('every written date is parsed back', () => {
  fc.assert(
    fc.property(
      fc.date({ min: new Date('1000-01-01'), max: new Date('9999-12-30'), noInvalidDate: true }),
      (date) => {
        const day = date.toISOString().slice(0, 10);
        assert.equal(readPublicationDay(date.toISOString(), nowMs), day);
        assert.equal(readPublicationDay(date.toUTCString(), nowMs), day);
        const form = { year: 'numeric', month: 'short', day: 'numeric', timeZone: 'UTC' } as const;
        const words = date.toLocaleDateString('en-US', form);
        assert.equal(readPublicationDay(words, nowMs), day);
      },
    ),
  );
});

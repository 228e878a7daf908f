import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from '../../tests/support/property.ts';
import { mergeByTime, type TimePage } from './paging.ts';

type Row = { readonly createdAtMs: number; readonly id: string };
const newest = (one: Row, other: Row) =>
  other.createdAtMs - one.createdAtMs || (one.id < other.id ? 1 : -1);
const isAfter = (row: Row, place: Row | null) => place === null || newest(row, place) > 0;

/** A list that reads `share` rows for each page, and shows those whose `n` is even. */
function readerOf(list: readonly (Row & { readonly n: number })[], share: number) {
  return (cursor: Row | null, limit: number): TimePage<Row> => {
    const left = list.filter((row) => isAfter(row, cursor));
    const rows = left.slice(0, share).filter(({ n }) => n % 2 === 0);
    if (rows.length > limit) return { rows: rows.slice(0, limit), next: rows[limit - 1]! };
    return { rows, next: left.length > share ? left[share - 1]! : null };
  };
}

test('pages of two lists, which may end early, show each row once and in order', () => {
  const listOf = (kind: string) =>
    fc
      .array(fc.record({ createdAtMs: fc.nat(9), n: fc.nat(3) }), { maxLength: 20 })
      .map((rows) =>
        rows.map((row, index) => ({ ...row, id: `${kind}${index}` })).toSorted(newest),
      );
  fc.assert(
    fc.property(
      listOf('a'),
      listOf('b'),
      fc.integer({ min: 1, max: 5 }),
      fc.integer({ min: 1, max: 5 }),
      (one, other, share, limit) => {
        const readers = [readerOf(one, share), readerOf(other, 5)];
        const shown: string[] = [];
        let cursor: Row | null = null;
        do {
          const page: TimePage<Row> = mergeByTime(
            readers.map((read) => read(cursor, limit)),
            limit,
          );
          assert.ok(page.rows.length <= limit);
          shown.push(...page.rows.map(({ id }) => id));
          cursor = page.next;
        } while (cursor);
        const all = [...one, ...other].filter(({ n }) => n % 2 === 0).toSorted(newest);
        assert.deepEqual(
          shown,
          all.map(({ id }) => id),
        );
      },
    ),
  );
});

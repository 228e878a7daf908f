import { columnDigits } from './money-text.ts';
import type { Column } from './data-table-types.ts';

/** Returns the decimals of each column of money; undefined for the other columns. */
export function digitsOf<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[] = [],
): readonly (number | undefined)[] {
  return columns.map(({ kind, value }) =>
    kind === 'money' && value
      ? columnDigits(rows.map((row) => Number(value(row) ?? 0)))
      : undefined,
  );
}

// The heading of a column: its title, the time zone, and the order of the rows.
import { Table, UnstyledButton } from '@mantine/core';
import { IconArrowDown, IconArrowUp } from '@tabler/icons-react';
import { alignOf } from './data-table-cell.tsx';
import type { Column, ViewProps } from './data-table-types.ts';
import classes from './data-table.module.css';
import { firstOrder } from './sort-rows.ts';
import { useZone, zoneName } from './zone.ts';

type Props<Row> = ViewProps<Row> & { readonly column: Column<Row> };

export function SortHeading<Row>(props: Props<Row>) {
  const { title, width, kind } = props.column;
  const align = alignOf(props.column);
  const sorting = sortingOf(props);
  return (
    <Table.Th
      ta={align}
      w={width}
      aria-sort={
        sorting?.isUp === undefined ? undefined : sorting.isUp ? 'ascending' : 'descending'
      }
    >
      {title === '' && <span className={classes.hidden}>Actions</span>}
      {sorting ? (
        <UnstyledButton
          className={classes.sort}
          data-on={sorting.isUp !== undefined || undefined}
          data-align={align}
          onClick={sorting.toggle}
        >
          {title}
          {sorting.isUp ? (
            <IconArrowUp size={14} aria-hidden />
          ) : (
            <IconArrowDown size={14} aria-hidden />
          )}
        </UnstyledButton>
      ) : (
        title
      )}
      <ColumnZone kind={kind} />
    </Table.Th>
  );
}

/** ` UTC` or ` CET` beside the heading of a column of times. */
export function ColumnZone({ kind }: Pick<Column<never>, 'kind'>) {
  const zone = useZone();
  if (kind !== 'time' && kind !== 'day') return null;
  return <span className={classes.zone}> {kind === 'day' ? 'UTC' : zoneName(zone)}</span>;
}

type Sorting = {
  /** Undefined while another column decides the order. */
  readonly isUp: boolean | undefined;
  readonly toggle: () => void;
};

/** Returns null for a column that does not sort. */
function sortingOf<Row>(props: Props<Row>): Sorting | null {
  const { column, rows, order, setOrder, sorted, onSort } = props;
  const { title, value, sort } = column;
  if (onSort) {
    if (sort === undefined) return null;
    const isOn = sort === sorted;
    return { isUp: isOn ? false : undefined, toggle: () => onSort(isOn ? undefined : sort) };
  }
  if (!value) return null;
  const isOn = order?.title === title;
  const first = firstOrder(column, (rows ?? []).map(value));
  const reversed = { title, isUp: !first.isUp };
  // The third click restores the list's own order.
  const next = !isOn ? first : order.isUp === first.isUp ? reversed : null;
  return { isUp: isOn ? order.isUp : undefined, toggle: () => setOrder(next) };
}

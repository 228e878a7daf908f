// A list of rows: a table on a desktop, cards on a phone or tablet, with loading, empty and error states.
import { Button, Center, Text } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { useEffect, type ReactNode } from 'react';
import type { ApiError } from '../api/api-error.ts';
import type { Pages } from '../api/use-api.ts';
import { TableCards } from './data-table-cards.tsx';
import { TableRows } from './data-table-rows.tsx';
import classes from './data-table.module.css';
import { ErrorNotice } from './error-notice.tsx';
import { orderText, readOrder, sortRows, type Order, type SortValue } from './sort-rows.ts';
import { useUrlState } from './url-state.ts';

/** `Sort`: names of the orders that the list knows. */
export type Column<Row, Sort extends string = string> = {
  /** Heading of the column, and label on a phone. Empty for a column of buttons. */
  readonly title: string;
  readonly render: (row: Row) => ReactNode;
  /** What the column sorts by. Columns without it, and without `sort`, do not sort. */
  readonly value?: (row: Row) => SortValue;
  /**
   * `money`: `value` is in microdollars, and all rows show the same number of decimals. `time`: the
   * heading names the page's time zone. `day`: the rows are UTC days.
   */
  readonly kind?: 'money' | 'time' | 'day';
  /** `right` for numbers. */
  readonly align?: 'left' | 'right';
  readonly width?: number | string;
  /** On a phone or tablet, `title` becomes the card's heading and `hidden` is left out. */
  readonly phone?: 'title' | 'hidden';
  /** The order of the whole list, in the gateway, that its heading switches on and off. */
  readonly sort?: Sort;
};

type Source<Row> =
  /** `rows` is undefined while loading. */
  | {
      readonly rows: readonly Row[] | undefined;
      readonly error?: ApiError | null;
      readonly onRetry?: () => void;
      readonly pages?: undefined;
    }
  /** From `useApiPages`. */
  | { readonly pages: Pages<Row>; readonly rows?: undefined };

type Props<Row> = Source<Row> & {
  /** Label for screen readers: `API keys`. */
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  readonly rowKey: (row: Row) => string;
  /** Shown when there are no rows: an `EmptyState`. */
  readonly empty: ReactNode;
  /** Makes rows clickable. For the keyboard, the first column becomes a button. */
  readonly onOpen?: (row: Row) => void;
  /** The order of the rows, highest first; undefined: the list's own. */
  readonly sorted?: string | undefined;
  /** With it, only columns with a `sort` sort: a part of a long list would mislead. */
  readonly onSort?: (sort: string | undefined) => void;
  /** Less space between the columns, for tables with many. */
  readonly dense?: boolean;
  /** Shows only the first rows of the reader's order. */
  readonly rowsMax?: number | undefined;
};

/** Sorting a paged list loads this many rows. */
const sortedRowsMax = 1_000;

/** `<DataTable label="API keys" rows={keys.data?.data} columns={columns} rowKey={(key) => key.id} empty={<EmptyState … />} />` */
export function DataTable<Row>(props: Props<Row>) {
  const { pages, empty, columns } = props;
  const isNarrow = useMediaQuery('(max-width: 62em)', undefined, {
    getInitialValueInEffect: false,
  });
  const [order, setOrder] = useOrder(props);
  const given = pages ? pages.rows : props.rows;
  const error = pages ? pages.error : props.error;
  const retry = pages ? pages.retry : props.onRetry;
  useEffect(() => {
    const isPart = pages?.hasMore && !pages.isLoadingMore && !pages.error;
    if (order && isPart && (pages.rows?.length ?? 0) < sortedRowsMax) pages.loadMore();
  }, [order, pages]);
  if (error && given === undefined) {
    return (
      <div className={classes.notice}>
        <ErrorNotice error={error} onRetry={retry} />
      </div>
    );
  }
  if (given?.length === 0) return empty;
  const valueOf = columns.find(({ title }) => title === order?.title)?.value;
  const sorted = given && order && valueOf ? sortRows(given, valueOf, order.isUp) : given;
  const rows = sorted?.slice(0, props.rowsMax);
  const View = isNarrow ? TableCards : TableRows;
  return (
    <div
      className={classes.rows}
      data-stale={pages?.isStale || undefined}
      aria-busy={rows === undefined || pages?.isStale}
    >
      <View {...props} rows={rows} order={order} setOrder={setOrder} />
      {error && (
        <div className={classes.notice}>
          <ErrorNotice error={error} onRetry={retry} />
        </div>
      )}
      {pages?.hasMore && (
        <Center p="md" style={{ gap: 'var(--mantine-spacing-md)' }}>
          {order && rows && (
            <Text size="sm" c="dimmed">
              Sorted: the first {rows.length.toLocaleString()} rows.
            </Text>
          )}
          <Button variant="default" loading={pages.isLoadingMore} onClick={pages.loadMore}>
            Load more
          </Button>
        </Center>
      )}
    </div>
  );
}

export type ViewProps<Row> = Pick<
  Props<Row>,
  'label' | 'columns' | 'rowKey' | 'onOpen' | 'sorted' | 'onSort' | 'dense'
> & {
  readonly rows: readonly Row[] | undefined;
  readonly order: Order | null;
  readonly setOrder: (order: Order | null) => void;
};

/** The order that the reader chose. It is in the address, for one table of a page at a time. */
function useOrder<Row>({ label, columns, onSort }: Props<Row>) {
  const titles = onSort ? [] : columns.flatMap(({ title, value }) => (value ? [title] : []));
  const [order, setState] = useUrlState(({ sorted }) => readOrder(sorted, label, titles));
  const setOrder = (next: Order | null) =>
    setState({ sorted: next ? orderText(label, next) : undefined }, { push: false });
  return [order, setOrder] as const;
}

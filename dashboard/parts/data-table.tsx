// A list of rows: a table on a desktop, cards on a phone, with loading, empty and error states.
import { Button, Group, Text } from '@mantine/core';
import { useEffect, useState } from 'react';
import { TableCards } from './data-table-cards.tsx';
import { TableRows } from './data-table-rows.tsx';
import type { Column, Props } from './data-table-types.ts';
import classes from './data-table.module.css';
import { ErrorNotice } from './error-notice.tsx';
import { useIsPhone, useIsWide } from './screen.ts';
import { SearchField } from './search-field.tsx';
import { orderText, readOrder, sortRows, type Order } from './sort-rows.ts';
import { DateTime } from './time-ago.tsx';
import { useUrlState } from './url-state.ts';

export type { Column };

/** Sorting a paged list loads this many rows. */
const sortedRowsMax = 1_000;

/** A shorter list is read faster than searched. */
const searchedRows = 10;

/** Rows of a whole list that are shown at once: thousands would stop the page for seconds. */
const shownRows = 100;

/** `<DataTable label="API keys" rows={keys.data?.data} columns={columns} rowKey={(key) => key.id} empty={<EmptyState … />} />` */
export function DataTable<Row>(props: Props<Row>) {
  const { pages, empty, columns } = props;
  const isPhone = useIsPhone();
  const isWide = useIsWide();
  const [order, setOrder] = useOrder(props);
  const [rowsMax, setRowsMax] = useState(shownRows);
  const [text, setText] = useState('');
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
  if (given?.length === 0 && !pages?.hasMore) return empty;
  const valueOf = columns.find(({ title }) => title === order?.title)?.value;
  const found = text === '' ? given : given?.filter((row) => textOf(row).includes(text));
  const sorted = found && order && valueOf ? sortRows(found, valueOf, order.isUp) : found;
  const rows = sorted?.slice(0, pages ? undefined : (props.rowsMax ?? rowsMax));
  const hasMore =
    pages?.hasMore ?? (props.rowsMax === undefined && rowsMax < (sorted?.length ?? 0));
  const View = isPhone ? TableCards : TableRows;
  const shown = isPhone || isWide ? columns : columns.filter(({ tablet }) => tablet !== 'hidden');
  return (
    <div
      className={classes.rows}
      data-stale={pages?.isStale || undefined}
      aria-busy={rows === undefined || pages?.isStale}
    >
      {props.search !== undefined && (text !== '' || (given?.length ?? 0) > searchedRows) && (
        <SearchField
          label={props.search}
          value={text}
          onSearch={(typed) => setText(typed.trim().toLowerCase())}
          className={classes.search}
        />
      )}
      {rows?.length === 0 ? (
        <Text c="dimmed" className={classes.notice}>
          Nothing found.
        </Text>
      ) : (
        <View {...props} columns={shown} rows={rows} order={order} setOrder={setOrder} />
      )}
      {error && (
        <div className={classes.notice}>
          <ErrorNotice error={error} onRetry={retry} />
        </div>
      )}
      {hasMore && (
        <Group p="md" justify="center">
          {pages && order && rows && (
            <Text size="sm" c="dimmed">
              Sorted: the first {rows.length.toLocaleString()} rows.
            </Text>
          )}
          {pages?.searchedTo && (
            <Text size="sm" c="dimmed" component="div">
              Searched back to <DateTime at={pages.searchedTo} zoned span inherit />
            </Text>
          )}
          <Button
            variant="default"
            loading={pages?.isLoadingMore}
            onClick={pages?.loadMore ?? (() => setRowsMax(rowsMax + shownRows))}
          >
            {!pages ? 'Show more' : pages.searchedTo ? 'Search further' : 'Load more'}
          </Button>
        </Group>
      )}
    </div>
  );
}

/** The texts of a row, in lower case: names, addresses, ids. */
function textOf(row: unknown): string {
  const texts = Object.values(row as object).filter((value) => typeof value === 'string');
  return texts.join(' ').toLowerCase();
}

/** The order that the reader chose. It is in the address, for one table of a page at a time. */
function useOrder<Row>({ label, columns, onSort }: Props<Row>) {
  const titles = onSort ? [] : columns.flatMap(({ title, value }) => (value ? [title] : []));
  const [order, setState] = useUrlState(({ sorted }) => readOrder(sorted, label, titles));
  const setOrder = (next: Order | null) =>
    setState({ sorted: next ? orderText(label, next) : undefined }, { push: false });
  return [order, setOrder] as const;
}

// A list of rows: a table on a desktop, cards on a phone, with loading, empty and error states.
import { Button, Center, Skeleton, Table, UnstyledButton } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { IconArrowDown, IconArrowsSort } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import type { ApiError } from '../api/api-error.ts';
import type { Pages } from '../api/use-api.ts';
import classes from './data-table.module.css';
import { ErrorNotice } from './error-notice.tsx';

/** `Sort`: names of the orders that the list knows. */
export type Column<Row, Sort extends string = string> = {
  /** Heading of the column, and label on a phone. Empty for a column of buttons. */
  readonly title: string;
  readonly render: (row: Row) => ReactNode;
  /** `right` for numbers. */
  readonly align?: 'left' | 'right';
  readonly width?: number | string;
  /** On a phone, `title` becomes the card's heading and `hidden` is left out. */
  readonly phone?: 'title' | 'hidden';
  /** The order that its heading switches on and off. */
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
  readonly onSort?: (sort: string | undefined) => void;
  /** Rows of 36 pixels, for long lists. */
  readonly dense?: boolean;
};

/** `<DataTable label="API keys" rows={keys.data?.data} columns={columns} rowKey={(key) => key.id} empty={<EmptyState … />} />` */
export function DataTable<Row>(props: Props<Row>) {
  const { pages, empty } = props;
  const isPhone = useMediaQuery('(max-width: 48em)', undefined, { getInitialValueInEffect: false });
  const rows = pages ? pages.rows : props.rows;
  const error = pages ? pages.error : props.error;
  const retry = pages ? pages.retry : props.onRetry;
  if (error && rows === undefined) {
    return (
      <div className={classes.notice}>
        <ErrorNotice error={error} onRetry={retry} />
      </div>
    );
  }
  if (rows?.length === 0) return empty;
  const View = isPhone ? Cards : Rows;
  return (
    <div
      className={classes.rows}
      data-stale={pages?.isStale || undefined}
      aria-busy={rows === undefined || pages?.isStale}
    >
      <View {...props} rows={rows} />
      {error && (
        <div className={classes.notice}>
          <ErrorNotice error={error} onRetry={retry} />
        </div>
      )}
      {pages?.hasMore && (
        <Center p="md">
          <Button variant="default" loading={pages.isLoadingMore} onClick={pages.loadMore}>
            Load more
          </Button>
        </Center>
      )}
    </div>
  );
}

const skeletonRows = [0, 1, 2, 3, 4];

type ViewProps<Row> = Pick<
  Props<Row>,
  'label' | 'columns' | 'rowKey' | 'onOpen' | 'sorted' | 'onSort' | 'dense'
> & {
  readonly rows: readonly Row[] | undefined;
};

function Rows<Row>({
  label,
  columns,
  rowKey,
  rows,
  onOpen,
  sorted,
  onSort,
  dense = false,
}: ViewProps<Row>) {
  return (
    <div className={classes.scroll} tabIndex={0} role="region" aria-label={label}>
      <Table
        className={classes.table}
        verticalSpacing={dense ? 6 : 10}
        horizontalSpacing={dense ? 'sm' : 'lg'}
        aria-label={label}
        highlightOnHover={onOpen !== undefined}
      >
        <Table.Thead>
          <Table.Tr>
            {columns.map(({ title, align, width, sort }, index) => (
              <Table.Th
                key={title || index}
                ta={align}
                w={width}
                aria-sort={sort !== undefined && sort === sorted ? 'descending' : undefined}
              >
                {title === '' && <span className={classes.hidden}>Actions</span>}
                {sort !== undefined && onSort ? (
                  <SortButton
                    title={title}
                    isOn={sort === sorted}
                    onClick={() => onSort(sort === sorted ? undefined : sort)}
                  />
                ) : (
                  title
                )}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows === undefined
            ? skeletonRows.map((row) => (
                <Table.Tr key={row}>
                  {columns.map(({ title }, index) => (
                    <Table.Td key={title || index}>
                      <Skeleton h={14} my={4} w={index === 0 ? '70%' : '50%'} />
                    </Table.Td>
                  ))}
                </Table.Tr>
              ))
            : rows.map((row) => (
                <Table.Tr
                  key={rowKey(row)}
                  data-opens={onOpen !== undefined || undefined}
                  onClick={onOpen && ((event) => isRowClick(event.target) && onOpen(row))}
                >
                  {columns.map(({ title, render, align }, index) => (
                    <Table.Td key={title || index} ta={align}>
                      {index === 0 && onOpen ? (
                        <OpenButton onOpen={() => onOpen(row)}>{render(row)}</OpenButton>
                      ) : (
                        render(row)
                      )}
                    </Table.Td>
                  ))}
                </Table.Tr>
              ))}
        </Table.Tbody>
      </Table>
    </div>
  );
}

function Cards<Row>({ label, columns, rowKey, rows, onOpen }: ViewProps<Row>) {
  const titleColumn = columns.find(({ phone }) => phone === 'title') ?? columns[0];
  const fields = columns.filter((column) => column !== titleColumn && column.phone !== 'hidden');
  if (rows === undefined) {
    return (
      <div className={classes.cards}>
        {skeletonRows.map((row) => (
          <div key={row} className={classes.card}>
            <Skeleton h={16} w="60%" mb={12} />
            <Skeleton h={12} w="90%" mb={8} />
            <Skeleton h={12} w="80%" />
          </div>
        ))}
      </div>
    );
  }
  return (
    <ul className={classes.cards} aria-label={label}>
      {rows.map((row) => (
        <li key={rowKey(row)} className={classes.card}>
          <div className={classes.cardTitle}>
            {titleColumn &&
              (onOpen ? (
                <OpenButton onOpen={() => onOpen(row)}>{titleColumn.render(row)}</OpenButton>
              ) : (
                titleColumn.render(row)
              ))}
          </div>
          {fields.map(({ title, render }, index) =>
            title === '' ? (
              <div key={index} className={classes.cardActions}>
                {render(row)}
              </div>
            ) : (
              <div key={title} className={classes.field}>
                <span className={classes.fieldName}>{title}</span>
                <span className={classes.fieldValue}>{render(row)}</span>
              </div>
            ),
          )}
        </li>
      ))}
    </ul>
  );
}

function SortButton({
  title,
  isOn,
  onClick,
}: {
  readonly title: string;
  readonly isOn: boolean;
  readonly onClick: () => void;
}) {
  const Icon = isOn ? IconArrowDown : IconArrowsSort;
  return (
    <UnstyledButton className={classes.sort} onClick={onClick}>
      {title}
      <Icon size={14} aria-hidden />
    </UnstyledButton>
  );
}

function OpenButton({
  onOpen,
  children,
}: {
  readonly onOpen: () => void;
  readonly children: ReactNode;
}) {
  return (
    <UnstyledButton className={classes.open} onClick={onOpen}>
      {children}
    </UnstyledButton>
  );
}

/** Ignores clicks on a row's own buttons and links, and clicks that select text. */
function isRowClick(target: EventTarget): boolean {
  const isControl =
    target instanceof Element &&
    target.closest('a, button, input, [role="menuitem"], [role="switch"]') !== null;
  return !isControl && getSelection()?.isCollapsed !== false;
}

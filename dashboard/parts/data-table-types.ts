// What a `DataTable` is given, and what its rows and cards are given.
import type { ReactNode } from 'react';
import type { ApiError } from '../api/api-error.ts';
import type { Pages } from '../api/use-api.ts';
import type { Order, SortValue } from './sort-rows.ts';

/** `Sort`: names of the orders that the list knows. */
export type Column<Row, Sort extends string = string> = {
  /** Heading of the column, and label on a phone. Empty for a column of buttons. */
  readonly title: string;
  /**
   * `money`: `value` is in microdollars, and all rows show the same number of decimals. `time`: the
   * heading names the page's time zone. `day`: the rows are UTC days. `ago`: a `TimeAgo`, in no zone.
   */
  readonly kind?: 'money' | 'time' | 'day' | 'ago';
  /** For the kind `ago`: the text for a missing time. Default: a dash. */
  readonly never?: string;
  /** `right` for numbers. Default: `right` for money and buttons. */
  readonly align?: 'left' | 'right';
  readonly width?: number | string;
  /** On a phone, `title` becomes the card's heading and `hidden` is left out. */
  readonly phone?: 'title' | 'hidden';
  /** Left out between a phone and a desktop, where the table would have to be scrolled sideways. */
  readonly tablet?: 'hidden';
  /** The order of the whole list, in the gateway, that its heading switches on and off. */
  readonly sort?: Sort;
} & (
  | {
      readonly render: (row: Row) => ReactNode;
      /** The value by which the column sorts. A column with neither this nor `sort` cannot be sorted. */
      readonly value?: (row: Row) => SortValue;
    }
  /** Shown as its kind is, and a number without one as a count. */
  | { readonly render?: undefined; readonly value: (row: Row) => SortValue }
);

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

export type Props<Row> = Source<Row> & {
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
  /** Label of a field that searches the texts of the rows: `Search members`. Only for whole lists. */
  readonly search?: string;
  /** Shows only the first rows of the reader's order. */
  readonly rowsMax?: number | undefined;
};

export type ViewProps<Row> = Pick<
  Props<Row>,
  'label' | 'columns' | 'rowKey' | 'onOpen' | 'sorted' | 'onSort' | 'dense'
> & {
  readonly rows: readonly Row[] | undefined;
  readonly order: Order | null;
  readonly setOrder: (order: Order | null) => void;
};

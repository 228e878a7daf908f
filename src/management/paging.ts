// Pages of lists. A cursor names the last row of its page, so rows that are added later neither
// shift nor repeat any. Each door writes pages in its own form.
import { type ApiError, invalidCursor, invalidRequest } from '../canonical/errors.ts';
import {
  decodeUsageCursor,
  encodeUsageCursor,
  type UsageCursor,
} from '../domain/ledger/reports/usage-cursor.ts';
import type { List } from './contract/endpoint.ts';

const pageRows = 50;

/** The rows that are asked for. `cursor`: the `next` of the page before; null: the first page. */
export type Place = { readonly limit: number; readonly cursor: string | null };

/** `next`: where the next page begins; null on the last page. */
export type PageOf<Row> = { readonly rows: readonly Row[]; readonly next: string | null };

type Query = { readonly limit?: number; readonly cursor?: string; readonly after?: string };
type Read = { readonly page: Place; readonly query: object };

/** How a door asks for pages of a list and answers them. */
export type Paging = {
  /** Splits a query into the page and the filters. Throws ApiError 400. */
  readonly read: (query: Query) => Read;
  /** Returns the answer. `result`: what the handler returned. Throws ApiError 400. */
  readonly write: (list: List, result: unknown, page: Place) => object;
};

export const sessionPaging: Paging = {
  read: ({ limit = pageRows, cursor = null, ...query }) => ({ page: { limit, cursor }, query }),
  write: (list, result) => {
    if ('list' in list) return { data: result };
    if (result === null) throw invalidCursor();
    const { rows, next } = result as PageOf<unknown>;
    return { data: rows, next_cursor: next };
  },
};

export const keyPaging: Paging = {
  read: ({ limit = pageRows, after, ...query }) => ({
    page: { limit, cursor: readAfter(after) },
    query,
  }),
  write: (list, result, page) => {
    if (result === null) throw invalidAfter();
    const { rows, next } =
      'list' in list
        ? pageOf(result as readonly Sortable[], (row) => row[list.order]!, page)
        : (result as PageOf<unknown>);
    return {
      data: rows,
      has_more: next !== null,
      next_cursor: next === null ? null : Buffer.from(next).toString('base64url'),
    };
  },
};

type Sortable = Readonly<Record<string, string>>;

function readAfter(after: string | undefined): string | null {
  if (after === undefined) return null;
  const place = Buffer.from(after, 'base64url');
  if (place.toString('base64url') !== after || !/^[\x20-\x7e]{1,200}$/.test(place.toString()))
    throw invalidAfter();
  return place.toString();
}

/** The 400 for a cursor that this list did not return. */
function invalidAfter(): ApiError {
  return invalidRequest(
    'after',
    '`after` must be the `next_cursor` of the page before, unchanged.',
  );
}

/**
 * Returns a page of rows in the order of `idOf`. One row too many shows that another page follows.
 */
export function pageOf<Row>(
  rows: readonly Row[],
  idOf: (row: Row) => string,
  { limit, cursor }: Place,
): PageOf<Row> {
  const left = rows
    .filter((row) => cursor === null || idOf(row) > cursor)
    .toSorted((one, other) => (idOf(one) < idOf(other) ? -1 : 1));
  const shown = left.slice(0, limit);
  return { rows: shown, next: left.length > limit ? idOf(shown.at(-1)!) : null };
}

/** A page of rows ordered by time and id, newest first. */
export type TimePage<Row> = { readonly rows: readonly Row[]; readonly next: UsageCursor | null };

/**
 * Reads a page of what the ledger orders by time and id; null when the cursor is none of its own.
 */
export async function pageByTime<Row>(
  { limit, cursor }: Place,
  read: (place: {
    readonly limit: number;
    readonly cursor: UsageCursor | null;
  }) => Promise<TimePage<Row>>,
): Promise<PageOf<Row> | null> {
  const after = cursor === null ? null : decodeUsageCursor(cursor);
  if (cursor !== null && !after) return null;
  const { rows, next } = await read({ limit, cursor: after });
  return { rows, next: next && encodeUsageCursor(next) };
}

/**
 * Merges pages of several lists from the same place into one. It ends where the first of them ended,
 * because the others have no rows of that one's next page.
 */
export function mergeByTime<Row extends UsageCursor>(
  pages: readonly TimePage<Row>[],
  limit: number,
): TimePage<Row> {
  const found = pages.flatMap(({ rows }) => rows).toSorted(newestFirst);
  const ends = [...pages.map(({ next }) => next), found.length > limit ? found[limit - 1]! : null];
  const [end] = ends.filter((place) => place !== null).toSorted(newestFirst);
  if (!end) return { rows: found, next: null };
  return { rows: found.filter((row) => newestFirst(row, end) <= 0), next: end };
}

function newestFirst(one: UsageCursor, other: UsageCursor): number {
  return other.createdAtMs - one.createdAtMs || (one.id < other.id ? 1 : -1);
}

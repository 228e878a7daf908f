// Pages of the admin API's lists. A cursor names the last row of its page, so rows that are added
// later neither shift nor repeat any.
import { invalidRequest } from '../../canonical/errors.ts';

export const pageRows = 50;

type Page<Row> = {
  readonly data: readonly Row[];
  readonly has_more: boolean;
  readonly next_cursor: string | null;
};

/** `next`: where the next page begins, in the list's own form; null on the last page. */
export function toPage<Row>(data: readonly Row[], next: string | null): Page<Row> {
  return {
    data,
    has_more: next !== null,
    next_cursor: next === null ? null : Buffer.from(next).toString('base64url'),
  };
}

/** Returns the place in the list's own form; null for the first page. Throws ApiError 400. */
export function readAfter(after: string | undefined): string | null {
  if (after === undefined) return null;
  const place = Buffer.from(after, 'base64url');
  if (place.toString('base64url') !== after || !/^[\x20-\x7e]{1,200}$/.test(place.toString()))
    throw invalidAfter();
  return place.toString();
}

/** The 400 for a cursor that this list did not return. */
export function invalidAfter() {
  return invalidRequest(
    'after',
    '`after` must be the `next_cursor` of the page before, unchanged.',
  );
}

type PageQuery = { readonly limit?: number; readonly after?: string };

/** Returns a page of a list that is read as a whole, in the order of `idOf`. Throws ApiError 400. */
export function pageOf<Row>(
  rows: readonly Row[],
  idOf: (row: Row) => string,
  { limit = pageRows, after }: PageQuery,
): Page<Row> {
  const place = readAfter(after);
  const left = rows
    .filter((row) => place === null || idOf(row) > place)
    .toSorted((one, other) => (idOf(one) < idOf(other) ? -1 : 1));
  const data = left.slice(0, limit);
  return toPage(data, left.length > limit ? idOf(data.at(-1)!) : null);
}

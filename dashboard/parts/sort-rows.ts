// Sorts the rows of a table by a column.

export type SortValue = string | number | boolean | null | undefined;

export type Order = { readonly title: string; readonly isUp: boolean };

/** Returns a sorted copy. Missing values come last, and equal rows keep their order. */
export function sortRows<Row>(
  rows: readonly Row[],
  valueOf: (row: Row) => SortValue,
  isUp: boolean,
): readonly Row[] {
  return rows.toSorted((one, other) => {
    const [a, b] = [valueOf(one), valueOf(other)];
    if (isMissing(a) || isMissing(b)) return Number(isMissing(a)) - Number(isMissing(b));
    return isUp ? compare(a, b) : compare(b, a);
  });
}

type Titled = { readonly title: string; readonly kind?: 'money' | 'time' | 'day' | 'ago' };

/** The first click on a heading: highest number and newest time first, but A before Z. */
export function firstOrder({ title, kind = 'money' }: Titled, values: readonly SortValue[]): Order {
  const isTime = kind !== 'money';
  const known = values.find((value) => !isMissing(value));
  return { title, isUp: typeof known === 'string' && !isTime };
}

/** `api-keys.last-used.up`: the order of one table, as it stands in the address. */
export function orderText(label: string, { title, isUp }: Order): string {
  return `${slug(label)}.${slug(title)}.${isUp ? 'up' : 'down'}`;
}

/** Returns null when the text is of another table, or of no column. */
export function readOrder(
  text: string | undefined,
  label: string,
  titles: readonly string[],
): Order | null {
  const [table, column, direction] = text?.split('.') ?? [];
  if (table !== slug(label)) return null;
  const title = titles.find((each) => slug(each) === column);
  return title === undefined ? null : { title, isUp: direction === 'up' };
}

function compare(a: NonNullable<SortValue>, b: NonNullable<SortValue>): number {
  if (typeof a === 'string' && typeof b === 'string')
    return a.localeCompare(b, undefined, { numeric: true, sensitivity: 'base' });
  return Number(a) - Number(b);
}

function isMissing(value: SortValue): value is null | undefined {
  return value === null || value === undefined || value === '' || Number.isNaN(value);
}

function slug(text: string): string {
  return text.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');
}

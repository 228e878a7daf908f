// Pages: of a list, newest first, or oldest first before or after a row; and of lines.
import { type SelectQueryBuilder, sql } from 'kysely';
import type { Tables } from '../../db/schema.ts';

export type Page = {
  readonly limit: number;
  /** The id of the row before the page. */
  readonly after?: string | undefined;
  /** True: the page lies before that row, and not behind it. */
  readonly isBackward?: boolean;
  /** True: oldest first. */
  readonly isAscending?: boolean;
};

/** Yields pages of a batch's lines, in their order. */
export async function* linePages<Row extends { readonly line: number }>(
  query: SelectQueryBuilder<Tables, 'batch_lines', Row>,
  limit: number,
): AsyncGenerator<readonly Row[], void> {
  for (let after = -1; ;) {
    const rows = await query.where('line', '>', after).orderBy('line').limit(limit).execute();
    const last = rows.at(-1);
    if (!last) return;
    yield rows;
    after = last.line;
  }
}

type Listed = 'batch_files' | 'batches';
/** The row before the page; null: it is the first page. */
export type From = { readonly id: string; readonly created_at_ms: number } | null;

/** One row more than the page has shows whether there are others. */
export function pageOf<Row>(
  query: SelectQueryBuilder<Tables, Listed, Row>,
  { limit, isBackward = false, isAscending = false }: Page,
  from: From,
) {
  const goesUp = isBackward !== isAscending;
  const direction = goesUp ? 'asc' : 'desc';
  const place = sql`(cast(${from?.created_at_ms ?? 0} as bigint), ${from?.id ?? ''})`;
  const beyond = sql<boolean>`(created_at_ms, id) ${sql.raw(goesUp ? '>' : '<')} ${place}`;
  return (from ? query.where(beyond) : query)
    .orderBy('created_at_ms', direction)
    .orderBy('id', direction)
    .limit(limit + 1);
}

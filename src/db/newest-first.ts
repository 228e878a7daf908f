// Reads a table page by page, newest first. A cursor holds the time and the id of the last row
// shown, so that rows added in the meantime shift no page.
import { sql, type SelectQueryBuilder, type SqlBool } from 'kysely';

type PageQuery = {
  /** Its columns `created_at_ms` and `id` set the order. */
  readonly table: string;
  readonly limit: number;
  /** The `next` of the page before. */
  readonly cursor: string | null;
};

type PageOf<Row> = {
  readonly rows: readonly Row[];
  /** null on the last page. */
  readonly next: string | null;
};

const cursorPattern = /^(\d{1,15})\|([\w-]{1,64})$/;

/** Returns a page of the query's rows; null when the cursor is invalid. */
export async function readNewestFirst<
  Schema,
  Table extends keyof Schema,
  Row extends { readonly created_at_ms: number; readonly id: string },
>(
  query: SelectQueryBuilder<Schema, Table, Row>,
  { table, limit, cursor }: PageQuery,
): Promise<PageOf<Row> | null> {
  const [createdAt, id] = [sql.ref(`${table}.created_at_ms`), sql.ref(`${table}.id`)];
  let page = query
    .orderBy(createdAt, 'desc')
    .orderBy(id, 'desc')
    .limit(limit + 1);
  if (cursor !== null) {
    const after = cursorPattern.exec(cursor);
    if (!after) return null;
    page = page.where(sql<SqlBool>`(${createdAt}, ${id}) < (${Number(after[1])}, ${after[2]})`);
  }
  const found = await page.execute();
  const rows = found.slice(0, limit);
  const last = rows.at(-1);
  const next = found.length > limit && last ? `${last.created_at_ms}|${last.id}` : null;
  return { rows, next };
}

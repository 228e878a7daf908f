// Searches a table for rows that pass a filter which no index has, newest first. One page reads a
// bounded number of rows, found or not; its cursor says where the next one goes on.
import { setImmediate } from 'node:timers/promises';

/** Unix milliseconds; `toMs` is exclusive, null is open. */
export type Span = { readonly fromMs: number | null; readonly toMs: number | null };

/** A row's place in the order of time. Rows before it come on the next page. */
export type Place = { readonly createdAtMs: number; readonly id: string };

/** SQLite runs on the calling thread, so a longer scan would block other requests. */
export const rowsPerStep = 20_000;
/** One page takes a tenth of a second or two, on either database. */
const stepsPerPage = 5;

/** The lowest id: nothing is before it at its time. */
const lowestId = '-';

/**
 * Reads the spans, newest first, until the page is full or has read its share. `startOf` returns the
 * time of the last row of a span's first step; null when the span has no more rows than a step.
 * `next`: null when all was searched. A page that is not full may have one.
 */
export async function searchPage<Row extends Place>(
  spans: readonly Span[],
  {
    limit,
    startOf,
    read,
  }: {
    readonly limit: number;
    readonly startOf: (span: Span) => Promise<number | null>;
    readonly read: (span: Span, rowsMax: number) => Promise<readonly Row[]>;
  },
): Promise<{ readonly rows: readonly Row[]; readonly next: Place | null }> {
  const rows: Row[] = [];
  const left = [...spans];
  for (let steps = 0; left.length > 0; steps++) {
    const span = left.shift()!;
    if (steps === stepsPerPage) return { rows, next: { createdAtMs: span.toMs!, id: lowestId } };
    const startMs = await startOf(span);
    // One extra row shows whether there is another page.
    const step = { ...span, fromMs: startMs ?? span.fromMs };
    rows.push(...(await read(step, limit + 1 - rows.length)));
    if (rows.length > limit) {
      const { createdAtMs, id } = rows[limit - 1]!;
      return { rows: rows.slice(0, limit), next: { createdAtMs, id } };
    }
    if (startMs !== null) left.unshift({ ...span, toMs: startMs });
    await setImmediate();
  }
  return { rows, next: null };
}

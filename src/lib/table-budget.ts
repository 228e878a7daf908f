// Keeps a table within its share of the disk: removes its oldest rows when it has grown beyond it.

/** Times are those of the column by which the table's age is measured. */
export type BudgetedTable<Row> = {
  /** The bytes of rows newer than a time, and the newest time; null when there is none. */
  readonly measureSince: (
    timeMs: number,
  ) => Promise<{ readonly bytes: number; readonly newestMs: number | null }>;
  readonly pagesFromNewest: () => AsyncIterable<readonly Row[]>;
  readonly timeOf: (row: Row) => number;
  /** Removes the row and all older ones. */
  readonly removeOldest: (newest: Row) => Promise<void>;
};

type BudgetOptions = {
  readonly diskBytes: number;
  /** The longest time from a row's timestamp to its commit, if the database works. */
  readonly commitMs: number;
};

/** An upper bound of the table's size: the last full count, plus everything stored since. */
type Measured = { readonly bytes: number; readonly newestMs: number; readonly countedAtMs: number };

const countEveryMs = 60 * 60_000;

export class TableBudget<Row extends { readonly size_bytes: number }> {
  readonly #table: BudgetedTable<Row>;
  readonly #options: BudgetOptions;
  #measured: Measured | null = null;

  constructor(table: BudgetedTable<Row>, options: BudgetOptions) {
    this.#table = table;
    this.#options = options;
  }

  /**
   * Counts all rows only when the budget may be exceeded, and once an hour in case a timestamp was
   * wrong.
   */
  async keep(nowMs: number): Promise<void> {
    const { diskBytes, commitMs } = this.#options;
    if (this.#measured && nowMs - this.#measured.countedAtMs < countEveryMs) {
      const since = this.#measured.newestMs - commitMs;
      const { bytes, newestMs } = await this.#table.measureSince(since);
      this.#measured = {
        ...this.#measured,
        bytes: this.#measured.bytes + bytes,
        newestMs: Math.max(this.#measured.newestMs, newestMs ?? 0),
      };
      if (this.#measured.bytes <= diskBytes) return;
    }
    const { tooOld, ...counted } = await this.#count();
    if (tooOld) await this.#table.removeOldest(tooOld);
    this.#measured = { ...counted, countedAtMs: nowMs };
  }

  /**
   * `tooOld`: the newest row to remove. Trims to slightly below the budget, so that the table is
   * not full again within a minute.
   */
  async #count(): Promise<{
    readonly bytes: number;
    readonly newestMs: number;
    readonly tooOld: Row | null;
  }> {
    const { diskBytes } = this.#options;
    const keptBytesMax = diskBytes - Math.floor(diskBytes / 16);
    let [bytes, keptBytes, newestMs] = [0, 0, 0];
    let tooOld: Row | null = null;
    for await (const page of this.#table.pagesFromNewest()) {
      newestMs ||= this.#table.timeOf(page[0]!);
      for (const row of page) {
        bytes += row.size_bytes;
        if (bytes > keptBytesMax) tooOld ??= row;
        else keptBytes = bytes;
      }
      if (bytes > diskBytes) return { bytes: keptBytes, newestMs, tooOld };
    }
    return { bytes, newestMs, tooOld: null };
  }
}

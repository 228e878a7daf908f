// Sums of one kind that wait to be written. Both the rows and those of one account are bounded:
// clients choose keys and tags, and no account may take the room of others.
/** Buffered rows of each kind; beyond that, requests are not counted until there is room. */
export const waitingMax = 20_000;
const waitingOfAccountMax = waitingMax / 4;

export class SumBuffer<Row extends { readonly account_id?: string | number }> {
  readonly #rows = new Map<string, Row>();
  readonly #rowsOfAccounts = new Map<string | number, number>();
  readonly #key: readonly (keyof Row & string)[];
  readonly #counts: readonly (keyof Row & string)[];

  /** `key`: the columns that name a row. `counts`: those that are added up. */
  constructor(key: readonly (keyof Row & string)[], counts: readonly (keyof Row & string)[]) {
    this.#key = key;
    this.#counts = counts;
  }

  /** Adds a row's counts to the row with the same key, or inserts it while there is room. */
  add(row: Row): void {
    const name = this.#key.map((column) => row[column]).join(' ');
    const known = this.#rows.get(name);
    if (known) {
      const [sums, added] = [known, row] as unknown as [Counts, Counts];
      for (const count of this.#counts) sums[count]! += added[count]!;
      return;
    }
    const account = row.account_id;
    const own = account === undefined ? 0 : (this.#rowsOfAccounts.get(account) ?? 0);
    if (this.#rows.size >= waitingMax || own >= waitingOfAccountMax) return;
    this.#rows.set(name, row);
    if (account !== undefined) this.#rowsOfAccounts.set(account, own + 1);
  }

  take(): readonly Row[] {
    this.#rowsOfAccounts.clear();
    return takeSorted(this.#rows);
  }
}

type Counts = Record<string, number>;

/**
 * Takes all rows, sorted by name: gateways that write the same rows then lock them in one order and do not
 * deadlock.
 */
export function takeSorted<Row>(rows: Map<string, Row>): readonly Row[] {
  const taken = [...rows].toSorted(([one], [other]) => (one < other ? -1 : 1));
  rows.clear();
  return taken.map(([, row]) => row);
}

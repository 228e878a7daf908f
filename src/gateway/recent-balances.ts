// What accounts have left, for answers that cost nothing and yet tell of it: asked of the database once, and again when this process has
// changed it or a moment has passed, in which another may have.
import type { Command, Ledger, LedgerId, Outcome } from '../ledger/commands.ts';
import type { Balance } from '../ledger/queries.ts';

export type RecentBalancesOptions = {
  readonly ledger: Ledger;
  readonly read: (ledgerId: LedgerId) => Promise<Balance | null>;
  readonly nowMs?: () => number;
};

const keptForMs = 1_000;
const ledgersMax = 10_000;

export class RecentBalances {
  /** To be used instead of the one it was given, so that its commands are noticed. */
  readonly ledger: Ledger;
  readonly #read: RecentBalancesOptions['read'];
  readonly #nowMs: () => number;
  readonly #known = new Map<LedgerId, { readonly balance: Balance; readonly readAtMs: number }>();
  /** Of commands: what was read while one ran may be from before it. */
  #changes = 0;

  constructor({ ledger, read, nowMs = () => performance.now() }: RecentBalancesOptions) {
    this.#read = read;
    this.#nowMs = nowMs;
    this.ledger = { submit: (command) => this.#submit(ledger, command), close: () => ledger.close() };
  }

  /** null: there is no such ledger. */
  read(ledgerId: LedgerId): Balance | null | Promise<Balance | null> {
    const known = this.#known.get(ledgerId);
    const nowMs = this.#nowMs();
    return known && nowMs - known.readAtMs < keptForMs ? known.balance : this.#readAnew(ledgerId, nowMs);
  }

  async #readAnew(ledgerId: LedgerId, readAtMs: number): Promise<Balance | null> {
    const changesBefore = this.#changes;
    const balance = await this.#read(ledgerId);
    if (balance && changesBefore === this.#changes) this.#keep(ledgerId, { balance, readAtMs });
    return balance;
  }

  #keep(ledgerId: LedgerId, known: { readonly balance: Balance; readonly readAtMs: number }): void {
    if (this.#known.size >= ledgersMax) this.#known.clear();
    this.#known.set(ledgerId, known);
  }

  async #submit(ledger: Ledger, command: Command): Promise<Outcome> {
    try {
      return await ledger.submit(command);
    } finally {
      this.#changes += 1;
      if ('ledgerId' in command) this.#known.delete(command.ledgerId);
      else this.#known.clear();
    }
  }
}

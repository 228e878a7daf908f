// What accounts have left, for answers that cost nothing and yet tell of it: asked of the database once however many want to know, and again
// when this process has changed it or a moment has passed, in which another may have.
import type { Command, Ledger, LedgerId, Outcome } from '../ledger/commands.ts';
import type { Balance } from '../ledger/queries.ts';
import type { Clock } from '../lib/clock.ts';

export type RecentBalancesOptions = {
  readonly ledger: Ledger;
  readonly read: (ledgerId: LedgerId) => Promise<Balance | null>;
  readonly clock: Clock;
};

const keptForMs = 1_000;
const ledgersMax = 10_000;

export class RecentBalances {
  /** To be used instead of the one it was given, so that its commands are noticed. */
  readonly ledger: Ledger;
  readonly #read: RecentBalancesOptions['read'];
  readonly #clock: Clock;
  readonly #known = new Map<LedgerId, { readonly balance: Balance; readonly readAtMs: number }>();
  /** Reads that are under way; none of them is from before the last command. */
  readonly #reading = new Map<LedgerId, Promise<Balance | null>>();

  constructor({ ledger, read, clock }: RecentBalancesOptions) {
    this.#read = read;
    this.#clock = clock;
    this.ledger = { ...ledger, submit: (command) => this.#submit(ledger, command) };
  }

  /** null: there is no such ledger. */
  read(ledgerId: LedgerId): Balance | null | Promise<Balance | null> {
    const known = this.#known.get(ledgerId);
    const nowMs = this.#clock.elapsedMs();
    if (known && nowMs - known.readAtMs < keptForMs) return known.balance;
    return this.#reading.get(ledgerId) ?? this.#readAnew(ledgerId, nowMs);
  }

  async #readAnew(ledgerId: LedgerId, readAtMs: number): Promise<Balance | null> {
    const reading = this.#read(ledgerId);
    this.#reading.set(ledgerId, reading);
    const isCurrent = () => this.#reading.get(ledgerId) === reading;
    try {
      const balance = await reading;
      if (balance && isCurrent()) this.#keep(ledgerId, { balance, readAtMs });
      return balance;
    } finally {
      if (isCurrent()) this.#reading.delete(ledgerId);
    }
  }

  #keep(ledgerId: LedgerId, known: { readonly balance: Balance; readonly readAtMs: number }): void {
    if (this.#known.size >= ledgersMax) this.#known.clear();
    this.#known.set(ledgerId, known);
  }

  async #submit(ledger: Ledger, command: Command): Promise<Outcome> {
    try {
      return await ledger.submit(command);
    } finally {
      for (const balances of [this.#known, this.#reading]) {
        if ('ledgerId' in command) balances.delete(command.ledgerId);
        else balances.clear();
      }
    }
  }
}

// What accounts have left, for answers that cost nothing and yet tell of it: asked of the database once however many want to know, and again
// when this process has changed it or a moment has passed, in which another may have.
import type { Command, Ledger, LedgerId, Outcome } from '../ledger/commands.ts';
import type { Balance } from '../ledger/queries.ts';
import type { Clock } from '../lib/clock.ts';
import { RecentReads } from './recent-reads.ts';

export type RecentBalancesOptions = {
  readonly ledger: Ledger;
  readonly read: (ledgerId: LedgerId) => Promise<Balance | null>;
  readonly clock: Clock;
};

const keptForMs = 1_000;

export class RecentBalances {
  /** To be used instead of the one it was given, so that its commands are noticed. */
  readonly ledger: Ledger;
  readonly #balances: RecentReads<LedgerId, Balance>;

  constructor({ ledger, read, clock }: RecentBalancesOptions) {
    this.#balances = new RecentReads({ read, keptForMs, clock });
    this.ledger = { ...ledger, submit: (command) => this.#submit(ledger, command) };
  }

  /** null: there is no such ledger. */
  read(ledgerId: LedgerId): Balance | null | Promise<Balance | null> {
    return this.#balances.read(ledgerId);
  }

  async #submit(ledger: Ledger, command: Command): Promise<Outcome> {
    try {
      return await ledger.submit(command);
    } finally {
      if ('ledgerId' in command) this.#balances.forget(command.ledgerId);
      else this.#balances.forgetAll();
    }
  }
}

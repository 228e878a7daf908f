// Recent balances, for answers that cost nothing but report the balance. The database is asked once
// for any number of callers, and again when this process changed the balance or after a moment, in
// which another process may have.
import type { Command, Ledger, LedgerId, Outcome } from '../../domain/ledger/commands.ts';
import type { Balance } from '../../domain/ledger/reports/queries.ts';
import type { Clock } from '../../lib/clock.ts';
import { RecentReads } from './recent-reads.ts';

type RecentBalancesOptions = {
  readonly ledger: Ledger;
  readonly read: (ledgerId: LedgerId) => Promise<Balance | null>;
  readonly clock: Clock;
};

const keptForMs = 1_000;

export class RecentBalances {
  /** Use this ledger instead of the one passed in, so that its commands are noticed. */
  readonly ledger: Ledger;
  readonly #balances: RecentReads<LedgerId, Balance>;

  constructor({ ledger, read, clock }: RecentBalancesOptions) {
    this.#balances = new RecentReads({ read, keptForMs, clock });
    this.ledger = { ...ledger, submit: (command) => this.#submit(ledger, command) };
  }

  /** null: the ledger does not exist. */
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

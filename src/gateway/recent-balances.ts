// Caches balances for answers that cost nothing but report the balance. Concurrent callers share
// one read. A balance is read again after a command of this process, and after a second, because
// another process may have changed it.
import type { Command, Ledger, LedgerId, Outcome } from '../domain/ledger/commands.ts';
import type { Balance } from '../domain/ledger/reports/queries.ts';
import type { Clock } from '../lib/clock.ts';
import { RecentReads } from '../lib/recent-reads.ts';

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

  /** Returns null when the ledger does not exist. */
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
